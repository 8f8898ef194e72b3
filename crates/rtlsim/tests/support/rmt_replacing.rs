//! Three CALC tenants fill the rmt pipeline at 5:3:2 while one of them is replaced.
//!
//! The two programs differ in parser, containers, key, every entry and every action, and each answer carries a mark from
//! its entry's data: what a packet comes back with says which program it saw, and a mixture is neither answer.

#![allow(dead_code)] // bench and test use a part each

use crate::pipeline::{Pipeline, object};
use sluice_device::{Device, Event, Verdict};
use sluice_formats::random::Rng;
use sluice_formats::{Table, Target};
use sluice_object::linker::unsafe_order;
use sluice_object::{Load, Object, Step};
use std::fmt::Write;
use std::ops::Range;

/// Bytes of a packet.
pub const LENGTH: usize = 64;
/// Tenants of ten packets, in the order in which they come.
const TURNS: [u8; 10] = [1, 2, 1, 3, 1, 2, 1, 3, 1, 2];
/// The tenant that is replaced.
pub const REPLACED: u8 = 1;
const OPERATIONS: [u8; 5] = *b"+-&|^";

/// What the tenants are asked for: on a small target room for two programs of three tenants is room for two entries each.
pub fn asked(target: &Target) -> &'static [u8] {
    if target.rmt.exact < 1024 { &OPERATIONS[..2] } else { &OPERATIONS }
}

/// Which of the two programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Version {
    Old,
    New,
}

/// In which order the new program's rows and its commit go in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Rows, then commit.
    Safe,
    /// Commit, then rows.
    CommitFirst,
    /// Commit before the rows of action data.
    CommitAmidst,
}

/// A packet that came back.
#[derive(Clone, Copy, Debug)]
pub struct Answer {
    pub tenant: u8,
    /// Tick of its last beat.
    pub at: u64,
    /// Program that gave its answer; none for a mixture.
    pub version: Option<Version>,
}

/// Ticks of what a replacement does, one after the other.
#[derive(Clone, Debug, Default)]
pub struct Ticks {
    /// From its first step until the new rows are there.
    pub written: Range<u64>,
    /// Until the commit is answered.
    pub committed: u64,
    /// Until the old rows are zeroed.
    pub cleared: u64,
}

/// What a replacement was seen to do.
#[derive(Debug, Default)]
pub struct Run {
    pub answers: Vec<Answer>,
    pub offered: usize,
    /// Packets that were dropped.
    pub lost: usize,
    /// When its steps were done.
    pub ticks: Ticks,
    /// Rows of the new program, and their words.
    pub rows: usize,
    pub words: usize,
}

impl Run {
    /// Answers that are neither the old program's nor the new one's.
    pub fn mixtures(&self) -> usize {
        self.answers.iter().filter(|a| a.version.is_none()).count()
    }

    /// Answers of other tenants that are not their program's.
    pub fn others_changed(&self) -> usize {
        self.answers.iter().filter(|a| a.tenant != REPLACED && a.version != Some(Version::Old)).count()
    }

    /// Answers of the old program behind one of the new.
    pub fn steps_back(&self) -> usize {
        let versions: Vec<_> = self.answers.iter().filter(|a| a.tenant == REPLACED).filter_map(|a| a.version).collect();
        versions.windows(2).filter(|w| w[0] > w[1]).count()
    }

    /// Packets that a version of a tenant answered in a stretch of time.
    pub fn count(&self, tenant: u8, version: Version, ticks: &Range<u64>) -> usize {
        let of = |a: &&Answer| a.tenant == tenant && a.version == Some(version) && ticks.contains(&a.at);
        self.answers.iter().filter(of).count()
    }
}

/// A CALC module, its answers marked as the tenant's.
fn calc(version: Version, tenant: u8, target: &Target) -> String {
    let (containers, select, key, operands) = match version {
        Version::Old => (
            "op = c2[0], mark = c2[1], a = c4[0], b = c4[1], result = c4[2], to = c6[0], from = c6[1]",
            " select 12:2, 14:2, 16:1 {\n 0x1234, \"P4\", 1 -> request\n }\n",
            "op[7:0]",
            "a @18, b @22",
        ),
        Version::New => (
            "op = c2[5], mark = c2[4], a = c4[6], b = c4[5], result = c4[3], to = c6[3], from = c6[2]",
            " select 14:1, 12:2 {\n \"P\", 0x1234 -> request\n }\n",
            "op",
            "a @22, b @18",
        ),
    };
    let (mut entries, mut actions) = (String::new(), String::new());
    for (i, &asked) in asked(target).iter().enumerate() {
        let mark = mark(version, tenant, asked);
        // The new program answers each question with another operation, its operands exchanged.
        let does = match version {
            Version::Old => char::from(asked),
            Version::New => char::from(OPERATIONS[(i + 1) % OPERATIONS.len()]),
        };
        let _ = match version {
            Version::Old => writeln!(entries, " {asked} -> op{i}({mark})"),
            Version::New => writeln!(entries, " {} -> op{i}({mark})", 0x100 + u32::from(asked)),
        };
        let _ = writeln!(
            actions,
            " action op{i}(m: 2) {{ mark = m; result = a {does} b; to = from; from = to; send port0 }}"
        );
    }
    format!(
        "module calc\ncontainer {containers}\nparser {{\n{select} path request {{\n take to @0, from @6, op @16, {operands}\n \
         }}\n}}\nstage 1 {{\n key {key}\n exact {{\n{entries} }}\n default drop\n{actions} action drop {{ discard }}\n}}\n\
         deparser {{\n row answer {{\n put to @0, from @6, mark @14, result @26\n }}\n}}\n"
    )
}

fn mark(version: Version, tenant: u8, operation: u8) -> u16 {
    let program = if version == Version::Old { 0xa0 } else { 0xb0 };
    u16::from_be_bytes([program + tenant, operation])
}

pub fn module(version: Version, tenant: u8, target: &Target) -> Object {
    object(&calc(version, tenant, target), target)
}

/// A question.
pub fn question(rng: &mut Rng, asked: &[u8]) -> Vec<u8> {
    let mut bytes: Vec<u8> = (0..LENGTH).map(|_| rng.next_u32() as u8).collect();
    bytes[12..17].copy_from_slice(&[0x12, 0x34, b'P', b'4', 1]);
    bytes[17] = asked[rng.index(asked.len())];
    bytes
}

/// What a version answers, worked out apart from any model.
pub fn answer(question: &[u8], version: Version, tenant: u8) -> Vec<u8> {
    let word = |at: usize| u32::from_be_bytes(question[at..at + 4].try_into().expect("four bytes"));
    let place = OPERATIONS.iter().position(|&o| o == question[17]).expect("an operation");
    let (a, b, does) = match version {
        Version::Old => (word(18), word(22), question[17]),
        Version::New => (word(22), word(18), OPERATIONS[(place + 1) % OPERATIONS.len()]),
    };
    let result = match does {
        b'+' => a.wrapping_add(b),
        b'-' => a.wrapping_sub(b),
        b'&' => a & b,
        b'|' => a | b,
        _ => a ^ b,
    };
    let mut bytes = question.to_vec();
    bytes[..6].copy_from_slice(&question[6..12]);
    bytes[6..12].copy_from_slice(&question[..6]);
    bytes[14..16].copy_from_slice(&mark(version, tenant, question[17]).to_be_bytes());
    bytes[26..30].copy_from_slice(&result.to_be_bytes());
    bytes
}

/// The load with a barrier before its commit, at which it is seen that all rows have been answered.
fn barred(mut load: Load) -> Load {
    let commit = load.steps.iter().position(|s| matches!(s, Step::Commit { .. })).expect("it commits");
    load.steps.insert(commit, Step::Barrier);
    load
}

/// The load with its commit before the rows of action data.
fn commit_amidst(load: &Load) -> Load {
    let mut load = load.clone();
    let commit = load.steps.iter().position(|s| matches!(s, Step::Commit { .. })).expect("it commits");
    let late = |step: &Step| matches!(step, Step::Write { table: Table::Data, .. });
    let after = load.steps.split_off(commit + 1);
    let commit = load.steps.pop();
    let (late, early): (Vec<_>, Vec<_>) = load.steps.into_iter().partition(late);
    load.steps = early.into_iter().chain(commit).chain(late).chain(after).collect();
    load
}

/// Packets fill every cycle; after `before` cycles the replacement begins, and packets go on for `packets` in all.
/// `step` tells which step of the running load begins next.
pub fn run<D: Device>(
    nic: D,
    step: impl Fn(&D) -> Option<usize>,
    order: Order,
    (before, packets): (u64, usize),
    seed: u64,
) -> Run {
    let mut pipeline = Pipeline::new(nic);
    let target = pipeline.target;
    for tenant in 1..=3 {
        let versions = [Version::Old, Version::New].map(|version| module(version, tenant, target));
        // Room for both programs at once.
        pipeline.admit(tenant, &[&versions[0], &versions[1]], 3);
        pipeline.load(tenant, &versions[0]);
    }
    let mut rng = Rng::new(seed);
    let questions: Vec<Vec<u8>> = (0..packets).map(|_| question(&mut rng, asked(target))).collect();
    let of = |(i, question): (usize, &Vec<u8>)| (TURNS[i % TURNS.len()], question.clone(), 0);
    pipeline.offer(questions.iter().enumerate().map(of));
    pipeline.nic.advance(before).expect("it runs");

    let load = pipeline.replacement(REPLACED, &module(Version::New, REPLACED, target));
    let load = match order {
        Order::Safe => barred(load),
        Order::CommitFirst => unsafe_order(&load),
        Order::CommitAmidst => commit_amidst(&load),
    };
    let commit = load.steps.iter().position(|s| matches!(s, Step::Commit { .. })).expect("it commits");
    let rows = load.steps[..commit].iter().filter_map(|step| match step {
        Step::Write { words, .. } => Some(words.len()),
        _ => None,
    });
    let (rows, words) = rows.fold((0, 0), |(rows, words), row| (rows + 1, words + row));
    let mut run = Run { offered: packets, rows, words, ..Run::default() };
    let op = pipeline.nic.submit(&load).expect("it is taken");
    run.ticks.written = pipeline.nic.now()..0;
    let mut outcomes = Vec::new();
    while run.ticks.cleared == 0 {
        pipeline.nic.advance(1).expect("it runs");
        let now = pipeline.nic.now();
        let step = step(&pipeline.nic);
        // The step of the commit begins when the rows before it have been answered.
        let reached = |least: usize| step.is_some_and(|step| step >= least);
        if run.ticks.written.end == 0 && reached(commit) {
            run.ticks.written.end = now;
        }
        if run.ticks.committed == 0 && reached(commit + 1) {
            run.ticks.committed = now;
        }
        for event in pipeline.nic.poll(usize::MAX) {
            match event {
                Event::Outcome(outcome) => outcomes.push(outcome),
                Event::OpDone { op: done, result } if done == op => {
                    result.expect("it ends well");
                    run.ticks.cleared = now;
                }
                Event::OpDone { .. } => {}
            }
        }
    }
    pipeline.nic.quiesce().expect("packets end");
    for outcome in Pipeline::<D>::without_tags(outcomes).into_iter().chain(pipeline.take()) {
        let Verdict::Forwarded { .. } = outcome.verdict else {
            run.lost += 1;
            continue;
        };
        let question = &questions[outcome.id as usize];
        let is = |version: &Version| answer(question, *version, outcome.module) == outcome.bytes;
        let version = [Version::Old, Version::New].into_iter().find(is);
        let at = outcome.last_out.expect("the RTL tells it");
        run.answers.push(Answer { tenant: outcome.module, at, version });
    }
    run
}
