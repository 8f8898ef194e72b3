//! Three CALC tenants fill the rmt pipeline at 5:3:2 while one of them is replaced.
//!
//! The two programs differ in parser, containers, key, every entry and every action, and each answer carries a mark from
//! its entry's data: what a packet comes back with says which program it saw, and a mixture is neither answer.

#![allow(dead_code)] // bench and test use a part each

use sluice_formats::Table;
use sluice_formats::random::Rng;
use sluice_formats::rmt::target::Target;
use sluice_formats::rows::SidebandRow;
use sluice_object::linker::rmt::{Placer, RowWrite};
use sluice_rmt::fast::Fast;
use sluice_rmt::text;
use sluice_rtlsim::plugin::Until;
use sluice_rtlsim::rmt::{End, Lockstep, ModuleFile, RmtOffer, RmtRtl, RowSink, Tenants};
use sluice_rtlsim::{RtlError, RtlOptions};
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
fn asked(target: &Target) -> &'static [u8] {
    if target.exact < 1024 { &OPERATIONS[..2] } else { &OPERATIONS }
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

/// What the ring was asked for in one call, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    Write { rows: usize, words: usize },
    Commit,
    Drained,
}

/// Notes the calls of a load with their ticks: first word in, last answer out.
pub struct Watched<'a> {
    pub lockstep: &'a mut Lockstep<Fast>,
    pub steps: Vec<(Step, Range<u64>)>,
}

impl<'a> Watched<'a> {
    pub fn new(lockstep: &'a mut Lockstep<Fast>) -> Self {
        Self { lockstep, steps: Vec::new() }
    }

    fn note(
        &mut self,
        step: Step,
        call: impl FnOnce(&mut Lockstep<Fast>) -> Result<(), RtlError>,
    ) -> Result<(), RtlError> {
        let from = self.lockstep.rtl.now();
        call(self.lockstep)?;
        self.steps.push((step, from..self.lockstep.rtl.now()));
        Ok(())
    }
}

impl RowSink for Watched<'_> {
    type Error = RtlError;

    fn write(&mut self, rows: &[RowWrite]) -> Result<(), RtlError> {
        if rows.is_empty() {
            return Ok(());
        }
        let step = Step::Write { rows: rows.len(), words: rows.iter().map(|r| r.words.len()).sum() };
        self.note(step, |to| RowSink::write(to, rows))
    }

    fn commit(&mut self, module: u8, generation: u8) -> Result<(), RtlError> {
        self.note(Step::Commit, |to| RowSink::commit(to, module, generation))
    }

    fn drained(&mut self, module: u8, generation: u8) -> Result<(), RtlError> {
        self.note(Step::Drained, |to| to.drained(module, generation))
    }
}

/// What a replacement was seen to do.
#[derive(Debug, Default)]
pub struct Run {
    pub answers: Vec<Answer>,
    pub offered: usize,
    /// Packets that were dropped.
    pub lost: usize,
    /// What the ring was asked for; the last write clears the old rows.
    pub steps: Vec<(Step, Range<u64>)>,
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

fn module(version: Version, tenant: u8, target: &Target) -> ModuleFile {
    let source = calc(version, tenant, target);
    let unit = text::read("calc.rmt", &source, target).unwrap_or_else(|e| panic!("{e}\n{source}"));
    ModuleFile::of(unit, target).unwrap_or_else(|e| panic!("{e}\n{source}"))
}

/// A question.
fn question(rng: &mut Rng, asked: &[u8]) -> Vec<u8> {
    let mut bytes: Vec<u8> = (0..LENGTH).map(|_| rng.next_u32() as u8).collect();
    bytes[12..17].copy_from_slice(&[0x12, 0x34, b'P', b'4', 1]);
    bytes[17] = asked[rng.index(asked.len())];
    bytes
}

/// What a version answers, worked out apart from any model.
fn answer(question: &[u8], version: Version, tenant: u8) -> Vec<u8> {
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

/// Packets fill every cycle; after `before` cycles the replacement begins, and packets go on for `packets` in all.
pub fn run(target: &Target, options: &RtlOptions, order: Order, before: u64, packets: usize) -> Result<Run, RtlError> {
    let mut lockstep = Lockstep::new(RmtRtl::open(target, options)?, Fast::new(*target));
    let mut tenants = Tenants::new(Placer::new(*target));
    let owners = tenants.placer().stage_owners();
    RowSink::write(&mut lockstep, &owners)?;
    for tenant in 1..=3 {
        let file = module(Version::Old, tenant, target);
        // Room for both programs at once.
        let quota = module(Version::New, tenant, target).quota(target);
        tenants.admit(&mut lockstep, tenant, &format!("calc{tenant}"), quota)?;
        tenants.load(&mut lockstep, tenant, &file.part)?;
    }
    // The model sees rows and commits between packets only: it has no mixture to show.
    lockstep.compare = order == Order::Safe;

    let mut rng = Rng::new(options.seed);
    let questions: Vec<Vec<u8>> = (0..packets).map(|_| question(&mut rng, asked(target))).collect();
    let offers: Vec<RmtOffer> = questions
        .iter()
        .enumerate()
        .map(|(i, bytes)| {
            let tenant = TURNS[i % TURNS.len()];
            let sideband = SidebandRow {
                id: i as u32,
                module_id: tenant,
                tenant: tenant.into(),
                length: LENGTH as u16,
                ..SidebandRow::default()
            };
            RmtOffer { sideband, bytes: bytes.clone(), at: 0 }
        })
        .collect();
    lockstep.offer(&offers)?;
    lockstep.run(&Until { max_cycles: before, ..Until::default() })?;

    let part = module(Version::New, REPLACED, target).part;
    let next = 1 - tenants.generation(REPLACED);
    let mut watched = Watched::new(&mut lockstep);
    if order == Order::Safe {
        tenants.load(&mut watched, REPLACED, &part)?;
    } else {
        let placed = tenants.placer().clone().place(REPLACED, next, &part)?;
        let (late, early): (Vec<_>, Vec<_>) =
            placed.all().cloned().partition(|row| order == Order::CommitFirst || row.table == Table::Data);
        watched.write(&early)?;
        watched.commit(REPLACED, next)?;
        watched.write(&late)?;
    }
    let mut run = Run { offered: packets, steps: watched.steps, ..Run::default() };
    lockstep.finish()?;

    for agreed in lockstep.ended.drain(..) {
        let passage = agreed.passage;
        let End::Sent { bytes, last, .. } = passage.end else {
            run.lost += 1;
            continue;
        };
        let question = &questions[passage.id as usize];
        let is = |version: &Version| answer(question, *version, passage.module) == bytes;
        let version = [Version::Old, Version::New].into_iter().find(is);
        run.answers.push(Answer { tenant: passage.module, at: last, version });
    }
    Ok(run)
}
