//! The instructions: one loop over decoded operations.

use super::Cpu;
use super::code::{Code, Loaded, Op};
use super::trace::{Access, At};
use crate::FaultReason;
use crate::insn::AtomicOp;

/// The whole `match`: arithmetic and branches come as tables of
/// `64-bit register, 64-bit immediate, 32-bit register, 32-bit immediate: operands, 64-bit result, 32-bit result`.
macro_rules! dispatch {
    ($op:ident, $registers:expr, $jump:ident,
     alu { $($ar:ident $ai:ident $br:ident $bi:ident: |$x:ident, $y:ident| $wide:expr, $narrow:expr;)* }
     branch { $($cr:ident $ci:ident $dr:ident $di:ident: |$p:ident, $q:ident| $far:expr, $near:expr;)* }
     $($pattern:pat => $body:expr,)*) => {
        match $op.code {
            $(
                Code::$ar => {
                    let ($x, $y) = ($registers[dst($op)], $registers[src($op)]);
                    $registers[dst($op)] = $wide;
                }
                Code::$ai => {
                    let ($x, $y) = ($registers[dst($op)], $op.imm);
                    $registers[dst($op)] = $wide;
                }
                Code::$br => {
                    let ($x, $y) = ($registers[dst($op)] as u32, $registers[src($op)] as u32);
                    $registers[dst($op)] = u64::from($narrow);
                }
                Code::$bi => {
                    let ($x, $y) = ($registers[dst($op)] as u32, $op.imm as u32);
                    $registers[dst($op)] = u64::from($narrow);
                }
            )*
            $(
                Code::$cr => {
                    let ($p, $q) = ($registers[dst($op)], $registers[src($op)]);
                    if $far { $jump!() }
                }
                Code::$ci => {
                    let ($p, $q) = ($registers[dst($op)], $op.imm);
                    if $far { $jump!() }
                }
                Code::$dr => {
                    let ($p, $q) = ($registers[dst($op)] as u32, $registers[src($op)] as u32);
                    if $near { $jump!() }
                }
                Code::$di => {
                    let ($p, $q) = ($registers[dst($op)] as u32, $op.imm as u32);
                    if $near { $jump!() }
                }
            )*
            $($pattern => $body,)*
        }
    };
}

// Registers are 0 to 10 in every program that was validated; the masks spare a bounds check.
#[inline(always)]
fn dst(op: &Op) -> usize {
    usize::from(op.dst & 15)
}

#[inline(always)]
fn src(op: &Op) -> usize {
    usize::from(op.src & 15)
}

/// The program with this number, if it is there.
fn ops(programs: &[Option<Loaded>], number: u32) -> &[Op] {
    programs.get(number as usize).and_then(Option::as_ref).map_or(&[], |p| &p.ops)
}

impl Cpu<'_> {
    /// Runs from slot `start` until the frame that runs now exits.
    pub(super) fn execute<const TRACED: bool>(&mut self, start: u32) -> Result<(), FaultReason> {
        let base = self.stack.frame;
        let programs = self.programs;
        let mut code = ops(programs, self.program);
        let mut pc = start as usize;
        let mut at;
        let mut executed = 0;
        let result = 'run: loop {
            at = pc;
            let Some(op) = code.get(pc) else { break 'run Err(FaultReason::NoInstruction(pc as u64)) };
            if TRACED {
                self.trace_before(pc);
            }
            executed += 1;
            pc += 1;
            macro_rules! check {
                ($result:expr) => {
                    match $result {
                        Ok(value) => value,
                        Err(reason) => break 'run Err(reason),
                    }
                };
            }
            macro_rules! work {
                () => {
                    check!(self.count_work());
                };
            }
            macro_rules! jump {
                () => {{
                    pc = op.off as usize;
                    if pc <= at {
                        work!();
                    }
                }};
            }
            macro_rules! load {
                ($n:literal, $as:ty) => {{
                    let address = self.registers[src(op)].wrapping_add(op.off as u64);
                    let value = <$as>::from_le_bytes(check!(self.load::<$n>(address)));
                    if TRACED {
                        self.trace_access(Access::Load, address, $n);
                    }
                    self.registers[dst(op)] = value as i64 as u64;
                }};
            }
            macro_rules! store {
                ($as:ty, $value:expr) => {{
                    let address = self.registers[dst(op)].wrapping_add(op.off as u64);
                    check!(self.store(address, ($value as $as).to_le_bytes()));
                    if TRACED {
                        self.trace_access(Access::Store, address, size_of::<$as>() as u32);
                    }
                }};
            }
            dispatch! {
                op, self.registers, jump,
                alu {
                    Add64R Add64I Add32R Add32I: |a, b| a.wrapping_add(b), a.wrapping_add(b);
                    Sub64R Sub64I Sub32R Sub32I: |a, b| a.wrapping_sub(b), a.wrapping_sub(b);
                    Mul64R Mul64I Mul32R Mul32I: |a, b| a.wrapping_mul(b), a.wrapping_mul(b);
                    Div64R Div64I Div32R Div32I: |a, b| a.checked_div(b).unwrap_or(0), a.checked_div(b).unwrap_or(0);
                    Or64R Or64I Or32R Or32I: |a, b| a | b, a | b;
                    And64R And64I And32R And32I: |a, b| a & b, a & b;
                    Lsh64R Lsh64I Lsh32R Lsh32I: |a, b| a << (b & 63), a << (b & 31);
                    Rsh64R Rsh64I Rsh32R Rsh32I: |a, b| a >> (b & 63), a >> (b & 31);
                    Mod64R Mod64I Mod32R Mod32I: |a, b| a.checked_rem(b).unwrap_or(a), a.checked_rem(b).unwrap_or(a);
                    Xor64R Xor64I Xor32R Xor32I: |a, b| a ^ b, a ^ b;
                    Mov64R Mov64I Mov32R Mov32I: |_a, b| b, b;
                    Arsh64R Arsh64I Arsh32R Arsh32I: |a, b| (a as i64 >> (b & 63)) as u64, (a as i32 >> (b & 31)) as u32;
                    Sdiv64R Sdiv64I Sdiv32R Sdiv32I: |a, b| if b == 0 { 0 } else { (a as i64).wrapping_div(b as i64) as u64 }, if b == 0 { 0 } else { (a as i32).wrapping_div(b as i32) as u32 };
                    Smod64R Smod64I Smod32R Smod32I: |a, b| if b == 0 { a } else { (a as i64).wrapping_rem(b as i64) as u64 }, if b == 0 { a } else { (a as i32).wrapping_rem(b as i32) as u32 };
                }
                branch {
                    Jeq64R Jeq64I Jeq32R Jeq32I: |a, b| a == b, a == b;
                    Jgt64R Jgt64I Jgt32R Jgt32I: |a, b| a > b, a > b;
                    Jge64R Jge64I Jge32R Jge32I: |a, b| a >= b, a >= b;
                    Jset64R Jset64I Jset32R Jset32I: |a, b| a & b != 0, a & b != 0;
                    Jne64R Jne64I Jne32R Jne32I: |a, b| a != b, a != b;
                    Jsgt64R Jsgt64I Jsgt32R Jsgt32I: |a, b| (a as i64) > (b as i64), (a as i32) > (b as i32);
                    Jsge64R Jsge64I Jsge32R Jsge32I: |a, b| (a as i64) >= (b as i64), (a as i32) >= (b as i32);
                    Jlt64R Jlt64I Jlt32R Jlt32I: |a, b| a < b, a < b;
                    Jle64R Jle64I Jle32R Jle32I: |a, b| a <= b, a <= b;
                    Jslt64R Jslt64I Jslt32R Jslt32I: |a, b| (a as i64) < (b as i64), (a as i32) < (b as i32);
                    Jsle64R Jsle64I Jsle32R Jsle32I: |a, b| (a as i64) <= (b as i64), (a as i32) <= (b as i32);
                }
                Code::Neg64 => self.registers[dst(op)] = self.registers[dst(op)].wrapping_neg(),
                Code::Neg32 => self.registers[dst(op)] = (self.registers[dst(op)] as u32).wrapping_neg().into(),
                Code::Sx8To64 => self.registers[dst(op)] = self.registers[src(op)] as i8 as u64,
                Code::Sx16To64 => self.registers[dst(op)] = self.registers[src(op)] as i16 as u64,
                Code::Sx32To64 => self.registers[dst(op)] = self.registers[src(op)] as i32 as u64,
                Code::Sx8To32 => self.registers[dst(op)] = (self.registers[src(op)] as i8 as u32).into(),
                Code::Sx16To32 => self.registers[dst(op)] = (self.registers[src(op)] as i16 as u32).into(),
                Code::Cut16 => self.registers[dst(op)] &= 0xffff,
                Code::Cut32 => self.registers[dst(op)] &= 0xffff_ffff,
                Code::Swap16 => self.registers[dst(op)] = (self.registers[dst(op)] as u16).swap_bytes().into(),
                Code::Swap32 => self.registers[dst(op)] = (self.registers[dst(op)] as u32).swap_bytes().into(),
                Code::Swap64 => self.registers[dst(op)] = self.registers[dst(op)].swap_bytes(),
                Code::Nop => {},
                Code::Wide => {
                    self.registers[dst(op)] = op.imm;
                    pc += 1;
                },
                Code::Load1 => load!(1, u8),
                Code::Load2 => load!(2, u16),
                Code::Load4 => load!(4, u32),
                Code::Load8 => load!(8, u64),
                Code::LoadS1 => load!(1, i8),
                Code::LoadS2 => load!(2, i16),
                Code::LoadS4 => load!(4, i32),
                Code::Store1R => store!(u8, self.registers[src(op)]),
                Code::Store2R => store!(u16, self.registers[src(op)]),
                Code::Store4R => store!(u32, self.registers[src(op)]),
                Code::Store8R => store!(u64, self.registers[src(op)]),
                Code::Store1I => store!(u8, op.imm),
                Code::Store2I => store!(u16, op.imm),
                Code::Store4I => store!(u32, op.imm),
                Code::Store8I => store!(u64, op.imm),
                Code::Atomic4 => check!(self.atomic_op::<TRACED>(op, false)),
                Code::Atomic8 => check!(self.atomic_op::<TRACED>(op, true)),
                Code::Ja => jump!(),
                Code::Call => {
                    let [_, r1, r2, r3, r4, r5, ..] = self.registers;
                    let index = usize::try_from(op.off).ok();
                    if check!(self.call_helper(index, op.imm as i32, [r1, r2, r3, r4, r5])) {
                        code = ops(programs, self.program);
                        pc = 0;
                    }
                },
                Code::Local => {
                    work!();
                    check!(self.enter(pc as u32));
                    pc = op.off as usize;
                },
                Code::Exit => {
                    if self.stack.frame == base {
                        // What a callback holds it may give back later.
                        break 'run if base == 0 { self.held.at_exit() } else { Ok(()) };
                    }
                    pc = self.leave() as usize;
                    code = ops(programs, self.program);
                },
                Code::Hole => break 'run Err(FaultReason::NoInstruction(at as u64)),
            }
            if TRACED {
                self.trace_after(at);
            }
        };
        self.instructions += executed;
        match result {
            Ok(()) if TRACED => self.trace_after(at),
            Err(_) if self.place.is_none() => self.place = Some((self.program, at as u32, self.registers)),
            _ => {}
        }
        result
    }

    #[inline(never)]
    fn atomic_op<const TRACED: bool>(&mut self, op: &Op, wide: bool) -> Result<(), FaultReason> {
        let address = self.registers[dst(op)].wrapping_add(op.off as u64);
        let kind = match op.imm >> 1 {
            0 => AtomicOp::Add,
            1 => AtomicOp::Or,
            2 => AtomicOp::And,
            3 => AtomicOp::Xor,
            4 => AtomicOp::Xchg,
            _ => AtomicOp::Cmpxchg,
        };
        let old = self.atomic(address, wide, kind, self.registers[src(op)], self.registers[0])?;
        if TRACED {
            self.trace_access(Access::Atomic, address, if wide { 8 } else { 4 });
        }
        if kind == AtomicOp::Cmpxchg {
            self.registers[0] = old;
        } else if op.imm & 1 != 0 {
            self.registers[src(op)] = old;
        }
        Ok(())
    }

    /// Calls a function of the running program from a helper (`loop`, `for_each_map_elem`).
    pub fn call(&mut self, function: u64, args: [u64; 5]) -> Result<u64, FaultReason> {
        let Some(slot) = self.function(function) else {
            let expected = "a function of the program";
            return Err(FaultReason::Argument { helper: "callback", argument: 0, value: function, expected });
        };
        self.count_work()?;
        // r0 and r1 to r5 are the helper's and are dead after it; r6 to r10 come back.
        self.enter(0)?;
        self.registers[1..6].copy_from_slice(&args);
        match self.machine {
            Some(machine) => machine.execute(self, slot)?,
            None if self.tracer.is_some() => self.execute::<true>(slot)?,
            None => self.execute::<false>(slot)?,
        }
        self.leave();
        Ok(self.registers[0])
    }

    #[cold]
    fn at(&self, pc: usize) -> At {
        At { program: self.program, pc: pc as u32, frame: self.stack.frame as u32 }
    }

    #[cold]
    fn trace_before(&self, pc: usize) {
        if let Some(tracer) = self.tracer {
            tracer.before(self.at(pc), &self.registers);
        }
    }

    #[cold]
    fn trace_after(&self, pc: usize) {
        if let Some(tracer) = self.tracer {
            tracer.after(self.at(pc), &self.registers);
        }
    }

    #[cold]
    fn trace_access(&self, kind: Access, address: u64, bytes: u32) {
        if let Some(tracer) = self.tracer {
            tracer.access(kind, address, bytes);
        }
    }
}
