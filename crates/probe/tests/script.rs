//! The probe's packet script, on the RTL in lockstep with the model and on the model alone.

use sluice_control::scripts::run_script;
use sluice_device::Device;
use sluice_formats::target;
use sluice_nic::SoftwareNic;
use sluice_nic::engines::{self, RMT};
use sluice_packet::script::Script;
use sluice_probe::PROBE;
use sluice_rtlsim::{Comparison, Plugin, RtlOptions, Variant};
use std::path::Path;

fn script() -> Script {
    Script::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/probe.pkt")).unwrap_or_else(|e| panic!("{e}"))
}

fn passes(device: &mut dyn Device) {
    let report = run_script(&script(), device);
    assert!(report.passed() && report.skipped.is_none(), "{report}");
}

#[test]
fn its_script_passes_on_the_software_nic_with_the_probe_behind_the_pipeline() {
    for target in target::ALL {
        let engines = engines::these(&[&RMT, &PROBE], &target);
        passes(&mut SoftwareNic::with_engines(target, Default::default(), engines));
    }
}

#[test]
fn its_script_passes_on_the_rtl_in_lockstep() {
    for target in target::ALL {
        let options = RtlOptions { top: &sluice_probe::TOP, ..RtlOptions::default() };
        if let Err(error) = Plugin::find(options.top, target.name, Variant::Test) {
            assert!(std::env::var_os("SLUICE_REQUIRE_PLUGINS").is_none(), "{error}");
            println!("skipped: {error}");
            continue;
        }
        let waves = Path::new(env!("CARGO_TARGET_TMPDIR")).join("waves");
        passes(&mut Comparison::open(target.name, options, waves).unwrap());
    }
}
