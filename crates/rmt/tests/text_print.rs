//! What is printed reads back as the same program.

use sluice_formats::random::{Rng, test_seed};
use sluice_rmt::programs::l3_router::Route;
use sluice_rmt::programs::tunnel::{Ends, Entry};
use sluice_rmt::programs::{calc, l3_router, tunnel};
use sluice_rmt::target::{DEFAULT, TINY, Target};
use sluice_rmt::testing::{Shape, checked_program};
use sluice_rmt::text::{Unit, print, read};
use sluice_rmt::{Program, Role};
use std::path::Path;

/// Stages behind the last one that is there say nothing.
fn trimmed(mut program: Program) -> Program {
    while program.stages.last() == Some(&None) {
        program.stages.pop();
    }
    program
}

/// The text; reading it gives the same program, and printing that the same text.
fn round_trip(unit: &Unit, target: &Target) -> String {
    let text = print(unit, target);
    let again = read("printed.rmt", &text, target).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let (found, expected) = (trimmed(again.program.clone()), trimmed(unit.program.clone()));
    assert!(found.parser == expected.parser, "{text}\n{:#?}\n{:#?}", found.parser, expected.parser);
    for (i, (f, e)) in found.stages.iter().zip(&expected.stages).enumerate() {
        assert!(f == e, "stage {i}:\n{text}\n{f:#?}\n{e:#?}");
    }
    assert!(found == expected, "deparser or number of stages:\n{text}");
    assert_eq!(
        (again.role, again.memory, &again.groups, &again.shared, &again.rooms, &again.demands),
        (unit.role, unit.memory, &unit.groups, &unit.shared, &unit.rooms, &unit.demands)
    );
    text
}

#[test]
fn programs_built_in_rust_are_printed_in_statements() {
    let route = |length| Route { prefix: [10, 1, 2, 3], length, destination: 1, next_hop: [2; 6], own: [4; 6] };
    let routes = [route(8), route(0), route(32)];
    let ends = Ends { here: [172, 16, 0, 1], there: [172, 16, 0, 2] };
    let into = [Entry { address: [10, 0, 0, 9], destination: 1 }];
    for program in [calc::program(1), l3_router::program(2, &routes), tunnel::program(1, ends, &into, 3)] {
        let text = round_trip(&Unit::of(program, Role::Tenant), &DEFAULT);
        assert!(!text.contains("picks ") && !text.contains("alu "), "{text}");
    }
}

#[test]
fn shipped_programs_keep_their_names() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/rmt");
    let mut printed = 0;
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        if path.extension().is_none_or(|e| e != "rmt") {
            continue;
        }
        let name = path.display().to_string();
        let unit = read(&name, &std::fs::read_to_string(&path).unwrap(), &DEFAULT).unwrap_or_else(|e| panic!("{e}"));
        let text = round_trip(&unit, &DEFAULT);
        for raw in ["picks ", "alu ", "access ", "word ", "pieces "] {
            assert!(!text.contains(&format!("    {raw}")), "{name}: {raw}\n{text}");
        }
        let again = read(&name, &text, &DEFAULT).unwrap();
        assert_eq!(print(&again, &DEFAULT), text);
        assert_eq!(again.names.stages, unit.names.stages);
        printed += 1;
    }
    assert!(printed >= 3);
}

#[test]
fn random_programs_of_both_targets_and_roles_read_back() {
    let mut rng = Rng::new(test_seed("rmt_text_round_trip"));
    for round in 0..400 {
        let target = if round % 2 == 0 { DEFAULT } else { TINY };
        let role = if round % 4 < 2 { Role::Tenant } else { Role::System };
        let program = checked_program(&mut rng, &target, &Shape { role, ..Shape::TENANT });
        round_trip(&Unit::of(program, role), &target);
    }
}
