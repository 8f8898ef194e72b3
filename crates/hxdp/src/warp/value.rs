//! What a register or word of the stack holds on one path.

use super::bits::Bits;
use crate::alu;
use sluice_ebpf::insn::AluOp;

/// Where an address counts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    /// The frame's first byte.
    Start,
    /// One past the frame's last byte.
    End,
    /// The frame pointer of the program's own frame.
    Stack,
    /// `struct xdp_md`.
    Context,
}

/// Bytes of a value of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
pub struct Cell {
    /// Index of the map in the image.
    pub map: u32,
    /// Which value.
    pub index: u32,
    /// First byte.
    pub offset: u32,
    /// 4 or 8.
    pub bytes: u8,
}

/// What is added to a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum More {
    /// A number.
    Number(u64),
    /// The frame's length.
    Length,
}

/// A value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::large_enum_variant, reason = "most are numbers")]
pub enum Value {
    /// `bits + add`, in 64 bits.
    Number {
        /// What the frame gives.
        bits: Bits,
        /// What is added; 0 where `bits` is a constant.
        add: u64,
    },
    /// `a or b`, bit by bit, where that is not known of each bit.
    Either(Bits, Bits),
    /// `bits + add` modulo 2^`width`, at most 32, of which `bits` are less.
    Wrapped {
        /// What the frame gives.
        bits: Bits,
        /// What is added.
        add: u64,
        /// Bits of the sum.
        width: u32,
    },
    /// An address: so many bytes behind the base, and the frame's `more` behind that.
    Place {
        /// What it counts from.
        base: Base,
        /// How far.
        offset: i64,
        /// What the frame adds, of the frame's start only.
        more: Option<Bits>,
    },
    /// The frame's length and so much more.
    Length(i64),
    /// The handle of the map with this index.
    Map(u32),
    /// An address in a value of an array: so many bytes behind its first.
    Element {
        /// Index of the map in the image.
        map: u32,
        /// Which value.
        index: u32,
        /// How far.
        offset: i64,
    },
    /// What stands in a value of an array, and more.
    Cell {
        /// Where it stands.
        cell: Cell,
        /// How much more.
        more: More,
    },
    /// The address that a lookup has found.
    Found,
    /// Not known.
    Opaque,
}

impl Value {
    /// A constant.
    pub fn constant(value: u64) -> Self {
        Self::Number { bits: Bits::constant(value), add: 0 }
    }

    /// An address.
    pub fn place(base: Base, offset: i64) -> Self {
        Self::Place { base, offset, more: None }
    }

    /// The bits of a number that nothing is added to.
    pub fn as_bits(&self) -> Option<Bits> {
        match self {
            Self::Number { bits, add: 0 } => Some(*bits),
            _ => None,
        }
    }

    /// A constant's value.
    pub fn as_constant(&self) -> Option<u64> {
        self.as_bits()?.as_constant()
    }

    /// The low bits of a sum, up to 32.
    fn wrapped(bits: Bits, add: u64, width: u32) -> Self {
        let mask = (1 << width) - 1;
        let (bits, add) = (bits.low(width), add & mask);
        match bits.as_constant() {
            Some(number) => Self::constant(number.wrapping_add(add) & mask),
            None if add == 0 => Self::number(bits, 0),
            None => Self::Wrapped { bits, add, width },
        }
    }

    fn number(bits: Bits, add: u64) -> Self {
        match bits.as_constant() {
            Some(number) => Self::constant(number.wrapping_add(add)),
            None => Self::Number { bits, add },
        }
    }

    /// The same in 32 bits, zero-extended.
    fn low_half(self) -> Self {
        match self {
            Self::Number { bits, add } => {
                let bits = bits.low(32);
                let greatest = bits.bounds().1.checked_add(add);
                match greatest {
                    _ if add == 0 => Self::number(bits, 0),
                    Some(greatest) if greatest <= u64::from(u32::MAX) => Self::number(bits, add),
                    _ => Self::wrapped(bits, add, 32),
                }
            }
            Self::Wrapped { .. } => self,
            Self::Either(a, b) => Self::Either(a.low(32), b.low(32)),
            // Addresses have 32 bits; a sum of one is not followed further.
            _ => Self::Opaque,
        }
    }

    /// `self op other`.
    pub fn alu(self, op: AluOp, wide: bool, other: Self) -> Self {
        let (a, b) = match wide {
            true => (self, other),
            false => (self.low_half(), other.low_half()),
        };
        if let (Some(a), Some(b)) = (a.as_constant(), b.as_constant()) {
            return Self::constant(alu::alu(op, wide, a, b));
        }
        let result = match op {
            AluOp::Add => a.plus(b),
            AluOp::Sub => a.minus(b),
            AluOp::And => a.masked(b),
            AluOp::Or => a.either(b),
            AluOp::Xor => logic(a, b, Bits::xor),
            AluOp::Lsh | AluOp::Rsh | AluOp::Arsh | AluOp::Mul => a.scaled(op, wide, b),
            AluOp::Mov => b,
            _ => Self::Opaque,
        };
        if wide { result } else { result.low_half() }
    }

    fn plus(self, other: Self) -> Self {
        match (self, other) {
            (Self::Number { bits: a, add: x }, Self::Number { bits: b, add: y }) => {
                let add = x.wrapping_add(y);
                match (a.as_constant(), b.as_constant()) {
                    (Some(_), _) => Self::number(b, add.wrapping_add(a.bounds().0)),
                    (_, Some(_)) => Self::number(a, add.wrapping_add(b.bounds().0)),
                    _ => a.joined(&b).map_or(Self::Opaque, |bits| Self::number(bits, add)),
                }
            }
            (Self::Place { base, offset, more }, number @ Self::Number { bits, add })
            | (number @ Self::Number { bits, add }, Self::Place { base, offset, more }) => match number.as_constant() {
                Some(far) => Self::Place { base, offset: offset.wrapping_add(far as i64), more },
                None if base == Base::Start && more.is_none() => {
                    Self::Place { base, offset: offset.wrapping_add(add as i64), more: Some(bits) }
                }
                None => Self::Opaque,
            },
            (Self::Element { map, index, offset }, number) | (number, Self::Element { map, index, offset }) => {
                let at = |far: u64| Self::Element { map, index, offset: offset.wrapping_add(far as i64) };
                number.as_constant().map_or(Self::Opaque, at)
            }
            (Self::Cell { cell, more: More::Number(0) }, Self::Length(0))
            | (Self::Length(0), Self::Cell { cell, more: More::Number(0) }) => Self::Cell { cell, more: More::Length },
            (Self::Cell { cell, more: More::Number(more) }, number)
            | (number, Self::Cell { cell, more: More::Number(more) }) => match number.as_constant() {
                Some(far) => Self::Cell { cell, more: More::Number(more.wrapping_add(far)) },
                None => Self::Opaque,
            },
            (Self::Length(more), number) | (number, Self::Length(more)) => {
                number.as_constant().map_or(Self::Opaque, |far| Self::Length(more.wrapping_add(far as i64)))
            }
            _ => Self::Opaque,
        }
    }

    fn minus(self, other: Self) -> Self {
        if let Some(far) = other.as_constant() {
            return self.plus(Self::constant(far.wrapping_neg()));
        }
        match (self, other) {
            (
                Self::Place { base: Base::End, offset: end, more: None },
                Self::Place { base: Base::Start, offset: start, more: None },
            ) => Self::Length(end.wrapping_sub(start)),
            (Self::Place { base: a, offset: x, more: None }, Self::Place { base: b, offset: y, more: None })
                if a == b =>
            {
                Self::constant(x.wrapping_sub(y) as u64)
            }
            _ => Self::Opaque,
        }
    }

    fn masked(self, other: Self) -> Self {
        match (self, other) {
            (Self::Either(a, b), mask) | (mask, Self::Either(a, b)) => {
                let both = mask.as_bits().and_then(|mask| Some((a.and(&mask)?, b.and(&mask)?)));
                both.map_or(Self::Opaque, |(a, b)| Self::or(a, b))
            }
            (Self::Number { bits, add: add @ 1.. }, mask) | (mask, Self::Number { bits, add: add @ 1.. }) => {
                low_bits(mask).map_or(Self::Opaque, |width| Self::wrapped(bits, add, width))
            }
            (Self::Wrapped { bits, add, width }, mask) | (mask, Self::Wrapped { bits, add, width }) => {
                low_bits(mask).map_or(Self::Opaque, |kept| Self::wrapped(bits, add, width.min(kept)))
            }
            _ => logic(self, other, Bits::and),
        }
    }

    fn either(self, other: Self) -> Self {
        match (self, other) {
            (Self::Either(a, b), more) | (more, Self::Either(a, b)) => {
                let Some(more) = more.as_bits() else { return Self::Opaque };
                match (a.or(&more), b.or(&more)) {
                    (Some(a), _) => Self::or(a, b),
                    (_, Some(b)) => Self::or(a, b),
                    _ => Self::Opaque,
                }
            }
            _ => match (self.as_bits(), other.as_bits()) {
                (Some(a), Some(b)) => Self::or(a, b),
                _ => Self::Opaque,
            },
        }
    }

    fn or(a: Bits, b: Bits) -> Self {
        a.or(&b).map_or(Self::Either(a, b), |bits| Self::number(bits, 0))
    }

    /// Shifted by, or multiplied with, a constant.
    fn scaled(self, op: AluOp, wide: bool, by: Self) -> Self {
        let (Some(bits), Some(by)) = (self.as_bits(), by.as_constant()) else { return Self::Opaque };
        let width = if wide { 64 } else { 32 };
        let places = by as u32 & (width - 1);
        match op {
            AluOp::Mul if by.is_power_of_two() => Self::number(bits.up(by.trailing_zeros()), 0),
            AluOp::Lsh => Self::number(bits.up(places), 0),
            AluOp::Rsh => Self::number(bits.down(places), 0),
            AluOp::Arsh if bits.0[width as usize - 1].constant() == Some(false) => Self::number(bits.down(places), 0),
            _ => Self::Opaque,
        }
    }

    /// The low `bits`, sign-extended.
    pub fn extended(self, wide: bool, bits: u8) -> Self {
        let Some(all) = self.as_bits() else { return Self::Opaque };
        if let Some(number) = all.as_constant() {
            return Self::constant(alu::extend(wide, bits, number));
        }
        match all.0[usize::from(bits) - 1].constant() {
            Some(false) => Self::number(all.low(bits.into()), 0),
            _ => Self::Opaque,
        }
    }

    /// The low `bits` as they are, or in the opposite order of bytes.
    pub fn swapped(self, swaps: bool, bits: u8) -> Self {
        let Some(all) = self.as_bits() else { return Self::Opaque };
        Self::number(if swaps { all.swapped(bits.into()) } else { all.low(bits.into()) }, 0)
    }

    /// Rotated to the right.
    pub fn rotated(self, wide: bool, right: u8) -> Self {
        let (Some(all), right) = (self.as_bits(), u32::from(right)) else { return Self::Opaque };
        let (all, width) = if wide { (all, 64) } else { (all.low(32), 32) };
        let turned = all.down(right).or(&all.up(width - right)).map(|bits| bits.low(width));
        turned.map_or(Self::Opaque, |bits| Self::number(bits, 0))
    }

    /// With what is known of some of the frame's bits.
    pub fn knowing(self, known: &std::collections::BTreeMap<u16, bool>) -> Self {
        match self {
            Self::Number { bits, add } => Self::number(bits.knowing(known), add),
            Self::Either(a, b) => Self::or(a.knowing(known), b.knowing(known)),
            Self::Wrapped { bits, add, width } => Self::wrapped(bits.knowing(known), add, width),
            Self::Place { base, offset, more: Some(more) } => {
                let more = more.knowing(known);
                match more.as_constant() {
                    Some(far) => Self::place(base, offset.wrapping_add(far as i64)),
                    None => Self::Place { base, offset, more: Some(more) },
                }
            }
            other => other,
        }
    }
}

/// How many low bits a mask of just those keeps, at most 32.
fn low_bits(mask: Value) -> Option<u32> {
    let mask = mask.as_constant().filter(|mask| *mask > 0 && mask & (mask + 1) == 0)?;
    Some(mask.count_ones()).filter(|width| *width <= 32)
}

fn logic(a: Value, b: Value, f: impl Fn(&Bits, &Bits) -> Option<Bits>) -> Value {
    let (Some(a), Some(b)) = (a.as_bits(), b.as_bits()) else { return Value::Opaque };
    f(&a, &b).map_or(Value::Opaque, |bits| Value::number(bits, 0))
}
