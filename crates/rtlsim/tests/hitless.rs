//! Replacements of one tenant's table under full load: no packet lost, none mixed.
//!
//! The default run makes fewer replacements than the claim; `SLUICE_LONG=1` makes all 1,000,
//! and `cargo bench -p sluice-rtlsim --bench measure -- hitless` writes them down.

use crate::support::{self, BARE_TINY, Build, FULL_TINY, builds};
use crate::traffic::replacing::{Plan, Run, run};
use sluice_formats::Target;
use sluice_formats::random::test_seed;
use sluice_object::linker::{unsafe_live_bank, unsafe_order};
use sluice_object::{Load, Step};

/// Full load: the pipeline takes a beat in every cycle but those of the start.
const FULL: f64 = 0.998;

/// So many replacements, or all of them in a long run.
fn replacements(short: u32) -> u32 {
    if support::long() { 1_000 } else { short }
}

fn assert_hitless(plan: &Plan) -> Run {
    let run = run(plan);
    println!("{}", run.summary(plan));
    let faults = &run.conclusion.faults;
    assert!(faults.none(), "{faults:?}");
    assert_eq!(run.conclusion.programs_seen, u64::from(plan.replacements) + 1);
    let load = run.load(Target::by_name(plan.build.target).unwrap());
    assert!(load >= FULL, "the pipeline was busy in {load} of all cycles");
    run
}

/// Of the default target, which takes three times as long, so many.
fn short(build: Build, tiny: u32) -> u32 {
    if build.target == "tiny" { tiny } else { tiny.div_ceil(12) }
}

#[test]
fn replacements_at_full_rate_lose_nothing_and_mix_nothing() {
    let seed = test_seed("replacements_at_full_rate_lose_nothing_and_mix_nothing");
    for build in builds(&[FULL_TINY]) {
        let run = assert_hitless(&Plan::new(build, replacements(10), seed));
        assert!(build.target == "tiny" || run.entries >= 256);
    }
}

#[test]
fn replacements_on_a_small_table_lose_nothing_and_mix_nothing() {
    let seed = test_seed("replacements_on_a_small_table_lose_nothing_and_mix_nothing");
    for build in builds(&[BARE_TINY]).filter(|build| build.target == "tiny") {
        assert_hitless(&Plan::new(build, replacements(60), seed));
    }
}

#[test]
fn a_ring_that_loses_a_fifth_of_its_messages_delays_replacements_only() {
    let seed = test_seed("a_ring_that_loses_a_fifth_of_its_messages_delays_replacements_only");
    for build in builds(&[BARE_TINY]) {
        let run = assert_hitless(&Plan::new(build, replacements(short(build, 12)), seed).with_faults());
        let share = run.disturbed as f64 / run.messages as f64;
        assert!((0.18..0.23).contains(&share), "{share} of the messages were disturbed");
        assert!(run.repeated > run.messages / 20);
    }
}

/// Packets of tenants whose tables stay have the outcome and the moment that they have when
/// nothing is replaced at all.
#[test]
fn other_tenants_do_not_notice_replacements() {
    let seed = test_seed("other_tenants_do_not_notice_replacements");
    for build in builds(&[BARE_TINY]) {
        let with = assert_hitless(&Plan::new(build, short(build, 12), seed));
        let plan = Plan { rounds: with.rounds, ..Plan::new(build, 0, seed) };
        let without = run(&plan);
        assert!(without.conclusion.faults.none());
        let (with, without) = (with.conclusion.steady_outcomes, without.conclusion.steady_outcomes);
        assert_eq!(with.len(), without.len());
        let different = with.iter().zip(&without).find(|(a, b)| a != b);
        assert_eq!(different, None);
    }
}

/// The commit in the middle of the rows.
fn unsafe_half_program(load: &Load) -> Load {
    let mut load = load.clone();
    let commit = load.steps.iter().position(|s| matches!(s, Step::Commit { .. })).unwrap();
    let step = load.steps.remove(commit);
    let first = load.steps.iter().position(|s| matches!(s, Step::Write { .. })).unwrap();
    load.steps.insert(first.midpoint(commit), step);
    load
}

/// The same check must find what a wrong order of the writes does.
#[test]
fn unsafe_orders_are_found() {
    let seed = test_seed("unsafe_orders_are_found");
    for build in builds(&[BARE_TINY]) {
        for spoil in [unsafe_order as fn(&Load) -> Load, unsafe_live_bank, unsafe_half_program] {
            let plan = Plan { spoil: Some(spoil), ..Plan::new(build, 2, seed) };
            let run = run(&plan);
            let faults = run.conclusion.faults;
            println!("{build}: {faults:?}");
            assert!(faults.mixtures > 0, "the order of this load is unsafe and nothing was found");
            assert_eq!(faults.others, 0, "even an unsafe load disturbs nobody else");
        }
    }
}
