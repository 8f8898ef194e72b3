//! The plug-in itself: what goes in comes out, failures come back as errors.

use crate::support;
use sluice_device::Device;
use sluice_formats::row::Row;
use sluice_formats::rows::{GenerationRow, QuantumRow};
use sluice_formats::{Node, Table, target};
use sluice_rtlsim::{Plugin, RtlNic, RtlOptions, Variant, top};

#[test]
fn a_missing_plugin_says_how_to_get_it() {
    let error = Plugin::find(&top::NIC, "no_such_config", Variant::Test).err().unwrap().to_string();
    assert!(error.contains("libsluice_rtl_no_such_config.so"), "{error}");
    assert!(error.contains("make plugins"), "{error}");
}

#[test]
fn a_file_that_is_no_plugin_is_refused_with_its_name() {
    let file = tempfile::Builder::new().suffix(".so").tempfile().unwrap();
    let error = Plugin::load(&top::NIC, file.path()).err().unwrap().to_string();
    assert!(error.contains(&file.path().display().to_string()), "{error}");
}

#[test]
fn the_nic_knows_its_format_and_target() {
    for target in target::ALL {
        let Some(nic) = support::open(target.name, RtlOptions::default()) else { continue };
        assert_eq!(nic.capabilities().target, target);
    }
}

#[test]
fn rows_are_written_and_read_back() {
    let Some(mut nic) = support::open("tiny", RtlOptions::default()) else { return };
    let target = nic.capabilities().target;
    let words = QuantumRow { bytes: 4321 }.pack().unwrap();
    support::run_steps(&mut nic, vec![support::write(Node::Egress, Table::Quantum, 3, &words)]).unwrap();
    assert_eq!(nic.read_row(Node::Egress, Table::Quantum, 3).unwrap(), words);
    assert!(nic.read_row(Node::Egress, Table::Quantum, target.modules).is_err());
    assert!(nic.read_row(Node::Egress, Table::Vlan, 0).is_err());
    let row = nic.read_row(Node::Stamp, Table::Generation, 1).unwrap();
    assert_eq!(GenerationRow::unpack(&row).unwrap(), GenerationRow::default());
}

#[test]
fn the_same_seed_gives_the_same_run_cycle_by_cycle() {
    let run = |seed| {
        let options = RtlOptions { seed, stalls: support::stalls(), ..RtlOptions::default() };
        let mut nic = support::open("tiny", options)?;
        support::set_up(&mut nic);
        support::offer_some(&mut nic, 50, 7);
        nic.quiesce().unwrap();
        Some((nic.now(), nic.poll(usize::MAX)))
    };
    let (Some(first), Some(again)) = (run(5), run(5)) else { return };
    assert_eq!(first, again);
    assert_ne!(first.0, run(6).unwrap().0);
}

#[test]
fn offers_that_no_interface_carries_are_refused() {
    let Some(mut nic) = support::open("tiny", RtlOptions::default()) else { return };
    let offer = |port, bytes| sluice_device::Offer { port, bytes: vec![0; bytes], at: 0, bad: false };
    assert!(nic.offer(&[offer(4, 64)]).is_err());
    assert!(nic.offer(&[offer(0, 0)]).is_err());
    assert!(nic.offer(&[offer(0, 16_384)]).is_err());
    assert!(nic.offer(&[offer(0, 64), offer(9, 64)]).is_err());
    // None of the batch was taken.
    nic.quiesce().unwrap();
    assert!(nic.poll(usize::MAX).is_empty());
}

#[test]
fn loads_of_another_version_or_target_are_refused() {
    let Some(mut nic) = support::open("tiny", RtlOptions::default()) else { return };
    let good = support::load(&nic, vec![]);
    let version = sluice_object::Load { format_version: 99, ..good.clone() };
    let target = sluice_object::Load { target_hash: 1, ..good };
    assert!(matches!(nic.submit(&version), Err(sluice_device::DeviceError::Version { found: 99, .. })));
    assert!(matches!(nic.submit(&target), Err(sluice_device::DeviceError::TargetMismatch { found: 1, .. })));
}

#[test]
fn waves_without_a_plugin_that_has_them_are_refused_and_with_one_are_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("nic.fst");
    let waves = Some(sluice_rtlsim::Waves { path: path.clone(), from: 0, to: 300 });
    if !support::has("tiny", Variant::Trace) {
        assert!(RtlNic::open("tiny", RtlOptions { waves, ..RtlOptions::default() }).is_err());
        return;
    }
    let mut nic = RtlNic::open("tiny", RtlOptions { waves, ..RtlOptions::default() }).unwrap();
    nic.advance(500).unwrap();
    drop(nic);
    assert!(std::fs::metadata(&path).unwrap().len() > 1_000);
}
