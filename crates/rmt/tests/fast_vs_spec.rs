//! The fast model, on the rows that the linker writes, against the specification interpreter, on programs.
//!
//! Random programs of 1 to 64 tenants and of the system module, random packets, replacements with and without kept
//! state whose rows are written between packets, commits, groups and grants that change. Every outcome is compared,
//! and again and again all state words, hits and counters. 50,000 packets; `SLUICE_LONG=1` makes 1,000,000.

use sluice_formats::Status;
use sluice_formats::random::{Rng, test_is_long, test_seed};
use sluice_formats::rmt::rows::{GrantedRow, GroupNameRow, GroupRow, KeyRow, PageRow};
use sluice_formats::rmt::tables::Event;
use sluice_formats::row::Row;
use sluice_formats::{Node, Table};
use sluice_object::RmtPart;
use sluice_object::linker::rmt::{Placer, Quota, RmtError, RowWrite};
use sluice_rmt::action::{When, WordOp, WordSource};
use sluice_rmt::fast::{Buffers, Fast};
use sluice_rmt::phv::{DISCARD, EXCEPT_INGRESS};
use sluice_rmt::pipeline::Memory;
use sluice_rmt::stage::{Exact, Hit, Leads, Ternary};
use sluice_rmt::target::{DATA, DEFAULT, MODULE_PAGES, NUMBERS, PAGE_WORDS, TINY, Target, WIDE};
use sluice_rmt::testing::{Shape, checked_program};
use sluice_rmt::{Arrival, Group, Outcome, Pipeline, Program, Reason, Role, check, encode};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Packets of one set of tenants.
const ROUND: usize = 2_500;
/// Packets between two comparisons of everything that is kept.
const COMPARED: usize = 500;

fn packets() -> usize {
    if test_is_long() { 1_000_000 } else { 50_000 }
}

/// What was seen over all rounds, so that a test that looks at nothing fails.
#[derive(Debug, Default)]
struct Seen {
    sent: u64,
    copies: u64,
    dropped: BTreeMap<&'static str, u64>,
    exact: u64,
    ternary: u64,
    default: u64,
    state_range: u64,
    replacements: u64,
    kept: u64,
    unplaced: u64,
    longest_tenants: usize,
}

struct Tenant {
    module: u8,
    programs: Vec<(Program, RmtPart)>,
    loaded: [Option<usize>; 2],
    current: u8,
    packets: Vec<Vec<u8>>,
}

struct Rig {
    rng: Rng,
    target: Target,
    spec: Pipeline,
    fast: Fast,
    buffers: Buffers,
    placer: Placer,
    tenants: Vec<Tenant>,
    /// First hit counter by module and stage, once known.
    bases: BTreeMap<(u8, usize), (Node, usize)>,
    drops: BTreeMap<(u8, Event), u64>,
    seen: Seen,
    /// Time for most packets, so that meters are met while they remember.
    now: u64,
}

fn packet(rng: &mut Rng) -> Vec<u8> {
    let length = match rng.below(10) {
        0 => rng.below(64),
        1..=3 => rng.range(60, 140),
        4..=8 => rng.range(120, 400),
        _ => rng.below(9217),
    };
    let mut bytes = rng.bytes(length as usize);
    match rng.below(4) {
        0 => bytes.iter_mut().for_each(|b| *b &= 0x11),
        1 => bytes.iter_mut().for_each(|b| *b = if *b & 1 == 1 { 0xff } else { 0 }),
        _ => {}
    }
    bytes
}

/// Groups, discard and the port of arrival, which random programs mostly leave alone.
fn steer(rng: &mut Rng, program: &mut Program) {
    for op in program.stages.iter_mut().flatten().flat_map(|s| &mut s.actions).flat_map(|a| &mut a.words) {
        steer_word(rng, op);
    }
}

fn steer_word(rng: &mut Rng, op: &mut WordOp) {
    match op.word {
        11 if rng.chance(1, 12) => {
            op.source = WordSource::Imm(DISCARD | 0b110);
            op.mask = DISCARD | 0xff;
            op.when = [When::Always, When::If(0), When::Unless(1)][rng.index(3)];
        }
        11 if rng.chance(1, 8) => {
            op.source = WordSource::Imm(EXCEPT_INGRESS | 0xff);
            op.mask = EXCEPT_INGRESS | 0xff;
        }
        // From the packet: the linker lets no immediate and no action data name a group of others.
        12 if rng.chance(1, 4) => {
            op.source = [WordSource::P0, WordSource::X][rng.index(2)];
            op.mask = if rng.chance(1, 20) { 0xffff } else { 7 };
        }
        _ => {}
    }
}

/// Entries for keys that the packets give, so that they are met.
fn learn(rng: &mut Rng, program: &mut Program, shape: &Shape, target: &Target, packets: &[Vec<u8>]) {
    let module = u8::from(shape.role == Role::Tenant);
    let mut pipeline = Pipeline::new(*target);
    pipeline.load(module, 0, program.clone(), Memory::Zeroed).expect("a checked program alone");
    for bytes in packets {
        let mut keys = Vec::new();
        pipeline.run_traced(&arrival(bytes, module), &mut |t| keys.push((t.stage, t.key)));
        for (stage, key) in keys {
            let Some(stage) = program.stages[stage].as_mut().filter(|_| rng.chance(1, 3)) else { continue };
            let mut data = [0; DATA];
            rng.fill(&mut data);
            let number = rng.index(shape.numbers) as u16;
            let leads = Leads { action: rng.index(stage.actions.len()) as u16, data, number };
            if rng.chance(1, 2) && stage.tables.exact.len() + 1 < shape.exact {
                if stage.tables.exact.iter().all(|e| e.key != key) {
                    stage.tables.exact.push(Exact { key, leads });
                }
            } else if stage.tables.ternary.len() + 1 < shape.ternary {
                let mut mask = stage.key.mask;
                mask.0.iter_mut().for_each(|b| *b &= rng.next_u32() as u8);
                stage.tables.ternary.push(Ternary { value: key.and(&mask), mask, leads });
            }
        }
    }
}

fn arrival(packet: &[u8], module: u8) -> Arrival<'_> {
    Arrival { packet, module, generation: 0, system_generation: 0, tenant: 0, port: 0, arrival: 0, queueing: 0 }
}

impl Tenant {
    /// Three programs with the same pages, so that each can keep the state of each.
    fn random(rng: &mut Rng, module: u8, target: &Target, shape: &Shape) -> Self {
        let packets: Vec<Vec<u8>> = (0..12).map(|_| packet(rng)).collect();
        let mut programs: Vec<Program> = Vec::new();
        while programs.len() < 3 {
            let mut program = checked_program(rng, target, shape);
            program.stages.resize(target.stages, None);
            if let Some(first) = programs.first() {
                for (stage, of_first) in program.stages.iter_mut().zip(&first.stages) {
                    match (&mut *stage, of_first) {
                        (Some(stage), _) => stage.pages = of_first.as_ref().map_or(0, |s| s.pages),
                        (None, Some(s)) if s.pages > 0 => *stage = of_first.clone(),
                        (None, _) => {}
                    }
                }
            }
            steer(rng, &mut program);
            learn(rng, &mut program, shape, target, &packets);
            check(&program, target, shape.role).expect("what was changed is allowed");
            programs.push(program);
        }
        let part = |p: Program| {
            let part = encode(&p, target).expect("a checked program");
            (p, part)
        };
        Self { module, programs: programs.into_iter().map(part).collect(), loaded: [None; 2], current: 0, packets }
    }

    /// Room for each of its programs.
    fn quota(&self) -> Quota {
        self.programs.iter().fold(Quota::default(), |q, (_, part)| q.or(&Quota::of(part, 0xff)))
    }
}

impl Rig {
    fn new(mut rng: Rng, target: Target, tenants: usize, seen: Seen) -> Self {
        let mut rig = Self {
            spec: Pipeline::new(target),
            fast: Fast::new(target),
            buffers: Buffers::default(),
            placer: Placer::new(target),
            tenants: Vec::new(),
            bases: BTreeMap::new(),
            drops: BTreeMap::new(),
            target,
            seen,
            now: rng.next_u64() >> 16,
            rng: rng.fork(),
        };
        for write in rig.placer.stage_owners() {
            rig.write(&write);
        }
        for module in 0..tenants as u8 {
            rig.admit(module, tenants);
        }
        rig.seen.longest_tenants = rig.seen.longest_tenants.max(rig.tenants.len());
        for number in 0..6 {
            rig.group(number);
        }
        rig
    }

    fn write(&mut self, write: &RowWrite) {
        let status = self.fast.write(write.node, write.table, write.index, &write.words);
        assert_eq!(status, Status::Ok, "{:?} {:?} {}", write.node, write.table, write.index);
    }

    /// As large as there is room for; a module that finds none stays away.
    fn admit(&mut self, module: u8, tenants: usize) {
        let role = if module == 0 { Role::System } else { Role::Tenant };
        let share = |all: usize, most: usize| (all / (3 * tenants)).clamp(1, most);
        let t = &self.target;
        let large = Shape {
            exact: share(t.exact, 40) + 1,
            ternary: share(t.ternary, 16) + 1,
            actions: share(t.actions, 6),
            pages: share(t.pages(), 3) + 1,
            numbers: NUMBERS / tenants,
            role,
        };
        let small = Shape { exact: 2, ternary: 1, actions: 1, pages: 1, ..large };
        for shape in [large, Shape { pages: 1, ..large }, small, Shape { exact: 1, ..small }] {
            let tenant = Tenant::random(&mut self.rng, module, &self.target, &shape);
            let Ok(writes) = self.placer.admit(module, &format!("t{module}"), tenant.quota()) else { continue };
            writes.iter().for_each(|w| self.write(w));
            self.spec.grant(module, 0xff);
            self.tenants.push(tenant);
            let at = self.tenants.len() - 1;
            self.load(at, 0, false);
            return;
        }
    }

    /// Puts one of a tenant's programs into a generation. Packets of others run between the rows.
    ///
    /// False if it finds no place.
    fn load(&mut self, at: usize, generation: u8, between: bool) -> bool {
        let number = self.rng.index(3);
        let keep = self.rng.chance(1, 2);
        let Tenant { module, ref programs, ref loaded, .. } = self.tenants[at];
        let keep = keep && loaded[usize::from(1 - generation)].is_some();
        let (program, part) = programs[number].clone();
        let part = Arc::new(RmtPart { keep_state: keep, ..part });
        let clears = self.placer.clear(module, generation).expect("nobody carries it");
        self.spec.unload(module, generation);
        self.tenants[at].loaded[usize::from(generation)] = None;
        clears.iter().for_each(|write| self.write(write));
        let placed = match self.placer.place(module, generation, &part) {
            Ok(placed) => placed,
            // More keys than fit one set by their hash: the linker says so, and the generation stays empty.
            Err(RmtError::NoPlace { .. }) => {
                self.seen.unplaced += 1;
                return false;
            }
            Err(error) => panic!("within the quota: {error}"),
        };
        let mut rows = placed.rows.clone();
        self.rng.shuffle(&mut rows);
        for write in placed.zero.iter().chain(&rows) {
            self.write(write);
            if between && self.rng.chance(1, 60) {
                self.packet(Some((module, generation)));
            }
        }
        let memory = if keep { Memory::Keep } else { Memory::Zeroed };
        self.spec.load(module, generation, program, memory).expect("the linker had room for it");
        self.tenants[at].loaded[usize::from(generation)] = Some(number);
        self.seen.kept += u64::from(keep);
        for stage in (0..self.target.stages).filter(|s| self.tenants[at].programs[number].0.stages[*s].is_some()) {
            let node = self.node(module, stage);
            let row = self.fast.row(node, Table::Key, self.bank(module, generation)).expect("a row");
            let row = KeyRow::unpack(&row).expect("as it was packed");
            self.bases.insert((module, stage), (node, row.hits_base.into()));
        }
        true
    }

    /// Where a stage of a module's programs runs.
    fn node(&self, module: u8, stage: usize) -> Node {
        Node::Stage(self.placer.stages_of(module).get(&(stage as u8)).copied().unwrap_or(stage as u8))
    }

    fn bank(&self, module: u8, generation: u8) -> u32 {
        2 * u32::from(module) + u32::from(generation)
    }

    /// Another program beside the running one, then the commit; packets that carry the old generation still come.
    fn replace(&mut self) {
        let at = self.rng.index(self.tenants.len());
        let other = 1 - self.tenants[at].current;
        if !self.load(at, other, true) {
            return;
        }
        let module = self.tenants[at].module;
        let commit = self.placer.commit(module, other);
        self.write(&commit);
        self.tenants[at].current = other;
        self.seen.replacements += 1;
    }

    fn group(&mut self, number: u16) {
        let owner = if self.rng.chance(1, 3) { 0 } else { self.rng.index(self.target.modules) as u8 };
        let destinations = self.rng.next_u32() as u8;
        let tags = std::array::from_fn(|_| self.rng.next_u32() as u16);
        let words = GroupRow { owner, destinations, tags }.pack().expect("it fits");
        assert_eq!(self.fast.write(Node::Deparser, Table::Group, number.into(), &words), Status::Ok);
        self.spec.set_group(number, Group { owner, destinations, tags });
    }

    fn grant(&mut self) {
        let module = self.tenants[self.rng.index(self.tenants.len())].module;
        let destinations = self.rng.next_u32() as u8 | self.rng.next_u32() as u8;
        let words = GrantedRow { destinations }.pack().expect("it fits");
        assert_eq!(self.fast.write(Node::Deparser, Table::Granted, module.into(), &words), Status::Ok);
        self.spec.grant(module, destinations);
    }

    fn names(&mut self) {
        let module = self.tenants[self.rng.index(self.tenants.len())].module;
        let mask = *self.rng.choose(&[0, 0xfffe, 0xfffc, 0xffff]).unwrap();
        let name = self.rng.below(4) as u16 & mask;
        let names = GroupNameRow { mask, name, first: self.rng.below(8) as u16 & mask };
        let words = names.pack().expect("it fits");
        assert_eq!(self.fast.write(Node::Deparser, Table::GroupName, module.into(), &words), Status::Ok);
        self.spec.name_groups(module, names);
    }

    /// One packet through both. None carries the generation `not`.
    fn packet(&mut self, not: Option<(u8, u8)>) {
        let rng = &mut self.rng;
        let tenant = &self.tenants[rng.index(self.tenants.len())];
        let mut bytes =
            if rng.chance(3, 4) { tenant.packets[rng.index(tenant.packets.len())].clone() } else { packet(rng) };
        if rng.chance(1, 4) && !bytes.is_empty() {
            let at = rng.index(bytes.len().min(140));
            bytes[at] ^= 1 << rng.below(8);
        }
        let module = if rng.chance(1, 100) { rng.below(80) as u8 } else { tenant.module };
        self.now = (self.now + rng.below(1 << 20)) & ((1 << 48) - 1);
        let stamped = self.fast.stamped(&arrival(&bytes, module));
        let mut arrival = Arrival {
            tenant: rng.below(4096) as u16,
            port: rng.below(16) as u8,
            arrival: rng.next_u64() >> 16,
            queueing: if rng.chance(3, 4) { self.now } else { rng.next_u64() >> 16 },
            ..stamped
        };
        if rng.chance(1, 10) {
            arrival.generation ^= 1;
        }
        if rng.chance(1, 10) {
            arrival.system_generation ^= 1;
        }
        match not {
            Some((m, g)) if m == arrival.module && g == arrival.generation => return,
            Some((0, g)) if g == arrival.system_generation => return,
            _ => {}
        }
        let seen = &mut self.seen;
        let expected = self.spec.run_traced(&arrival, &mut |t| match t.hit {
            Hit::Exact(_) => seen.exact += 1,
            Hit::Ternary(_) => seen.ternary += 1,
            Hit::Default => seen.default += 1,
        });
        match (&expected, self.fast.run_into(&arrival, &mut self.buffers)) {
            (Outcome::Sent { packet, copies }, Ok(())) => {
                assert_eq!((&self.buffers.packet, &self.buffers.copies), (packet, copies), "{arrival:?}");
                seen.sent += 1;
                seen.copies += copies.len() as u64 - 1;
            }
            (Outcome::Dropped(reason), Err(found)) => {
                assert_eq!(found, *reason, "{arrival:?}");
                *seen.dropped.entry(reason.name()).or_default() += 1;
                let there = usize::from(module) < self.target.modules;
                if let Some(event) = event(*reason).filter(|_| there) {
                    *self.drops.entry((module, event)).or_default() += 1;
                }
            }
            (expected, found) => panic!("{arrival:?}: {found:?}, expected {expected:?}"),
        }
    }

    fn counter(&self, node: Node, table: Table, index: usize) -> u64 {
        let words = self.fast.read(node, table, index as u32).expect("a counter");
        u64::from(words[0]) | u64::from(words[1]) << 32
    }

    /// State words, hits, counters of all modules.
    fn compare(&mut self) {
        for stage in 0..self.target.stages {
            let node = Node::Stage(stage as u8);
            let mut all = 0;
            for (&(module, own), &(_, base)) in self.bases.iter().filter(|(_, (at, _))| *at == node) {
                for number in 0..NUMBERS - base {
                    let expected = self.spec.hits(module, own, number as u16);
                    if expected != 0 {
                        assert_eq!(
                            self.counter(node, Table::Hits, base + number),
                            expected,
                            "{module} {stage} {number}"
                        );
                    }
                    all += expected;
                }
            }
            let sum: u64 = (0..NUMBERS).map(|i| self.counter(node, Table::Hits, i)).sum();
            assert_eq!(sum, all, "hits in stage {stage}");
            for tenant in &self.tenants {
                for generation in 0..2 {
                    self.compare_words(stage, tenant.module, generation);
                }
            }
        }
        for module in 0..self.target.modules as u8 {
            let index = usize::from(module);
            let ranges = (0..self.target.stages as u8).map(|s| self.counter(Node::Stage(s), Table::StateRange, index));
            assert_eq!(ranges.sum::<u64>(), self.spec.state_range(module));
            for event in Event::ALL {
                let expected = match event {
                    Event::Copies => self.spec.copies(module),
                    _ => self.drops.get(&(module, event)).copied().unwrap_or(0),
                };
                let counter = self.counter(Node::Deparser, Table::Events, 16 * index + event as usize);
                assert_eq!(counter, expected, "{} of module {module}", event.name());
            }
        }
    }

    fn compare_words(&self, stage: usize, module: u8, generation: u8) {
        let expected = self.spec.words(module, generation, stage);
        for (page, words) in expected.chunks(PAGE_WORDS).enumerate() {
            let index = MODULE_PAGES as u32 * self.bank(module, generation) + page as u32;
            let at = self.node(module, stage);
            let row = self.fast.row(at, Table::Page, index).expect("a row");
            let row = PageRow::unpack(&row).expect("as it was packed");
            assert!(row.valid, "page {page} of module {module} in stage {stage}");
            let first = PAGE_WORDS * usize::from(row.page);
            let at = at.stage().map_or(stage, usize::from);
            let found: Vec<u32> = (first..first + PAGE_WORDS).map(|w| self.fast.state_word(at, w)).collect();
            assert_eq!(found, words, "page {page} of module {module} in stage {stage}");
        }
    }

    fn round(mut self, packets: usize) -> Seen {
        for i in 0..packets {
            match self.rng.below(400) {
                0..=3 => self.replace(),
                4 => {
                    let number = self.rng.below(6) as u16;
                    self.group(number);
                }
                5 => self.grant(),
                6 => self.names(),
                _ => {}
            }
            self.packet(None);
            if i % COMPARED == COMPARED - 1 || i == packets - 1 {
                self.compare();
            }
        }
        let modules = 0..self.target.modules as u8;
        self.seen.state_range += modules.map(|m| self.spec.state_range(m)).sum::<u64>();
        self.seen
    }
}

fn event(reason: Reason) -> Option<Event> {
    Event::ALL.into_iter().find(|e| e.name() == reason.name())
}

#[test]
fn random_programs_do_the_same_to_every_packet_on_rows_and_in_the_specification() {
    let mut rng = Rng::new(test_seed("rmt_fast_vs_spec"));
    let mut seen = Seen::default();
    let all = packets();
    for round in 0..all.div_ceil(ROUND) {
        let (target, most) = [(DEFAULT, 64), (TINY, 8), (WIDE, 64), (TINY, 8)][round % 4];
        // Few tenants have the room for many entries each.
        let tenants = match round {
            0 => most,
            _ if rng.chance(1, 2) => rng.range(2, 4),
            _ => rng.range(2, most),
        };
        let rig = Rig::new(rng.fork(), target, tenants as usize, seen);
        seen = rig.round(ROUND.min(all - round * ROUND));
    }
    println!("{seen:#?}");
    assert!(seen.sent as usize > all / 5 && seen.longest_tenants > 50, "too few to mean anything");
    let met = [seen.exact, seen.ternary, seen.default, seen.state_range, seen.copies, seen.replacements, seen.kept];
    assert!(met.iter().all(|&n| n as usize > all / 2000), "too few to mean anything: {met:?}");
    assert!(seen.unplaced * 20 < seen.replacements, "{} programs found no place", seen.unplaced);
    for reason in ["no_module", "parse_short", "rmt_fault", "discard", "no_destination", "deparse_short"] {
        assert!(seen.dropped.contains_key(reason), "no packet was dropped as {reason}");
    }
}
