//! What a branch asks of a frame, as far as the engine can tell.

use super::bits::{Bit, Bits, Seen};
use super::value::{Base, Value};
use sluice_ebpf::insn::Cond;
use std::collections::BTreeMap;

/// A question that the engine answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Test {
    /// Whether each of these bits of the frame is what is said.
    Bits(BTreeMap<u16, bool>),
    /// Whether a number lies between these, both included.
    Between {
        /// The number.
        bits: Bits,
        /// Least.
        low: u64,
        /// Greatest.
        high: u64,
    },
    /// Whether the frame has so many bytes.
    Long(u32),
    /// Whether the frame has as many bytes as a number says, and so many more.
    Reaches {
        /// The number.
        bits: Bits,
        /// How many more.
        more: i64,
    },
}

/// Bits by byte: its mask and value.
pub fn bytes_of(bits: &BTreeMap<u16, bool>) -> BTreeMap<u16, (u8, u8)> {
    let mut bytes: BTreeMap<u16, (u8, u8)> = BTreeMap::new();
    for (n, wanted) in bits {
        let (mask, value) = bytes.entry(n / 8).or_default();
        *mask |= 1 << (n % 8);
        *value |= u8::from(*wanted) << (n % 8);
    }
    bytes
}

/// What a branch does.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::large_enum_variant, reason = "it is asked and forgotten")]
pub enum Asked {
    /// It is taken, or not, in any case.
    Decided(bool),
    /// It is taken where the test's answer is this one.
    Test(Test, bool),
    /// The engine cannot tell.
    Unknown,
}

impl Asked {
    fn not(self) -> Self {
        match self {
            Self::Decided(taken) => Self::Decided(!taken),
            Self::Test(test, answer) => Self::Test(test, !answer),
            Self::Unknown => Self::Unknown,
        }
    }
}

/// Bytes that frames and what is added to them have at most, so that no address and no sum wraps.
const FAR: i64 = 1 << 20;

/// What a branch with this condition asks.
pub fn asked(cond: Cond, wide: bool, a: &Value, b: &Value) -> Asked {
    match (a, b) {
        (Value::Number { .. }, Value::Number { .. }) => {
            let cut =
                |value: &Value| if wide { *value } else { value.alu(sluice_ebpf::insn::AluOp::Mov, false, *value) };
            let (a, b) = (cut(a), cut(b));
            match (a.as_constant(), b.as_constant()) {
                (Some(a), Some(b)) => Asked::Decided(crate::alu::holds(cond, wide, a, b)),
                (None, Some(b)) => number(cond, wide, &a, b),
                (Some(a), None) => flipped(cond).map_or(Asked::Unknown, |cond| number(cond, wide, &b, a)),
                (None, None) => Asked::Unknown,
            }
        }
        (Value::Wrapped { bits, add, width }, Value::Number { .. }) => {
            let limit = b.as_constant().map(|b| if wide { b } else { u64::from(b as u32) });
            limit.map_or(Asked::Unknown, |limit| wrapped(cond, (bits, *add, *width), limit))
        }
        (Value::Number { .. }, Value::Wrapped { .. }) => {
            flipped(cond).map_or(Asked::Unknown, |cond| asked(cond, wide, b, a))
        }
        (Value::Place { offset, more: None, .. }, Value::Number { .. })
            if offset.abs() < FAR && b.as_constant() == Some(0) =>
        {
            never_null(cond)
        }
        (Value::Either(a, c), Value::Number { .. }) if b.as_constant() == Some(0) => {
            let width = if wide { 64 } else { 32 };
            let zero = both(equal(&a.low(width), 0), equal(&c.low(width), 0));
            match cond {
                Cond::Eq => zero,
                Cond::Ne => zero.not(),
                _ => Asked::Unknown,
            }
        }
        (Value::Element { .. } | Value::Found, Value::Number { .. }) if b.as_constant() == Some(0) => never_null(cond),
        _ if !wide => Asked::Unknown,
        (
            Value::Place { base: Base::Start, offset, more },
            Value::Place { base: Base::End, offset: end, more: None },
        ) => length(cond, offset.saturating_sub(*end), *more),
        (Value::Place { base: Base::End, .. }, Value::Place { base: Base::Start, .. }) => {
            flipped(cond).map_or(Asked::Unknown, |cond| asked(cond, wide, b, a))
        }
        (Value::Length(less), Value::Number { bits, add }) => {
            // `length + less > number` is `number - less < length`.
            let far = (*add as i64).saturating_sub(*less);
            let small = less.abs() < FAR && (*add as i64).abs() < FAR && bits.bounds().1 < FAR as u64;
            let signed = match cond {
                Cond::Gt | Cond::Ge | Cond::Lt | Cond::Le if *less >= 0 && *add as i64 >= 0 => flipped(cond),
                Cond::Sgt => Some(Cond::Lt),
                Cond::Sge => Some(Cond::Le),
                Cond::Slt => Some(Cond::Gt),
                Cond::Sle => Some(Cond::Ge),
                _ => None,
            };
            match (signed.filter(|_| small), bits.as_constant()) {
                (Some(cond), Some(number)) => length(cond, far + number as i64, None),
                (Some(cond), None) => length(cond, far, Some(*bits)),
                (None, _) => Asked::Unknown,
            }
        }
        (Value::Number { .. }, Value::Length(_)) => {
            flipped(cond).map_or(Asked::Unknown, |cond| asked(cond, wide, b, a))
        }
        _ => Asked::Unknown,
    }
}

/// Whether both are so.
fn both(a: Asked, b: Asked) -> Asked {
    match (a, b) {
        (Asked::Decided(true), other) | (other, Asked::Decided(true)) => other,
        (Asked::Decided(false), _) | (_, Asked::Decided(false)) => Asked::Decided(false),
        (Asked::Test(Test::Bits(mut a), true), Asked::Test(Test::Bits(b), true)) => {
            for (n, wanted) in b {
                if *a.entry(n).or_insert(wanted) != wanted {
                    return Asked::Decided(false);
                }
            }
            Asked::Test(Test::Bits(a), true)
        }
        _ => Asked::Unknown,
    }
}

/// An address against 0: all have their bits below the 32nd.
fn never_null(cond: Cond) -> Asked {
    match cond {
        Cond::Eq => Asked::Decided(false),
        Cond::Ne => Asked::Decided(true),
        _ => Asked::Unknown,
    }
}

/// The condition with its sides exchanged.
fn flipped(cond: Cond) -> Option<Cond> {
    Some(match cond {
        Cond::Eq | Cond::Ne | Cond::Set => cond,
        Cond::Gt => Cond::Lt,
        Cond::Ge => Cond::Le,
        Cond::Lt => Cond::Gt,
        Cond::Le => Cond::Ge,
        Cond::Sgt => Cond::Slt,
        Cond::Sge => Cond::Sle,
        Cond::Slt => Cond::Sgt,
        Cond::Sle => Cond::Sge,
    })
}

/// `bytes + more` against the frame's length.
fn length(cond: Cond, bytes: i64, more: Option<Bits>) -> Asked {
    let greatest = more.map_or(0, |more| more.bounds().1);
    if bytes.abs() >= FAR || greatest >= FAR as u64 {
        return Asked::Unknown;
    }
    let within = |bytes: i64| match more {
        Some(bits) => Asked::Test(Test::Reaches { bits, more: bytes }, true),
        None => match u32::try_from(bytes) {
            Ok(bytes @ 1..) => Asked::Test(Test::Long(bytes), true),
            // No frame has no byte.
            _ => Asked::Decided(true),
        },
    };
    match cond {
        Cond::Gt => within(bytes).not(),
        Cond::Le => within(bytes),
        Cond::Ge => within(bytes + 1).not(),
        Cond::Lt => within(bytes + 1),
        _ => Asked::Unknown,
    }
}

/// A number that is no constant against one that is.
fn number(cond: Cond, wide: bool, a: &Value, limit: u64) -> Asked {
    let Value::Number { bits, add } = a else { return Asked::Unknown };
    match cond {
        Cond::Eq => equal(bits, limit.wrapping_sub(*add)),
        Cond::Ne => equal(bits, limit.wrapping_sub(*add)).not(),
        Cond::Set if *add == 0 => bits.and(&Bits::constant(limit)).map_or(Asked::Unknown, |bits| equal(&bits, 0).not()),
        Cond::Set => Asked::Unknown,
        Cond::Le => at_most(bits, *add, limit),
        Cond::Gt => at_most(bits, *add, limit).not(),
        Cond::Lt => below(bits, *add, limit),
        Cond::Ge => below(bits, *add, limit).not(),
        Cond::Sgt | Cond::Sge | Cond::Slt | Cond::Sle => {
            let positive = if wide { i64::MAX as u64 } else { i32::MAX as u64 };
            let greatest = bits.bounds().1.checked_add(*add);
            if greatest.is_none_or(|greatest| greatest > positive) {
                return Asked::Unknown;
            }
            if limit > positive {
                return Asked::Decided(matches!(cond, Cond::Sgt | Cond::Sge));
            }
            let unsigned = match cond {
                Cond::Sgt => Cond::Gt,
                Cond::Sge => Cond::Ge,
                Cond::Slt => Cond::Lt,
                _ => Cond::Le,
            };
            number(unsigned, wide, a, limit)
        }
    }
}

/// A number against a constant.
pub fn equal(bits: &Bits, value: u64) -> Asked {
    let mut asked = BTreeMap::new();
    for (n, bit) in bits.0.iter().enumerate() {
        let wanted = value >> n & 1 == 1;
        let (source, wanted) = match *bit {
            Bit::Is(source) => (source, wanted),
            Bit::Not(source) => (source, !wanted),
            constant if constant.constant() == Some(wanted) => continue,
            _ => return Asked::Decided(false),
        };
        if *asked.entry(source).or_insert(wanted) != wanted {
            return Asked::Decided(false);
        }
    }
    if asked.is_empty() { Asked::Decided(true) } else { Asked::Test(Test::Bits(asked), true) }
}

fn below(bits: &Bits, add: u64, limit: u64) -> Asked {
    match limit.checked_sub(1) {
        Some(limit) => at_most(bits, add, limit),
        None => Asked::Decided(false),
    }
}

/// `bits + add <= limit`, where the sum wraps.
fn at_most(bits: &Bits, add: u64, limit: u64) -> Asked {
    let (low, high) = match add as i64 {
        0.. => match limit.checked_sub(add) {
            Some(high) => (0, high),
            None => return Asked::Decided(false),
        },
        less => (less.unsigned_abs(), less.unsigned_abs().saturating_add(limit)),
    };
    let (_, greatest) = bits.bounds();
    // The sum does not pass 2^64 as long as nothing is as great as this.
    if greatest >= 1 << 62 || add as i64 >= 1 << 62 {
        return Asked::Unknown;
    }
    between(bits, low, high)
}

/// A number within these.
fn between(bits: &Bits, low: u64, high: u64) -> Asked {
    let (least, greatest) = bits.bounds();
    match () {
        () if low <= least && high >= greatest => Asked::Decided(true),
        () if low > greatest || high < least => Asked::Decided(false),
        () => Asked::Test(Test::Between { bits: *bits, low, high: high.min(greatest) }, true),
    }
}

/// The low bits of a sum against a constant: how compilers ask for a range.
fn wrapped(cond: Cond, (bits, add, width): (&Bits, u64, u32), limit: u64) -> Asked {
    let all = 1u64 << width;
    // The number with which the sum begins anew.
    let zero = (all - add) % all;
    match cond {
        Cond::Eq if limit < all => equal(bits, limit.wrapping_sub(add) % all),
        Cond::Eq => Asked::Decided(false),
        Cond::Ne => wrapped(Cond::Eq, (bits, add, width), limit).not(),
        Cond::Le if limit >= all - 1 => Asked::Decided(true),
        Cond::Le if zero + limit < all => between(bits, zero, zero + limit),
        Cond::Le => between(bits, zero + limit + 1 - all, zero - 1).not(),
        Cond::Gt => wrapped(Cond::Le, (bits, add, width), limit).not(),
        Cond::Lt => {
            limit.checked_sub(1).map_or(Asked::Decided(false), |most| wrapped(Cond::Le, (bits, add, width), most))
        }
        Cond::Ge => wrapped(Cond::Lt, (bits, add, width), limit).not(),
        Cond::Set | Cond::Sgt | Cond::Sge | Cond::Slt | Cond::Sle => Asked::Unknown,
    }
}

impl Test {
    /// Its answer for a packet.
    pub fn holds(&self, seen: &Seen) -> bool {
        match self {
            Self::Bits(bits) => bits.iter().all(|(n, wanted)| seen.bit(*n) == *wanted),
            Self::Between { bits, low, high } => (*low..=*high).contains(&bits.of(seen)),
            Self::Long(bytes) => seen.length >= *bytes as usize,
            Self::Reaches { bits, more } => bits.of(seen) as i64 + more <= seen.length as i64,
        }
    }
}
