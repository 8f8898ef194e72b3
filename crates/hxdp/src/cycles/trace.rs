//! What the bundles of one packet take of a core.

use super::search::Search;
use crate::op::{REDIRECT_MAP, TAIL_CALL};
use crate::rows::MAP_HELPERS;
use crate::{Bundle, Op};
use sluice_ebpf::insn::AluOp;
use sluice_ebpf::{MapSpec, Packet, Verdict};
use std::cell::{Cell, RefCell};

/// One executed bundle. Multiplications count where the row has them, squashed or not, and loads too: the core decides by
/// the row. All else counts where it was carried out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Issue {
    /// Loads of packet, stack and context.
    pub loads: u8,
    /// Stores to packet and stack; an atomic is a load and a store.
    pub stores: u8,
    /// Multiplications.
    pub multiplies: u8,
    /// Divisions and remainders of 64 bits.
    pub divides: u8,
    /// And of 32 bits.
    pub half_divides: u8,
    /// Loads of map values and records, and atomics that give the old value.
    pub values: u8,
    /// Stores to map values and records, and atomics that give nothing.
    pub posted: u8,
    /// Lookups in arrays and references in devmaps that the call names: the value port's.
    pub elements: u8,
    /// Operation of the map engine.
    pub search: Option<Search>,
    /// Other helpers.
    pub helpers: u8,
    /// Calls of functions.
    pub calls: u8,
    /// Registers that it writes.
    pub results: u8,
    /// Of them one by the last lane, with the bundle.
    pub last_lane: bool,
    /// And one that comes later than the bundle.
    pub late: bool,
    /// It refers to an entry of a devmap.
    pub refers: bool,
    /// It is of its flow's section.
    pub enters: bool,
    /// Nothing behind its beginning is.
    pub leaves: bool,
    /// It launches something and has a second pass, for it ends, goes back, or changes more than a register.
    pub twice: bool,
    /// A frame ends, which of the last bundle is the packet's end.
    pub exit: bool,
    /// What it launches has no result but the verdict: at the packet's end it has one pass, and the context is free when that is done.
    pub ends_late: bool,
}

/// An instruction that was not squashed, and what is known of it where it was executed.
#[derive(Clone, Copy, Debug)]
pub struct Done<'a> {
    /// What it is.
    pub op: &'a Op,
    /// Its lane is the row's last.
    pub last: bool,
    /// It went to a map's value or a record.
    pub shared: bool,
    /// The map that a helper was given.
    pub map: Option<&'a MapSpec>,
    /// The unit of values does the call: it names the map, and its key lies in no value.
    pub unsearched: bool,
}

impl Issue {
    /// Of a row, before anything of it is executed.
    fn of_row(bundle: &Bundle) -> Self {
        let mut issue = Self::default();
        for step in &bundle.lanes {
            issue.loads += u8::from(matches!(step.op, Op::Load { .. }));
            issue.multiplies += u8::from(matches!(step.op, Op::Alu { op: AluOp::Mul, .. }));
        }
        issue
    }

    /// Adds an instruction that was not squashed.
    fn executed(&mut self, done: Done<'_>) {
        let before = self.launched();
        let results = u8::from(done.op.writes() != 0);
        self.results += results;
        match *done.op {
            Op::Load { .. } if done.shared => {
                self.loads -= 1;
                self.values += 1;
            }
            Op::Store { .. } | Op::AddPair { .. } if done.shared => self.posted += 1,
            Op::Store { .. } => self.stores += 1,
            Op::Atomic { fetch, op, .. } if done.shared => {
                let awaited = fetch || op == sluice_ebpf::insn::AtomicOp::Cmpxchg;
                *(if awaited { &mut self.values } else { &mut self.posted }) += 1;
            }
            Op::Atomic { .. } | Op::AddPair { .. } => {
                self.loads += 1;
                self.stores += 1;
                self.elements += 1;
                self.twice = true;
            }
            Op::Alu { op: AluOp::Div | AluOp::Mod | AluOp::Sdiv | AluOp::Smod, wide, .. } => {
                *(if wide { &mut self.divides } else { &mut self.half_divides }) += 1;
            }
            Op::Helper { id, .. } => self.called(id, &done),
            Op::Call { .. } => {
                self.calls += 1;
                self.twice = true;
            }
            Op::Exit { .. } => self.exit = true,
            _ => {}
        }
        let launches = self.launched() > before || matches!(done.op, Op::Alu { op: AluOp::Mul, .. });
        self.late |= launches && results > 0;
        self.last_lane |= !launches && results > 0 && done.last;
    }

    fn called(&mut self, id: i32, done: &Done<'_>) {
        match done.map.filter(|_| MAP_HELPERS.contains(&id)) {
            Some(_) if done.unsearched => {
                self.elements += 1;
                self.refers |= id == REDIRECT_MAP;
            }
            Some(map) => {
                self.search = Some(Search::new(id, map));
                self.twice |= [REDIRECT_MAP, TAIL_CALL].contains(&id);
            }
            None => {
                self.helpers += 1;
                self.twice = true;
            }
        }
    }

    /// All of it was executed; `back` is whether it went back, or to another program.
    fn over(&mut self, bundle: &Bundle, back: bool) {
        let access = |op: &Op| matches!(op, Op::Load { .. } | Op::Store { .. } | Op::Atomic { .. } | Op::Helper { .. });
        let arithmetic = self.multiplies + self.divides + self.half_divides > 0;
        let verdict = self.elements == 1 && self.refers || self.elements == 0;
        let values = self.values == 0 && self.search.is_none() && self.helpers + self.calls == 0 && !self.twice;
        self.ends_late = self.exit && !back && !arithmetic && values && verdict && self.launched() == 1;
        self.twice |= self.launched() > 0 && (self.exit || back) && !self.ends_late;
        self.twice |= arithmetic && bundle.lanes.iter().any(|step| access(&step.op));
        self.late &= !self.twice;
    }

    /// Things that take longer than the bundle.
    pub fn launched(&self) -> u8 {
        self.shared() + self.multiplies + self.divides + self.half_divides + self.calls
    }

    /// Accesses and helpers that a context may have to wait for.
    pub fn shared(&self) -> u8 {
        self.values + self.posted + self.elements + u8::from(self.search.is_some()) + self.helpers
    }

    /// Accesses of the value port.
    pub fn at_values(&self) -> u8 {
        self.values + self.posted + self.elements
    }
}

/// Bundles of a packet that are recorded; what comes after is left out.
pub const MOST_BUNDLES: usize = 1 << 20;

/// Records what a packet executes, if it is on.
#[derive(Debug, Default)]
pub struct Recorder {
    on: bool,
    issues: RefCell<Vec<Issue>>,
    whole: Cell<bool>,
    start: Cell<Start>,
}

/// What was recorded of a packet.
#[derive(Clone, Debug, Default)]
pub struct Recording {
    /// Its bundles.
    pub issues: Vec<Issue>,
    /// Some are of a program that is serial as a whole.
    pub whole: bool,
    /// How it began.
    pub start: Start,
}

/// How a packet begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Start {
    /// At its program's first row.
    #[default]
    Plain,
    /// Its verdict is known without a core.
    Verdict,
    /// At another row.
    Resume {
        /// Steps in which the warp engine makes registers and key.
        steps: u8,
        /// Cycles that these take.
        cycles: u8,
        /// The lookup that is under way.
        search: Option<Search>,
    },
}

/// Place of a bundle in what is recorded.
#[derive(Clone, Copy, Debug)]
pub struct Recorded(usize);

impl Recorder {
    /// One that records.
    pub fn on() -> Self {
        Self { on: true, ..Self::default() }
    }

    /// A bundle begins; its row may be of its flow's section, or its program be serial as a whole.
    pub fn begin(&self, bundle: &Bundle, (enters, leaves): (bool, bool), whole: bool) -> Option<Recorded> {
        let mut issues = self.on.then(|| self.issues.borrow_mut())?;
        let at = issues.len();
        self.whole.set(self.whole.get() || whole);
        (at < MOST_BUNDLES).then(|| issues.push(Issue { enters, leaves, ..Issue::of_row(bundle) }))?;
        Some(Recorded(at))
    }

    /// An instruction of it was not squashed.
    pub fn executed(&self, recorded: Option<Recorded>, done: Done<'_>) {
        if let Some(Recorded(at)) = recorded {
            self.issues.borrow_mut()[at].executed(done);
        }
    }

    /// All of it was; `back` is whether it went back, or to another program.
    pub fn over(&self, recorded: Option<Recorded>, bundle: &Bundle, back: bool) {
        if let Some(Recorded(at)) = recorded {
            self.issues.borrow_mut()[at].over(bundle, back);
        }
    }

    /// A packet begins.
    pub fn starts(&self, start: Start) {
        self.start.set(start);
    }

    /// What was recorded since this was last asked.
    pub fn take(&self) -> Recording {
        Recording { issues: self.issues.take(), whole: self.whole.take(), start: self.start.take() }
    }
}

/// One packet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// Its bundles.
    pub issues: Vec<Issue>,
    /// Rows of 64 bytes that it comes in.
    pub rows_in: u32,
    /// Rows that are read when it leaves; 0 when it is dropped.
    pub rows_out: u32,
    /// Packets of one flow have one number.
    pub flow: u32,
    /// Packets of this flow are carried out one after the other, as a whole.
    pub serial: bool,
    /// How it begins.
    pub start: Start,
}

/// Bytes of a row of packet memory, and of a beat.
pub const ROW_BYTES: u32 = 64;

impl Trace {
    /// Of what was recorded of a packet that came with so many bytes, and what became of it.
    pub fn new(
        Recording { issues, whole: serial, start }: Recording,
        length: usize,
        after: &Packet,
        verdict: Verdict,
        flow: u32,
    ) -> Self {
        let dropped = matches!(verdict, Verdict::Drop | Verdict::Aborted);
        let rows = after.end().div_ceil(ROW_BYTES) - after.data() / ROW_BYTES;
        Self {
            issues,
            rows_in: (length as u32).div_ceil(ROW_BYTES).max(1),
            rows_out: if dropped { 0 } else { rows.max(1) },
            flow,
            serial,
            start,
        }
    }

    /// Whether some of its rows are of its flow's section.
    pub fn has_section(&self) -> bool {
        self.issues.iter().any(|issue| issue.enters || issue.leaves)
    }

    /// The same packet, as if its frame were as short as can be.
    pub fn of_one_row(&self) -> Self {
        Self { rows_in: 1, rows_out: self.rows_out.min(1), ..self.clone() }
    }
}
