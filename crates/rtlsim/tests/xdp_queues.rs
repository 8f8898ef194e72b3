//! Tenants in front of the XDP cores: shares by what programs cost, room, counted drops, and packets that pass beside.

use crate::support;
use crate::xdp::engine::{Engine, MODULE, Rows, open_tiny};
use sluice_formats::limits::packet_id;
use sluice_formats::xdp::rows::XdpShareRow;
use sluice_formats::xdp::target::{PAGE_ROWS, Target as XdpTarget};
use sluice_formats::{Reason, Status, Table};
use sluice_rtlsim::plugin::boundary::Until;
use std::collections::BTreeMap;

/// A program for a module that goes round so often.
fn load(engine: &mut Engine, module: u8, rounds: u32) {
    let start = u16::from(module) * PAGE_ROWS as u16;
    let text = format!("r6 = 0\nround:\nr6 += 1\nif r6 < {rounds} goto round\nr0 = 2\nexit\n");
    let rows = Rows::compiled(&text, start);
    engine.load(module, 0, &rows, start);
}

fn share(engine: &mut Engine, module: u8, weight: u16, rows: u16) {
    engine.write(Table::XdpShare, module.into(), &XdpShareRow { weight, rows, ..XdpShareRow::default() });
}

/// Cycles from a packet's last beat to its verdict, with nothing else under way.
fn alone(engine: &mut Engine, module: u8) -> u64 {
    engine.offer(packet_id(1, u32::from(module)), module, &[0; 64]);
    engine.end(1);
    engine.verdicts.clear();
    let tick = engine.verdict_ticks.pop().expect("a verdict");
    engine.quiesce();
    engine.routed.clear();
    tick - engine.last_in
}

/// Bundles of a module's packet: a context has one in 5 cycles. `one` is the time of a program of one bundle.
fn bundles(engine: &mut Engine, module: u8, one: u64) -> u64 {
    (alone(engine, module) - one) / 5 + 1
}

/// Cycles in which the first packets, of modules that were alone, end.
const WARM: u64 = 50_000;

/// Keeps so many packets of each module waiting, for so many cycles behind the warm-up. Gives how many ended of each and how
/// many were dropped at the queue, and how many ended behind the warm-up.
fn load_all(engine: &mut Engine, waiting: &BTreeMap<u8, u32>, cycles: u64) -> BTreeMap<u8, (u64, u64, u64)> {
    let mut ended: BTreeMap<u8, (u64, u64, u64)> = waiting.keys().map(|m| (*m, (0, 0, 0))).collect();
    let mut offered: BTreeMap<u8, u64> = BTreeMap::new();
    let (mut number, begin) = (0, engine.nic.cycles());
    engine.verdicts.clear();
    loop {
        for verdict in std::mem::take(&mut engine.verdicts) {
            let of = ended.get_mut(&verdict.module_id).expect("one of these modules");
            let queue = verdict.dropped && verdict.reason == Reason::XdpQueue.code();
            match queue {
                true => of.1 += 1,
                false if engine.nic.cycles() - begin < WARM => of.0 += 1,
                false => (of.0, of.2) = (of.0 + 1, of.2 + 1),
            }
        }
        engine.routed.clear();
        engine.order.clear();
        if engine.nic.cycles() - begin >= WARM + cycles {
            return ended;
        }
        for (&module, &wanted) in waiting {
            let all = offered.entry(module).or_default();
            let (done, dropped, _) = ended[&module];
            while *all - done - dropped < wanted.into() {
                engine.offer_now(packet_id(0, number), module, 64, &[0; 64]);
                *all += 1;
                number += 1;
            }
        }
        engine.run(Until { max_cycles: 100, ..Until::default() });
    }
}

/// Drops of a kind that a module has counted.
fn counted(engine: &mut Engine, module: u8, reason: Reason) -> u64 {
    let words = engine.read(Table::XdpDrops, 8 * u32::from(module) + reason.kind());
    u64::from(words[0]) | u64::from(words[1]) << 32
}

#[test]
fn modules_share_the_core_by_what_their_programs_cost() {
    let Some((mut engine, _)) = open_tiny("modules_share_the_core") else { return };
    load(&mut engine, 5, 0);
    let one = {
        let rows = Rows::compiled("r0 = 2\nexit\n", 320);
        engine.load(5, 0, &rows, 320);
        alone(&mut engine, 5)
    };
    println!(
        "a bundle alone: {one} cycles to the verdict, {} to the first beat out",
        engine.first_out - engine.last_in
    );
    // The first goes round to its limit, the second floods, the others keep to their room.
    let (endless, floods) = (1, 2);
    let mut cost = BTreeMap::new();
    for (module, rounds) in [(endless, 1_000_000), (floods, 40), (3, 90), (4, 8)] {
        load(&mut engine, module, rounds);
        share(&mut engine, module, 16, 100);
        cost.insert(module, bundles(&mut engine, module, one));
    }
    assert!(cost[&endless] > 300 && cost[&4] < 30, "{cost:?}");
    let waiting = BTreeMap::from([(endless, 20), (floods, 400), (3, 40), (4, 40)]);
    let cycles = if support::long() { 4_000_000 } else { 500_000 };
    let ended = load_all(&mut engine, &waiting, cycles);
    let taken: BTreeMap<u8, u64> = ended.iter().map(|(m, (_, _, ended))| (*m, ended * cost[m])).collect();
    println!(
        "bundles a packet {cost:?}; ended, dropped, ended behind the warm-up {ended:?}; bundles {taken:?} in {cycles} cycles"
    );
    let mean = taken.values().sum::<u64>() / 4;
    for (module, bundles) in &taken {
        assert!(bundles.abs_diff(mean) * 20 <= mean, "module {module}: {bundles} of {mean} bundles");
    }
    for module in [endless, 3, 4] {
        assert_eq!(ended[&module].1, 0, "module {module} kept to its room");
        assert_eq!(counted(&mut engine, module, Reason::XdpQueue), 0);
    }
    assert!(ended[&floods].1 > 100, "the flood is lost");
    // What still waits ends too; then every drop is counted.
    engine.quiesce();
    while engine.nic.now() > 0 && engine.verdicts.is_empty() {
        engine.run(Until { quiet_cycles: 3_000, max_cycles: 1_000_000, ..Until::default() });
    }
    engine.run(Until { quiet_cycles: 3_000, max_cycles: 1_000_000, ..Until::default() });
    let late = engine.verdicts.iter().filter(|v| v.dropped && v.reason == Reason::XdpQueue.code()).count() as u64;
    assert_eq!(counted(&mut engine, floods, Reason::XdpQueue), ended[&floods].1 + late);
}

#[test]
fn a_module_has_as_much_of_the_core_as_its_weight() {
    let Some((mut engine, _)) = open_tiny("a_module_has_as_much_of_the_core_as_its_weight") else { return };
    for (module, weight) in [(1, 4), (2, 12)] {
        load(&mut engine, module, 20);
        share(&mut engine, module, weight, 100);
    }
    let ended = load_all(&mut engine, &BTreeMap::from([(1, 30), (2, 30)]), 100_000);
    let (light, heavy) = (ended[&1].2, ended[&2].2);
    assert!(light > 100 && (3 * light).abs_diff(heavy) * 20 < heavy, "{light} and {heavy}");
}

#[test]
fn packets_without_a_program_pass_beside() {
    let Some((mut engine, mut rng)) = open_tiny("packets_without_a_program_pass_beside") else { return };
    load(&mut engine, MODULE, 1_000_000);
    for n in 0..40 {
        engine.offer_now(packet_id(1, n), MODULE, 64, &[0; 64]);
    }
    engine.run(Until { max_cycles: 500, ..Until::default() });
    assert!(engine.verdicts.is_empty(), "the first goes round");
    let begin = engine.nic.cycles();
    let mut sent = Vec::new();
    for n in 0..50 {
        let length = 14 + rng.below(200) as usize;
        let frame = rng.bytes(length);
        engine.offer(packet_id(0, n), MODULE + 1, &frame);
        sent.push((packet_id(0, n), frame));
    }
    engine.run(Until { frames: 50, max_cycles: 2_000, ..Until::default() });
    assert!(engine.nic.cycles() - begin < 1_000, "they waited {} cycles", engine.nic.cycles() - begin);
    let left = engine.order.iter().map(|id| (*id, engine.routed[id].1.clone())).collect::<Vec<_>>();
    assert_eq!(left, sent, "in their order, as they came");
    // One alone takes a cycle.
    engine.offer(packet_id(0, 50), MODULE + 1, &[0; 32]);
    engine.run(Until { frames: 1, max_cycles: 100, ..Until::default() });
    assert_eq!(engine.first_out - engine.last_in, 1);
}

#[test]
fn a_module_finds_its_own_rows_however_many_others_want() {
    let Some((mut engine, _)) = open_tiny("a_module_finds_its_own_rows") else { return };
    for module in 1..=3 {
        load(&mut engine, module, 1_000_000);
    }
    // 504 rows in all: 289 for a longest frame of module 1, the rest for anybody.
    share(&mut engine, 1, 0, 289);
    let mut number = 0;
    for _ in 0..40 {
        for module in [2, 3] {
            engine.offer_now(packet_id(0, number), module, 640, &[0; 640]);
            number += 1;
        }
    }
    engine.run(Until { max_cycles: 2_000, ..Until::default() });
    let lost = engine.verdicts.iter().filter(|v| v.reason == Reason::XdpQueue.code()).count();
    let target = XdpTarget::by_name(engine.target.name);
    assert!(lost >= 80 - 215 / 20 - target.cores * target.packets, "{lost} found no room");
    engine.offer_now(packet_id(1, 0), 1, 9216, &[0; 9216]);
    engine.offer_now(packet_id(1, 1), 1, 640, &[0; 640]);
    engine.run(Until { max_cycles: 1_000, ..Until::default() });
    let of: Vec<u32> = engine.verdicts.iter().filter(|v| v.module_id == 1).map(|v| v.id).collect();
    assert_eq!(of, [packet_id(1, 1)], "the second is beyond its room");
    // Rows of the table come back, and of others there are none.
    assert_eq!(engine.read(Table::XdpShare, 1), [289 << 16, 0]);
    let asked = engine.ask(sluice_formats::Op::Read, sluice_formats::Node::Xdp, Table::XdpShare, 8, Vec::new());
    assert_eq!(asked.0, Status::BadAddress);
}

#[test]
fn frames_longer_than_their_sidebands_say_end_alone() {
    let Some((mut engine, mut rng)) = open_tiny("frames_longer_than_their_sidebands_say_end_alone") else { return };
    load(&mut engine, MODULE, 3);
    for n in 0..200 {
        let (length, wrong) = (14 + rng.below(300) as usize, n % 3 == 1);
        let said = if wrong { rng.below(length as u64 / 32 + 1) as u16 * 32 } else { length as u16 };
        let wrong = said < length as u16 && length.div_ceil(32) > usize::from(said).div_ceil(32);
        let frame = rng.bytes(length);
        engine.offer_now(packet_id(0, n), MODULE, said, &frame);
        engine.end(1);
        engine.quiesce();
        let verdict = engine.verdicts.pop().expect("it ended");
        let reason = if said == 0 { Reason::XdpQueue } else { Reason::XdpAborted };
        assert_eq!(
            (verdict.dropped, verdict.reason),
            (wrong, if wrong { reason.code() } else { 0 }),
            "{n}: {length}, {said}"
        );
        assert_eq!(engine.routed.remove(&verdict.id).map(|(_, bytes)| bytes), (!wrong).then_some(frame));
    }
}

#[test]
fn every_packet_ends_once_whatever_comes() {
    let Some((mut engine, mut rng)) = open_tiny("every_packet_ends_once_whatever_comes") else { return };
    for module in 1..=4 {
        load(&mut engine, module, 1 << (2 * module));
    }
    let mut sent: BTreeMap<u32, (u8, Vec<u8>)> = BTreeMap::new();
    let mut number = 0;
    for _ in 0..if support::long() { 400 } else { 40 } {
        let (ready, gaps) = [(0, 0), (40, 0), (200, 100), (0, 200)][rng.index(4)];
        engine.stall(ready, gaps);
        let module = 1 + rng.below(4) as u8;
        share(&mut engine, module, rng.below(40) as u16, rng.below(120) as u16);
        for _ in 0..rng.below(60) {
            // Modules 6 and 7 have no program.
            let module = [1, 2, 3, 4, 6, 7][rng.index(6)];
            let most = [50, 400, 3000][rng.index(3)];
            let length = 14 + rng.below(most) as usize;
            let frame = rng.bytes(length);
            let id = packet_id(0, number);
            engine.offer_now(id, module, length as u16, &frame);
            sent.insert(id, (module, frame));
            number += 1;
        }
        engine.run(Until { max_cycles: rng.below(4_000), ..Until::default() });
    }
    engine.stall(0, 0);
    engine.end(sent.len());
    engine.quiesce();
    assert_eq!(engine.verdicts.len(), sent.len(), "every packet ends, once");
    let mut lost = 0;
    for verdict in std::mem::take(&mut engine.verdicts) {
        let (module, frame) = &sent[&verdict.id];
        assert_eq!(verdict.module_id, *module);
        if verdict.dropped {
            assert!(*module < 6 && verdict.reason == Reason::XdpQueue.code(), "{verdict:?}");
            lost += 1;
        } else {
            assert_eq!(&engine.routed.remove(&verdict.id).expect("it left").1, frame);
        }
    }
    assert!(engine.routed.is_empty() && lost > 0);
    // Each module's packets leave in their order.
    for module in [1, 2, 3, 4, 6, 7] {
        let order: Vec<u32> = engine.order.iter().copied().filter(|id| sent[id].0 == module).collect();
        assert!(order.is_sorted() && !order.is_empty(), "module {module}");
    }
    let counts: u64 = (1..=4).map(|m| counted(&mut engine, m, Reason::XdpQueue)).sum();
    assert_eq!(counts, lost);
}
