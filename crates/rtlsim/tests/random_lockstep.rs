//! RTL and model agree on everything, over random configurations, traffic, stalls and commits.
//!
//! - every byte, reason, sideband and counter is equal (`Comparison` fails at the first that is not)
//! - the packets of a port, module, destination and queue, high or low, leave in the order they came
//! - the generation of a module never goes back behind a commit (`Comparison`)
//! - each tail drop had a full queue (`Comparison`, and an assertion in the RTL)
//! - rows that were written and counters of the engines are the model's
//!
//! The bare NIC, the whole one, and the match-action pipeline alone, where most modules run programs that no compiler would think of.

#[path = "support/random_frames.rs"]
mod frames;

use crate::support;
use frames::Pool;
use sluice_device::{Device, Event, Offer, Verdict};
use sluice_formats::address::Access;
use sluice_formats::limits::{KEY_BYTES, SYSTEM_MODULE};
use sluice_formats::random::{Rng, test_seed};
use sluice_formats::rmt::rows::{GroupNameRow, GroupRow};
use sluice_formats::row::Row;
use sluice_formats::rows::*;
use sluice_formats::{EngineId, Node, Reason, Table, Target};
use sluice_nic::room::Urgency;
use sluice_object::linker::rmt::{Placer, Quota, StageQuota};
use sluice_object::lower::{lower, stage_of};
use sluice_object::{Action, Destinations, KeyKind, KeySpec, Object, RmtPart, Step};
use sluice_rmt::action::{When, WordOp, WordSource};
use sluice_rmt::check::Role;
use sluice_rmt::encode;
use sluice_rmt::programs::send::Send;
use sluice_rmt::testing::{Shape, aim, checked_program};
use sluice_rmt::{Program, Word};
use sluice_rtlsim::{Comparison, Plugin, Ready, RtlOptions, Stalls, Top, Variant, top};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// Configurations of each target, 45,000 packets together, 120,000 of the pipeline alone; `SLUICE_LONG=1` makes twenty times as many.
const TINY_CONFIGURATIONS: u64 = 80;
/// Of a NIC that has more engines than what is compared here.
const FULL_CONFIGURATIONS: u64 = 8;
const DEFAULT_CONFIGURATIONS: u64 = 20;
const WIDE_CONFIGURATIONS: u64 = 4;
/// Of so many configurations, one has its engines' counters compared, which are many reads.
const COUNTED: u64 = 8;
/// Rows of a table of counters that are compared.
const COUNTERS: u32 = 150;
const ROUNDS: u64 = 10;
const PACKETS_A_ROUND: usize = 50;
/// The same of the pipeline alone, which is simulated faster.
const PACKETS_A_ROUND_ALONE: usize = 120;

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

fn action(rng: &mut Rng, target: &Target) -> Action {
    let mask = rng.next_u32() as u8;
    let destinations = match rng.below(8) {
        0 => 0,
        1 => mask,
        2 => mask & (rng.next_u32() as u8),
        _ => 1 << rng.below(8),
    };
    let set_dmac = rng.chance(1, 3).then(|| std::array::from_fn(|_| rng.next_u32() as u8));
    let except_ingress = destinations != 0 && rng.chance(1, 4);
    Action {
        to: Destinations::from_mask(destinations, target),
        except_ingress,
        set_dmac: set_dmac.filter(|_| destinations != 0),
    }
}

/// Entries of a table program.
const ENTRIES: usize = 6;

/// What a module may run: a table whose keys packets have, a program that copies, a tunnel whose headers come and go, or rows that
/// no compiler would think of.
fn program(rng: &mut Rng, trial: &Trial, module: u8, group: u16) -> (RmtPart, Option<Program>) {
    let Trial { target, pool, alone } = trial;
    let encoded = |program: &Program| encode(program, &target.rmt).unwrap();
    // What the system module runs meets every packet.
    let role = if module == SYSTEM_MODULE { Role::System } else { Role::Tenant };
    let whole = role == Role::System || (*alone && rng.chance(3, 4));
    match if whole { 1 } else { rng.below(8) } {
        0 => {
            let send = Send { destinations: rng.next_u32() as u8, except_ingress: rng.chance(1, 2), dmac: None };
            let mut program = send.program(&target.rmt);
            let stage = program.stages.iter_mut().flatten().next().unwrap();
            let word = |word: Word, value, mask| WordOp {
                word: word as u8,
                source: WordSource::Imm(value),
                mask,
                when: When::Always,
            };
            let queue = rng.below(8) as u16;
            let egress = u16::from(send.destinations) | queue << 8 | u16::from(send.except_ingress) << 11;
            let words = &mut stage.actions[0].words;
            *words = vec![word(Word::Egress, egress, 0x0fff)];
            if rng.chance(2, 3) {
                words.push(word(Word::Group, group, 0xffff));
            }
            (encoded(&program), None)
        }
        1 | 2 => {
            let share = |n: usize| (n / (3 * target.rmt.modules)).clamp(1, if *alone { 6 } else { 4 });
            let shape = Shape {
                exact: share(target.rmt.exact),
                // A share would be none: there are few, and modules for which none are left run nothing.
                ternary: rng.range(1, 3) as usize,
                actions: if *alone { share(target.rmt.actions) } else { 2 },
                pages: if *alone { share(target.rmt.pages()) } else { 2 },
                numbers: 16,
                role,
            };
            let program = checked_program(rng, &target.rmt, &shape);
            (RmtPart { system: role == Role::System, ..encoded(&program) }, Some(program))
        }
        kind => {
            let kind = match kind {
                3 => KeyKind::None,
                4 | 5 => KeyKind::Dmac,
                _ => KeyKind::FiveTuple,
            };
            let bytes = match kind {
                KeyKind::None => 0,
                KeyKind::Dmac => 0x3f,
                KeyKind::FiveTuple => 0x1fff,
            };
            let spec = KeySpec { kind, mask: if rng.chance(1, 2) { bytes } else { bytes & rng.next_u32() as u16 } };
            let mut object = Object::new("random", spec, action(rng, target));
            let mut keys = BTreeSet::new();
            for _ in 0..if kind == KeyKind::None { 0 } else { rng.index(ENTRIES + 1) } {
                let mut key = [0u8; KEY_BYTES];
                if kind == KeyKind::Dmac {
                    key[..6].copy_from_slice(rng.choose(&pool.macs).unwrap());
                } else {
                    key = *rng.choose(&pool.tuples).unwrap();
                }
                let key = spec.masked(key);
                if keys.insert(key) {
                    object.push(key, action(rng, target));
                }
            }
            (lower(&object, target, &BTreeMap::new()).unwrap(), None)
        }
    }
}

/// What a configuration is drawn for.
struct Trial {
    target: Target,
    pool: Pool,
    /// The pipeline alone.
    alone: bool,
}

/// What modules have of the pipeline, and the programs of their generations.
struct Pipeline {
    placer: Placer,
    /// Each module's own multicast group.
    groups: HashMap<u8, u16>,
    /// Programs that frames are aimed at, by VLAN of the module.
    aims: HashMap<u8, Program>,
}

/// Every table with random rows.
fn configure(rng: &mut Rng, trial: &Trial, modules: &[u8]) -> (Vec<Step>, Pipeline) {
    let Trial { target, pool, .. } = trial;
    let mut placer = Placer::new(target.rmt);
    let mut steps: Vec<Step> = placer.stage_owners().into_iter().map(support::write_row).collect();
    let mut aims = HashMap::new();
    // Rows of modules that exist and were not let in are as the RAM came up.
    let last = modules[modules.len() - 1];
    let stranger = |rng: &mut Rng| if target.modules < 64 { rng.range(target.modules.into(), 63) as u8 } else { last };
    for p in 0..target.ports as u8 {
        for (i, &vlan) in pool.vlans.iter().enumerate() {
            let vlan_row = VlanRow {
                valid: !rng.chance(1, 16),
                keep_tag: rng.chance(1, 4),
                module_id: if rng.chance(1, 30) { stranger(rng) } else { modules[i % modules.len()] },
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
    let groups: HashMap<u8, u16> = modules.iter().zip(1..).map(|(&module, group)| (module, group)).collect();
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
            let cells = if rng.chance(1, 16) { 0 } else { rng.range(4, most.into()) as u16 };
            // Sometimes above the limit: the low queue is closed then.
            let reserve = if rng.chance(1, 2) { 0 } else { rng.below(u64::from(cells) + 2) as u16 };
            let limit = LimitRow { cells, reserve };
            steps.push(support::row(Node::Egress, Table::Limit, d * target.modules + m, &limit));
        }
        let granted = if rng.chance(1, 4) { rng.next_u32() as u8 } else { 0xff };
        let (part, aim) = program(rng, trial, module, groups[&module]);
        let mut quota = Quota::of(&part, granted);
        quota.groups.insert(groups[&module]);
        if module != SYSTEM_MODULE {
            let table = StageQuota { exact: ENTRIES as u32, actions: 2, numbers: 16, ..StageQuota::default() };
            quota = quota.or(&Quota { stages: BTreeMap::from([(stage_of(target), table)]), ..Quota::default() });
        }
        // Modules that find no room any more run nothing.
        if Placer::admit(&mut placer.clone(), module, "trial", quota.clone()).is_err() {
            let rows = placer.admit(module, &format!("m{module}"), Quota::default()).unwrap();
            steps.extend(rows.into_iter().map(support::write_row));
            continue;
        }
        let rows = placer.admit(module, &format!("m{module}"), quota).unwrap();
        steps.extend(rows.into_iter().map(support::write_row));
        // Programs that name groups of others are refused.
        if !rng.chance(1, 20)
            && let Ok(placed) = placer.place(module, 0, &Arc::new(part))
        {
            steps.extend(placed.zero.into_iter().chain(placed.rows).map(support::write_row));
            aims.extend(aim.map(|program| (module, program)));
        }
    }
    // Behind admissions, which hide the groups that they grant.
    for group in 1..target.rmt.groups as u32 {
        let own = modules.get(group as usize - 1).filter(|_| !rng.chance(1, 8));
        let owner = own.copied().unwrap_or_else(|| *rng.choose(modules).unwrap());
        let tags = std::array::from_fn(|_| rng.next_u32() as u16);
        let row = GroupRow { owner, destinations: rng.next_u32() as u8, tags };
        steps.push(support::write(Node::Deparser, Table::Group, group, &row.pack().unwrap()));
    }
    for &module in modules.iter().filter(|_| rng.chance(1, 4)).collect::<Vec<_>>() {
        let mask = *rng.choose(&[0xfff0, 0xfffc, 0xffff]).unwrap();
        let (name, first) = (rng.below(16) as u16 & mask, rng.below(16) as u16 & mask);
        let row = GroupNameRow { mask, name, first };
        steps.push(support::write(Node::Deparser, Table::GroupName, module.into(), &row.pack().unwrap()));
    }
    (steps, Pipeline { placer, groups, aims })
}

/// The next generation of one module, as a load that may come at any moment: the rows of another
/// program, if there is room for it, then the commit.
fn commit(rng: &mut Rng, trial: &Trial, pipeline: &mut Pipeline, module: u8, generation: u8) -> Vec<Step> {
    let mut steps = vec![Step::WaitDrained { module, generation }];
    if rng.chance(2, 3) {
        let (part, aim) = program(rng, trial, module, pipeline.groups[&module]);
        let part = Arc::new(part);
        let mut trial = pipeline.placer.clone();
        let cleared = trial.clear(module, generation).unwrap();
        if let Ok(placed) = trial.place(module, generation, &part) {
            pipeline.placer = trial;
            steps.extend(cleared.into_iter().map(support::write_row));
            steps.push(Step::Barrier);
            steps.extend(placed.zero.into_iter().map(support::write_row));
            steps.push(Step::Barrier);
            steps.extend(placed.rows.into_iter().map(support::write_row));
            steps.push(Step::Barrier);
            match aim {
                Some(program) => drop(pipeline.aims.insert(module, program)),
                None => drop(pipeline.aims.remove(&module)),
            }
        }
    }
    steps.push(Step::Commit { module, generation });
    steps
}

/// Packets of one port, module, destination and queue leave in the order they came.
#[derive(Default)]
struct Order {
    latest: HashMap<(u32, u8, u8, bool, Urgency), u32>,
}

impl Order {
    fn check(&mut self, event: &Event) {
        let Event::Outcome(outcome) = event else { return };
        let (place, host) = match outcome.verdict {
            Verdict::Forwarded { port } => (port, false),
            Verdict::Delivered { queue } => (queue, true),
            Verdict::Consumed { .. } | Verdict::Dropped { .. } => return,
        };
        let flow = (outcome.id >> 28, outcome.module, place, host, Urgency::of(outcome.queue));
        if let Some(before) = self.latest.insert(flow, outcome.id) {
            assert!(before < outcome.id, "packet {:#x} left behind {before:#x} on {flow:?}", outcome.id);
        }
    }
}

/// A frame of the pool, or one that the program of a module knows.
fn frame(rng: &mut Rng, trial: &Trial, modules: &[u8], pipeline: &Pipeline) -> Vec<u8> {
    let pool = &trial.pool;
    if trial.alone && rng.chance(1, 12) {
        // Shorter than a port of the NIC takes: from 1 byte on.
        let length = rng.range(1, 15) as usize;
        return rng.bytes(length);
    }
    let mut bytes = pool.frame(rng);
    let vlan = rng.index(pool.vlans.len());
    let Some(program) = pipeline.aims.get(&modules[vlan % modules.len()]).filter(|_| rng.chance(2, 3)) else {
        return bytes;
    };
    let mut tag = vec![0x81, 0];
    tag.extend(pool.vlans[vlan].to_be_bytes());
    bytes.resize(bytes.len().max(60), 0);
    if rng.chance(1, 4) {
        // As a module sees it that keeps the tag.
        bytes[12..16].copy_from_slice(&tag);
        aim(rng, &program.parser, &mut bytes);
    } else {
        aim(rng, &program.parser, &mut bytes);
        bytes.splice(12..12, tag);
    }
    bytes
}

/// Kinds of events that the pipeline counts for each module.
const EVENT_KINDS: u32 = 16;

/// Counters of the engines, which outlive a reset: what the RTL says, with what the model says.
fn engine_counters(nic: &mut Comparison, top: &Top) -> Vec<(Node, Table, u32, u64, u64)> {
    let target = nic.capabilities().target;
    let value = |words: Vec<u32>| u64::from(words[0]) | u64::from(words[1]) << 32;
    let mut counters = Vec::new();
    let has_xdp = top.engine_ids().contains(&EngineId::XDP);
    for node in Node::every(&target).into_iter().filter(|node| node.engine() == Some(EngineId::RMT)) {
        for table in Table::ALL.into_iter().filter(|t| t.is_of(node) && t.access() == Access::Counter) {
            for index in 0..table.rows(&target).min(COUNTERS) {
                let mut rtl = value(nic.read_row(node, table, index).unwrap());
                // What is true behind all engines only the last of them counts, which the model has not: copies, and what goes nowhere.
                let module = index / EVENT_KINDS;
                if has_xdp && EngineId::RMT.copies(module) == Some((table, index)) {
                    let (of_xdp, row) = EngineId::XDP.copies(module).expect("it counts them");
                    rtl += value(nic.read_row(Node::Xdp, of_xdp, row).unwrap());
                }
                if has_xdp && (table, index) == (Reason::NoDestination.table(), Reason::NoDestination.row(module)) {
                    rtl += value(nic.read_row(Node::Xdp, Table::XdpDrops, 8 * module + 7).unwrap());
                }
                counters.push((node, table, index, rtl, value(nic.model_row(node, table, index).unwrap())));
            }
        }
    }
    counters
}

/// What both have counted since then is the same.
fn compare_counters(before: &[(Node, Table, u32, u64, u64)], after: &[(Node, Table, u32, u64, u64)]) {
    let since = |before: u64, after: u64| after.wrapping_sub(before) & ((1 << 48) - 1);
    for (before, after) in before.iter().zip(after) {
        let (rtl, model) = (since(before.3, after.3), since(before.4, after.4));
        assert_eq!(rtl, model, "{:?} {}[{}]", before.0, before.1.name(), before.2);
    }
}

fn run_one(top: &'static Top, config: &str, seed: u64, totals: &mut Totals) {
    let mut rng = Rng::new(seed);
    let options = RtlOptions { top, seed, stalls: stalls(&mut rng), ..RtlOptions::default() };
    let mut nic = Comparison::open(config, options, std::env::temp_dir().join("sluice-waves")).unwrap();
    let target = nic.capabilities().target;
    let mut modules: Vec<u8> = (1..target.modules as u8).collect();
    rng.shuffle(&mut modules);
    let alone = !top.is_nic;
    if !(alone && rng.chance(1, 4)) {
        modules.truncate(rng.range(1, 6) as usize);
    }
    let most = modules.len().max(9) as u64;
    let mut vlans: Vec<u16> = (0..rng.range(1, most)).map(|_| rng.below(4096) as u16).collect();
    vlans.extend([0, 4095]);
    let trial = Trial { target, pool: Pool::new(&mut rng, vlans), alone };
    if rng.chance(1, 2) {
        modules.insert(0, SYSTEM_MODULE);
    }
    let (steps, mut pipeline) = configure(&mut rng, &trial, &modules);
    support::run_steps(&mut nic, steps).unwrap();

    let counters = totals.configurations.is_multiple_of(COUNTED).then(|| engine_counters(&mut nic, top));
    let mut generations: HashMap<u8, u8> = HashMap::new();
    let mut order = Order::default();
    for _ in 0..ROUNDS {
        let offers: Vec<Offer> = (0..if alone { PACKETS_A_ROUND_ALONE } else { PACKETS_A_ROUND })
            .map(|_| Offer {
                port: rng.below(target.ports.into()) as u8,
                bytes: frame(&mut rng, &trial, &modules, &pipeline),
                at: if rng.chance(1, 10) { nic.now() + rng.below(100) } else { 0 },
                bad: rng.chance(1, 60),
            })
            .collect();
        nic.offer(&offers).unwrap();
        if !alone && rng.chance(1, 6) {
            nic.set_blocked(rng.below(target.destinations().into()) as u8, rng.chance(1, 2)).unwrap();
        }
        nic.advance(rng.below(150)).unwrap();
        let module = *rng.choose(&modules).unwrap();
        let generation = generations.entry(module).or_insert(0);
        *generation ^= 1;
        let steps = commit(&mut rng, &trial, &mut pipeline, module, *generation);
        nic.submit(&support::load(&nic, steps)).unwrap();
        nic.advance(rng.below(300)).unwrap();
        if rng.chance(1, 8) {
            assert!(nic.counters().unwrap().modules.values().all(|m| m.closes()));
        }
        nic.poll(usize::MAX).iter().for_each(|e| order.check(e));
    }
    if !alone {
        (0..target.destinations() as u8).for_each(|d| nic.set_blocked(d, false).unwrap());
    }
    nic.quiesce().unwrap();
    if let Some(before) = counters {
        compare_counters(&before, &engine_counters(&mut nic, top));
    }
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

fn run(top: &'static Top, config: &str, configurations: u64, test: &str) {
    if support::has_top(top, config, Variant::Test) {
        run_there(top, config, configurations, test);
    }
}

fn run_there(top: &'static Top, config: &str, configurations: u64, test: &str) {
    let seed = test_seed(test);
    let configurations = configurations * if support::long() { 20 } else { 1 };
    let mut totals = Totals::default();
    for i in 0..configurations {
        let one = seed.wrapping_add(i.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| run_one(top, config, one, &mut totals)));
        if let Err(panic) = result {
            println!("{}: configuration {i}, seed {one}, after {totals:?}", top.config(config));
            std::panic::resume_unwind(panic);
        }
    }
    println!("{}: {totals:?}", top.config(config));
    assert!(totals.packets >= configurations * ROUNDS * PACKETS_A_ROUND as u64);
    // Queues around a pipeline alone are empty: what is dropped there has no room at all.
    let tail_drops = if top.is_nic { 2 * totals.tail_drops } else { 10 * totals.tail_drops };
    assert!(totals.commits >= 5 * configurations && tail_drops >= 5 * configurations);
}

#[test]
fn random_packets_agree_on_the_bare_nic_of_the_tiny_target() {
    run(&top::BARE, "tiny", TINY_CONFIGURATIONS, "random_packets_agree_on_the_bare_nic_of_the_tiny_target");
}

#[test]
fn random_packets_agree_on_the_tiny_target() {
    run(&top::NIC, "tiny", FULL_CONFIGURATIONS, "random_packets_agree_on_the_tiny_target");
}

/// With one more engine than the pipeline, on the default target: for `make long`, which builds their plug-ins.
#[test]
fn random_packets_agree_on_every_other_nic() {
    let test = "random_packets_agree_on_every_other_nic";
    if !support::long() {
        return println!("skipped: for `make long`");
    }
    for (top, target) in [(&top::WITH_XDP, "tiny"), (&top::WITH_L7, "tiny"), (&top::BARE, "default")] {
        run(top, target, FULL_CONFIGURATIONS, test);
    }
}

#[test]
fn random_packets_agree_on_the_default_target() {
    run(&top::NIC, "default", DEFAULT_CONFIGURATIONS, "random_packets_agree_on_the_default_target");
}

#[test]
fn random_packets_agree_on_the_pipeline_alone_of_the_tiny_target() {
    run(&top::RMT, "tiny", TINY_CONFIGURATIONS, "random_packets_agree_on_the_pipeline_alone_of_the_tiny_target");
}

#[test]
fn random_packets_agree_on_the_pipeline_alone_of_the_default_target() {
    run(
        &top::RMT,
        "default",
        DEFAULT_CONFIGURATIONS,
        "random_packets_agree_on_the_pipeline_alone_of_the_default_target",
    );
}

/// Only `make long` builds its plug-in, which takes minutes.
#[test]
fn random_packets_agree_on_the_pipeline_alone_of_the_wide_target() {
    match Plugin::find(&top::RMT, "wide", Variant::Test) {
        Ok(_) => {
            let test = "random_packets_agree_on_the_pipeline_alone_of_the_wide_target";
            run_there(&top::RMT, "wide", WIDE_CONFIGURATIONS, test);
        }
        Err(error) => {
            let required = std::env::var(support::REQUIRED_VARIABLE).is_ok_and(|wanted| wanted == "wide");
            assert!(!required, "{} is set: {error}", support::REQUIRED_VARIABLE);
            println!("skipped: {error}");
        }
    }
}
