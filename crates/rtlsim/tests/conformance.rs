//! The trait's checks on the RTL, alone and in lockstep with the model.
//!
//! On the bare NIC of the tiny target, in lockstep on the whole one; `SLUICE_LONG=1` runs it on all.

use crate::support::{self, BARE_TINY, FULL_TINY, builds};
use sluice_formats::random::test_seed;
use sluice_nic::conformance;
use sluice_rtlsim::{Comparison, Faults, RtlOptions};

#[test]
fn the_rtl_keeps_the_contract_on_every_target() {
    for build in builds(&[BARE_TINY]) {
        conformance::run_all(|| Box::new(build.open(build.options(1))));
    }
}

#[test]
fn the_rtl_keeps_the_contract_with_stalls_everywhere_and_a_faulty_ring() {
    let seed = test_seed("the_rtl_keeps_the_contract_with_stalls_everywhere_and_a_faulty_ring");
    let faults = Faults { drop: 13, corrupt: 13, duplicate: 13, delay: 13, longest_delay: 500 };
    for build in builds(&[BARE_TINY]).filter(|build| build.target == "tiny") {
        let options = RtlOptions { stalls: support::stalls(), faults, ..build.options(seed) };
        conformance::run_all(|| Box::new(build.open(options.clone())));
    }
}

/// On the whole NIC.
#[test]
fn rtl_and_model_in_lockstep_keep_the_contract() {
    for build in builds(&[FULL_TINY]).filter(|build| build.target == "tiny") {
        let open = || Comparison::open(build.target, build.options(1), support::waves_folder()).unwrap();
        conformance::run_all(|| Box::new(open()));
    }
}
