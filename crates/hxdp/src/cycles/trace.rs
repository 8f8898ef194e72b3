//! What the bundles of one packet take of a core.

use crate::{Bundle, Op};
use sluice_ebpf::helper::{self, Arg};
use sluice_ebpf::insn::AluOp;
use sluice_ebpf::{Packet, Verdict};
use std::cell::RefCell;

/// One executed bundle. Loads and multiplications count where the row has them, squashed or not: the core decides by
/// the row how long a context waits. All else counts where it was carried out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Issue {
    /// Loads of packet, stack and context.
    pub loads: u8,
    /// Stores to packet and stack; an atomic is a load and a store.
    pub stores: u8,
    /// Multiplications.
    pub multiplies: u8,
    /// Divisions and remainders.
    pub divides: u8,
    /// Loads of map values and records, and atomics that give the old value.
    pub values: u8,
    /// Stores to map values and records, and atomics that give nothing.
    pub posted: u8,
    /// Helpers that search, change or redirect by a map.
    pub lookups: u8,
    /// Helpers that read a register of the core or set one: clock, processor, random number, redirect, ends of the packet.
    pub quick: u8,
    /// Other helpers.
    pub helpers: u8,
    /// Registers that it writes.
    pub results: u8,
    /// A frame ends, which of the last bundle is the packet's end.
    pub exit: bool,
}

/// Helpers that no unit is needed for: ktime_get_ns, get_prandom_u32, get_smp_processor_id, redirect, adjust_head,
/// adjust_meta.
const QUICK: [i32; 6] = [5, 7, 8, 23, 44, 54];

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

    /// Adds an instruction that was not squashed; `shared` is whether it went to a map's value or a record.
    fn executed(&mut self, op: &Op, shared: bool) {
        self.results += u8::from(op.writes() != 0);
        match *op {
            Op::Load { .. } if shared => {
                self.loads -= 1;
                self.values += 1;
            }
            Op::Store { .. } if shared => self.posted += 1,
            Op::Store { .. } => self.stores += 1,
            Op::Atomic { fetch, op, .. } if shared => {
                let awaited = fetch || op == sluice_ebpf::insn::AtomicOp::Cmpxchg;
                *(if awaited { &mut self.values } else { &mut self.posted }) += 1;
            }
            Op::Atomic { .. } => {
                self.loads += 1;
                self.stores += 1;
            }
            Op::Alu { op: AluOp::Div | AluOp::Mod | AluOp::Sdiv | AluOp::Smod, .. } => self.divides += 1,
            Op::Helper { id, .. } => {
                let by_map = helper::find(id).is_some_and(|helper| helper.args.contains(&Arg::Map));
                *(if QUICK.contains(&id) {
                    &mut self.quick
                } else if by_map {
                    &mut self.lookups
                } else {
                    &mut self.helpers
                }) += 1;
            }
            Op::Exit { .. } => self.exit = true,
            _ => {}
        }
    }

    /// Accesses and helpers that a context may have to wait for.
    pub fn shared(&self) -> u8 {
        self.values + self.posted + self.lookups + self.quick + self.helpers
    }
}

/// Bundles of a packet that are recorded; what comes after is left out.
pub const MOST_BUNDLES: usize = 1 << 20;

/// Records what a packet executes, if it is on.
#[derive(Debug, Default)]
pub struct Recorder {
    on: bool,
    issues: RefCell<Vec<Issue>>,
}

/// Place of a bundle in what is recorded.
#[derive(Clone, Copy, Debug)]
pub struct Recorded(usize);

impl Recorder {
    /// One that records.
    pub fn on() -> Self {
        Self { on: true, ..Self::default() }
    }

    /// A bundle begins.
    pub fn begin(&self, bundle: &Bundle) -> Option<Recorded> {
        let mut issues = self.on.then(|| self.issues.borrow_mut())?;
        let at = issues.len();
        (at < MOST_BUNDLES).then(|| issues.push(Issue::of_row(bundle)))?;
        Some(Recorded(at))
    }

    /// An instruction of it was not squashed.
    pub fn executed(&self, recorded: Option<Recorded>, op: &Op, shared: bool) {
        if let Some(Recorded(at)) = recorded {
            self.issues.borrow_mut()[at].executed(op, shared);
        }
    }

    /// What was recorded since this was last asked.
    pub fn take(&self) -> Vec<Issue> {
        self.issues.take()
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
    /// Packets of this flow are carried out one after the other.
    pub serial: bool,
}

/// Bytes of a row of packet memory, and of a beat.
pub const ROW_BYTES: u32 = 64;

impl Trace {
    /// Of a packet that came with so many bytes, and what became of it.
    pub fn new(issues: Vec<Issue>, length: usize, after: &Packet, verdict: Verdict, flow: u32) -> Self {
        let dropped = matches!(verdict, Verdict::Drop | Verdict::Aborted);
        let rows = after.end().div_ceil(ROW_BYTES) - after.data() / ROW_BYTES;
        Self {
            issues,
            rows_in: (length as u32).div_ceil(ROW_BYTES).max(1),
            rows_out: if dropped { 0 } else { rows.max(1) },
            flow,
            serial: false,
        }
    }

    /// The same packet, as if its frame were as short as can be.
    pub fn of_one_row(&self) -> Self {
        Self { rows_in: 1, rows_out: self.rows_out.min(1), ..self.clone() }
    }
}
