//! Follows a program from its first instruction as far as the frame alone decides.
//!
//! Each way through the program is one path: slots in order, and what its tests said. A path ends at the program's exit with a
//! constant, or it is cut before the first instruction that the engine leaves to a core. What a path adds to values of per-CPU arrays does
//! not cut it, if it comes to its end then without another test.

use super::bits::{Bits, FRAME, IFINDEX, QUEUE};
use super::facts::Facts;
use super::stack::Stack;
use super::test::{Asked, Test, asked};
use super::value::{Base, Cell, More, Value};
use crate::Stored;
use crate::op::LOOKUP;
use sluice_ebpf::insn::{AluOp, AtomicOp, Kind, Operand, Order, WideValue};
use sluice_ebpf::{Image, MapType, Program};
use std::rc::Rc;

/// Why a path was cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// A call of a helper.
    Call,
    /// A call of a function.
    Function,
    /// A value of a map is read or written, or a record.
    Value,
    /// The frame or its context is written.
    Write,
    /// A branch asks what the engine cannot tell.
    Branch,
    /// An access that the lengths of this path do not prove.
    Length,
    /// An access at an address that is not known.
    Address,
    /// The program ends with what is not known, or with no verdict that needs no core.
    Exit,
    /// The tables have no room for one more test, or the path is too long.
    Room,
    /// A core does it as fast from the program's start.
    Gain,
}

impl Why {
    /// In words.
    pub fn text(self) -> &'static str {
        match self {
            Self::Call => "calls a helper",
            Self::Function => "calls a function",
            Self::Value => "reads or writes a map's value",
            Self::Write => "writes the frame or its context",
            Self::Branch => "branches on what the engine cannot tell",
            Self::Length => "accesses bytes that no length test of this path proves",
            Self::Address => "accesses memory at an address that is not known",
            Self::Exit => "ends with what the engine does not decide",
            Self::Room => "is longer than a path may be, or asks one test more than the tables hold",
            Self::Gain => "is as fast from the program's start",
        }
    }
}

/// How a path ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The program ends with this in r0.
    Exit(u64),
    /// Before the instruction at this slot.
    Cut {
        /// The slot.
        slot: u32,
        /// What it does.
        why: Why,
    },
}

/// One instruction of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taken {
    /// Its slot.
    pub slot: u32,
    /// Of a conditional branch: whether it is taken.
    pub branch: Option<bool>,
    /// What it gives its register.
    pub gives: Option<(u8, Value)>,
}

/// Something added to a value of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
pub struct Count {
    /// Where.
    pub cell: Cell,
    /// What.
    pub more: More,
}

/// Most counts of a path.
pub const COUNTS: usize = 2;

/// Where a path has come to.
#[derive(Clone, Debug)]
pub struct State {
    /// r0 to r10.
    pub registers: [Value; 11],
    stack: Stack,
    /// What the tests said.
    pub facts: Facts,
    /// Instructions, in order.
    pub path: Vec<Taken>,
    /// What is counted.
    pub counts: Vec<Count>,
    /// Ways back that it has taken.
    pub work: u64,
    /// The next instruction.
    pub slot: u32,
    /// Where it was before it came to the first count.
    uncounted: Option<Box<State>>,
    /// Maps that cores store to, in whose values nobody else may count.
    stored: Rc<Stored>,
}

/// What a path comes to next.
#[expect(clippy::large_enum_variant, reason = "it is asked and forgotten")]
pub enum Next {
    /// Its end.
    End(End),
    /// A test: which answer takes the branch.
    Test(Test, bool),
    /// A test of the walk's own, one of these, which makes an offset a constant: a path on which it does not hold ends here.
    Split(Vec<Test>),
}

/// Why an instruction cannot be followed, or a test that would help.
enum Stop {
    Why(Why),
    Split(Vec<Test>),
}

impl From<Why> for Stop {
    fn from(why: Why) -> Self {
        Self::Why(why)
    }
}

/// Most instructions of a path.
const LONGEST: usize = 256;
/// Most ways back of a path: more than headers have tags and options, and less than loops that compute.
const BACKS: u64 = 8;

impl State {
    /// At a program's first instruction; cores store to these maps.
    pub fn start(stored: &Stored) -> Self {
        let mut registers = [Value::Opaque; 11];
        registers[1] = Value::place(Base::Context, 0);
        registers[10] = Value::place(Base::Stack, 0);
        Self {
            registers,
            stack: Stack::default(),
            facts: Facts::default(),
            path: Vec::new(),
            counts: Vec::new(),
            work: 0,
            slot: 0,
            uncounted: None,
            stored: Rc::new(stored.clone()),
        }
    }

    fn reg(&self, r: u8) -> Value {
        self.facts.of(&self.registers[usize::from(r)])
    }

    fn operand(&self, operand: Operand) -> Value {
        match operand {
            Operand::Reg(r) => self.reg(r),
            Operand::Imm(number) => Value::constant(number as i64 as u64),
        }
    }

    /// Goes on to the path's end or to a test that is open.
    pub fn run(&mut self, image: &Image, program: &Program) -> Next {
        let next = self.follow(image, program);
        match (&next, self.uncounted.take()) {
            // What was counted is left to the core.
            (Next::End(End::Cut { .. }) | Next::Test(..) | Next::Split(_), Some(before)) => {
                *self = *before;
                Next::End(End::Cut { slot: self.slot, why: Why::Value })
            }
            _ => next,
        }
    }

    fn follow(&mut self, image: &Image, program: &Program) -> Next {
        loop {
            let slot = self.slot;
            let cut = |why| Next::End(End::Cut { slot, why });
            let insns = &program.insns;
            let Some(kind) =
                insns.get(slot as usize).and_then(|insn| insn.kind(insns.get(slot as usize + 1).copied()).ok())
            else {
                return cut(Why::Exit);
            };
            if self.path.len() >= LONGEST || self.work > BACKS {
                return cut(Why::Room);
            }
            match self.step(kind, image) {
                Ok(None) => {}
                Ok(Some(next)) => return next,
                Err(Stop::Why(why)) => return cut(why),
                Err(Stop::Split(tests)) => return Next::Split(tests),
            }
        }
    }

    /// A path that was cut at a lookup, as it goes on where that finds an entry, or none: to the next thing that a core does, or asks.
    pub fn answered(&self, image: &Image, program: &Program, found: bool) -> Option<Self> {
        let kind = program.insns.get(self.slot as usize)?.kind(None).ok()?;
        let Value::Map(map) = self.reg(1) else { return None };
        if !matches!(kind, Kind::CallHelper { id: LOOKUP })
            || !super::lookup::is_searched(image.maps.get(map as usize)?.kind)
        {
            return None;
        }
        let mut on = self.clone();
        on.registers[0] = if found { Value::Found } else { Value::constant(0) };
        on.registers[1..6].fill(Value::Opaque);
        on.path.push(Taken { slot: on.slot, branch: None, gives: None });
        on.slot += 1;
        on.run(image, program);
        Some(on)
    }

    /// Whether a frame for which that holds, if it is long enough, has its verdict without another test: a header length that is refused.
    pub fn ends_where(&self, test: &Test, image: &Image, program: &Program) -> bool {
        let mut on = self.clone();
        on.facts.learn(test, true);
        loop {
            match on.run(image, program) {
                Next::Test(test @ Test::Long(_), taken) => {
                    on.facts.learn(&test, true);
                    on.branch(program, taken);
                }
                next => return matches!(next, Next::End(End::Exit(_))),
            }
        }
    }

    /// A branch goes one way.
    pub fn branch(&mut self, program: &Program, taken: bool) {
        let kind = program.insns[self.slot as usize].kind(None);
        if let Ok(kind) = kind {
            self.take(kind, taken);
        }
    }

    /// One instruction.
    fn step(&mut self, kind: Kind, image: &Image) -> Result<Option<Next>, Stop> {
        let mut gives = None;
        match kind {
            Kind::Alu { op, wide, dst, src } => gives = Some((dst, self.reg(dst).alu(op, wide, self.operand(src)))),
            Kind::Neg { wide, dst } => {
                gives = Some((dst, Value::constant(0).alu(AluOp::Sub, wide, self.reg(dst))));
            }
            Kind::MovSx { wide, bits, dst, src } => gives = Some((dst, self.reg(src).extended(wide, bits))),
            Kind::Swap { order, bits, dst } => {
                gives = Some((dst, self.reg(dst).swapped(order != Order::Little, bits)));
            }
            Kind::Wide { dst, value } => {
                let value = match value {
                    WideValue::Number(number) => Value::constant(number),
                    WideValue::Map(map) => Value::Map(map),
                    _ => Value::Opaque,
                };
                gives = Some((dst, value));
            }
            Kind::Load { size, signed, dst, src, off } => {
                let loaded = self.load(src, off, size, image)?;
                gives = Some((dst, if signed { loaded.extended(true, size * 8) } else { loaded }));
            }
            Kind::Store { size, dst, off, src } => self.store((dst, off, size), self.operand(src))?,
            Kind::Atomic { size, op: AtomicOp::Add, fetch: false, dst, off, src } => {
                self.atomic((dst, off, size), src, image)?;
            }
            Kind::Atomic { .. } => return Err(Why::Value.into()),
            Kind::CallHelper { id } => {
                let element = self.element(id, image).ok_or(Why::Call)?;
                self.registers[1..6].fill(Value::Opaque);
                gives = Some((0, element));
            }
            Kind::CallLocal { .. } => return Err(Why::Function.into()),
            Kind::Jump { .. } => {
                let to = kind.target(self.slot).unwrap_or_default();
                self.work += u64::from(to <= i64::from(self.slot));
                self.path.push(Taken { slot: self.slot, branch: None, gives: None });
                self.slot = to as u32;
                return Ok(None);
            }
            Kind::Branch { cond, wide, dst, src, .. } => {
                return match asked(cond, wide, &self.reg(dst), &self.operand(src)) {
                    Asked::Unknown => Err(Why::Branch.into()),
                    Asked::Decided(taken) => {
                        self.take(kind, taken);
                        Ok(None)
                    }
                    Asked::Test(test, taken) => match self.facts.answer(&test) {
                        Some(answer) => {
                            self.take(kind, answer == taken);
                            Ok(None)
                        }
                        None => match &test {
                            Test::Reaches { bits, .. } => match self.facts.splits(bits) {
                                splits if splits.is_empty() => Ok(Some(Next::Test(test, taken))),
                                splits => Err(Stop::Split(splits)),
                            },
                            _ => Ok(Some(Next::Test(test, taken))),
                        },
                    },
                };
            }
            Kind::Exit => {
                // Aborted, and what is no verdict, are told with their place; a redirect has a destination.
                let is_verdict = |r0: &u64| (1..=3).contains(&(*r0 as u32));
                let verdict = self.reg(0).as_constant().filter(is_verdict).ok_or(Why::Exit)?;
                self.path.push(Taken { slot: self.slot, branch: None, gives: None });
                self.uncounted = None;
                return Ok(Some(Next::End(End::Exit(verdict))));
            }
        }
        if let Some((dst, value)) = gives {
            self.registers[usize::from(dst)] = value;
        }
        self.path.push(Taken { slot: self.slot, branch: None, gives });
        self.slot += kind.slots();
        Ok(None)
    }

    fn take(&mut self, kind: Kind, taken: bool) {
        self.path.push(Taken { slot: self.slot, branch: Some(taken), gives: None });
        self.slot = match kind.target(self.slot).filter(|_| taken) {
            Some(to) => {
                self.work += u64::from(to <= i64::from(self.slot));
                to as u32
            }
            None => self.slot + 1,
        };
    }

    fn load(&mut self, base: u8, off: i16, bytes: u8, image: &Image) -> Result<Value, Stop> {
        let off = i64::from(off);
        match self.reg(base) {
            Value::Place { base: Base::Stack, offset, more: None } => {
                Ok(self.stack.load(own(offset + off, bytes)?, bytes))
            }
            Value::Place { base: Base::Context, offset, more: None } => match (offset + off, bytes) {
                (0, 4) => Ok(Value::place(Base::Start, 0)),
                (4, 4) => Ok(Value::place(Base::End, 0)),
                (12, 4) => Ok(Value::Number { bits: Bits::loaded(IFINDEX, 4), add: 0 }),
                (16, 4) => Ok(Value::Number { bits: Bits::loaded(QUEUE, 4), add: 0 }),
                _ => Err(Why::Address.into()),
            },
            Value::Place { base: Base::Start, offset, more: None } => {
                let first = offset + off;
                if first < 0 || first + i64::from(bytes) > i64::from(self.facts.least) {
                    return Err(Why::Length.into());
                }
                if first + i64::from(bytes) > FRAME as i64 {
                    return Ok(Value::Opaque);
                }
                Ok(Value::Number { bits: Bits::loaded(first as u16, bytes), add: 0 })
            }
            Value::Place { base: Base::Start, more: Some(bits), .. } => match self.facts.splits(&bits) {
                splits if splits.is_empty() => Err(Why::Address.into()),
                splits => Err(Stop::Split(splits)),
            },
            Value::Element { map, index, offset } => {
                let cell = self.cell((map, index), offset + off, bytes, image, false)?;
                self.keep();
                Ok(Value::Cell { cell, more: More::Number(0) })
            }
            Value::Opaque | Value::Found => Err(Why::Value.into()),
            _ => Err(Why::Address.into()),
        }
    }

    fn store(&mut self, (base, off, bytes): (u8, i16, u8), value: Value) -> Result<(), Stop> {
        match self.reg(base) {
            Value::Place { base: Base::Stack, offset, more: None } => {
                self.stack.store(own(offset + i64::from(off), bytes)?, bytes, &value);
                Ok(())
            }
            Value::Place { base: Base::Start | Base::Context, .. } => Err(Why::Write.into()),
            Value::Element { map, index, offset } => {
                let at = |cell: &Cell| {
                    (cell.map, cell.index, i64::from(cell.offset), cell.bytes)
                        == (map, index, offset + i64::from(off), bytes)
                };
                match value {
                    // It was not stored to since it was loaded.
                    Value::Cell { cell, more } if at(&cell) && self.counts.iter().all(|count| count.cell != cell) => {
                        self.count(Count { cell, more })
                    }
                    _ => Err(Why::Value.into()),
                }
            }
            _ => Err(Why::Value.into()),
        }
    }

    fn atomic(&mut self, (base, off, bytes): (u8, i16, u8), src: u8, image: &Image) -> Result<(), Stop> {
        let Value::Element { map, index, offset } = self.reg(base) else { return Err(Why::Value.into()) };
        let cell = self.cell((map, index), offset + i64::from(off), bytes, image, true)?;
        let more = match self.reg(src) {
            Value::Length(0) => More::Length,
            value => More::Number(value.as_constant().ok_or(Why::Value)?),
        };
        self.keep();
        self.count(Count { cell, more })
    }

    /// Keeps where the path was before its first count.
    fn keep(&mut self) {
        if self.uncounted.is_none() {
            self.uncounted = Some(Box::new(self.clone()));
        }
    }

    fn count(&mut self, count: Count) -> Result<(), Stop> {
        let small = matches!(count.more, More::Length | More::Number(0..=255));
        if self.counts.len() >= COUNTS || !small {
            return Err(Why::Value.into());
        }
        self.counts.push(count);
        Ok(())
    }

    /// A cell that the engine may add to: aligned, in the value, and nobody else's meanwhile unless the program says so by an atomic operation. A core that
    /// loads, adds and stores at the same time would lose what the engine adds.
    fn cell(&self, (map, index): (u32, u32), offset: i64, bytes: u8, image: &Image, atomic: bool) -> Result<Cell, Why> {
        let spec = image.maps.get(map as usize).ok_or(Why::Value)?;
        let offset = u32::try_from(offset).map_err(|_| Why::Value)?;
        let fits = matches!(bytes, 4 | 8)
            && offset.is_multiple_of(bytes.into())
            && offset + u32::from(bytes) <= spec.value_size;
        let own = spec.kind == MapType::PercpuArray || atomic;
        let plain = !spec.frozen && spec.spin_lock.is_none() && !self.stored.has(map);
        if fits && own && plain { Ok(Cell { map, index, offset, bytes }) } else { Err(Why::Value) }
    }

    /// The value of an array that a lookup finds in any case.
    fn element(&self, helper: i32, image: &Image) -> Option<Value> {
        let (Value::Map(map), LOOKUP) = (self.reg(1), helper) else { return None };
        let spec = image.maps.get(map as usize)?;
        let Value::Place { base: Base::Stack, offset, more: None } = self.reg(2) else { return None };
        let key = self.facts.of(&self.stack.load(own(offset, 4).ok()?, 4)).as_constant()?;
        let index = u32::try_from(key).ok().filter(|index| *index < spec.max_entries)?;
        let is_array = matches!(spec.kind, MapType::Array | MapType::PercpuArray);
        is_array.then_some(Value::Element { map, index, offset: 0 })
    }
}

/// An offset in the own stack frame.
fn own(offset: i64, bytes: u8) -> Result<i64, Why> {
    let frame = -i64::from(sluice_ebpf::address::STACK_BYTES)..=-i64::from(bytes);
    if frame.contains(&offset) { Ok(offset) } else { Err(Why::Address) }
}
