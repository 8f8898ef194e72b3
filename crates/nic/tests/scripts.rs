//! The shipped packet scripts on the devices of this crate.

use sluice_formats::random::test_seed;
use sluice_formats::{Target, target};
use sluice_nic::SoftwareNic;
use sluice_nic::device::Device;
use sluice_nic::mock::MockDevice;
use sluice_nic::scripts::run_script;
use sluice_packet::script::Script;
use std::path::{Path, PathBuf};

/// Every `*.pkt` in `folder`, in order.
fn scripts() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts");
    let mut files: Vec<PathBuf> = std::fs::read_dir(&folder)
        .unwrap_or_else(|e| panic!("{}: {e}", folder.display()))
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "pkt"))
        .collect();
    files.sort();
    assert!(files.len() >= 15, "{} scripts in {}", files.len(), folder.display());
    files
}

/// Runs every script on a device of each target and fails with all that failed.
fn run_all(mut make: impl FnMut(Target) -> Box<dyn Device>) {
    let mut failed = Vec::new();
    for path in scripts() {
        let script = Script::read(&path).unwrap_or_else(|e| panic!("{e}"));
        for target in target::ALL {
            let report = run_script(&script, make(target).as_mut());
            println!("{report}");
            if !report.passed() {
                failed.push(report.to_string());
            }
        }
    }
    assert!(failed.is_empty(), "{} scripts failed:\n{}", failed.len(), failed.join("\n"));
}

#[test]
fn every_script_passes_on_the_software_nic() {
    run_all(|target| Box::new(SoftwareNic::new(target)));
}

#[test]
fn every_script_passes_on_the_slow_and_reordering_device() {
    let seed = test_seed("every_script_passes_on_the_slow_and_reordering_device");
    run_all(|target| Box::new(MockDevice::new(target, seed)));
}
