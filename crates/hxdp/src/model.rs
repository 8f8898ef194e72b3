//! The bundle model: executes bundles on the interpreter's state.

mod bind;

use crate::alu::{alu, extend, holds, rotate, swap};
use crate::cycles::{Done, Recorder, Recording};
use crate::op::{LOOKUP, START, TAIL_CALL};
use crate::rows::{MAP_HELPERS, needs_no_search};
use crate::sections::Serial;
use crate::visits::Visits;
use crate::warp::begin::{Begin, Bound};
use crate::{Bundles, Executed, Op};
use sluice_ebpf::insn::{AtomicOp, Cond, Operand};
use sluice_ebpf::vm::{Cpu, Machine};
use sluice_ebpf::{FaultReason, MapId, MapSpace, MapSpec, address, helper};
use std::cell::Cell;
use std::collections::BTreeMap;

/// A program that is bound to the maps of a runtime.
#[derive(Debug)]
struct Loaded {
    bundles: Bundles,
    /// Numbers of 64-bit constants, by row and lane.
    constants: BTreeMap<(u32, u32), u64>,
    serial: Serial,
    /// What is done before row 0.
    warp: Option<Bound>,
}

/// Cores with compiled programs.
#[derive(Debug, Default)]
pub struct Cores {
    /// By the runtime's program number.
    programs: BTreeMap<u32, Loaded>,
    executed: Cell<Executed>,
    recorder: Recorder,
    pub(crate) visits: Visits,
    gate: Option<Box<dyn Gate + Send>>,
}

/// What packets share has an order: each access of a value of a map, and each operation on a map, passes here.
///
/// Without one a packet is executed as if it were alone.
pub trait Gate: std::fmt::Debug {
    /// An access comes next: waits for its turn, and may put other maps in the place of the program's.
    fn enter(&self, maps: &mut MapSpace);
    /// It is done.
    fn leave(&self, maps: &mut MapSpace);
}

impl Cores {
    /// Without programs.
    pub fn new() -> Self {
        Self::default()
    }

    /// Lets every access of what packets share pass a gate.
    pub fn gate(&mut self, gate: Box<dyn Gate + Send>) {
        self.gate = Some(gate);
    }

    /// Does it behind the gate, where it reaches what packets share.
    fn passing<T>(&self, cpu: &mut Cpu<'_>, shared: bool, act: impl FnOnce(&mut Cpu<'_>) -> T) -> T {
        let Some(gate) = self.gate.as_ref().filter(|_| shared) else { return act(cpu) };
        gate.enter(cpu.maps);
        let done = act(cpu);
        gate.leave(cpu.maps);
        done
    }

    /// Records from now on what is executed; it must be taken, packet by packet.
    pub fn record(&mut self) {
        self.recorder = Recorder::on();
    }

    /// What was executed since this was last asked.
    pub fn take_executed(&self) -> Executed {
        self.executed.take()
    }

    /// What was recorded since this was last asked.
    pub fn take_issues(&self) -> Recording {
        self.recorder.take()
    }

    /// The bundles of the program with this number.
    pub fn bundles(&self, number: u32) -> Option<&Bundles> {
        self.programs.get(&number).map(|loaded| &loaded.bundles)
    }

    fn rows(&self, number: u32) -> Result<&Loaded, FaultReason> {
        self.programs.get(&number).ok_or(FaultReason::NoInstruction(0))
    }
}

/// Where a bundle leads.
enum Way {
    Next,
    Row(u32),
    /// Another program's start.
    Program,
    /// Out of the frame.
    Exit,
    /// Into a function.
    Call(u32),
}

impl Machine for Cores {
    fn execute(&self, cpu: &mut Cpu<'_>, slot: u32) -> Result<(), FaultReason> {
        let base = cpu.frame();
        let mut loaded = self.rows(cpu.program())?;
        scribble(cpu);
        let mut row = loaded.bundles.functions.get(&slot).copied().unwrap_or(u32::MAX);
        if let Some(warp) = loaded.warp.as_ref().filter(|_| slot == 0 && base == 0) {
            let leaf = warp.leaf(cpu);
            for at in 0..warp.counts(leaf) {
                self.passing(cpu, true, |cpu| warp.count(cpu, leaf, at));
            }
            let (begin, start) = self.passing(cpu, warp.looks_up(leaf), |cpu| warp.begin(cpu, leaf, row));
            self.recorder.starts(start);
            match begin {
                Begin::Done => return Ok(()),
                Begin::Row(first) => row = first,
            }
        }
        loop {
            match self.bundle(cpu, loaded, row, base)? {
                Way::Next => row += 1,
                Way::Row(to) => row = to,
                Way::Program => {
                    scribble(cpu);
                    loaded = self.rows(cpu.program())?;
                    row = 0;
                }
                Way::Exit if cpu.frame() == base => return Ok(()),
                Way::Exit => {
                    scribble(cpu);
                    row = cpu.leave();
                    loaded = self.rows(cpu.program())?;
                }
                Way::Call(to) => {
                    scribble(cpu);
                    row = to;
                }
            }
        }
    }
}

/// Leaves in r11 to r14 what no program can want: they hold nothing where a program, function or row behind a call begins.
fn scribble(cpu: &mut Cpu<'_>) {
    cpu.registers[11..].fill(0x5c21_bb1e_5c21_bb1e);
}

/// Registers before a bundle.
struct Before([u64; 16]);

impl Before {
    /// The frame's start is in a register that nobody writes.
    fn of(cpu: &mut Cpu<'_>) -> Result<Self, FaultReason> {
        cpu.registers[usize::from(START)] = cpu.load_bytes((address::CONTEXT + DATA).into(), 4)?;
        Ok(Self(cpu.registers))
    }

    fn reg(&self, r: u8) -> u64 {
        self.0[usize::from(r & 15)]
    }

    fn operand(&self, operand: Operand) -> u64 {
        match operand {
            Operand::Reg(r) => self.reg(r),
            Operand::Imm(number) => number as i64 as u64,
        }
    }

    fn address(&self, base: u8, off: i16) -> u64 {
        self.reg(base).wrapping_add(off as u64)
    }

    /// The second argument of a helper.
    fn second(&self, op: &Op) -> u64 {
        match *op {
            Op::Helper { second: Some((base, more)), .. } => self.address(base, more),
            _ => self.reg(2),
        }
    }
}

impl Cores {
    /// One bundle, in the steps of docs/design/hxdp.md.
    fn bundle(&self, cpu: &mut Cpu<'_>, loaded: &Loaded, row: u32, base: usize) -> Result<Way, FaultReason> {
        let Some(bundle) = loaded.bundles.rows.get(row as usize) else {
            return Err(FaultReason::NoInstruction(row.into()));
        };
        let recorded = self.recorder.begin(bundle, loaded.serial.at(row), loaded.serial == Serial::Whole);
        let visit = self.visits.begin(cpu.program(), row, cpu.frame());
        let before = Before::of(cpu)?;
        let mut results = [None; 4];
        let mut taken = None;
        let mut fault = None;
        // Lanes that write: those before the first fault or taken branch.
        let mut writing = bundle.lanes.len().min(results.len());
        for (lane, step) in bundle.lanes.iter().enumerate().take(results.len()) {
            let constant = || loaded.constants.get(&(row, lane as u32)).copied().unwrap_or_default();
            let loads = matches!(step.op, Op::Load { .. }) && is_shared(&before, &step.op);
            match self.passing(cpu, loads, |cpu| look(cpu, &before, &step.op, constant)) {
                Ok(Seen::Value(dst, value)) => results[lane] = Some((dst, value)),
                Ok(Seen::Nothing) => {}
                Ok(Seen::Taken(to, back)) => {
                    taken = Some((to, back, step.slot));
                    writing = lane;
                    break;
                }
                Err(reason) => {
                    fault = Some((reason, step.slot));
                    writing = lane;
                    break;
                }
            }
        }
        let mut executed = Executed { bundles: 1, ..Executed::default() };
        let mut way = Way::Next;
        let mut written = Ok(());
        let mut done = 0;
        for (lane, (step, result)) in (0..).zip(bundle.lanes.iter().zip(results)).take(writing) {
            done += 1;
            if let Some((dst, value)) = result {
                cpu.registers[usize::from(dst & 15)] = value;
            }
            executed.helpers += u64::from(matches!(step.op, Op::Helper { .. }));
            let shared = is_shared(&before, &step.op);
            executed.map_accesses += u64::from(shared);
            let constant = || loaded.constants.get(&(row, lane)).copied().unwrap_or_default();
            if recorded.is_some() {
                let (map, unsearched) = map_of(cpu, &before, &step.op, constant);
                let last = lane as usize + 1 == loaded.bundles.target.lanes;
                self.recorder.executed(recorded, Done { op: &step.op, last, shared, map, unsearched });
            }
            let writes = match step.op {
                Op::Load { .. } => false,
                Op::Helper { .. } => self.gate.is_some() && searches(cpu, &before, &step.op, constant),
                _ => shared,
            };
            match self.passing(cpu, writes, |cpu| write(cpu, &before, &step.op, constant, (row, base))) {
                Ok(Way::Next) => {}
                Ok(other) => way = other,
                Err(reason) => {
                    written = Err((reason, step.slot));
                    break;
                }
            }
        }
        let back = taken.is_some_and(|(_, back, _)| back) || matches!(way, Way::Program);
        self.recorder.over(recorded, bundle, back);
        let ended = taken.is_some() || fault.is_some();
        let instructions = done + u64::from(ended && written.is_ok());
        executed.instructions += instructions;
        cpu.count_instructions(instructions);
        // A callback has counted its own bundles meanwhile.
        executed += self.executed.get();
        self.executed.set(executed);
        let result = written.and_then(|()| match (fault, taken) {
            (Some(fault), _) => Err(fault),
            (None, Some((to, back, slot))) => {
                if back {
                    cpu.count_work().map_err(|reason| (reason, slot))?;
                }
                Ok(Way::Row(to))
            }
            (None, None) => Ok(way),
        });
        let why = result.as_ref().err().map(|(reason, _)| reason);
        self.visits.end(visit, instructions, (&before.0, &cpu.registers), why);
        result.map_err(|(reason, slot)| {
            cpu.faulted_at(slot);
            reason
        })
    }
}

/// Offsets of the frame's bounds in the context.
const DATA: u32 = 0;
const DATA_END: u32 = 4;

/// What a lane finds before anything is written.
enum Seen {
    /// For a register.
    Value(u8, u64),
    Nothing,
    /// A branch that is taken: row, and whether it counts as work.
    Taken(u32, bool),
}

/// Step 2: results, loads and branches.
fn look(cpu: &Cpu<'_>, before: &Before, op: &Op, constant: impl Fn() -> u64) -> Result<Seen, FaultReason> {
    Ok(match *op {
        Op::Alu { op, wide, dst, a, b } => Seen::Value(dst, alu(op, wide, before.reg(a), before.operand(b))),
        Op::Move { wide: true, dst, src } => Seen::Value(dst, before.operand(src)),
        Op::Move { wide: false, dst, src } => Seen::Value(dst, u64::from(before.operand(src) as u32)),
        Op::Extend { wide, bits, dst, src } => Seen::Value(dst, extend(wide, bits, before.reg(src))),
        Op::Negate { wide: true, dst, src } => Seen::Value(dst, before.reg(src).wrapping_neg()),
        Op::Negate { wide: false, dst, src } => Seen::Value(dst, (before.reg(src) as u32).wrapping_neg().into()),
        Op::Rotate { wide, dst, src, right } => Seen::Value(dst, rotate(wide, right, before.reg(src))),
        Op::Swap { order, bits, dst, src } => Seen::Value(dst, swap(order, bits, before.reg(src))),
        Op::Constant { dst, .. } => Seen::Value(dst, constant()),
        Op::Pack { dst, low, high, bits } => {
            let part = |r: u8| before.reg(r) & ((1 << bits) - 1);
            Seen::Value(dst, part(low) | part(high) << bits)
        }
        Op::Indexed { dst, index, base, shift, most } => {
            let index = before.reg(index) as u32;
            let address = (before.reg(base) as u32).wrapping_add(index << shift);
            Seen::Value(dst, if index > most { 0 } else { address.into() })
        }
        Op::Load { bytes, signed, dst, base, off, quiet } => {
            let value = match cpu.load_bytes(before.address(base, off), bytes) {
                Err(_) if quiet => 0,
                loaded => loaded?,
            };
            Seen::Value(dst, if signed { extend(true, bytes * 8, value) } else { value })
        }
        Op::Branch { cond, wide, a, b, to, back } if holds(cond, wide, before.reg(a), before.operand(b)) => {
            Seen::Taken(to, back)
        }
        Op::Clear { wide, a, b, to, back } if !holds(Cond::Set, wide, before.reg(a), before.operand(b)) => {
            Seen::Taken(to, back)
        }
        Op::Length { base, bytes, within, to, back } => {
            let field = |offset: u32| cpu.load_bytes((address::CONTEXT + offset).into(), 4);
            let from = before.reg(base.unwrap_or(START));
            let beyond = from.wrapping_add(bytes as i64 as u64) > field(DATA_END)?;
            if beyond != within { Seen::Taken(to, back) } else { Seen::Nothing }
        }
        _ => Seen::Nothing,
    })
}

/// Step 3: memory, helpers, and where the last lane leads.
fn write(
    cpu: &mut Cpu<'_>,
    before: &Before,
    op: &Op,
    constant: impl Fn() -> u64,
    (row, base): (u32, usize),
) -> Result<Way, FaultReason> {
    match *op {
        Op::Store { bytes, base, off, src } => {
            cpu.store_bytes(before.address(base, off), bytes, before.operand(src))?;
        }
        Op::Atomic { bytes, op, fetch, quiet, base, off, src } => {
            let operands = (before.operand(src), before.reg(0));
            let old = match cpu.atomic_bytes(before.address(base, off), bytes == 8, op, operands) {
                Err(_) if quiet => 0,
                old => old?,
            };
            if op == AtomicOp::Cmpxchg {
                cpu.registers[0] = old;
            } else if let Operand::Reg(src) = src
                && fetch
            {
                cpu.registers[usize::from(src & 15)] = old;
            }
        }
        Op::AddPair { base, off, number, src, swapped, quiet } => {
            let (mut first, mut second) = (number as i64 as u64, before.reg(src));
            if swapped {
                (first, second) = (second, first);
            }
            let address = before.address(base, off);
            let mut add = |address, more| cpu.atomic_bytes(address, true, AtomicOp::Add, (more, 0));
            match add(address, first).and_then(|_| add(address.wrapping_add(8), second)) {
                Err(_) if quiet => {}
                old => drop(old?),
            }
        }
        Op::Element { dst, index, .. } => {
            let map = MapId(constant() as u32 - address::MAP_HANDLES);
            let value = cpu.maps.lookup(map, &index.to_le_bytes(), cpu.world.cpu);
            cpu.registers[usize::from(dst & 15)] = value.map_or(0, u64::from);
        }
        Op::Copy { dst, .. } => {
            let map = MapId(constant() as u32 - address::MAP_HANDLES);
            let distance = cpu.maps.copy_distance(map, cpu.world.cpu);
            cpu.registers[usize::from(dst & 15)] = distance.map_or(0, u64::from);
        }
        Op::Helper { id, handle, third, .. } => {
            let index = helper::ALL.iter().position(|helper| helper.id == id);
            let mut args = [1, 2, 3, 4, 5].map(|r| before.reg(r));
            args[0] = handle.map_or(args[0], |_| constant());
            args[1] = before.second(op);
            args[2] = third.map_or(args[2], u64::from);
            if let (None, Some(own)) = (index, helper::find_any(id)) {
                cpu.registers[0] = (own.run)(cpu, args)?;
                return Ok(Way::Next);
            }
            if cpu.call_helper(index, id, args)? {
                return Ok(Way::Program);
            }
        }
        Op::Call { to } => {
            cpu.count_work()?;
            cpu.enter(row + 1)?;
            return Ok(Way::Call(to));
        }
        Op::Jump { to, back } => {
            if back {
                cpu.count_work()?;
            }
            return Ok(Way::Row(to));
        }
        Op::Exit { value, back } => {
            if back {
                cpu.count_work()?;
            }
            if let Some(value) = value {
                cpu.registers[0] = before.operand(value);
            }
            if base == 0 && cpu.frame() == base {
                cpu.held.at_exit()?;
            }
            return Ok(Way::Exit);
        }
        _ => {}
    }
    Ok(Way::Next)
}

/// The map that a helper is given, and whether the unit of values does the call.
fn map_of<'a>(cpu: &'a Cpu<'_>, before: &Before, op: &Op, constant: impl Fn() -> u64) -> (Option<&'a MapSpec>, bool) {
    let Op::Helper { id, handle, .. } = *op else { return (None, false) };
    let argument = if id == TAIL_CALL { 2 } else { 1 };
    let given = handle.map_or_else(|| before.reg(argument), |_| constant());
    let map = map_at(cpu, given);
    let unsearched = handle.is_some() && map.is_some_and(|map| needs_no_search(id, map.kind));
    (map, unsearched && !(id == LOOKUP && in_values(before.second(op))))
}

/// The map with this handle.
fn map_at<'a>(cpu: &'a Cpu<'_>, handle: u64) -> Option<&'a MapSpec> {
    cpu.maps.spec(MapId((handle as u32).wrapping_sub(address::MAP_HANDLES)))
}

/// Whether a call is an operation of the map engine: a lookup in an array that the call names, with a key in packet or stack, is none.
fn searches(cpu: &Cpu<'_>, before: &Before, op: &Op, constant: impl Fn() -> u64) -> bool {
    let Op::Helper { id, .. } = *op else { return false };
    MAP_HELPERS.contains(&id) && !(id == LOOKUP && map_of(cpu, before, op, constant).1)
}

/// Whether an address lies in a map's value.
fn in_values(address: u64) -> bool {
    (u64::from(address::MAP_VALUES)..u64::from(address::RECORDS)).contains(&address)
}

/// Whether an access goes to a map's value.
fn is_shared(before: &Before, op: &Op) -> bool {
    let address = match *op {
        Op::Load { base, off, .. }
        | Op::Store { base, off, .. }
        | Op::Atomic { base, off, .. }
        | Op::AddPair { base, off, .. } => before.address(base, off),
        _ => return false,
    };
    in_values(address)
}
