//! Tenants of the XDP engine beside others that make trouble: one goes round to its limit, one looks up keys that all lie in one chain, one adds to
//! one word again and again.
//!
//! Each run has a twin in which those that make trouble run a plain program with the same weight. 8 tenants on the default target; the tiny one has 7
//! modules beside the system's. `SLUICE_LONG=1` runs sixteen times as long, with eight times the work.

use crate::support;
use crate::xdp::tenants::{Comes, Does, Seen, Tenants};
use sluice_formats::Target;
use sluice_formats::random::test_seed;
use sluice_formats::target::{DEFAULT, TINY};
use sluice_formats::xdp::target::Target as XdpTarget;
use sluice_rtlsim::{RtlNic, RtlOptions, Variant, top};

/// What the others do, of whom each is to keep its share.
const OTHERS: [Does; 7] =
    [Does::Rounds(5), Does::Rounds(40), Does::Counts, Does::Looks, Does::Rounds(20), Does::Rounds(12), Does::Rounds(8)];
/// What runs in the place of trouble in a run without any.
const PLAIN: Does = Does::Rounds(20);

/// The tiny one; for long the default one too, whose plug-in `make test` does not build.
fn targets() -> &'static [&'static Target] {
    if support::long() { &[&DEFAULT, &TINY] } else { &[&TINY] }
}

/// Those that make trouble, and the others in the places that are left.
fn with(target: &Target, trouble: &[Does]) -> Vec<Does> {
    let tenants = if target.name == "tiny" { 7 } else { 8 };
    trouble.iter().chain(&OTHERS).copied().take(tenants).collect()
}

/// Back edges of a packet. An endless one is to end often enough within a run that what it has more or less than its share is little.
fn work() -> u32 {
    if support::long() { 8_000 } else { 1_000 }
}

fn cycles() -> u64 {
    if support::long() { 4_000_000 } else { 250_000 }
}

fn open(target: &'static Target, seed: u64, does: &[Does], warp: bool) -> Tenants {
    let options = RtlOptions { top: &top::XDP, seed, check_accounting: true, ..RtlOptions::default() };
    let device = RtlNic::open(target.name, options).unwrap_or_else(|e| panic!("{e}"));
    Tenants::new(device, target, does, (work(), 0, warp))
}

/// What becomes of everybody's packets when all of them want more than there is.
fn crowded(target: &'static Target, seed: u64, does: &[Does], warp: bool) -> Vec<Seen> {
    // Within each one's own rows, so that nothing is lost.
    let waiting = if target.name == "tiny" { 30 } else { 80 };
    let seen = open(target, seed, does, warp).run(&vec![Comes::Waiting(waiting); does.len()], 40_000, cycles());
    assert!(seen.iter().all(|seen| seen.lost == 0), "{seen:?}");
    seen
}

/// Whether each of the others has at least 95 % of the packets through that it has beside a plain program.
fn keep_their_share(test: &str, target: &'static Target, trouble: &[Does]) {
    if !support::has_top(&top::XDP, target.name, Variant::Test) {
        return;
    }
    let seed = test_seed(test);
    let does = with(target, trouble);
    let twin = with(target, &vec![PLAIN; trouble.len()]);
    let (beside, without) = (crowded(target, seed, &does, false), crowded(target, seed, &twin, false));
    let rows: Vec<(Does, u64, u64)> =
        does.iter().zip(&beside).zip(&without).map(|((does, b), w)| (*does, b.through, w.through)).collect();
    println!("{}, beside {trouble:?}: program, packets through, without trouble: {rows:?}", target.name);
    for (does, beside, without) in &rows[trouble.len()..] {
        assert!(*without > 100 && 100 * beside >= 95 * without, "{}: {does:?} has {beside} of {without}", target.name);
    }
    assert!(beside[..trouble.len()].iter().all(|seen| seen.through > 0), "trouble has its share too: {rows:?}");
}

#[test]
fn others_keep_their_share_beside_one_that_goes_round() {
    for target in targets() {
        keep_their_share("others_keep_their_share_beside_one_that_goes_round", target, &[Does::Endless]);
    }
}

#[test]
fn others_keep_their_share_beside_one_that_hammers_on_a_word() {
    for target in targets() {
        keep_their_share("others_keep_their_share_beside_one_that_hammers_on_a_word", target, &[Does::Hammers]);
    }
}

#[test]
fn others_keep_their_share_beside_one_whose_keys_collide() {
    for target in targets() {
        keep_their_share("others_keep_their_share_beside_one_whose_keys_collide", target, &[Does::Collides]);
    }
}

#[test]
fn others_keep_their_share_beside_one_whose_packets_fight_for_a_lock() {
    for target in targets() {
        keep_their_share("others_keep_their_share_beside_one_whose_packets_fight_for_a_lock", target, &[Does::Fights]);
    }
}

#[test]
fn others_keep_their_share_beside_two_that_make_trouble() {
    let trouble = [Does::Endless, Does::Hammers];
    for target in targets() {
        keep_their_share("others_keep_their_share_beside_two_that_make_trouble", target, &trouble);
    }
}

#[test]
fn a_flood_of_verdicts_takes_nothing_of_the_cores() {
    let test = "a_flood_of_verdicts_takes_nothing_of_the_cores";
    if !support::has_top(&top::XDP, TINY.name, Variant::Test) {
        return;
    }
    // Of the first four all is decided before a core has them.
    let does = [
        Does::Rounds(5),
        Does::Rounds(6),
        Does::Rounds(8),
        Does::Rounds(12),
        Does::Rounds(40),
        Does::Rounds(20),
        Does::Counts,
    ];
    let seed = test_seed(test);
    let (with, without) = (crowded(&TINY, seed, &does, true), crowded(&TINY, seed, &does, false));
    let rows: Vec<(Does, u64, u64)> =
        does.iter().zip(&with).zip(&without).map(|((does, w), o)| (*does, w.through, o.through)).collect();
    println!("program, packets through with tables, without: {rows:?}");
    for (does, with, without) in rows {
        assert!(without > 100 && 100 * with >= 95 * without, "{does:?} has {with} of {without}");
    }
}

/// Cycles within which a packet ends whose queue was empty when it came, from what docs/design/hxdp-core.md says.
///
/// - A context has a bundle each 5 cycles, or as many as there are contexts in its core; up to three more are kept free for a late result, and the
///   packet's own late result takes 6 more. A bundle that reaches values or the map engine waits for each context of both cores once, for a cycle or for
///   the longest operation of the map engine. So T, the longest time of a packet in its context.
/// - Who wants a lock waits for each other context once, for as long as that one's whole packet takes.
/// - Slots have no parts by module: all of the packet's core may hold packets of the longest kind, and contexts take them one after the other: T times
///   slots by contexts.
/// - In the queues each other module may have its turn before: 16 bundles for each of its weight of 16, and what its last packet has more. That are at
///   most one packet more than fit into the turn. What one counted as too little is a debt, and paid before its next turn.
/// - Then it runs itself. Rows in and out, with those of the packets before it, take less than 16 cycles a packet.
fn bound(target: &Target, does: &[Does], victim: Does) -> u64 {
    let xdp = XdpTarget::by_name(target.name);
    let (contexts, slots, all) = (xdp.contexts as u64, xdp.packets as u64, (xdp.cores * xdp.contexts) as u64);
    let operation = does.iter().map(|d| d.longest_operation()).max().unwrap_or(0);
    let bundle = 5.max(contexts) + 3;
    let alone =
        |d: &Does| d.bundles(work()) * bundle + d.accesses() * (6 + all) + d.operations() * (6 + all * operation) + 16;
    let time = |d: &Does| alone(d) * if d.waits() { all } else { 1 };
    let longest = does.iter().map(time).max().unwrap_or(0);
    let turn = |d: &Does| (256u64.div_ceil(d.bundles(work()).min(256)) + 1) * time(d);
    let turns: u64 = does.iter().map(turn).sum();
    (slots * longest + turns).div_ceil(contexts) + time(&victim)
}

/// The others send less than their share, those that make trouble as much as they can: nobody waits for longer than the bound.
fn wait_within_the_bound(test: &str, target: &'static Target, trouble: &[Does]) {
    if !support::has_top(&top::XDP, target.name, Variant::Test) {
        return;
    }
    let does = with(target, trouble);
    let xdp = XdpTarget::by_name(target.name);
    let waiting = if target.name == "tiny" { 30 } else { 80 };
    let comes = does.iter().enumerate().map(|(tenant, d)| match tenant < trouble.len() {
        true => Comes::Waiting(waiting),
        // A packet comes when the one before has ended for sure.
        false => Comes::Each(bound(target, &does, *d)),
    });
    let comes: Vec<Comes> = comes.collect();
    let longest = OTHERS.iter().map(|d| bound(target, &does, *d)).max().unwrap_or(0);
    let seen = open(target, test_seed(test), &does, false).run(&comes, 0, cycles().max(10 * longest));
    for (does_it, seen) in does.iter().zip(&seen).skip(trouble.len()) {
        let bound = bound(target, &does, *does_it);
        println!(
            "{} ({} contexts), beside {trouble:?}: {does_it:?} {} packets, at most {} cycles of {bound}",
            target.name, xdp.contexts, seen.through, seen.longest
        );
        assert!(seen.lost == 0 && seen.through >= 8 && seen.longest <= bound, "{does_it:?}: {seen:?}, bound {bound}");
    }
}

#[test]
fn a_packet_waits_for_no_longer_than_the_turns_and_slots_of_others() {
    for target in targets() {
        for trouble in [Does::Endless, Does::Collides, Does::Hammers, Does::Fights] {
            wait_within_the_bound("a_packet_waits_for_no_longer", target, &[trouble]);
        }
    }
}
