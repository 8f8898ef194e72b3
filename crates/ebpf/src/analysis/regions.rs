//! The result: what is known of each instruction.

use super::call::map_argument;
use super::fixpoint::{Solver, Stop};
use super::graph::Graph;
use super::stack;
use super::state::State;
use super::summary::Summary;
use super::transfer::{Code, proven_in_packet};
use super::value::{Base, Generation, MapRef, Value};
use crate::address::{Region, STACK_BYTES};
use crate::helper::print::TRACE_PRINTK;
use crate::helper::{self, Arg};
use crate::insn::{Kind, Operand};
use crate::{Image, Program};
use std::sync::Arc;

/// Kind of a memory access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AccessKind {
    /// Reads.
    Load,
    /// Writes.
    Store,
    /// Reads and writes at once.
    Atomic,
}

/// A memory access of an instruction. What is said of its place holds for every access that does
/// not fault.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Access {
    /// What it does.
    pub kind: AccessKind,
    /// Bytes.
    pub width: u32,
    /// The address: base and offset, the instruction's own offset included.
    pub address: Value,
    /// The one region it is in, if that is known.
    pub region: Option<Region>,
    /// The map, or maps, whose value it is in. Only where it is surely in a value.
    pub map: Option<MapRef>,
    /// Largest power of two, to 8, that surely divides the offset (the address of a number).
    pub alignment: u32,
    /// Surely inside of what may be accessed: it cannot fault.
    pub in_bounds: bool,
}

impl Access {
    /// Least and greatest offset from the base; `None` where nothing bounds it to 32 bits.
    pub fn offsets(&self) -> Option<(i64, i64)> {
        let (low, high) = self.address.offsets();
        (i32::try_from(low).is_ok() && u32::try_from(high.max(0)).is_ok()).then_some((low, high))
    }

    fn join(&mut self, o: &Self) {
        self.address = self.address.join(&o.address);
        self.region = self.region.filter(|r| o.region == Some(*r));
        self.map = self.map.filter(|m| o.map == Some(*m));
        self.alignment = self.alignment.min(o.alignment);
        self.in_bounds &= o.in_bounds;
    }
}

/// A helper call.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// The helper's number.
    pub helper: i32,
    /// The map it is called with.
    pub map: Option<MapRef>,
    /// What r1 and the following hold.
    pub args: Vec<(Arg, Value)>,
    /// The number that stands in a stack frame as its key of 4 bytes, if it is always one.
    pub key: Option<u32>,
    /// The bytes of a format that a program writes to its stack, if they are always these.
    pub text: Option<Vec<u8>>,
}

/// What is known of one slot. All of it holds whenever the instruction is executed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct At {
    /// r0 to r10 before it; `None` when it is never executed.
    pub before: Option<Arc<[Value; 11]>>,
    /// The packet bounds that the context has then.
    pub generation: Option<Generation>,
    /// Its memory access.
    pub access: Option<Box<Access>>,
    /// Its helper call.
    pub call: Option<Call>,
}

/// What is known of a program.
#[derive(Clone, Debug, PartialEq)]
pub struct Regions {
    /// The program's name.
    pub program: String,
    /// By slot. The second slot of a 64-bit immediate load is empty.
    pub slots: Vec<At>,
    /// Whether the analysis came to its end; if not, nothing is known of any register.
    pub complete: bool,
    /// Whether calls of one function from several places were taken together.
    pub joined_calls: bool,
    /// Instructions that were followed, counted each time.
    pub steps: u64,
    /// The program as a whole.
    pub summary: Summary,
}

/// Instructions that may be followed: every program that people write needs far less.
fn step_limit(slots: usize) -> u64 {
    100_000 + 200 * slots as u64
}

/// Longest program that is analysed; nothing is known of longer ones.
pub const MAX_SLOTS: usize = 1 << 16;

/// Finds what holds before each instruction of a program that was validated. Ends on any program.
pub fn analyze(image: &Image, program: &Program) -> Regions {
    let code = Code::new(image, program);
    let graph = Graph::new(&code);
    let limit = step_limit(program.insns.len());
    let mut regions = Regions {
        program: program.name.clone(),
        slots: vec![At::default(); program.insns.len()],
        complete: true,
        joined_calls: false,
        steps: 0,
        summary: Summary::default(),
    };
    let analysed = program.insns.len() <= MAX_SLOTS;
    for shared in [false, true].into_iter().filter(|_| analysed) {
        let mut solver = Solver::new(&code, &graph, shared, limit);
        let result = if program.insns.is_empty() { Ok(()) } else { solver.solve() };
        regions.steps += limit - solver.steps_left();
        if result == Ok(()) {
            regions.joined_calls = shared;
            solver.visit(|pc, state| see(&code, &mut regions.slots[pc as usize], pc, state));
            regions.summary = Summary::new(&code, &graph, &regions.slots);
            return regions;
        }
        debug_assert!(matches!(result, Err(Stop::Contexts | Stop::Steps)));
    }
    regions.complete = false;
    let mut nothing = State::nothing();
    let registers = Arc::new(nothing.regs);
    for pc in (0..program.insns.len() as u32).filter(|pc| code.kind(*pc).is_some() && graph.reached[*pc as usize]) {
        nothing.generation = Generation::Merge(pc);
        let at = &mut regions.slots[pc as usize];
        see(&code, at, pc, &nothing);
        at.before = Some(registers.clone());
    }
    regions.summary = Summary::new(&code, &graph, &regions.slots);
    regions
}

/// Adds what holds on one more way to an instruction.
fn see(code: &Code<'_>, at: &mut At, pc: u32, state: &State) {
    let mut state = state.clone();
    let (access, call) = (access(code, &state, pc).map(Box::new), call(code, &state, pc));
    let Some(before) = at.before.as_mut().map(Arc::make_mut) else {
        *at = At { before: Some(Arc::new(state.regs)), generation: Some(state.generation), access, call };
        return;
    };
    if at.generation != Some(state.generation) {
        let mut old = State::nothing();
        (old.regs, old.generation) = (*before, at.generation.unwrap_or(Generation::Entry));
        old.merge_bounds(pc);
        state.merge_bounds(pc);
        *before = old.regs;
        at.generation = Some(state.generation);
        if let Some(access) = &mut at.access {
            let (base, offset) = base_register(code, pc).unwrap_or((0, 0));
            access.address = before[base].accessed(offset);
        }
        if let Some(call) = &mut at.call {
            call.args = arguments(call.helper, before);
        }
    }
    for (a, b) in before.iter_mut().zip(&state.regs) {
        *a = a.join(b);
    }
    if let (Some(a), Some(mut b)) = (&mut at.access, access) {
        let (base, offset) = base_register(code, pc).unwrap_or((0, 0));
        b.address = state.regs[base].accessed(offset);
        a.join(&b);
    }
    if let (Some(a), Some(b)) = (&mut at.call, call) {
        a.map = a.map.filter(|m| b.map == Some(*m));
        a.args = arguments(a.helper, before);
        a.key = a.key.filter(|key| b.key == Some(*key));
        a.text = a.text.take().filter(|text| b.text.as_ref() == Some(text));
    }
}

/// Register and offset of the address that an instruction accesses.
fn base_register(code: &Code<'_>, pc: u32) -> Option<(usize, i64)> {
    match code.kind(pc)? {
        Kind::Load { src, off, .. } => Some((src.into(), off.into())),
        Kind::Store { dst, off, .. } | Kind::Atomic { dst, off, .. } => Some((dst.into(), off.into())),
        _ => None,
    }
}

fn access(code: &Code<'_>, s: &State, pc: u32) -> Option<Access> {
    let (kind, width) = match code.kind(pc)? {
        Kind::Load { size, .. } => (AccessKind::Load, u32::from(size)),
        Kind::Store { size, .. } => (AccessKind::Store, u32::from(size)),
        Kind::Atomic { size, .. } => (AccessKind::Atomic, u32::from(size)),
        _ => return None,
    };
    let (register, offset) = base_register(code, pc)?;
    let address = s.regs[register].accessed(offset);
    let nullable = s.regs[register].nullable;
    let inside = address.is_inside(code.image, width);
    let bits = address.offset.bits;
    let alignment = 1 << (bits.value | bits.mask | 8).trailing_zeros();
    let map = match address.base {
        Base::Map(map) if inside => Some(map),
        _ => None,
    };
    let region = address.region(code.image, width);
    let in_bounds = match address.base {
        Base::Map(map) => {
            inside && map.all(code.image, |spec| may(spec, kind)) && (kind != AccessKind::Atomic || alignment >= width)
        }
        Base::Key(_) => inside && kind == AccessKind::Load,
        Base::Stack(_) | Base::Record(_) => inside && (kind != AccessKind::Atomic || alignment >= width),
        Base::Packet(_) | Base::Meta(_) => kind != AccessKind::Atomic && proven_in_packet(s, &address, width),
        _ => context_field(&address, kind, width),
    };
    Some(Access { kind, width, address, region, map, alignment, in_bounds: in_bounds && !nullable })
}

/// Whether programs may access values of this map so.
fn may(spec: &crate::MapSpec, kind: AccessKind) -> bool {
    use crate::image::map_flags::WRONLY_PROG;
    let read_only = super::value::is_read_only(spec);
    let write_only = spec.flags & WRONLY_PROG != 0;
    match kind {
        AccessKind::Load => !write_only,
        AccessKind::Store => !read_only,
        AccessKind::Atomic => !read_only && !write_only,
    }
}

fn context_field(address: &Value, kind: AccessKind, width: u32) -> bool {
    let offset = address.as_constant().and_then(|a| a.checked_sub(crate::address::CONTEXT.into()));
    let field = offset.is_some_and(|o| o < u64::from(crate::address::CONTEXT_BYTES) && o % 4 == 0);
    kind == AccessKind::Load && width == 4 && field
}

fn call(code: &Code<'_>, s: &State, pc: u32) -> Option<Call> {
    let Kind::CallHelper { id } = code.kind(pc)? else { return None };
    let map = helper::find(id).and_then(|helper| map_argument(s, helper));
    Some(Call { helper: id, map, args: arguments(id, &s.regs), key: key(code, s, map, id), text: text(s, id) })
}

/// The format of a call of `trace_printk` that lies in a stack frame.
fn text(s: &State, id: i32) -> Option<Vec<u8>> {
    let (address, bytes) = (&s.regs[1], s.regs[2].as_constant().filter(|_| id == TRACE_PRINTK.id)?);
    let (Base::Stack(level), Some(offset), false) = (address.base, address.offset.as_constant(), address.nullable)
    else {
        return None;
    };
    let (offset, bytes) = (offset as i64, i64::from(bytes as u32));
    let frame = s.frames.get(usize::from(level)).filter(|_| offset >= -STACK && offset + bytes <= 0)?;
    let byte = |at| stack::load(frame, offset + at, 1).as_constant().map(|byte| byte as u8);
    (0..bytes).map(byte).collect()
}

/// Bytes of a stack frame.
const STACK: i64 = STACK_BYTES as i64;

fn key(code: &Code<'_>, s: &State, map: Option<MapRef>, id: i32) -> Option<u32> {
    map.filter(|map| map.all(code.image, |spec| spec.key_size == 4))?;
    let position = helper::find(id)?.args.iter().position(|arg| *arg == Arg::Key)?;
    let address = s.regs.get(1 + position).filter(|address| !address.nullable)?;
    let (Base::Stack(level), Some(offset)) = (address.base, address.offset.as_constant()) else { return None };
    let offset = offset as i64;
    let frame = s.frames.get(usize::from(level)).filter(|_| (-STACK..=-4).contains(&offset))?;
    stack::load(frame, offset, 4).as_constant().and_then(|key| u32::try_from(key).ok())
}

fn arguments(id: i32, regs: &[Value; 11]) -> Vec<(Arg, Value)> {
    let args = helper::find(id).map_or(&[][..], |h| h.args);
    args.iter().copied().zip(regs[1..6].iter().copied()).collect()
}

/// Registers that an instruction reads.
pub fn operands(kind: Kind) -> Vec<u8> {
    let both = |dst: u8, src: Operand| match src {
        Operand::Reg(r) if r != dst => vec![dst, r],
        _ => vec![dst],
    };
    match kind {
        Kind::Alu { op: crate::insn::AluOp::Mov, src, .. } => match src {
            Operand::Reg(r) => vec![r],
            Operand::Imm(_) => Vec::new(),
        },
        Kind::Alu { dst, src, .. } | Kind::Branch { dst, src, .. } | Kind::Store { dst, src, .. } => both(dst, src),
        Kind::Neg { dst, .. } | Kind::Swap { dst, .. } => vec![dst],
        Kind::MovSx { src, .. } | Kind::Load { src, .. } => vec![src],
        Kind::Atomic { op, dst, src, .. } => {
            let mut read = both(dst, Operand::Reg(src));
            if op == crate::insn::AtomicOp::Cmpxchg && !read.contains(&0) {
                read.push(0);
            }
            read
        }
        Kind::Exit => vec![0],
        Kind::CallHelper { id } => (1..=helper::find(id).map_or(0, |h| h.args.len() as u8)).collect(),
        Kind::CallLocal { .. } => (1..=5).collect(),
        Kind::Jump { .. } | Kind::Wide { .. } => Vec::new(),
    }
}
