//! The trait's checks on the RTL, alone and in lockstep with the model.
//!
//! `SLUICE_LONG=1` also reads every row of the targets above the tiny one, which takes minutes.

use crate::support;
use sluice_formats::random::test_seed;
use sluice_formats::target;
use sluice_nic::conformance;
use sluice_rtlsim::{Comparison, Faults, RtlNic, RtlOptions, Variant};

#[test]
fn the_rtl_keeps_the_contract_on_every_target() {
    for target in target::ALL.into_iter().filter(|t| support::has(t.name, Variant::Test)) {
        let short = target.name != "tiny" && !support::long();
        let left_out: &[&str] = if short { &[conformance::EVERY_ROW] } else { &[] };
        conformance::run_all_but(left_out, || Box::new(RtlNic::open(target.name, RtlOptions::default()).unwrap()));
    }
}

#[test]
fn the_rtl_keeps_the_contract_with_stalls_everywhere_and_a_faulty_ring() {
    let seed = test_seed("the_rtl_keeps_the_contract_with_stalls_everywhere_and_a_faulty_ring");
    let faults = Faults { drop: 13, corrupt: 13, duplicate: 13, delay: 13, longest_delay: 500 };
    let options = RtlOptions { seed, stalls: support::stalls(), faults, ..RtlOptions::default() };
    if support::has("tiny", Variant::Test) {
        conformance::run_all(|| Box::new(RtlNic::open("tiny", options.clone()).unwrap()));
    }
}

#[test]
fn rtl_and_model_in_lockstep_keep_the_contract() {
    if support::has("tiny", Variant::Test) {
        conformance::run_all(|| {
            Box::new(Comparison::open("tiny", RtlOptions::default(), support::waves_folder()).unwrap())
        });
    }
}
