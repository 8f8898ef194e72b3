//! RTL and model agree on everything, over random configurations, traffic, stalls and commits.
//!
//! - every byte, reason, sideband and counter is equal (`Comparison` fails at the first that is not)
//! - the packets of a port, module and destination leave in the order they came
//! - the generation of a module never goes back behind a commit (`Comparison`)
//! - each tail drop had a full queue (`Comparison`, and an assertion in the RTL)

#[path = "support/random_frames.rs"]
mod frames;
mod support;

use frames::Pool;
use sluice_formats::hash::set_hashes;
use sluice_formats::limits::KEY_BYTES;
use sluice_formats::random::{Rng, test_seed};
use sluice_formats::rows::*;
use sluice_formats::{Node, Table, Target};
use sluice_nic::{Device, Event, Offer, Verdict};
use sluice_object::Step;
use sluice_rtlsim::{Comparison, Ready, RtlOptions, Stalls};
use std::collections::HashMap;

/// Configurations and packets of one run; `SLUICE_LONG=1` makes ten times as many.
const CONFIGURATIONS: u64 = 100;
const ROUNDS: u64 = 10;
const PACKETS_A_ROUND: usize = 50;

#[derive(Default, Debug)]
struct Totals {
    configurations: u64,
    packets: u64,
    outputs: u64,
    commits: u64,
    tail_drops: u64,
    overloads: u64,
    snapshots: u64,
    ticks: u64,
}

fn stalls(rng: &mut Rng) -> Stalls {
    let ready = match rng.below(5) {
        0 => Ready::Always,
        1 => Ready::Random { chance: 128 },
        2 => Ready::Random { chance: 8 },
        3 => Ready::Bursts { chance: 100, longest: 40 },
        _ => Ready::Bursts { chance: 200, longest: 8 },
    };
    let mut part = |of: u64| if rng.chance(1, 2) { 0 } else { rng.below(of) as u8 };
    Stalls { ready, port_gaps: part(160), config_gaps: part(128), config_stalls: part(128) }
}

fn action(rng: &mut Rng) -> ActionRow {
    let mask = rng.next_u32() as u8;
    let destinations = match rng.below(8) {
        0 => 0,
        1 => mask,
        2 => mask & (rng.next_u32() as u8),
        _ => 1 << rng.below(8),
    };
    let set_dmac = rng.chance(1, 3);
    ActionRow { destinations, except_ingress: rng.chance(1, 4), set_dmac, dmac: rng.next_u64() >> 16 }
}

/// Every table with random rows, not as a linker would write them: modules share sets, keys
/// lie in several ways at once, entries belong to one generation, both or none.
fn configure(rng: &mut Rng, target: &Target, pool: &Pool, modules: &[u8]) -> Vec<Step> {
    let mut steps = Vec::new();
    for p in 0..target.ports as u8 {
        for (i, &vlan) in pool.vlans.iter().enumerate() {
            let vlan_row = VlanRow {
                valid: !rng.chance(1, 16),
                keep_tag: rng.chance(1, 4),
                module_id: if rng.chance(1, 30) { rng.below(64) as u8 } else { modules[i % modules.len()] },
                tenant: *rng.choose(&[0, 1, 77, 4095]).unwrap(),
            };
            steps.push(support::row(Node::Port(p), Table::Vlan, vlan.into(), &vlan_row));
        }
        let policy = PortPolicyRow {
            untagged_valid: rng.chance(1, 2),
            untagged_module: *rng.choose(modules).unwrap(),
            untagged_tenant: rng.below(4096) as u16,
            drop_double_tag: rng.chance(1, 2),
            min_frame: *rng.choose(&[0, 14, 60, 64]).unwrap(),
            max_frame: *rng.choose(&[1518, 9018, 9216, 16383]).unwrap(),
        };
        steps.push(support::row(Node::Port(p), Table::PortPolicy, 0, &policy));
    }
    let mut entries: HashMap<(u32, u32), EntryRow> = HashMap::new();
    for &module in modules {
        let m = u32::from(module);
        let limited = rng.chance(1, 5);
        let rate = RateRow {
            cost_per_byte: if limited { rng.range(1, 4 << 16) as u32 } else { 0 },
            burst: rng.below(4000) as u32,
        };
        steps.push(support::row(Node::Stamp, Table::Rate, m, &rate));
        let quantum = QuantumRow { bytes: *rng.choose(&[0, 1, 64, 700, 1500, 9000, 65535]).unwrap() };
        steps.push(support::row(Node::Egress, Table::Quantum, m, &quantum));
        for d in 0..target.destinations() {
            let most = if rng.chance(1, 8) { target.cells } else { target.cells / 16 };
            let limit = LimitRow { cells: if rng.chance(1, 16) { 0 } else { rng.range(4, most.into()) as u16 } };
            steps.push(support::row(Node::Egress, Table::Limit, d * target.modules + m, &limit));
        }
        for generation in 0..2u32 {
            let kind = *rng.choose(&[KeyKind::None, KeyKind::Dmac, KeyKind::FiveTuple, KeyKind::FiveTuple]).unwrap();
            let bits = rng.range(1, target.sets.ilog2().into()) as u32;
            let overlay = OverlayRow {
                valid: !rng.chance(1, 20),
                key_kind: kind as u8,
                key_mask: if rng.chance(1, 2) { 0x1fff } else { rng.below(0x2000) as u16 },
                set_base: ((rng.below(target.sets.into()) as u32 >> bits) << bits) as u16,
                set_bits: bits as u8,
                ..OverlayRow::default()
            }
            .with_action(action(rng));
            steps.push(support::row(Node::Match, Table::Overlay, 2 * m + generation, &overlay));
            for _ in 0..rng.below(24) {
                let mut key = [0u8; KEY_BYTES];
                if kind == KeyKind::Dmac {
                    key[..6].copy_from_slice(rng.choose(&pool.macs).unwrap());
                } else {
                    key = *rng.choose(&pool.tuples).unwrap();
                }
                for (i, byte) in key.iter_mut().enumerate() {
                    *byte *= (overlay.key_mask >> i & 1) as u8;
                }
                let hashes = set_hashes(&key);
                let way = *rng.choose(&[0, 2, 3]).unwrap();
                let hash = u32::from(if way < 2 { hashes.0 } else { hashes.1 });
                let set = (u32::from(overlay.set_base) | (hash & ((1 << bits) - 1))) % target.sets;
                let owner = if rng.chance(1, 8) { *rng.choose(modules).unwrap() } else { module };
                let entry = EntryRow {
                    generations: rng.below(4) as u8,
                    module_id: owner,
                    key: EntryRow::key_from_bytes(&key),
                    ..EntryRow::default()
                };
                entries.insert((way, set), entry.with_action(action(rng)));
            }
        }
    }
    let mut entries: Vec<_> = entries.into_iter().collect();
    entries.sort_by_key(|e| e.0);
    for ((way, set), entry) in entries {
        steps.push(support::row(Node::Match, Table::way(way).unwrap(), set, &entry));
    }
    steps
}

/// The next generation of one module, as a load that may come at any moment: the other bank
/// and an entry that only it has, then the commit.
fn commit(rng: &mut Rng, target: &Target, pool: &Pool, way1: &mut Way1, module: u8, generation: u8) -> Vec<Step> {
    let m = u32::from(module);
    let overlay = OverlayRow {
        valid: true,
        key_kind: KeyKind::FiveTuple as u8,
        key_mask: 0x1fff,
        set_bits: target.sets.ilog2() as u8,
        ..OverlayRow::default()
    }
    .with_action(action(rng));
    let key = *rng.choose(&pool.tuples).unwrap();
    let set = u32::from(set_hashes(&key).0) % target.sets;
    let entry = EntryRow {
        generations: 1 << generation,
        module_id: module,
        key: EntryRow::key_from_bytes(&key),
        ..EntryRow::default()
    }
    .with_action(action(rng));
    let mut steps = vec![Step::WaitDrained { module, generation }];
    if rng.chance(1, 2) {
        steps.push(support::row(Node::Match, Table::Overlay, 2 * m + u32::from(generation), &overlay));
    }
    // Way 1 belongs to these entries alone, each set to one module and generation, so that no
    // live entry is overwritten.
    if rng.chance(1, 4) && *way1.entry(set).or_insert((module, generation)) == (module, generation) {
        steps.push(support::row(Node::Match, Table::Way1, set, &entry));
    }
    steps.push(Step::Commit { module, generation });
    steps
}

/// Who owns which set of way 1: module and generation.
type Way1 = HashMap<u32, (u8, u8)>;

/// Packets of one port, module and destination leave in the order they came.
#[derive(Default)]
struct Order {
    latest: HashMap<(u32, u8, u8, bool), u32>,
}

impl Order {
    fn check(&mut self, event: &Event) {
        let Event::Outcome(outcome) = event else { return };
        let (place, host) = match outcome.verdict {
            Verdict::Forwarded { port } => (port, false),
            Verdict::Delivered { queue } => (queue, true),
            Verdict::Dropped { .. } => return,
        };
        let flow = (outcome.id >> 28, outcome.module, place, host);
        if let Some(before) = self.latest.insert(flow, outcome.id) {
            assert!(before < outcome.id, "packet {:#x} left behind {before:#x} on {flow:?}", outcome.id);
        }
    }
}

fn run_one(config: &str, seed: u64, totals: &mut Totals) {
    let mut rng = Rng::new(seed);
    let options = RtlOptions { seed, stalls: stalls(&mut rng), ..RtlOptions::default() };
    let mut nic = Comparison::open(config, options, std::env::temp_dir().join("sluice-waves")).unwrap();
    let target = nic.capabilities().target;
    let mut vlans: Vec<u16> = (0..rng.range(1, 9)).map(|_| rng.below(4096) as u16).collect();
    vlans.extend([0, 4095]);
    let pool = Pool::new(&mut rng, vlans);
    let mut modules: Vec<u8> = (0..target.modules as u8).collect();
    rng.shuffle(&mut modules);
    modules.truncate(rng.range(1, 7) as usize);
    let steps = configure(&mut rng, &target, &pool, &modules);
    support::run_steps(&mut nic, steps).unwrap();

    let mut generations: HashMap<u8, u8> = HashMap::new();
    let mut order = Order::default();
    let mut way1 = Way1::new();
    for _ in 0..ROUNDS {
        let offers: Vec<Offer> = (0..PACKETS_A_ROUND)
            .map(|_| Offer {
                port: rng.below(target.ports.into()) as u8,
                bytes: pool.frame(&mut rng),
                at: if rng.chance(1, 10) { nic.now() + rng.below(100) } else { 0 },
                bad: rng.chance(1, 60),
            })
            .collect();
        nic.offer(&offers).unwrap();
        if rng.chance(1, 6) {
            nic.set_blocked(rng.below(target.destinations().into()) as u8, rng.chance(1, 2)).unwrap();
        }
        nic.advance(rng.below(150)).unwrap();
        let module = *rng.choose(&modules).unwrap();
        let generation = generations.entry(module).or_insert(0);
        *generation ^= 1;
        let steps = commit(&mut rng, &target, &pool, &mut way1, module, *generation);
        nic.submit(&support::load(&nic, steps)).unwrap();
        nic.advance(rng.below(300)).unwrap();
        if rng.chance(1, 8) {
            assert!(nic.counters().unwrap().modules.values().all(|m| m.closes()));
        }
        nic.poll(usize::MAX).iter().for_each(|e| order.check(e));
    }
    for d in 0..target.destinations() as u8 {
        nic.set_blocked(d, false).unwrap();
    }
    nic.quiesce().unwrap();
    let counters = nic.counters().unwrap();
    assert!(counters.modules.values().all(|m| m.closes() && m.in_flight == 0));
    for event in nic.poll(usize::MAX) {
        order.check(&event);
        if let Event::OpDone { result, .. } = event {
            result.unwrap();
        }
    }
    let compared = nic.compared();
    totals.configurations += 1;
    totals.packets += compared.packets;
    totals.outputs += compared.outputs;
    totals.commits += compared.commits;
    totals.tail_drops += compared.tail_drops;
    totals.overloads += compared.overloads;
    totals.snapshots += compared.snapshots;
    totals.ticks += nic.now();
}

fn run(config: &str, test: &str) {
    let seed = test_seed(test);
    if !support::has(config, sluice_rtlsim::Variant::Test) {
        return;
    }
    let times = if std::env::var_os("SLUICE_LONG").is_some() { 10 } else { 1 };
    let mut totals = Totals::default();
    for i in 0..times * CONFIGURATIONS {
        let one = seed.wrapping_add(i.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| run_one(config, one, &mut totals)));
        if let Err(panic) = result {
            println!("{config}: configuration {i}, seed {one}, after {totals:?}");
            std::panic::resume_unwind(panic);
        }
    }
    println!("{config}: {totals:?}");
    assert!(totals.packets >= times * CONFIGURATIONS * ROUNDS * PACKETS_A_ROUND as u64);
    assert!(totals.commits >= 500 * times && totals.tail_drops >= 250 * times);
}

#[test]
fn fifty_thousand_random_packets_agree_on_the_tiny_target() {
    run("tiny", "fifty_thousand_random_packets_agree_on_the_tiny_target");
}

#[test]
fn fifty_thousand_random_packets_agree_on_the_default_target() {
    run("default", "fifty_thousand_random_packets_agree_on_the_default_target");
}
