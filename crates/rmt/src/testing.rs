//! Random programs, for tests and fuzzers of everything that takes programs.
//!
//! What the checker refuses comes up too, now and then, unless the [`Shape`] says otherwise.

pub mod device;

use crate::action::{A, Action, Alu, B, Cross, Op, Picks, When, WordOp, WordSource};
use crate::check::{Role, check};
use crate::deparser::{Adjust, DeparseRow, Deparser, Pattern, Update};
use crate::parser::{Alternative, Known, Parser, Path, Select, Span};
use crate::phv::{Class, Container, DROP_PORT, EGRESS_PORT};
use crate::program::{Program, Stage};
use crate::stage::{Exact, Key, KeySpec, Leads, Left, Order, Predicate, Right, Tables, Ternary};
use crate::state::{Access, Choice, IndexSource, Operand, Relation, StateOp, Update as Word};
use crate::target::{DATA, NUMBERS, Target, WINDOW};
use sluice_formats::random::Rng;

/// How large random programs are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Exact entries of a stage are fewer than this.
    pub exact: usize,
    /// Likewise ternary entries.
    pub ternary: usize,
    /// Most actions of a stage.
    pub actions: usize,
    /// Pages of a stage are fewer than this.
    pub pages: usize,
    /// Logical numbers are below this.
    pub numbers: usize,
    /// Whose programs they are: only the system module's have rows in system stages.
    pub role: Role,
}

impl Shape {
    /// A tenant's program that uses a little of everything.
    pub const TENANT: Self = Self { exact: 6, ternary: 5, actions: 4, pages: 3, numbers: NUMBERS, role: Role::Tenant };
}

/// A random program that the checker lets through. Programs are drawn until one passes, so that it depends on the
/// generator's state alone.
pub fn checked_program(rng: &mut Rng, target: &Target, shape: &Shape) -> Program {
    loop {
        let program = program(rng, target, shape);
        if check(&program, target, shape.role).is_ok() {
            return program;
        }
    }
}

/// Sets the bytes that a random path of the parser asks for.
pub fn aim(rng: &mut Rng, parser: &Parser, bytes: &mut [u8]) {
    let mut select = &parser.first;
    for _ in 0..2 {
        if select.alternatives.is_empty() {
            return;
        }
        let chosen = &select.alternatives[rng.index(select.alternatives.len())];
        for (k, &offset) in select.offsets.iter().enumerate() {
            if let Some(byte) = bytes.get_mut(usize::from(offset)) {
                *byte = *byte & !chosen.mask[k] | chosen.value[k] & chosen.mask[k];
            }
        }
        match parser.nodes.get(usize::from(chosen.to)) {
            Some(node) => select = node,
            None => return,
        }
    }
}

fn below(rng: &mut Rng, n: u64) -> u8 {
    rng.below(n) as u8
}

/// Within its range nearly always.
fn nearly(rng: &mut Rng, n: u64) -> u8 {
    if rng.chance(1, 2000) { n as u8 } else { below(rng, n) }
}

fn container(rng: &mut Rng) -> Container {
    Container(nearly(rng, 24))
}

fn when(rng: &mut Rng) -> When {
    match rng.below(3) {
        0 => When::Always,
        1 => When::If(nearly(rng, 2)),
        _ => When::Unless(nearly(rng, 2)),
    }
}

fn relation(rng: &mut Rng) -> Relation {
    use Relation::*;
    [Eq, Ne, Lt, Le, Gt, Ge][rng.index(6)]
}

fn select(rng: &mut Rng, leads_to: u64) -> Select {
    let mut row = Select { offsets: [0; 8], ..Select::default() };
    row.offsets.iter_mut().for_each(|o| *o = nearly(rng, 128));
    let last = Alternative { to: below(rng, leads_to), ..Alternative::default() };
    for _ in 0..rng.below(8) {
        let mut a = Alternative { to: nearly(rng, leads_to), ..Alternative::default() };
        a.least = if rng.chance(1, 4) { nearly(rng, WINDOW as u64) } else { 0 };
        if rng.chance(9, 10) {
            let k = rng.index(8);
            a.mask[k] = 1 << rng.below(8);
            a.value[k] = a.mask[k] & rng.next_u32() as u8;
        }
        row.alternatives.push(a);
    }
    row.alternatives.push(last);
    row
}

fn parser(rng: &mut Rng) -> Parser {
    let (nodes, paths) = (rng.range(1, 4), rng.range(1, 16));
    let path = |rng: &mut Rng| {
        let mut path = Path { headers: rng.next_u32() as u16, least: below(rng, 70), ..Path::default() };
        for (n, offset) in path.extract.iter_mut().enumerate() {
            let last = WINDOW - Container(n as u8).bytes();
            *offset = rng.chance(1, 2).then(|| nearly(rng, last as u64 + 1));
        }
        for (known, taken) in path.known.iter_mut().zip(&path.extract) {
            // A container that is taken too, now and then: the checker refuses it.
            if rng.chance(1, 3) && (taken.is_none() || rng.chance(1, 2000)) {
                *known = Some([Known::Constant, Known::Port, Known::Length][rng.index(3)]);
            }
        }
        path.constant = if path.known.contains(&Some(Known::Constant)) { rng.next_u32() as u16 } else { 0 };
        path.verify = rng.chance(1, 2).then(|| Span { start: below(rng, 100), words: rng.range(1, 14) as u8 });
        path
    };
    Parser {
        first: select(rng, nodes),
        nodes: (0..nodes).map(|_| select(rng, paths)).collect(),
        paths: (0..paths).map(|_| path(rng)).collect(),
        port_numbers: rng.chance(1, 3),
    }
}

/// A random deparse row; one out of fifty needs two rotations of a container in one beat.
pub fn deparse_row(rng: &mut Rng, target: &Target) -> DeparseRow {
    let delta = (rng.below(129) as i16 - 64) as i8;
    let split = below(rng, 60);
    let mut row = DeparseRow { delta, split, least: 128, ..DeparseRow::default() };
    // Containers at places of one rotation in each beat, then what is added filled up in order.
    for _ in 0..rng.below(24) {
        let c = container(rng);
        if c.0 < 24 && rng.chance(9, 10) {
            let mut trial = row.clone();
            trial.put(c, rng.index(WINDOW - 8));
            row = trial;
        }
    }
    for i in usize::from(split)..usize::from(split) + delta.max(0) as usize {
        // c2[0] and c2[1] stand at even and odd places wherever they are used, so they always fit.
        row.lanes[i] = Some((Container(0), (i % 2) as u8));
    }
    if !rng.chance(1, 50) {
        keep_one_rotation(&mut row, target.bus_bytes);
    }
    for sum in &mut row.checksums {
        let (start, words) = (below(rng, 100), rng.range(1, 12) as u8);
        let at = start + 2 * below(rng, words.into());
        *sum = rng.chance(1, 3).then_some(Update { start, words, at });
    }
    adjust(rng, &mut row);
    if rng.chance(1, 4) {
        // Short packets, too.
        row.lanes[20..].fill(None);
        row.checksums = [None; 2];
        row.adjust = None;
        (row.delta, row.split) = (row.delta.min(0), row.split.min(20));
        let end = row.lanes.iter().rposition(Option::is_some).map_or(0, |last| last as u8 + 1);
        row.least = end.max(row.split).max(1);
    }
    row
}

/// Makes the second checksum an incremental one, now and then: with any incoming span that has the old checksum, or one
/// that has it not.
fn adjust(rng: &mut Rng, row: &mut DeparseRow) {
    let Some(update) = row.checksums[1].filter(|_| rng.chance(2, 3)) else { return };
    let (at, split) = (i32::from(update.at), i32::from(row.split));
    let from = if at < split { at } else { at - i32::from(row.delta) };
    let before = rng.below(12) as i32;
    let start = (from - 2 * before).max(from & 1);
    let words = (from - start) / 2 + rng.range(1, 8) as i32;
    if (0..=120).contains(&start) {
        // The lanes between are the packet's, nearly always: of containers nobody knows where they were.
        if rng.chance(9, 10) {
            for lane in [at, at + 1] {
                let added = split..split + i32::from(row.delta.max(0));
                if !added.contains(&lane) {
                    row.lanes[lane as usize] = None;
                }
            }
        }
        row.adjust = Some(Adjust { start: nearly(rng, 1) + start as u8, words: words as u8, udp: rng.chance(1, 2) });
    }
}

/// Takes lanes away that would need a second rotation of their container.
fn keep_one_rotation(row: &mut DeparseRow, beat: usize) {
    let added = usize::from(row.split)..usize::from(row.split) + row.delta.max(0) as usize;
    for first in (0..WINDOW).step_by(beat) {
        let mut chosen = [None; 24];
        chosen[0] = Some(0);
        for i in first..first + beat {
            let Some((c, b)) = row.lanes[i] else { continue };
            let rotation = (i + c.bytes() - usize::from(b)) % c.bytes();
            if *chosen[usize::from(c.0)].get_or_insert(rotation) != rotation && !added.contains(&i) {
                row.lanes[i] = None;
            }
        }
    }
}

fn deparser(rng: &mut Rng, target: &Target) -> Deparser {
    let rows = rng.range(1, 4);
    let mut patterns: Vec<Pattern> = (0..rng.below(6))
        .map(|_| {
            let mask = rng.next_u32() & rng.next_u32() & 0xfffff;
            Pattern { value: rng.next_u32() & mask, mask, row: nearly(rng, rows) }
        })
        .collect();
    patterns.push(Pattern { row: below(rng, rows), ..Pattern::default() });
    Deparser { patterns, rows: (0..rows).map(|_| deparse_row(rng, target)).collect() }
}

fn operand(rng: &mut Rng) -> Operand {
    [Operand::Imm(rng.next_u32()), Operand::X, Operand::DataB, Operand::P1][rng.index(4)]
}

fn state(rng: &mut Rng) -> StateOp {
    let update = |rng: &mut Rng| Word { old: rng.chance(1, 2), value: operand(rng), negate: rng.chance(1, 2) };
    let access = if rng.chance(1, 4) {
        let limit = rng.next_u32() >> 8;
        let (cost, top) = (rng.next_u32() >> 8, limit + 9216);
        Access::Meter { limit, cost, top, per_packet: rng.chance(1, 2), shift: nearly(rng, 56) }
    } else {
        let choice = if rng.chance(1, 2) { Choice::When(when(rng)) } else { Choice::Old(relation(rng), operand(rng)) };
        Access::Atom { choice, then: update(rng), otherwise: update(rng) }
    };
    let source = [IndexSource::None, IndexSource::P2, IndexSource::Data, IndexSource::X][rng.index(4)];
    let to = |rng: &mut Rng| rng.chance(1, 2).then(|| nearly(rng, 8));
    let (index_mask, base) = ((1 << rng.below(9)) - 1, rng.below(100) as u16);
    StateOp { when: when(rng), source, index_mask, base, access, old_to: to(rng), new_to: to(rng) }
}

fn action(rng: &mut Rng) -> Action {
    let picks = Class::ALL.map(|class| Picks {
        container: std::array::from_fn(|_| nearly(rng, 8)),
        amount: nearly(rng, class.bits().into()),
        rotate_mask: rng.next_u64() & class.ones(),
        data: std::array::from_fn(|_| nearly(rng, 8)),
    });
    let cross =
        [Cross::None, Cross::Container(container(rng)), Cross::Words(nearly(rng, 16)), Cross::Hash, Cross::Number]
            [rng.index(5)];
    let mut alus = Vec::new();
    for n in (0..24).filter(|_| rng.chance(1, 3)).collect::<Vec<u8>>() {
        use Op::*;
        let ones = Container(n).class().ones();
        let (mask, imm) = (rng.next_u64() & ones, rng.next_u64() & ones);
        alus.push(Alu {
            own: Container(n),
            op: [Add, Sub, And, Or, Xor, Move, AndNot, Ge, Lt][rng.index(9)],
            a: [A::Own, A::P0, A::P1, A::X][rng.index(4)],
            b: [B::Imm(imm), B::DataA, B::DataB, B::P0, B::P1, B::R, B::X][rng.index(7)],
            mask,
            when: when(rng),
        });
    }
    let mut words = Vec::new();
    for word in (11..16).filter(|_| rng.chance(1, 2)).collect::<Vec<u8>>() {
        let source =
            [WordSource::Imm(rng.next_u32() as u16), WordSource::Data, WordSource::P0, WordSource::X][rng.index(4)];
        // Rather no discard and no group.
        let mask = if word == 12 { 0 } else { rng.next_u32() as u16 & 0x7fff };
        let mut op = WordOp { word, source, mask, when: when(rng) };
        if word == 15 && rng.chance(1, 2) {
            // Numbers of destinations, where the program has them, one behind the last, and the one that drops.
            op.source = WordSource::Imm(if rng.chance(1, 10) { DROP_PORT } else { rng.below(9) as u16 });
            op.mask = EGRESS_PORT;
        }
        words.push(op);
    }
    words.retain(|w| w.word != 11 || rng.chance(1, 4));
    if words.iter().all(|w| w.word != 11) {
        words.push(WordOp { word: 11, source: WordSource::Imm(0b110), mask: 0xff, when: When::Always });
    }
    let state = rng.chance(1, 2).then(|| state(rng));
    Action { picks, cross, cross_shift: nearly(rng, 3), cross_cut: nearly(rng, 3), alus, words, state }
}

fn stage(rng: &mut Rng, shape: &Shape) -> Stage {
    let mut mask = Key::default();
    (0..rng.below(20)).for_each(|_| mask.put(rng.below(194) as u32, 1, 1));
    let value = |rng: &mut Rng, mask: &Key| {
        let mut random = Key::default();
        rng.fill(&mut random.0);
        random.and(mask)
    };
    let actions: Vec<Action> = (0..rng.range(1, shape.actions as u64)).map(|_| action(rng)).collect();
    let count = actions.len() as u64;
    let leads = |rng: &mut Rng| {
        let mut data = [0; DATA];
        rng.fill(&mut data);
        Leads { action: nearly(rng, count).into(), data, number: rng.below(shape.numbers as u64) as u16 }
    };
    let mut exact: Vec<Exact> = Vec::new();
    for _ in 0..rng.below(shape.exact as u64) {
        let key = value(rng, &mask);
        if exact.iter().all(|e| e.key != key) {
            exact.push(Exact { key, leads: leads(rng) });
        }
    }
    let ternary = |rng: &mut Rng| {
        let mask = value(rng, &mask);
        Ternary { value: value(rng, &mask), mask, leads: leads(rng) }
    };
    let ternary = (0..rng.below(shape.ternary as u64)).map(|_| ternary(rng)).collect();
    let predicate = |rng: &mut Rng| Predicate {
        a: if rng.chance(1, 2) { Left::Container(container(rng)) } else { Left::Word(nearly(rng, 16)) },
        b: if rng.chance(1, 2) { Right::Container(container(rng)) } else { Right::Imm(rng.next_u64() >> 16) },
        mask: rng.next_u64() >> 16,
        relation: relation(rng),
    };
    let order = if rng.chance(1, 2) { Order::Listed } else { Order::Longest };
    let default = rng.chance(3, 4).then(|| leads(rng));
    Stage {
        key: KeySpec {
            pieces: std::array::from_fn(|_| nearly(rng, 8)),
            mask,
            predicates: std::array::from_fn(|_| rng.chance(1, 2).then(|| predicate(rng))),
            truth: std::array::from_fn(|_| nearly(rng, 16)),
        },
        tables: Tables { exact, ternary, order, default },
        actions,
        pages: rng.below(shape.pages as u64) as u16,
    }
}

/// A random program; some of them the checker refuses.
pub fn program(rng: &mut Rng, target: &Target, shape: &Shape) -> Program {
    let stages = (0..target.stages).map(|s| {
        let may = shape.role == Role::System || !target.is_system(s);
        (may && rng.chance(3, 4)).then(|| stage(rng, shape))
    });
    Program { stages: stages.collect(), parser: parser(rng), deparser: deparser(rng, target) }
}
