//! How many copies of a program find room beside each other, and what ends it.

use sluice_formats::Target;
use sluice_frontends::Reading;
use sluice_object::linker::rmt::RmtError;
use sluice_object::{Destination, LinkError, Linker, Object, TenantSpec};
use std::fmt::Write;
use std::path::Path;

const INTRODUCTION: &str = "\
Copies of each module of `programs/rmt`, a tenant each, that the linker takes, and what the next one does not find. Each tenant has
room for a replacement beside what runs, which the linker always keeps; of the queues' cells each asks for one a
destination, so that programs end it and not the buffer.

| module | default: copies | ended by | tiny: copies | ended by |
| --- | --- | --- | --- | --- |
";
const PUBLISHED: &str = "
Published (Menshen, NSDI 2022, section 5): at most 32 modules, the entries of each isolation primitive, and fewer where they share something
scarcer: at most 16 if each wants an entry of the exact match in every stage, which has 16.
";

/// The section's text.
pub fn packing(_seed: u64) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/rmt");
    let listed = std::fs::read_dir(&folder).expect("programs/rmt is there").filter_map(|entry| entry.ok());
    let mut files: Vec<_> = listed.map(|e| e.path()).filter(|p| p.extension().is_some_and(|e| e == "rmt")).collect();
    files.sort();
    let mut text = INTRODUCTION.to_owned();
    for file in files {
        let name = file.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let cells: Vec<String> = sluice_formats::target::ALL
            .iter()
            .map(|target| match sluice_frontends::read(&file, &Reading::new(target, &name)) {
                Ok(object) => copies(target, object),
                Err(_) => "0 | it is no program of this target".to_owned(),
            })
            .collect();
        // There is one system module.
        if name != "system" {
            let _ = writeln!(text, "| {name} | {} |", cells.join(" | "));
        }
    }
    text + PUBLISHED
}

fn copies(target: &'static Target, mut object: Object) -> String {
    let demanded: Vec<Destination> = std::mem::take(&mut object.demands).queues.into_keys().collect();
    let mut linker = Linker::new(target);
    for copy in 1.. {
        let mut spec = TenantSpec::new(copy, format!("t{copy}"));
        let all = (0..target.destinations() as u8).filter_map(|number| Destination::from_number(number, target));
        spec.queues = match demanded.is_empty() {
            true => all.map(|destination| (destination, 1)).collect(),
            false => demanded.iter().map(|destination| (*destination, 1)).collect(),
        };
        spec.make_room(&object);
        let taken = linker.admit(spec).and_then(|_| linker.load(copy, &object));
        if let Err(error) = taken {
            return format!("{} | {}", copy - 1, what(&error));
        }
    }
    unreachable!("a target has an end")
}

/// What was not there.
fn what(error: &LinkError) -> String {
    match error {
        LinkError::NoRoom { resource, .. } => (*resource).to_owned(),
        LinkError::Rmt(RmtError::NoRoom { place, resource, .. }) => format!("{place}: {resource}"),
        error => error.to_string(),
    }
}
