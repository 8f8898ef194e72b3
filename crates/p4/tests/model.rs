//! Programs on the pipeline: what the compiler takes gives the packets that scripts and the reference say.

#[path = "support/packets.rs"]
mod packets;

use sluice_formats::random::{Rng, test_seed};
use sluice_object::{Object, RmtPart};
use sluice_p4::stf::Script;
use sluice_p4::{Allowed, Model, Reader, Reference, Undefined};
use sluice_rmt::target::DEFAULT;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Random packets for each program.
const PACKETS: usize = 2_000;

fn scripts(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut all: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    all.retain(|path| path.extension().is_some_and(|e| e == "stf"));
    all.sort();
    all
}

/// With the entries that a script has left, packets made of its own are what the reference says: with other bytes, shorter, longer.
fn agree(name: &str, script: &str, reference: &mut Reference, model: &mut Model) {
    let packets = packets::of_script(script);
    assert!(!packets.is_empty(), "{name}: no packets");
    let mut rng = Rng::new(test_seed(&format!("p4_model_{name}")));
    let mut sent = 0;
    // From what both keep now.
    model.load(reference).unwrap();
    for _ in 0..PACKETS {
        let bytes = packets::damaged(&mut rng, &packets, 4);
        let port = rng.below(8) as u16;
        let mut expected = reference.packet(port, &bytes).unwrap();
        // The reference has more ports; on the pipeline others lead nowhere.
        expected.retain(|sent| sent.port < 8);
        let found = model.packet(port, &bytes).unwrap_or_else(|why| panic!("{name}: {bytes:02x?} from {port}: {why}"));
        assert_eq!(found, expected, "{name}: {bytes:02x?} from port {port}");
        sent += expected.len();
    }
    assert_eq!(model.differs(reference), None, "{name}");
    println!("{name}: {PACKETS} packets agree, {sent} sent");
}

/// What a program may have in part.
fn allowed(name: &str) -> Allowed {
    match name {
        "load_balance" => Allowed::default().with_target_hash().with_power_of_two(),
        "link_monitor" => Allowed::default().with_bound("data", 2).with_bound("way", 2),
        "mri" => Allowed::default().with_bound("traces", 8),
        _ => Allowed::default(),
    }
}

/// Of the shipped programs and those of tests/run.
const REFUSED: &[&str] = &[
    "firewall",
    "flow_cache",
    "allowed",
    "arithmetic",
    "externs",
    "headers",
    "loops",
    "parsers",
    "registers",
    "replication",
    "updates",
];

/// Programs that fit; the others are refused with a code and a place.
#[test]
fn what_is_compiled_passes_its_script() {
    let (mut fit, mut refused, mut codes) = (Vec::new(), Vec::new(), BTreeSet::new());
    let mut wrong = Vec::new();
    let mut all = scripts("../../programs/p4");
    all.extend(scripts("tests/run"));
    // Those of another folder, too: SLUICE_P4_PROGRAMS=DIR.
    all.extend(std::env::var("SLUICE_P4_PROGRAMS").iter().flat_map(|folder| scripts(folder)));
    for path in all {
        let name = path.file_stem().unwrap().to_string_lossy().to_string();
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/run");
        let mut program = Reader::new().folder(folder).check(&path.with_extension("p4")).unwrap();
        program.allow(allowed(&name));
        let text = std::fs::read_to_string(&path).unwrap();
        let script = Script::parse("s.stf", &text).unwrap();
        let mut reference = program.reference(Undefined::Zero, 1).unwrap();
        match program.compile(&DEFAULT, 0, 4) {
            Err(errors) => {
                println!("{name}: {}", errors.to_string().lines().take(3).collect::<Vec<_>>().join(" | "));
                codes.insert(errors.code());
                refused.push(name);
            }
            Ok(compiled) => {
                compiled.teach(&mut reference);
                // Its text is read as the same module.
                let unit = compiled.unit(&reference).unwrap();
                let printed = sluice_rmt::text::print(&unit, &DEFAULT);
                let again = sluice_rmt::text::read("again.rmt", &printed, &DEFAULT).unwrap_or_else(|e| panic!("{e}"));
                assert_eq!(again.part(&DEFAULT).unwrap(), unit.part(&DEFAULT).unwrap(), "{name}: {printed}");
                // The object has the same rows, and the tables that they are made of, in both of its forms.
                let object = compiled.object("program", &reference).unwrap_or_else(|e| panic!("{name}: {e}"));
                let part = object.parts.rmt.as_ref().unwrap();
                let mut rows = RmtPart { logical: None, ..(**part).clone() };
                // Text does not say the numbers that are kept for entries to come.
                rows.stages.values_mut().for_each(|stage| stage.numbers = stage.numbers_used());
                assert_eq!(rows, unit.part(&DEFAULT).unwrap(), "{name}");
                assert!(part.logical.is_some());
                assert_eq!(Object::from_binary(&object.to_binary()).unwrap(), object, "{name}");
                assert_eq!(Object::from_json(&object.to_json()).unwrap(), object, "{name}");
                let mut model = Model::new(compiled);
                let report = script.run_on(&mut reference, &mut model);
                println!("{name}: {}", if report.passed() { "passed" } else { "FAILED" });
                if !report.passed() {
                    wrong.push((name, report.failures));
                } else {
                    agree(&name, &text, &mut reference, &mut model);
                    fit.push(name);
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    // Which do not fit is known; one more is one that was lost.
    if std::env::var("SLUICE_P4_PROGRAMS").is_err() {
        assert_eq!(refused, REFUSED, "{fit:?}");
    }
    assert_eq!(codes, BTreeSet::from(["E0750", "E0770"]));
}

/// What a controller may ask of the reference and not of the pipeline fails at the packets behind it.
#[test]
fn rates_of_meters_are_refused() {
    let metered = "meter(4, MeterType.packets) m;";
    let color = "m.execute_meter(1, hdr.h.b);";
    for (script, what) in [
        ("packet 0 112233\nexpect 0 110033$\n", None),
        ("meter_set_rates m 1 0.1:1 0.1:2\npacket 0 112233\nexpect 0 110033$\n", Some("rates of a meter")),
        ("meter_array_set_rates m 0.1:1 0.1:2\npacket 0 112233\nexpect 0 110033$\n", Some("rates of a meter")),
    ] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/run");
        let reader = Reader::new().folder(folder).define("LOCALS", metered).define("APPLY", color);
        let program = reader.text("p.p4", "#include <bytes.p4>\n").check(Path::new("p.p4")).unwrap();
        let mut reference = program.reference(Undefined::Zero, 1).unwrap();
        let mut model = Model::new(program.compile(&DEFAULT, 0, 4).unwrap());
        let report = Script::parse("s.stf", script).unwrap().run_on(&mut reference, &mut model);
        match what {
            None => assert!(report.passed(), "{:?}", report.failures),
            Some(what) => assert!(report.failures[0].what.contains(what), "{:?}", report.failures),
        }
    }
}
