//! Tenants that own contexts of the XDP cores: their packets wait for no long packet of another one, whatever that does
//! (docs/decisions/xdp-grows.md, "Shares").
//!
//! Each run has a twin in which nobody owns a context: it shows what would be. The default target runs where `make plugins` has built it.

use crate::support;
use crate::xdp::engine::{Rows, open_tiny};
use crate::xdp::tenants::{Comes, Does, Seen, Tenants};
use sluice_formats::limits::packet_id;
use sluice_formats::random::test_seed;
use sluice_formats::target::{DEFAULT, TINY};
use sluice_formats::xdp::rows::{XdpPoolRow, XdpShareRow};
use sluice_formats::xdp::target::{PAGE_ROWS, Target as XdpTarget};
use sluice_formats::{Table, Target};
use sluice_rtlsim::plugin::boundary::Until;
use sluice_rtlsim::{Plugin, RtlNic, RtlOptions, Variant, top};
use std::collections::{BTreeMap, BTreeSet};

/// Back edges of a packet: above those up to which packets borrow.
const WORK: u32 = 2_000;
/// What the owner does, one after the other: arithmetic, values, the map engine, a helper.
const OWNERS: [Does; 4] = [Does::Rounds(12), Does::Counts, Does::Looks, Does::Sums];
const TROUBLE: [Does; 9] = [
    Does::Endless,
    Does::Fights,
    Does::Hammers,
    Does::Collides,
    Does::Tells,
    Does::Jumps,
    Does::Moves,
    Does::Locks,
    Does::Fills,
];

/// The tiny target, and the default one where `make plugins` has built it, which `make test` does not.
fn targets() -> Vec<&'static Target> {
    let mut targets = vec![&DEFAULT];
    targets.retain(|target| support::long() || Plugin::find(&top::XDP, target.name, Variant::Test).is_ok());
    targets.push(&TINY);
    targets.retain(|target| support::has_top(&top::XDP, target.name, Variant::Test));
    targets
}

/// Cycles within which a packet of an owner ends whose queue was empty when it came.
///
/// - Packets in front of it leave their queues a beat a cycle, no more of them than all cores have slots; the scheduler passes over a module in
///   debt in 4 cycles, and over what waits for the pool in 6.
/// - Its context is free: it comes with the bay. It runs as long as it would in a full core: a bundle each 5 cycles, or as many as there are
///   contexts, and up to three more. An access, an operation or a call waits once for each other context's longest: an event is
///   written by one core at a time.
/// - Frames that have a verdict before it leave first, 4 of each core.
fn bound(target: &Target, trouble: Does, owner: Does) -> u64 {
    let xdp = XdpTarget::by_name(target.name);
    let (contexts, all) = (xdp.contexts as u64, (xdp.cores * xdp.contexts) as u64);
    let beats = |bytes: u64| bytes.div_ceil(xdp.bus_bytes as u64);
    // As many as have room in the cores' memory, and one more that has begun.
    let memory = (xdp.cores * xdp.memory * 64) as u64 + 9_216;
    let queued = beats(memory.min(((xdp.cores * xdp.packets) as u64 + 1) * trouble.length() as u64))
        + 4 * xdp.modules as u64
        + 6;
    let operation = trouble.longest_operation().max(owner.longest_operation());
    let call = trouble.longest_call().max(owner.longest_call());
    let runs = owner.bundles(WORK) * (5.max(contexts) + 3)
        + owner.accesses() * (6 + all)
        + owner.operations() * (6 + all * operation)
        + owner.calls() * (6 + all * call);
    queued + runs + 16 + 4 * xdp.cores as u64 * beats(trouble.length() as u64 + 64)
}

/// Tenants with these programs on the engine of a target; the last `owners` own a context of each core.
fn tenants(target: &'static Target, seed: u64, does: &[Does], work: u32, owners: usize) -> Tenants {
    let options = RtlOptions { top: &top::XDP, seed, check_accounting: true, ..RtlOptions::default() };
    let device = RtlNic::open(target.name, options).unwrap_or_else(|e| panic!("{e}"));
    Tenants::new(device, target, does, (work, owners, false))
}

/// The last tenant's packets beside the others, which do as much as they can.
fn beside(target: &'static Target, seed: u64, trouble: Does, owner: Does, owners: usize) -> Seen {
    // Two that make trouble, with more packets than slots.
    let does = [trouble, trouble, owner];
    let bound = bound(target, trouble, owner);
    let comes = [Comes::Waiting(48), Comes::Waiting(48), Comes::Each(bound)];
    let cycles = if support::long() { 1_000 * bound } else { 150 * bound };
    tenants(target, seed, &does, WORK, owners).run(&comes, 0, cycles)[2]
}

#[test]
fn an_owner_waits_for_nobodys_long_packets() {
    for target in targets() {
        let seed = test_seed("an_owner_waits_for_nobodys_long_packets");
        let mut worse = 0;
        for (number, trouble) in TROUBLE.into_iter().enumerate() {
            // Each trouble beside one of them, each of them beside two at least; for long, all beside all.
            for owner in OWNERS.into_iter().cycle().skip(number).take(if support::long() { 4 } else { 1 }) {
                let (with, bound) = (beside(target, seed, trouble, owner, 1), bound(target, trouble, owner));
                let without = beside(target, seed, trouble, owner, 0);
                println!(
                    "{}: {owner:?} beside {trouble:?}: at most {} cycles of {bound}, {} through, {} lost; without a context of its own {}, {} through, {} lost",
                    target.name, with.longest, with.through, with.lost, without.longest, without.through, without.lost
                );
                assert!(with.lost == 0 && with.through >= 8 && with.longest <= bound, "{owner:?}: {with:?} of {bound}");
                worse += usize::from(without.lost > 0 || without.longest > bound || without.through == 0);
            }
        }
        assert!(worse >= OWNERS.len() + 2, "without contexts of its own {worse} are as well off");
    }
}

/// Who works little takes contexts that are owned and not used. One comes back when its packet ends, which is no more than its limit away: packets that
/// wait for others, for a lock, take none.
#[test]
fn a_context_that_is_lent_comes_back_within_a_packet() {
    const LITTLE: u32 = 300;
    for target in targets() {
        let seed = test_seed("a_context_that_is_lent_comes_back_within_a_packet");
        let mut lent = 0;
        for trouble in [Does::Endless, Does::Locks, Does::Fights, Does::Hammers] {
            let (owner, xdp) = (Does::Counts, XdpTarget::by_name(target.name));
            let (contexts, all) = (xdp.contexts as u64, (xdp.cores * xdp.contexts) as u64);
            let packet = trouble.bundles(LITTLE) * (5.max(contexts) + 3) + trouble.accesses() * (6 + all);
            let own = bound(target, trouble, owner);
            let bound = own + if trouble.waits() { 0 } else { packet };
            // The owner's packets come so seldom that others have taken his contexts in between.
            let each = 2 * bound + 16 * packet;
            let comes = [Comes::Waiting(48), Comes::Waiting(48), Comes::Each(each)];
            let does = [trouble, trouble, owner];
            let seen = tenants(target, seed, &does, LITTLE, 1).run(&comes, 0, 12 * each)[2];
            println!("{}: {owner:?} beside {trouble:?}: at most {} cycles of {bound}", target.name, seen.longest);
            assert!(seen.lost == 0 && seen.through >= 8 && seen.longest <= bound, "{trouble:?}: {seen:?} of {bound}");
            lent += u64::from(seen.longest > own);
        }
        assert!(lent > 0, "nobody has borrowed");
    }
}

/// Two owners, of whom one makes trouble himself: each has the bound of his own, whatever the other one and those without contexts do.
#[test]
fn two_owners_wait_for_neither_each_other_nor_the_rest() {
    // On tiny one tenant owns contexts at most.
    let Some(target) = targets().into_iter().find(|target| target.name != TINY.name) else { return };
    let seed = test_seed("two_owners_wait_for_neither_each_other_nor_the_rest");
    for (number, trouble) in TROUBLE.into_iter().enumerate() {
        let (quiet, other) = (OWNERS[number % OWNERS.len()], OWNERS[(number + 1) % OWNERS.len()]);
        // The first owner as quiet as the second, and as one who loops to his limit in contexts of his own.
        for first in [other, Does::Endless] {
            let bounds = [first, quiet].map(|does| bound(target, trouble, does));
            let far = bounds[0].max(bounds[1]);
            let comes = [Comes::Waiting(48), Comes::Waiting(48), Comes::Each(bounds[0]), Comes::Each(bounds[1])];
            let rounds = if support::long() { 300 } else { 60 };
            let cycles = if first == Does::Endless { rounds / 5 * far } else { rounds * far };
            let seen = tenants(target, seed, &[trouble, trouble, first, quiet], WORK, 2).run(&comes, 0, cycles);
            for ((does, seen), bound) in [first, quiet].into_iter().zip(&seen[2..]).zip(bounds) {
                println!(
                    "{}: {does:?} of {first:?} and {quiet:?} beside {trouble:?}: at most {} cycles of {bound}, {} through, {} lost",
                    target.name, seen.longest, seen.through, seen.lost
                );
                assert!(seen.lost == 0 && seen.through >= 8 && seen.longest <= bound, "{does:?}: {seen:?} of {bound}");
            }
        }
    }
}

/// Contexts and bays are given and taken while others' packets are under way: every packet ends once, whole, and in the order of its flow.
#[test]
fn contexts_come_and_go_under_traffic() {
    let Some((mut engine, mut rng)) = open_tiny("contexts_come_and_go_under_traffic") else { return };
    let units = XdpTarget::by_name(engine.target.name).memory_units();
    for module in 1..=4u8 {
        let start = u16::from(module) * PAGE_ROWS as u16;
        let rounds = 1 << (2 * module);
        let text = format!("r6 = 0\nround:\nr6 += 1\nif r6 < {rounds} goto round\nr0 = 2\nexit\n");
        engine.load(module, 0, &Rows::compiled(&text, start), start);
    }
    // By ID: module, flow, frame.
    let mut sent: BTreeMap<u32, (u8, u32, Vec<u8>)> = BTreeMap::new();
    let (mut owner, mut given, mut number) = (None, 0, 0);
    for _ in 0..if support::long() { 1_000 } else { 100 } {
        let (ready, gaps) = [(0, 0), (40, 0), (200, 100), (0, 200)][rng.index(4)];
        engine.stall(ready, gaps);
        let gone: BTreeSet<u32> = engine.verdicts.iter().map(|verdict| verdict.id).collect();
        let is_idle = |module: u8| sent.iter().all(|(id, (of, ..))| *of != module || gone.contains(id));
        match owner {
            Some(module) if is_idle(module) => {
                engine.write(Table::XdpShare, module.into(), &XdpShareRow::default());
                engine.write(Table::XdpPool, 0, &XdpPoolRow::default());
                owner = None;
            }
            None => {
                let module = 1 + rng.below(4) as u8;
                if is_idle(module) {
                    let own = XdpShareRow { contexts: 1, first: units - 1, units: 1, ..XdpShareRow::default() };
                    engine.write(Table::XdpPool, 0, &XdpPoolRow { reserved: 1 });
                    engine.write(Table::XdpShare, module.into(), &own);
                    (owner, given) = (Some(module), given + 1);
                }
            }
            Some(_) => {}
        }
        let but = 1 + rng.below(4) as u8;
        for _ in 0..rng.below(40) {
            let module = 1 + rng.below(4) as u8;
            if module == but {
                continue;
            }
            let most = [50, 200, 400, 3000][rng.index(4)];
            let length = 14 + rng.below(most) as usize;
            let (frame, flow) = (rng.bytes(length), rng.below(4) as u32);
            let id = packet_id(0, number);
            engine.offer_flow(id, module, flow, &frame);
            sent.insert(id, (module, flow, frame));
            number += 1;
        }
        engine.run(Until { max_cycles: rng.below(4_000), ..Until::default() });
    }
    engine.stall(0, 0);
    engine.end(sent.len());
    engine.quiesce();
    println!("{} packets, contexts given {given} times", sent.len());
    assert!(given > 10, "contexts were given {given} times");
    assert_eq!(engine.verdicts.len(), sent.len(), "every packet ends, once");
    let mut last: BTreeMap<(u8, u32), u32> = BTreeMap::new();
    for verdict in std::mem::take(&mut engine.verdicts) {
        let (module, flow, frame) = &sent[&verdict.id];
        assert!(!verdict.dropped && verdict.module_id == *module, "{verdict:?}");
        assert_eq!(&engine.routed[&verdict.id].1, frame, "packet {:#x}", verdict.id);
        let before = last.insert((*module, *flow), verdict.id);
        assert!(before < Some(verdict.id), "packet {:#x} left behind {before:?}", verdict.id);
    }
}
