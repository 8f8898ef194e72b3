//! The shipped packet scripts on the devices of this crate.

use sluice_control::scripts::run_script;
use sluice_device::Device;
use sluice_device::mock::MockDevice;
use sluice_formats::random::test_seed;
use sluice_formats::{Target, target};
use sluice_nic::SoftwareNic;
use sluice_packet::script::Script;
use std::path::{Path, PathBuf};

/// Every `*.pkt` in `folder`, in order.
fn scripts() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../nic/scripts");
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
    run_all(|target| Box::new(MockDevice::new(SoftwareNic::new(target), seed)));
}

/// Runs scripts of the default target on the software NIC and on the slow device; none of them is skipped.
fn pass_on_both(files: Vec<PathBuf>, seed: u64) {
    let mut failed = Vec::new();
    for path in files {
        let script = Script::read(&path).unwrap_or_else(|e| panic!("{e}"));
        let devices: [Box<dyn Device>; 2] = [
            Box::new(SoftwareNic::new(target::DEFAULT)),
            Box::new(MockDevice::new(SoftwareNic::new(target::DEFAULT), seed)),
        ];
        for mut device in devices {
            let report = run_script(&script, device.as_mut());
            if !report.passed() || report.skipped.is_some() {
                failed.push(report.to_string());
            }
        }
    }
    assert!(failed.is_empty(), "{} runs failed:\n{}", failed.len(), failed.join("\n"));
}

/// The scripts of the shipped rmt modules, which the pipeline alone runs too.
#[test]
fn scripts_of_the_rmt_modules_pass_on_the_software_nic_and_on_the_slow_device() {
    let seed = test_seed("scripts_of_the_rmt_modules_pass_on_the_software_nic_and_on_the_slow_device");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/rmt");
    let mut files: Vec<PathBuf> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|e| e == "pkt"));
    files.sort();
    assert!(files.len() >= 13, "{} scripts in {}", files.len(), folder.display());
    pass_on_both(files, seed);
}

/// The scripts of the shipped XDP programs, which have a folder each.
fn program_scripts() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/xdp");
    let list = |folder: &Path| -> Vec<PathBuf> {
        std::fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path()).collect()
    };
    let mut files: Vec<PathBuf> = list(&folder).iter().flat_map(|folder| list(folder)).collect();
    files.retain(|path| path.extension().is_some_and(|e| e == "pkt"));
    files.sort();
    assert!(files.len() >= 12, "{} scripts in {}", files.len(), folder.display());
    files
}

#[test]
fn scripts_of_the_xdp_programs_pass_on_the_software_nic_and_on_the_slow_device() {
    let seed = test_seed("scripts_of_the_xdp_programs_pass_on_the_software_nic_and_on_the_slow_device");
    pass_on_both(program_scripts(), seed);
}
