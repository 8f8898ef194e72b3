//! All modules of programs/rmt as tenants of one pipeline.

use sluice_object::{Linker, Step, TenantSpec};
use sluice_rmt::Role;
use sluice_rmt::encode::object::{object, program_of};
use sluice_rmt::target::DEFAULT;
use sluice_rmt::text::{Unit, read};

fn modules() -> Vec<Unit> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../programs/rmt");
    let files = std::fs::read_dir(folder).unwrap().map(|f| f.unwrap().path());
    let mut files: Vec<_> = files.filter(|f| f.extension().is_some_and(|e| e == "rmt")).collect();
    files.sort();
    let text = |f: &std::path::PathBuf| std::fs::read_to_string(f).unwrap();
    let mut units: Vec<Unit> = files
        .iter()
        .map(|f| read(&f.display().to_string(), &text(f), &DEFAULT).unwrap_or_else(|e| panic!("{e}")))
        .collect();
    // Who exchanges containers with the system module comes after it.
    units.sort_by_key(|u| u.role != Role::System);
    units
}

#[test]
fn every_module_finds_room_beside_the_others_and_is_replaced() {
    let mut linker = Linker::new(DEFAULT.nic());
    let units = modules();
    assert!(units.len() >= 3 && units.iter().filter(|u| u.role == Role::System).count() <= 1);
    println!("{:<16} {:>6} {:>6} {:>6} {:>6}", "module", "rows", "words", "clear", "words");
    for (n, unit) in units.iter().enumerate() {
        let (id, name) = (if unit.role == Role::System { 0 } else { n as u16 + 1 }, &unit.names.module);
        let part = unit.part(&DEFAULT).unwrap();
        let object = object(name, part, unit.demands.clone(), &DEFAULT);
        let mut spec = TenantSpec { queues: unit.demands.queues.clone(), ..TenantSpec::new(id, name) };
        spec.queues.values_mut().for_each(|cells| *cells = (*cells).max(1));
        spec.make_room(&object);
        linker.admit(spec).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert!(program_of(&object).unwrap().is_some());
        linker.load(id, &object).unwrap_or_else(|e| panic!("{name}: {e}"));
        let load = linker.replace(id, &object).unwrap_or_else(|e| panic!("{name} again: {e}"));
        let commit = load.steps.iter().position(|s| matches!(s, Step::Commit { .. })).unwrap();
        let count = |steps: &[Step]| {
            let words =
                steps.iter().filter_map(|s| if let Step::Write { words, .. } = s { Some(words.len()) } else { None });
            (words.clone().count(), words.sum::<usize>())
        };
        let ((rows, words), (gone, gone_words)) = (count(&load.steps[..commit]), count(&load.steps[commit..]));
        println!("{name:<16} {rows:>6} {words:>6} {gone:>6} {gone_words:>6}");
    }
    for (stage, left) in linker.placer().left().iter().enumerate() {
        println!("stage {stage}: {left:?}");
    }
}
