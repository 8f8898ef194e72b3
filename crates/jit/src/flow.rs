//! Functions of a program as blocks, and the registers that live in them.
//!
//! The interpreter has one set of registers for everything; machine code has those that are needed. Both are the same for
//! programs that read no register before they write it, so others are refused here, by name.

use crate::Unsupported;
use sluice_ebpf::Program;
use sluice_ebpf::helper;
use sluice_ebpf::insn::{AluOp, AtomicOp, Kind, Operand, WideValue};
use std::collections::{BTreeMap, BTreeSet};

/// A set of registers, bit n is rn.
pub type Registers = u16;

/// r1 to r5.
pub const ARGUMENTS: Registers = 0b11_1110;
/// r1, a program's context.
pub const CONTEXT: Registers = 1 << 1;
/// r10.
const FRAME: Registers = 1 << 10;

/// Instructions that are executed together, but for faults.
#[derive(Clone, Debug)]
pub struct Block {
    /// First slot.
    pub first: u32,
    /// Slots of its instructions.
    pub slots: Vec<u32>,
    /// First slots of the blocks it leads to.
    pub next: Vec<u32>,
}

/// A function of the program.
#[derive(Clone, Debug)]
pub struct Function {
    /// First slot.
    pub start: u32,
    /// By first slot; those that are reached.
    pub blocks: BTreeMap<u32, Block>,
    /// It may jump backwards.
    pub loops: bool,
    /// It may end without a result in r0.
    pub void: bool,
    /// Registers that it reads as its caller left them.
    pub reads: Registers,
}

/// A program's functions by first slot, and what lives before each slot.
#[derive(Clone, Debug)]
pub struct Flow {
    /// What each slot means; `None` for second slots.
    pub kinds: Vec<Option<Kind>>,
    /// By first slot.
    pub functions: BTreeMap<u32, Function>,
    /// By slot.
    pub live: Vec<Registers>,
    /// First slots of functions that helpers call.
    pub callbacks: BTreeSet<u32>,
}

impl Flow {
    /// Of a program that was validated, whose first function is given these registers beside r10.
    pub fn new(program: &Program, given: Registers) -> Result<Self, Unsupported> {
        let insns = &program.insns;
        let mut kinds = vec![None; insns.len()];
        let mut slot = 0;
        while slot < insns.len() {
            let kind = insns[slot].kind(insns.get(slot + 1).copied());
            let kind = kind.map_err(|_| Unsupported::Instruction { slot: slot as u32 })?;
            kinds[slot] = Some(kind);
            slot += kind.slots() as usize;
        }
        let starts: BTreeSet<u32> = program.functions.iter().map(|f| f.start).chain([0]).collect();
        let mut flow =
            Self { live: vec![0; kinds.len()], kinds, functions: BTreeMap::new(), callbacks: BTreeSet::new() };
        for (kind, slot) in flow.kinds.iter().zip(0..) {
            if let Some(kind @ Kind::Wide { value: WideValue::Function(_), .. }) = kind {
                flow.callbacks.extend(kind.target(slot).map(|target| target as u32));
            }
        }
        for start in starts {
            let function = flow.function(start)?;
            flow.functions.insert(start, function);
        }
        flow.registers(given)?;
        Ok(flow)
    }

    /// The instruction at a slot.
    pub fn kind(&self, slot: u32) -> Result<Kind, Unsupported> {
        self.kinds.get(slot as usize).copied().flatten().ok_or(Unsupported::Instruction { slot })
    }

    /// Blocks that are reached from a function's start.
    fn function(&self, start: u32) -> Result<Function, Unsupported> {
        let mut leaders = BTreeSet::from([start]);
        let mut seen = BTreeSet::new();
        let mut open = vec![start];
        let mut loops = false;
        while let Some(slot) = open.pop() {
            if !seen.insert(slot) {
                continue;
            }
            let kind = self.kind(slot)?;
            let behind = slot + kind.slots();
            if let Kind::Jump { .. } | Kind::Branch { .. } = kind {
                let target = kind.target(slot).and_then(|t| u32::try_from(t).ok());
                let target = target.ok_or(Unsupported::Instruction { slot })?;
                loops |= target <= slot;
                leaders.insert(target);
                open.push(target);
            }
            match kind {
                Kind::Exit | Kind::Jump { .. } => {}
                Kind::Branch { .. } => {
                    leaders.insert(behind);
                    open.push(behind);
                }
                _ => open.push(behind),
            }
        }
        let mut blocks = BTreeMap::new();
        for &first in &leaders {
            let mut block = Block { first, slots: Vec::new(), next: Vec::new() };
            let mut slot = first;
            loop {
                let kind = self.kind(slot)?;
                block.slots.push(slot);
                let behind = slot + kind.slots();
                let target = kind.target(slot).unwrap_or_default() as u32;
                match kind {
                    Kind::Exit => {}
                    Kind::Jump { .. } => block.next.push(target),
                    Kind::Branch { .. } => block.next.extend([target, behind]),
                    _ if leaders.contains(&behind) => block.next.push(behind),
                    _ => {
                        slot = behind;
                        continue;
                    }
                }
                break;
            }
            blocks.insert(first, block);
        }
        Ok(Function { start, blocks, loops, void: false, reads: 0 })
    }

    /// Finds what lives where, and refuses what reads a register that nothing wrote.
    fn registers(&mut self, given: Registers) -> Result<(), Unsupported> {
        // Callees say what a call reads, so this goes on until nothing changes.
        loop {
            let before: Vec<_> = self.functions.values().map(|f| (f.reads, f.void)).collect();
            for start in self.functions.keys().copied().collect::<Vec<_>>() {
                self.live_in(start);
                if start != 0 && self.functions[&start].reads & 1 != 0 && !self.functions[&start].void {
                    self.functions.entry(start).and_modify(|f| f.void = true);
                    self.live_in(start);
                }
            }
            if before == self.functions.values().map(|f| (f.reads, f.void)).collect::<Vec<_>>() {
                break;
            }
        }
        for function in self.functions.values() {
            let given = if function.start == 0 { given } else { ARGUMENTS } | FRAME;
            if function.reads & !given != 0 {
                let register = (function.reads & !given).trailing_zeros() as u8;
                return Err(Unsupported::Unwritten { register, slot: function.start });
            }
            if function.void && self.callbacks.contains(&function.start) {
                return Err(Unsupported::Unwritten { register: 0, slot: function.start });
            }
            for block in function.blocks.values() {
                for (at, &slot) in block.slots.iter().enumerate() {
                    let r0 = match self.kind(slot)? {
                        Kind::CallLocal { .. } => self.callee(slot).is_none_or(|f| f.void),
                        Kind::CallHelper { id } if calls_back(id) => false,
                        _ => continue,
                    };
                    let behind = match block.slots.get(at + 1) {
                        Some(next) => self.live[*next as usize],
                        None => block.next.iter().fold(0, |all, next| all | self.live[*next as usize]),
                    };
                    let lost = behind & (ARGUMENTS | Registers::from(r0));
                    if lost != 0 {
                        return Err(Unsupported::Unwritten { register: lost.trailing_zeros() as u8, slot });
                    }
                }
            }
        }
        Ok(())
    }

    /// The function that the call at a slot calls.
    pub fn callee(&self, slot: u32) -> Option<&Function> {
        let target = self.kinds.get(slot as usize).copied().flatten()?.target(slot)?;
        self.functions.get(&u32::try_from(target).ok()?)
    }

    /// First slot of the function that a slot calls, if it is a call of one.
    pub fn callee_of_call(&self, slot: u32) -> Option<u32> {
        matches!(self.kinds.get(slot as usize), Some(Some(Kind::CallLocal { .. })))
            .then(|| self.callee(slot).map(|callee| callee.start))?
    }

    /// What lives before each slot of a function.
    fn live_in(&mut self, start: u32) {
        let Some(function) = self.functions.get(&start).cloned() else { return };
        let mut changed = true;
        while changed {
            changed = false;
            for block in function.blocks.values().rev() {
                let mut live = block.next.iter().fold(0, |all, next| all | self.live[*next as usize]);
                for &slot in block.slots.iter().rev() {
                    let Some(kind) = self.kinds[slot as usize] else { continue };
                    let (read, written) = self.touched(kind, slot, function.void);
                    live = live & !written | read;
                    changed |= std::mem::replace(&mut self.live[slot as usize], live) != live;
                }
            }
        }
        let reads = self.live[start as usize];
        self.functions.entry(start).and_modify(|f| f.reads = reads);
    }

    /// Registers that an instruction reads, and those that hold something else behind it.
    fn touched(&self, kind: Kind, slot: u32, void: bool) -> (Registers, Registers) {
        let bit = |r: u8| 1 << (r & 15);
        let of = |operand: Operand| if let Operand::Reg(r) = operand { bit(r) } else { 0 };
        let written = kind.written().map_or(0, bit);
        let read = match kind {
            Kind::Alu { op: AluOp::Mov, src, .. } => of(src),
            Kind::Alu { dst, src, .. } | Kind::Branch { dst, src, .. } | Kind::Store { dst, src, .. } => {
                bit(dst) | of(src)
            }
            Kind::Neg { dst, .. } | Kind::Swap { dst, .. } => bit(dst),
            Kind::MovSx { src, .. } | Kind::Load { src, .. } => bit(src),
            Kind::Atomic { op, dst, src, .. } => bit(dst) | bit(src) | Registers::from(op == AtomicOp::Cmpxchg),
            Kind::Exit => Registers::from(!void),
            Kind::CallHelper { id } => {
                let taken = helper::find(id).map_or(0, |h| h.args.len() as u8);
                let reads = (1..=taken).fold(0, |all, r| all | bit(r));
                return (reads, if calls_back(id) { written | ARGUMENTS } else { written });
            }
            Kind::CallLocal { .. } => {
                let reads = self.callee(slot).map_or(0, |f| f.reads & ARGUMENTS);
                return (reads, written | ARGUMENTS);
            }
            Kind::Jump { .. } | Kind::Wide { .. } => 0,
        };
        (read, written)
    }
}

/// Whether a helper runs functions of the program, which leave what they like in r1 to r5.
pub fn calls_back(id: i32) -> bool {
    helper::find(id).is_some_and(|helper| helper.args.contains(&helper::Arg::Callback))
}
