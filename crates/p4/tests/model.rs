//! Programs on the pipeline: what the compiler takes gives the packets that scripts and the reference say.

use sluice_p4::stf::Script;
use sluice_p4::{Model, Reader, Undefined};
use sluice_rmt::target::DEFAULT;
use std::path::{Path, PathBuf};

fn scripts(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut all: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    all.retain(|path| path.extension().is_some_and(|e| e == "stf"));
    all.sort();
    all
}

/// Programs that fit; the others are refused with a code and a place.
#[test]
fn what_is_compiled_passes_its_script() {
    let mut fit = Vec::new();
    let mut wrong = Vec::new();
    for path in scripts("../../programs/p4").into_iter().chain(scripts("tests/run")) {
        let name = path.file_stem().unwrap().to_string_lossy().to_string();
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/run");
        let program = Reader::new().folder(folder).check(&path.with_extension("p4")).unwrap();
        let script = Script::parse("s.stf", &std::fs::read_to_string(&path).unwrap()).unwrap();
        let mut reference = program.reference(Undefined::Zero, 1).unwrap();
        match program.compile(&DEFAULT, 0, 4) {
            Err(errors) => {
                println!("{name}: {}", errors.to_string().lines().take(3).collect::<Vec<_>>().join(" | "));
                assert!(["E0750", "E0770"].contains(&errors.code()));
            }
            Ok(compiled) => {
                let report = script.run_on(&mut reference, &mut Model::new(compiled)).unwrap();
                println!("{name}: {}", if report.passed() { "passed" } else { "FAILED" });
                if !report.passed() {
                    wrong.push((name, report.failures));
                } else {
                    fit.push(name);
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(fit.len() >= 2, "{fit:?}");
}
