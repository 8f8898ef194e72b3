//! Instructions of bundles.

mod registers;

use crate::routes;
use sluice_ebpf::insn::{AluOp, AtomicOp, Cond, Operand, Order, WideValue};

/// What one lane does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// `dst = a op b`, in 64 or (`wide` unset) 32 bits; 32-bit results are zero-extended. Never a move.
    Alu {
        /// Operation.
        op: AluOp,
        /// 64 bits.
        wide: bool,
        /// Destination.
        dst: u8,
        /// First operand.
        a: u8,
        /// Second operand.
        b: Operand,
    },
    /// `dst = src`.
    Move {
        /// 64 bits.
        wide: bool,
        /// Destination.
        dst: u8,
        /// Source; an immediate is sign-extended to the width.
        src: Operand,
    },
    /// Move of the low `bits`, sign-extended.
    Extend {
        /// To 64 bits.
        wide: bool,
        /// 8, 16 or 32.
        bits: u8,
        /// Destination.
        dst: u8,
        /// Source.
        src: u8,
    },
    /// `dst = -src`.
    Negate {
        /// 64 bits.
        wide: bool,
        /// Destination.
        dst: u8,
        /// Source.
        src: u8,
    },
    /// Rotation to the right, in 64 or 32 bits; 32-bit results are zero-extended.
    Rotate {
        /// 64 bits.
        wide: bool,
        /// Destination.
        dst: u8,
        /// Source.
        src: u8,
        /// How far: 1 to 63 or 31.
        right: u8,
    },
    /// Byte swap of the low `bits`, zero-extended.
    Swap {
        /// Which.
        order: Order,
        /// 16, 32 or 64.
        bits: u8,
        /// Destination.
        dst: u8,
        /// Source.
        src: u8,
    },
    /// A 64-bit constant. A function is a slot of the program, not a distance.
    Constant {
        /// Destination.
        dst: u8,
        /// What it gives.
        value: WideValue,
    },
    /// The address of a value of an array; of a per-CPU array in the copy that this packet's context has.
    Element {
        /// Destination.
        dst: u8,
        /// The map with this index.
        map: u32,
        /// Which value: below the map's entries.
        index: u32,
    },
    /// How far the copies that this packet's context has lie behind the first ones, of a per-CPU map.
    Copy {
        /// Destination.
        dst: u8,
        /// The map with this index.
        map: u32,
    },
    /// The address of an array's value whose number is in a register: `base + (index << shift)`, or 0 from the array's end on.
    Indexed {
        /// Destination.
        dst: u8,
        /// The number; its lower 32 bits count.
        index: u8,
        /// The address of value 0.
        base: u8,
        /// Values lie every 2^shift bytes.
        shift: u8,
        /// The greatest number that there is.
        most: u32,
    },
    /// `dst = low | high << bits` of the lowest 16 or 32 bits of each.
    Pack {
        /// Destination.
        dst: u8,
        /// Lower part.
        low: u8,
        /// Upper part.
        high: u8,
        /// 16 or 32.
        bits: u8,
    },
    /// `dst = *(bytes *)(base + off)`.
    Load {
        /// 1, 2, 4, 6 or 8.
        bytes: u8,
        /// Sign-extended to 64 bits.
        signed: bool,
        /// Destination.
        dst: u8,
        /// Base.
        base: u8,
        /// Offset.
        off: i16,
        /// Gives 0 where it is not allowed, in place of a fault: so it may pass a branch. Set only where it cannot fault
        /// at its own place.
        quiet: bool,
    },
    /// `*(bytes *)(base + off) = src`.
    Store {
        /// 1, 2, 4, 6 or 8.
        bytes: u8,
        /// Base.
        base: u8,
        /// Offset.
        off: i16,
        /// What is stored.
        src: Operand,
    },
    /// Atomic operation on `*(bytes *)(base + off)`.
    Atomic {
        /// 4 or 8.
        bytes: u8,
        /// Operation.
        op: AtomicOp,
        /// The old value goes to `src` (of cmpxchg to r0).
        fetch: bool,
        /// Does nothing where it is not allowed, in place of a fault. Set only where its base is surely 0 or surely leads there; never with a
        /// result.
        quiet: bool,
        /// Base.
        base: u8,
        /// Offset.
        off: i16,
        /// Second operand; a register where the old value is fetched.
        src: Operand,
    },
    /// Adds to two neighbouring words of 8 bytes of a map's value, the first of which lies at a multiple of 16: a number to one,
    /// a register to the other.
    AddPair {
        /// Base.
        base: u8,
        /// Offset of the first word.
        off: i16,
        /// For one of them; sign-extended.
        number: i32,
        /// For the other.
        src: u8,
        /// The number is for the second word.
        swapped: bool,
        /// Does nothing where it is not allowed, in place of a fault.
        quiet: bool,
    },
    /// Unconditional.
    Jump {
        /// Where to: a slot until rows are known, then a row.
        to: u32,
        /// Counts as work.
        back: bool,
    },
    /// Conditional.
    Branch {
        /// Condition.
        cond: Cond,
        /// Compares 64 bits.
        wide: bool,
        /// First operand.
        a: u8,
        /// Second operand.
        b: Operand,
        /// Where to: a slot until rows are known, then a row.
        to: u32,
        /// Counts as work when taken.
        back: bool,
    },
    /// Branch that is taken when no bit is set in both operands.
    Clear {
        /// Looks at 64 bits.
        wide: bool,
        /// First operand.
        a: u8,
        /// Second operand.
        b: Operand,
        /// Where to: a slot until rows are known, then a row.
        to: u32,
        /// Counts as work when taken.
        back: bool,
    },
    /// Length branch: taken when `base + bytes`, in 64 bits, is beyond the frame's end, or (`within`) when it is not.
    Length {
        /// What `bytes` are added to: a register, or the frame's start.
        base: Option<u8>,
        /// How much is added; sign-extended.
        bytes: i32,
        /// Taken in the opposite case.
        within: bool,
        /// Where to: a slot until rows are known, then a row.
        to: u32,
        /// Counts as work when taken.
        back: bool,
    },
    /// Call of a helper by number.
    Helper {
        /// Number.
        id: i32,
        /// First argument, in the place of r1: the handle of the map with this index.
        handle: Option<u32>,
        /// Second argument, in the place of r2: what this register holds, and so much more.
        second: Option<(u8, i16)>,
        /// Third argument, in the place of r3: of `redirect_map` its flags.
        third: Option<u8>,
    },
    /// Call of a function; it comes back to the next row.
    Call {
        /// Where to: a slot until rows are known, then a row.
        to: u32,
    },
    /// The frame ends; r0 takes the value, if there is one.
    Exit {
        /// For r0.
        value: Option<Operand>,
        /// Counts as work: it stands in the place of a jump back to an exit. Of the program's own frame only.
        back: bool,
    },
}

/// An instruction with the slot that it came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Step {
    /// Slot of the eBPF program: its source line, and the place of its fault.
    pub slot: u32,
    /// What it does.
    pub op: Op,
}

/// A set of registers: bit n is rn.
pub type Registers = u64;

/// Registers that instructions have between passes: those of a core, and behind them more that hold values of one trace.
/// `rename` gives these values registers of the core.
pub const NAMES: usize = 64;

/// Registers of a core.
pub const CORE: usize = 16;

/// r0 to r9.
pub const ALL: Registers = 0x3ff;

/// The register that reads as the address of the frame's first byte, as the packet's bounds are now. It is never written.
pub const START: u8 = 15;

/// r11 and all behind it: the compiler's own.
pub const OWN: Registers = !0x7ff;

impl Op {
    /// Whether nothing but a register changes and nothing can go wrong.
    pub fn is_pure(&self) -> bool {
        matches!(
            self,
            Self::Alu { .. }
                | Self::Move { .. }
                | Self::Extend { .. }
                | Self::Negate { .. }
                | Self::Rotate { .. }
                | Self::Swap { .. }
                | Self::Constant { .. }
                | Self::Element { .. }
                | Self::Copy { .. }
                | Self::Indexed { .. }
                | Self::Pack { .. }
        )
    }

    /// Whether it may pass a branch upwards, where nobody reads what it writes.
    pub fn is_harmless(&self) -> bool {
        self.is_pure() || matches!(self, Self::Load { quiet: true, .. })
    }

    /// Whether it takes a memory port.
    pub fn is_access(&self) -> bool {
        matches!(self, Self::Load { .. } | Self::Store { .. }) || self.is_atomic()
    }

    /// Whether it reads and writes memory in one step.
    pub fn is_atomic(&self) -> bool {
        matches!(self, Self::Atomic { .. } | Self::AddPair { .. })
    }

    /// Whether an exit may stand behind it in its bundle, which gives the verdict that it gives.
    pub fn gives_verdict(&self) -> bool {
        matches!(self, Self::Helper { id: REDIRECT | REDIRECT_MAP, .. })
    }

    /// Whether it ends the frame with what r0 holds, behind all else of its bundle.
    pub fn is_plain_exit(&self) -> bool {
        matches!(self, Self::Exit { value: None, .. })
    }

    /// Whether it takes the one multiplier and divider of a core.
    pub fn is_product(&self) -> bool {
        use AluOp::{Div, Mod, Mul, Sdiv, Smod};
        matches!(self, Self::Alu { op: Mul | Div | Mod | Sdiv | Smod, .. })
    }

    /// Whether it takes every memory port: a helper, or what the multiplier and divider does. A bundle waits for one unit.
    pub fn takes_all_ports(&self) -> bool {
        matches!(self, Self::Helper { .. }) || self.is_product()
    }

    /// Whether its bundle holds nothing else: a helper of more arguments than its lane reads registers, a
    /// compare-and-exchange, which reads r0 too, and a call of a function, which keeps four registers.
    pub fn is_alone(&self) -> bool {
        match self {
            Self::Atomic { op: AtomicOp::Cmpxchg, .. } | Self::Call { .. } => true,
            Self::Helper { id, .. } => sluice_ebpf::helper::find_any(*id).is_none_or(|helper| helper.args.len() > 2),
            _ => false,
        }
    }

    /// Whether functions or other programs see what registers hold then: nothing moves across it.
    pub fn is_barrier(&self) -> bool {
        use sluice_ebpf::helper::{Arg, find_any};
        match self {
            Self::Call { .. } => true,
            Self::Helper { id, .. } => {
                *id == TAIL_CALL
                    || routes::is_called(*id)
                    || find_any(*id).is_none_or(|helper| helper.args.contains(&Arg::Callback))
            }
            _ => false,
        }
    }

    /// Whether it stands in the last lane that its bundle uses.
    pub fn is_last(&self) -> bool {
        matches!(self, Self::Jump { .. } | Self::Helper { .. } | Self::Call { .. } | Self::Exit { .. })
    }

    /// Whether nothing follows it.
    pub fn ends(&self) -> bool {
        matches!(self, Self::Jump { .. } | Self::Exit { .. })
    }

    /// Where a jump, branch or call goes.
    pub fn target(&self) -> Option<u32> {
        match self {
            Self::Jump { to, .. } | Self::Call { to } => Some(*to),
            _ => self.branch(),
        }
    }

    /// Where a branch of any kind goes when it is taken.
    pub fn branch(&self) -> Option<u32> {
        match self {
            Self::Branch { to, .. } | Self::Clear { to, .. } | Self::Length { to, .. } => Some(*to),
            _ => None,
        }
    }

    /// Where a jump, branch or call goes, to be changed.
    pub fn target_mut(&mut self) -> Option<&mut u32> {
        match self {
            Self::Jump { to, .. }
            | Self::Branch { to, .. }
            | Self::Clear { to, .. }
            | Self::Length { to, .. }
            | Self::Call { to } => Some(to),
            _ => None,
        }
    }
}

/// Number of the helper `map_lookup_elem`.
pub const LOOKUP: i32 = 1;
/// Number of the helper `xdp_adjust_head`.
pub const ADJUST_HEAD: i32 = 44;
/// Number of the helper `redirect`.
pub const REDIRECT: i32 = 23;
/// Number of the helper `redirect_map`.
pub const REDIRECT_MAP: i32 = 51;
/// Number of the helper `tail_call`.
pub const TAIL_CALL: i32 = 12;
