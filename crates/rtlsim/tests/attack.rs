//! Hostile tenants beside a measured one: nothing of his may differ from what he is alone.
//!
//! A hostile tenant has random valid programs of every kind (tables, rows that no compiler would think of, 64 bytes more a packet, copies to
//! all destinations, meters, state, XDP programs whose frames become as long as they may, rules of message dispatch with floods of first
//! packets and chosen message IDs), sends whatever he likes as fast as the ports take it, and replaces, unloads and updates his own while
//! packets flow. The linker alone gives out pages, grants, quotas, weights, VLANs and shares. The measured tenant arrives on one port,
//! within his share, and uses no meter, time or queue depth; he has a program of the pipeline, or an XDP program with a map, or rules of message
//! dispatch. Unless he has an XDP program and no context of his own, their XDP programs loop to their limits, fight for locks, hammer on a word,
//! flood ring buffers and call themselves; some of them own contexts. Packets, order, bytes, state words, hits, values, counters and drops have to be those that he has alone on the device, on the RTL and
//! on the software NIC, and on both the same. His largest wait keeps to the linker's bound, and a tenant's of the pipeline his latency.
//!
//! `SLUICE_LONG=1` offers a million packets.

use crate::attacking::measured::{Differences, Kind, Seen, differences};
use crate::attacking::run::{Plan, run};
use crate::support;
use sluice_formats::random::test_seed;
use sluice_formats::{Target, target};
use sluice_nic::SoftwareNic;
use sluice_nic::software::Options;
use sluice_rtlsim::{RtlNic, RtlOptions, Variant};

/// Frames of a long run, on each target.
const LONG_FRAMES: u64 = 1_000_000;
/// Ticks of frames of one trial.
const TICKS: u64 = 6_000;
const LONG_TICKS: u64 = 40_000;

fn model(target: &Target) -> SoftwareNic {
    SoftwareNic::with_options(*target, Options { limit_port_fifos: true, ..Options::default() })
}

fn rtl(target: &Target, seed: u64) -> RtlNic {
    RtlNic::open(target.name, RtlOptions { seed, ..RtlOptions::default() }).unwrap()
}

/// Nothing may differ.
fn assert_same(what: &str, plan: &Plan, one: &Seen, other: &Seen) {
    let found = differences(one, other);
    let (kind, hostile) = (plan.grant.kind, plan.hostile.len());
    assert_eq!(found, Differences::default(), "{what}, {kind:?}, {hostile} hostile, seed {}: {found:#?}", plan.seed);
}

/// As soon as the linker says.
fn assert_in_time(what: &str, plan: &Plan, seen: &Seen) {
    let Plan { wait, within, seed, .. } = plan;
    assert!(seen.waited <= *wait, "{what}: waited {} ticks at the port, {wait} allowed; seed {seed}", seen.waited);
    // Engines after the pipeline have no bound yet but that of losing nothing.
    for (to, latency) in seen.latency.iter().filter(|_| plan.grant.kind == Kind::Rmt) {
        let within = within[to];
        assert!(*latency <= within, "{what}: latency {latency} to {to}, {within} allowed; seed {seed}");
    }
}

/// A plan on the software NIC. Gives what was seen of the measured tenant alone, and the frames that were offered.
fn attack_model(plan: &Plan) -> (Seen, u64) {
    let (alone, _) = run(model(plan.target), plan, false);
    let (beside, done) = run(model(plan.target), plan, true);
    let [first, second] = plan.to();
    println!(
        "{} model, {:?} beside {} hostile: {} packets, {first} and {second} to his destinations; waited {}, latency {:?}; {done:?}",
        plan.target.name,
        plan.grant.kind,
        plan.hostile.len(),
        plan.sent.len(),
        beside.waited,
        beside.latency,
    );
    assert_eq!(usize::from(done.tenants), plan.hostile.len());
    let lost: u64 = alone.packets.iter().filter(|copies| copies.is_empty()).count() as u64;
    assert_eq!(lost, 0, "packets without an outcome");
    assert_same("software NIC", plan, &alone, &beside);
    assert_in_time("software NIC", plan, &beside);
    (alone, done.frames)
}

/// A plan on the software NIC, and on the RTL. Gives the frames that were offered to the latter.
fn attack(plan: &Plan) -> u64 {
    let (alone, frames) = attack_model(plan);
    if !support::has(plan.target.name, Variant::Test) {
        return frames;
    }
    let (alone_rtl, _) = run(rtl(plan.target, plan.seed), plan, false);
    let (beside, done) = run(rtl(plan.target, plan.seed), plan, true);
    println!(
        "{} rtl, {:?} beside {} hostile, shared {}: {} packets of {} frames; waited {} (alone {}, bound {}), latency {:?} (alone {:?}, \
         bound {:?}), median {} (alone {}); {done:?}",
        plan.target.name,
        plan.grant.kind,
        plan.hostile.len(),
        plan.shared,
        plan.sent.len(),
        done.frames,
        beside.waited,
        alone_rtl.waited,
        plan.wait,
        beside.latency,
        alone_rtl.latency,
        plan.within,
        beside.median,
        alone_rtl.median,
    );
    let on_both = Seen { arrivals: alone_rtl.arrivals.clone(), ..alone };
    assert_same("software NIC and RTL, alone", plan, &on_both, &alone_rtl);
    assert_same("RTL", plan, &alone_rtl, &beside);
    assert_in_time("RTL", plan, &beside);
    done.frames
}

/// Trials with each of these numbers of hostile tenants; over and over in a long run.
fn attacks(test: &str, target: &'static Target, hostile: &[u16]) {
    let mut seed = test_seed(test);
    let mut frames = 0;
    loop {
        for (&count, kind) in
            hostile.iter().flat_map(|count| [Kind::Rmt, Kind::Xdp, Kind::L7].map(|kind| (count, kind)))
        {
            seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let ticks = if support::long() { LONG_TICKS } else { TICKS };
            frames += attack(&Plan::draw(target, seed, kind, count, ticks));
        }
        if !support::long() || frames >= LONG_FRAMES {
            break;
        }
    }
    println!("{test}: {frames} frames");
}

#[test]
fn nothing_differs_beside_hostile_tenants_on_the_tiny_target() {
    attacks("nothing_differs_beside_hostile_tenants_on_the_tiny_target", &target::TINY, &[1, 3, 6]);
}

#[test]
fn nothing_differs_beside_hostile_tenants_on_the_default_target() {
    attacks("nothing_differs_beside_hostile_tenants_on_the_default_target", &target::DEFAULT, &[1, 5, 62]);
}

/// A hostile tenant with longest packets for seven destinations: the eighth, his, waited for a whole packet of each on the software NIC.
#[test]
fn longest_packets_for_all_other_destinations_cost_him_nothing() {
    attack_model(&Plan::draw(&target::DEFAULT, 2_934_042_259_661_906_831, Kind::Rmt, 1, LONG_TICKS));
}

/// The plan counted his messages as shorter than they are, so that he sent more than his share.
#[test]
fn messages_beside_62_hostile_tenants_keep_to_a_share_of_few_beats() {
    attack_model(&Plan::draw(&target::DEFAULT, 2_298_681_937_032_766_083, Kind::L7, 62, LONG_TICKS));
}

/// Without the hostile tenant's XDP program his burst is two beats less, which the plan did not count.
#[test]
fn a_share_is_the_least_whatever_hostile_tenants_run() {
    attack_model(&Plan::draw(&target::DEFAULT, 2_148_698_493_683_927_815, Kind::Rmt, 1, LONG_TICKS));
}

/// His messages wait at the port and come in a burst. By default he had a quota of 4 on their way, less than the packets that are reserved for
/// him, and the fifth was lost.
#[test]
fn a_burst_of_messages_that_his_packets_hold_loses_none() {
    attack(&Plan::draw(&target::TINY, 16_483_435_311_544_798_631, Kind::L7, 3, LONG_TICKS));
}
