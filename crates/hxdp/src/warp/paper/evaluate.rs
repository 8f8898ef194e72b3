//! `evaluate_instructions`: what registers and stack hold on one path.

use crate::alu::holds;
use crate::warp::bits::{Bits, FRAME, IFINDEX, QUEUE};
use crate::warp::stack::Stack;
use crate::warp::value::{Base, Value};
use sluice_ebpf::Program;
use sluice_ebpf::insn::{AluOp, Cond, Kind, Operand, Order, WideValue};

/// Why a path ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// A call: `is_terminal` of the paper.
    Call,
    /// A write to the frame: `is_terminal` of the paper.
    Write,
    /// A branch that no rule with `==` asks: the paper has no case.
    Branch,
    /// What the engine does not know, in a register, at an address or at the exit: the paper has no case.
    Unknown,
    /// A way back: the paper has no case.
    Back,
    /// The key or the TCAM is full: the paper has no case.
    Room,
}

impl Stop {
    /// In words.
    pub fn text(self) -> &'static str {
        match self {
            Self::Call => "a call",
            Self::Write => "a write to the frame",
            Self::Branch => "a branch that is no comparison for equality",
            Self::Unknown => "what bytes at fixed places do not give",
            Self::Back => "a way back",
            Self::Room => "no room in key or table",
        }
    }
}

/// What a path comes to.
#[expect(clippy::large_enum_variant, reason = "it is asked and forgotten")]
pub enum Next {
    /// The program ends with this.
    Exit(u64),
    /// `is_match`: it goes on at the first slot if the bits have this value, at the other if not.
    Match { bits: Bits, value: u64, holds: u32, fails: u32 },
    /// A terminal node's last instruction.
    Terminal(Stop),
}

/// Registers and stack.
#[derive(Clone)]
pub struct State {
    pub registers: [Value; 11],
    pub stack: Stack,
    /// Instructions that were evaluated.
    pub path: Vec<u32>,
    /// Those of them that asked a length.
    pub assumed: Vec<u32>,
    /// The next one.
    pub slot: u32,
}

impl State {
    pub fn start() -> Self {
        let mut registers = [Value::Opaque; 11];
        registers[1] = Value::place(Base::Context, 0);
        registers[10] = Value::place(Base::Stack, 0);
        Self { registers, stack: Stack::default(), path: Vec::new(), assumed: Vec::new(), slot: 0 }
    }

    /// Goes on to the end of a block that has no single successor.
    pub fn run(&mut self, program: &Program) -> Next {
        loop {
            let (at, insns) = (self.slot as usize, &program.insns);
            let kind = insns.get(at).and_then(|insn| insn.kind(insns.get(at + 1).copied()).ok());
            let next = match kind {
                Some(kind) => self.step(kind),
                None => Err(Stop::Unknown),
            };
            match next {
                Ok(None) => {}
                Ok(Some(next)) => return next,
                Err(stop) => return Next::Terminal(stop),
            }
        }
    }

    fn operand(&self, operand: Operand) -> Value {
        match operand {
            Operand::Reg(r) => self.registers[usize::from(r)],
            Operand::Imm(number) => Value::constant(number as i64 as u64),
        }
    }

    fn step(&mut self, kind: Kind) -> Result<Option<Next>, Stop> {
        let registers = self.registers;
        let reg = |r: u8| registers[usize::from(r)];
        let gives = match kind {
            Kind::Alu { op: AluOp::Mov, wide: true, dst, src } => Some((dst, self.operand(src))),
            Kind::Alu { op, wide, dst, src } => Some((dst, reg(dst).alu(op, wide, self.operand(src)))),
            Kind::Neg { wide, dst } => Some((dst, Value::constant(0).alu(AluOp::Sub, wide, reg(dst)))),
            Kind::MovSx { wide, bits, dst, src } => Some((dst, reg(src).extended(wide, bits))),
            Kind::Swap { order, bits, dst } => Some((dst, reg(dst).swapped(order != Order::Little, bits))),
            Kind::Wide { dst, value: WideValue::Number(number) } => Some((dst, Value::constant(number))),
            Kind::Wide { dst, value: WideValue::Map(map) } => Some((dst, Value::Map(map))),
            Kind::Wide { .. } => return Err(Stop::Unknown),
            Kind::Load { size, signed, dst, src, off } => {
                let loaded = self.load(reg(src), off, size)?;
                Some((dst, if signed { loaded.extended(true, size * 8) } else { loaded }))
            }
            Kind::Store { size, dst, off, src } => {
                self.store(reg(dst), off, size, self.operand(src))?;
                None
            }
            Kind::Atomic { .. } => return Err(Stop::Unknown),
            Kind::CallHelper { .. } | Kind::CallLocal { .. } => return Err(Stop::Call),
            Kind::Exit => {
                let r0 = reg(0).as_constant().ok_or(Stop::Unknown)?;
                self.path.push(self.slot);
                return Ok(Some(Next::Exit(r0)));
            }
            Kind::Jump { .. } => return self.jump(kind).map(|()| None),
            Kind::Branch { cond, wide, dst, src, .. } => {
                let (a, b) = (reg(dst), self.operand(src));
                return self.branch(kind, (cond, wide), (a, b));
            }
        };
        if let Some((dst, value)) = gives {
            // A register that nothing was put into may be copied: nobody reads it.
            let is_unset =
                matches!(kind, Kind::Alu { op: AluOp::Mov, src: Operand::Reg(src), .. } if reg(src) == Value::Opaque);
            if value == Value::Opaque && !is_unset {
                return Err(Stop::Unknown);
            }
            self.registers[usize::from(dst)] = value;
        }
        self.path.push(self.slot);
        self.slot += kind.slots();
        Ok(None)
    }

    fn jump(&mut self, kind: Kind) -> Result<(), Stop> {
        let to = self.way(kind)?;
        self.path.push(self.slot);
        self.slot = to;
        Ok(())
    }

    /// Where a jump or branch leads, not back.
    fn way(&self, kind: Kind) -> Result<u32, Stop> {
        let to = kind.target(self.slot).and_then(|to| u32::try_from(to).ok());
        to.filter(|to| *to > self.slot).ok_or(Stop::Back)
    }

    fn branch(&mut self, kind: Kind, how: (Cond, bool), (a, b): (Value, Value)) -> Result<Option<Next>, Stop> {
        let (to, behind) = (self.way(kind)?, self.slot + 1);
        let is_length = |value: &Value| matches!(value, Value::Place { base: Base::End, .. } | Value::Length(_));
        if is_length(&a) || is_length(&b) {
            self.assumed.push(self.slot);
        }
        let next = match asked(how, &a, &b)? {
            Asked::Decided(taken) => {
                self.path.push(self.slot);
                self.slot = if taken { to } else { behind };
                return Ok(None);
            }
            Asked::Equal { bits, value, taken: true } => Next::Match { bits, value, holds: to, fails: behind },
            Asked::Equal { bits, value, taken: false } => Next::Match { bits, value, holds: behind, fails: to },
        };
        self.path.push(self.slot);
        Ok(Some(next))
    }

    fn load(&self, base: Value, off: i16, bytes: u8) -> Result<Value, Stop> {
        let Value::Place { base, offset, more: None } = base else { return Err(Stop::Unknown) };
        let at = offset + i64::from(off);
        match (base, at, bytes) {
            (Base::Stack, ..) => match self.stack.load(at, bytes) {
                Value::Opaque => Err(Stop::Unknown),
                value => Ok(value),
            },
            (Base::Context, 0, 4) => Ok(Value::place(Base::Start, 0)),
            (Base::Context, 4, 4) => Ok(Value::place(Base::End, 0)),
            (Base::Context, 12, 4) => Ok(Value::Number { bits: Bits::loaded(IFINDEX, 4), add: 0 }),
            (Base::Context, 16, 4) => Ok(Value::Number { bits: Bits::loaded(QUEUE, 4), add: 0 }),
            (Base::Start, 0.., _) if at + i64::from(bytes) <= FRAME as i64 => {
                Ok(Value::Number { bits: Bits::loaded(at as u16, bytes), add: 0 })
            }
            _ => Err(Stop::Unknown),
        }
    }

    fn store(&mut self, base: Value, off: i16, bytes: u8, value: Value) -> Result<(), Stop> {
        match base {
            Value::Place { base: Base::Stack, offset, more: None } => {
                let at = offset + i64::from(off);
                let inside = -i64::from(sluice_ebpf::address::STACK_BYTES)..=-i64::from(bytes);
                let is_known = value.as_bits().is_some() || bytes == 8 && value != Value::Opaque;
                if !inside.contains(&at) || !is_known {
                    return Err(Stop::Unknown);
                }
                self.stack.store(at, bytes, &value);
                Ok(())
            }
            Value::Place { base: Base::Start | Base::Context, .. } => Err(Stop::Write),
            _ => Err(Stop::Unknown),
        }
    }
}

/// What a branch asks.
#[expect(clippy::large_enum_variant, reason = "it is asked and forgotten")]
enum Asked {
    Decided(bool),
    /// Whether bits have a value; the branch is taken where that is so, or not.
    Equal {
        bits: Bits,
        value: u64,
        taken: bool,
    },
}

fn asked((cond, wide): (Cond, bool), a: &Value, b: &Value) -> Result<Asked, Stop> {
    // No rule has a length: frames are as long as their program wants them. As numbers: what is within, and the end.
    let within = |a, b| Ok(Asked::Decided(holds(cond, wide, a, b)));
    match (a, b) {
        (Value::Place { base: Base::Start, .. }, Value::Place { base: Base::End, .. }) => within(0, 1),
        (Value::Place { base: Base::End, .. }, Value::Place { base: Base::Start, .. }) => within(1, 0),
        (Value::Number { .. }, Value::Length(_)) => within(0, 1),
        (Value::Length(_), Value::Number { .. }) => within(1, 0),
        (Value::Place { .. }, Value::Number { .. }) if b.as_constant() == Some(0) => within(1, 0),
        (Value::Number { bits, add }, Value::Number { .. }) => {
            let b = b.as_constant().ok_or(Stop::Branch)?;
            if let Some(a) = a.as_constant() {
                return within(a, b);
            }
            let (bits, b) = if wide { (*bits, b) } else { (bits.low(32), u64::from(b as u32)) };
            match cond {
                Cond::Eq | Cond::Ne => Ok(Asked::Equal { bits, value: b.wrapping_sub(*add), taken: cond == Cond::Eq }),
                Cond::Set if *add == 0 => {
                    let bits = bits.and(&Bits::constant(b)).ok_or(Stop::Branch)?;
                    Ok(Asked::Equal { bits, value: 0, taken: false })
                }
                _ => Err(Stop::Branch),
            }
        }
        _ => Err(Stop::Branch),
    }
}
