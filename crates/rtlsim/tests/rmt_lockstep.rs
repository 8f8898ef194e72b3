//! Random modules and traffic on the rmt top, beside the specification and the fast model, packet by packet.

mod support;

use sluice_formats::Status;
use sluice_formats::address::Access;
use sluice_formats::random::{Rng, test_seed};
use sluice_formats::rmt::tables::nodes;
use sluice_formats::rmt::target::{DEFAULT, PAGE_WORDS, TINY, Target};
use sluice_formats::rows::SidebandRow;
use sluice_formats::{Node, Table};
use sluice_object::linker::rmt::{Placer, Quota, RowWrite};
use sluice_object::rmt::RmtPart;
use sluice_rmt::check::Role;
use sluice_rmt::encode::encode;
use sluice_rmt::fast::Fast;
use sluice_rmt::pipeline::Memory;
use sluice_rmt::testing::{Shape, aim, checked_program};
use sluice_rmt::{Arrival, Outcome, Pipeline, Program};
use sluice_rtlsim::plugin::Until;
use sluice_rtlsim::rmt::{Lockstep, Model, RmtOffer, RmtRtl, RowSink, Tenants};
use sluice_rtlsim::{Ready, RtlError, RtlOptions};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Specification and fast model, which must agree with each other too.
struct Both {
    spec: Pipeline,
    fast: Fast,
    /// Rows that were written; the others are as the RAM came up.
    written: BTreeSet<(Node, Table, u32)>,
}

impl Model for Both {
    fn run(&mut self, arrival: &Arrival) -> Outcome {
        let (spec, fast) = (self.spec.run(arrival), self.fast.run(arrival));
        assert_eq!(spec, fast, "specification and fast model differ on {arrival:?}");
        spec
    }
    fn write(&mut self, row: &RowWrite) -> Status {
        if row.table == Table::ZeroPage {
            let words = PAGE_WORDS as u32 * row.index..PAGE_WORDS as u32 * (row.index + 1);
            self.written.extend(words.map(|w| (row.node, Table::StateWord, w)));
        }
        self.written.insert((row.node, row.table, row.index));
        self.fast.write(row.node, row.table, row.index, &row.words)
    }
}

/// A random run on one target.
struct Run {
    rng: Rng,
    target: Target,
    lockstep: Lockstep<Both>,
    tenants: Tenants,
    /// What runs, by module.
    programs: Vec<Option<Program>>,
    sent: u32,
    /// Counters before the first packet.
    first: Vec<(Node, Table, u32, u64)>,
}

impl Run {
    fn new(target: Target, seed: u64) -> Option<Self> {
        let mut rng = Rng::new(seed);
        let options = RtlOptions { seed: rng.next_u64(), ..RtlOptions::default() };
        let rtl = match RmtRtl::open(&target, &options) {
            Ok(rtl) => rtl,
            Err(error @ RtlError::Missing { .. }) => {
                assert!(std::env::var_os("SLUICE_REQUIRE_PLUGINS").is_none(), "{error}");
                println!("skipped: {error}");
                return None;
            }
            Err(error) => panic!("{error}"),
        };
        let both = Both { spec: Pipeline::new(target), fast: Fast::new(target), written: BTreeSet::new() };
        Some(Self {
            rng,
            target,
            lockstep: Lockstep::new(rtl, both),
            tenants: Tenants::new(Placer::new(target)),
            programs: vec![None; target.modules],
            sent: 0,
            first: Vec::new(),
        })
    }

    fn shape(&self, module: u8) -> Shape {
        let role = if module == 0 { Role::System } else { Role::Tenant };
        // Small enough that all modules fit beside each other, twice.
        let share = |n: usize| (n / (3 * self.target.modules)).clamp(1, 6);
        Shape {
            exact: share(self.target.exact),
            ternary: share(self.target.ternary),
            actions: share(self.target.actions),
            pages: share(self.target.pages()),
            numbers: 16,
            role,
        }
    }

    /// Admits a module with a program of its own, if there is room.
    fn admit(&mut self, module: u8) -> bool {
        let shape = self.shape(module);
        let program = checked_program(&mut self.rng, &self.target, &shape);
        let Ok(part) = encode(&program, &self.target) else { return false };
        let part = Arc::new(part);
        let quota = Quota::of(&part, self.rng.next_u32() as u8 | 1);
        let granted = quota.destinations;
        if Placer::admit(&mut self.tenants.placer().clone(), module, "trial", quota.clone()).is_err() {
            return false;
        }
        self.tenants.admit(&mut self.lockstep, module, &format!("tenant{module}"), quota).unwrap();
        self.lockstep.model.spec.grant(module, granted);
        self.install(module, program, &part);
        true
    }

    /// Another program in the place of what a module runs, if its room has it.
    fn replace(&mut self, module: u8) {
        let shape = self.shape(module);
        let program = checked_program(&mut self.rng, &self.target, &shape);
        let Ok(part) = encode(&program, &self.target) else { return };
        let part = Arc::new(part);
        let next = 1 - self.tenants.generation(module);
        if self.tenants.placer().clone().place(module, next, &part).is_ok() {
            self.install(module, program, &part);
        }
    }

    fn install(&mut self, module: u8, program: Program, part: &Arc<RmtPart>) {
        let memory = if part.keep_state { Memory::Keep } else { Memory::Zeroed };
        let generation = self.tenants.prepare(&mut self.lockstep, module, part).unwrap();
        self.lockstep.model.spec.load(module, generation, program.clone(), memory).unwrap();
        self.tenants.commit(&mut self.lockstep, module).unwrap();
        self.lockstep.model.spec.unload(module, 1 - generation);
        self.programs[usize::from(module)] = Some(program);
    }

    /// A packet that may get through the parser of a module.
    fn packet(&mut self, module: u8) -> RmtOffer {
        let rng = &mut self.rng;
        let length = match rng.below(20) {
            0 => rng.range(14, 64),
            1..=9 => rng.range(60, 130),
            10..=17 => rng.range(128, 400),
            18 => rng.range(400, 1600),
            _ if rng.chance(1, 20) => rng.range(9_000, 9_216),
            _ => 64,
        };
        let mut bytes: Vec<u8> = (0..length).map(|_| rng.next_u32() as u8).collect();
        if let Some(program) = &self.programs[usize::from(module)] {
            aim(rng, &program.parser, &mut bytes);
        }
        let port = rng.below(4) as u32;
        self.sent += 1;
        let sideband = SidebandRow {
            id: port << 28 | self.sent & 0xfff_ffff,
            stamp: self.lockstep.rtl.now(),
            tenant: if module == 0 { 0 } else { 4095 - u16::from(module) },
            module_id: module,
            length: bytes.len() as u16,
            tci: rng.next_u32() as u16,
            tag_off: rng.chance(1, 2),
            flow_hash: rng.next_u32(),
            ..SidebandRow::default()
        };
        RmtOffer { sideband, bytes, at: 0 }
    }

    fn traffic(&mut self, packets: usize, modules: &[u8]) {
        let gaps = if self.rng.chance(1, 2) { 0 } else { self.rng.below(200) as u8 };
        let ready = match self.rng.below(3) {
            0 => Ready::Always,
            1 => Ready::Random { chance: self.rng.range(40, 255) as u8 },
            _ => Ready::Bursts { chance: 150, longest: 40 },
        };
        self.lockstep.rtl.set_gaps(gaps).unwrap();
        self.lockstep.rtl.set_ready(ready).unwrap();
        let offers: Vec<RmtOffer> = (0..packets)
            .map(|_| {
                let module = modules[self.rng.index(modules.len())];
                self.packet(module)
            })
            .collect();
        self.lockstep.offer(&offers).unwrap();
        let until = Until { max_cycles: self.rng.range(1, 4 * packets as u64), ..Until::default() };
        self.lockstep.run(&until).unwrap();
        self.lockstep.ended.clear();
    }

    /// Counters outlive a reset, so their first values are taken as zero: all events and range counts, some hits.
    fn note_counters(&mut self) {
        for node in nodes(&self.target) {
            for table in Table::ALL.into_iter().filter(|t| t.is_of(node) && t.access() == Access::Counter) {
                let rows = (table.rows(self.target.nic())).min(150);
                for index in 0..rows {
                    let value = self.lockstep.rtl.counter(node, table, index).unwrap();
                    self.first.push((node, table, index, value));
                }
            }
        }
    }

    /// Written rows and counters of the RTL against the fast model's.
    fn compare_tables(&mut self) {
        for (node, table, index, first) in std::mem::take(&mut self.first) {
            let rtl = self.lockstep.rtl.counter(node, table, index).unwrap();
            let model = self.lockstep.model.fast.row(node, table, index).unwrap();
            let model = u64::from(model[0]) | u64::from(model[1]) << 32;
            assert_eq!(rtl.wrapping_sub(first) & ((1 << 48) - 1), model, "{node:?} {}[{index}]", table.name());
        }
        for (node, table, index) in std::mem::take(&mut self.lockstep.model.written) {
            // A sample is enough of what a large target has.
            if table == Table::Generation || self.rng.below(self.target.modules as u64) >= 8 {
                continue;
            }
            let rtl = self.lockstep.rtl.read_row(node, table, index).unwrap();
            let model = self.lockstep.model.fast.row(node, table, index).unwrap();
            assert_eq!(rtl, model, "{node:?} {}[{index}]", table.name());
        }
    }
}

/// Modules come, go and change while packets flow; each round has a pipeline and modules of its own.
fn random_rounds(target: Target, name: &str, rounds: usize, packets: usize) {
    let seed = test_seed(name);
    let mut rng = Rng::new(seed);
    let most = target.modules as u64;
    for _ in 0..rounds * long_factor() {
        let most = if rng.chance(1, 4) { most } else { most.min(8) };
        let modules = rng.range(1, most) as u8;
        let Some(run) = Run::new(target, rng.next_u64()) else { return };
        random_round(run, packets, modules);
    }
}

/// `SLUICE_LONG=1` asks for twenty times as much.
fn long_factor() -> usize {
    if support::long() { 20 } else { 1 }
}

fn random_round(mut run: Run, packets: usize, modules: u8) {
    run.note_counters();
    let stage_owners = run.tenants.placer().stage_owners();
    RowSink::write(&mut run.lockstep, &stage_owners).unwrap();
    let admitted = (0..modules).filter(|&module| run.admit(module)).count();
    // A module that was let in and runs nothing: its packets are dropped.
    let empty = (usize::from(modules) < run.target.modules).then_some(modules);
    if let Some(module) = empty {
        run.tenants.admit(&mut run.lockstep, module, "empty", Quota::default()).unwrap();
    }
    let (mut left, mut changes) = (packets, 0);
    while left > 0 {
        let batch = run.rng.range(1, 200).min(left as u64) as usize;
        // Modules that were not let in have no rows, and no VLAN leads to them.
        let running = (0..modules).filter(|&m| run.programs[usize::from(m)].is_some());
        let there: Vec<u8> = running.chain(empty).collect();
        if there.is_empty() {
            return;
        }
        run.traffic(batch, &there);
        left -= batch;
        if run.rng.chance(1, 3) {
            changes += 1;
            let module = run.rng.below(u64::from(modules)) as u8;
            match run.programs[usize::from(module)] {
                Some(_) => run.replace(module),
                None => drop(run.admit(module)),
            }
        }
    }
    run.lockstep.finish().unwrap();
    assert_eq!(run.lockstep.agreed, packets as u64);
    run.compare_tables();
    println!("{packets} packets agreed, {admitted} of {modules} modules at first, {changes} changes under way");
}

#[test]
fn random_modules_and_traffic_agree_on_the_tiny_target() {
    random_rounds(TINY, "rmt_random_tiny", 14, 2_500);
}

#[test]
fn random_modules_and_traffic_agree_on_the_default_target() {
    random_rounds(DEFAULT, "rmt_random_default", 3, 5_000);
}
