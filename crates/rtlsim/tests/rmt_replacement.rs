//! One of three CALC tenants is replaced while all of them fill the rmt pipeline.

use crate::replacing::{Order, REPLACED, Run, Version, run};
use crate::support;
use sluice_formats::random::test_seed;
use sluice_formats::rmt::target::{DEFAULT, TINY, Target};
use sluice_rtlsim::{Comparison, RtlNic, RtlOptions, Variant, top};

/// A safe order runs beside the model, which has no mixture to show: it sees rows and commits between packets only.
fn replaced(target: &Target, order: Order) -> Option<Run> {
    let seed = test_seed("rmt_replacement");
    let options = RtlOptions { top: &top::RMT, seed, ..RtlOptions::default() };
    let lengths = (300, 3_500);
    support::has_top(&top::RMT, target.name, Variant::Test).then(|| match order {
        Order::Safe => {
            let nic = Comparison::open(target.name, options, support::waves_folder()).unwrap();
            run(nic, |nic| nic.rtl().load_step(), order, lengths, seed)
        }
        _ => run(RtlNic::open(target.name, options).unwrap(), RtlNic::load_step, order, lengths, seed),
    })
}

fn nothing_is_lost_or_mixed(target: &Target) {
    let Some(run) = replaced(target, Order::Safe) else { return };
    assert_eq!((run.lost, run.answers.len()), (0, run.offered));
    assert_eq!((run.mixtures(), run.others_changed(), run.steps_back()), (0, 0, 0));
    let all = 0..u64::MAX;
    let (old, new) = (run.count(REPLACED, Version::Old, &all), run.count(REPLACED, Version::New, &all));
    assert!(old > 100 && new > 100, "{old} old and {new} new answers");
}

#[test]
fn a_replaced_calc_answers_all_old_or_all_new_and_loses_nothing_on_the_tiny_target() {
    nothing_is_lost_or_mixed(&TINY);
}

#[test]
fn a_replaced_calc_answers_all_old_or_all_new_and_loses_nothing_on_the_default_target() {
    nothing_is_lost_or_mixed(&DEFAULT);
}

#[test]
fn a_commit_before_the_rows_loses_packets() {
    let Some(run) = replaced(&TINY, Order::CommitFirst) else { return };
    assert!(run.lost > 0, "{run:?}");
    assert_eq!(run.others_changed(), 0);
}

#[test]
fn a_commit_amidst_the_rows_shows_as_mixtures() {
    let Some(run) = replaced(&TINY, Order::CommitAmidst) else { return };
    assert!(run.mixtures() > 0, "{run:?}");
    assert_eq!(run.others_changed(), 0);
}
