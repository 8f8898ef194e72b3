//! The trait's checks on the devices of this crate.

use sluice_device::mock::MockDevice;
use sluice_formats::random::test_seed;
use sluice_formats::target;
use sluice_nic::software::{Options, Service, SoftwareNic};
use sluice_nic::{DataPlane, conformance, engines};

#[test]
fn the_software_nic_keeps_the_contract_on_every_target() {
    for target in target::ALL {
        conformance::run_all(|| Box::new(SoftwareNic::new(target)));
    }
}

#[test]
fn the_data_plane_keeps_the_contract_on_every_target() {
    for target in target::ALL {
        for workers in 1..=3 {
            conformance::run_all(|| Box::new(DataPlane::with_workers(target, engines::ALL, workers)));
        }
    }
}

#[test]
fn the_software_nic_keeps_the_contract_with_other_options() {
    let options = Options {
        service: Service::PerDestination { bytes_per_tick: 16 },
        limit_port_fifos: true,
        pipeline_ticks: 1,
        step_ticks: 1,
        ..Options::default()
    };
    conformance::run_all(|| Box::new(SoftwareNic::with_options(target::TINY, options)));
}

#[test]
fn the_slow_and_reordering_device_keeps_the_contract() {
    let seed = test_seed("the_slow_and_reordering_device_keeps_the_contract");
    for target in target::ALL {
        for turn in 0..3 {
            conformance::run_all(|| Box::new(MockDevice::new(SoftwareNic::new(target), seed.wrapping_add(turn))));
        }
    }
}
