//! Numbers whose bits are constants or bits of what is seen of a packet.

use sluice_ebpf::vm::Ingress;
use std::collections::BTreeMap;

/// Bytes of the frame that are seen, from its first on.
pub const FRAME: usize = 64;
/// Where `ingress_ifindex` is seen, in 4 bytes, the lowest first.
pub const IFINDEX: u16 = 64;
/// Where `rx_queue_index` is.
pub const QUEUE: u16 = 68;
/// Where the frame's length is, in 2 bytes.
pub const LENGTH: u16 = 72;
/// All bytes that are seen.
pub const SEEN: usize = 74;

/// What is seen of a packet.
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    /// The frame's first bytes, zeros behind its end, and where it came in.
    pub bytes: [u8; SEEN],
    /// The frame's length.
    pub length: usize,
}

impl Seen {
    /// Of a packet.
    pub fn new(frame: &[u8], ingress: Ingress) -> Self {
        let mut bytes = [0; SEEN];
        for (to, from) in bytes.iter_mut().zip(frame.iter().take(FRAME)) {
            *to = *from;
        }
        bytes[usize::from(IFINDEX)..usize::from(QUEUE)].copy_from_slice(&ingress.ifindex.to_le_bytes());
        bytes[usize::from(QUEUE)..usize::from(LENGTH)].copy_from_slice(&ingress.queue.to_le_bytes());
        bytes[usize::from(LENGTH)..].copy_from_slice(&(frame.len() as u16).to_le_bytes());
        Self { bytes, length: frame.len() }
    }

    /// Bit `n % 8` of byte `n / 8`.
    pub fn bit(&self, n: u16) -> bool {
        self.bytes.get(usize::from(n / 8)).is_some_and(|byte| byte >> (n % 8) & 1 == 1)
    }
}

/// One bit of a number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Bit {
    /// 0.
    #[default]
    Zero,
    /// 1.
    One,
    /// Bit `n % 8` (0 is the lowest) of byte `n / 8` of what is seen.
    Is(u16),
    /// The opposite of that bit.
    Not(u16),
}

impl Bit {
    fn of(value: bool) -> Self {
        if value { Self::One } else { Self::Zero }
    }

    /// Its value, if it is a constant.
    pub fn constant(self) -> Option<bool> {
        match self {
            Self::Zero => Some(false),
            Self::One => Some(true),
            Self::Is(_) | Self::Not(_) => None,
        }
    }

    /// Which bit of the frame it shows.
    pub fn source(self) -> Option<u16> {
        match self {
            Self::Is(n) | Self::Not(n) => Some(n),
            Self::Zero | Self::One => None,
        }
    }

    fn opposite(self) -> Self {
        match self {
            Self::Zero => Self::One,
            Self::One => Self::Zero,
            Self::Is(n) => Self::Not(n),
            Self::Not(n) => Self::Is(n),
        }
    }

    fn and(self, other: Self) -> Option<Self> {
        match (self, other) {
            (Self::Zero, _) | (_, Self::Zero) => Some(Self::Zero),
            (Self::One, bit) | (bit, Self::One) => Some(bit),
            _ if self == other => Some(self),
            _ if self == other.opposite() => Some(Self::Zero),
            _ => None,
        }
    }

    fn or(self, other: Self) -> Option<Self> {
        Some(self.opposite().and(other.opposite())?.opposite())
    }

    fn xor(self, other: Self) -> Option<Self> {
        match (self.constant(), other.constant()) {
            (Some(a), _) => Some(if a { other.opposite() } else { other }),
            (_, Some(b)) => Some(if b { self.opposite() } else { self }),
            _ if self == other => Some(Self::Zero),
            _ if self == other.opposite() => Some(Self::One),
            _ => None,
        }
    }
}

/// 64 bits, the lowest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bits(pub [Bit; 64]);

impl Bits {
    /// A constant.
    pub fn constant(value: u64) -> Self {
        Self(std::array::from_fn(|n| Bit::of(value >> n & 1 == 1)))
    }

    /// So many bytes of the frame as a load of a little-endian machine gives them.
    pub fn loaded(offset: u16, bytes: u8) -> Self {
        let shown = usize::from(bytes) * 8;
        Self(std::array::from_fn(|n| if n < shown { Bit::Is(offset * 8 + n as u16) } else { Bit::Zero }))
    }

    /// The number, if all its bits are constants.
    pub fn as_constant(&self) -> Option<u64> {
        self.0.iter().rev().try_fold(0, |number, bit| Some(number << 1 | u64::from(bit.constant()?)))
    }

    /// The least and the greatest number that it can be, were its bits of the frame independent.
    pub fn bounds(&self) -> (u64, u64) {
        let with = |unknown: bool| {
            self.0.iter().rev().fold(0, |number, bit| number << 1 | u64::from(bit.constant().unwrap_or(unknown)))
        };
        (with(false), with(true))
    }

    /// The low bits, the rest 0.
    pub fn low(&self, bits: u32) -> Self {
        Self(std::array::from_fn(|n| if n < bits as usize { self.0[n] } else { Bit::Zero }))
    }

    /// Each bit with the other's.
    fn zip(&self, other: &Self, f: impl Fn(Bit, Bit) -> Option<Bit>) -> Option<Self> {
        let mut out = *self;
        for (bit, other) in out.0.iter_mut().zip(other.0) {
            *bit = f(*bit, other)?;
        }
        Some(out)
    }

    /// Both, if that is known of each bit.
    pub fn and(&self, other: &Self) -> Option<Self> {
        self.zip(other, Bit::and)
    }

    /// Either, if that is known of each bit.
    pub fn or(&self, other: &Self) -> Option<Self> {
        self.zip(other, Bit::or)
    }

    /// One of both, if that is known of each bit.
    pub fn xor(&self, other: &Self) -> Option<Self> {
        self.zip(other, Bit::xor)
    }

    /// Moved up by so many places, below 64.
    pub fn up(&self, places: u32) -> Self {
        Self(std::array::from_fn(|n| n.checked_sub(places as usize).map_or(Bit::Zero, |from| self.0[from])))
    }

    /// Moved down.
    pub fn down(&self, places: u32) -> Self {
        Self(std::array::from_fn(|n| self.0.get(n + places as usize).copied().unwrap_or_default()))
    }

    /// The low bytes in the opposite order, the rest 0.
    pub fn swapped(&self, bits: u32) -> Self {
        let bytes = bits as usize / 8;
        Self(std::array::from_fn(|n| match n / 8 {
            byte if byte < bytes => self.0[(bytes - 1 - byte) * 8 + n % 8],
            _ => Bit::Zero,
        }))
    }

    /// The sum, where no place has a bit of both.
    pub fn joined(&self, other: &Self) -> Option<Self> {
        let apart = self.0.iter().zip(&other.0).all(|(a, b)| *a == Bit::Zero || *b == Bit::Zero);
        if apart { self.or(other) } else { None }
    }

    /// With what is known of some of the frame's bits.
    pub fn knowing(&self, known: &BTreeMap<u16, bool>) -> Self {
        Self(self.0.map(|bit| match bit {
            Bit::Is(n) => known.get(&n).map_or(bit, |value| Bit::of(*value)),
            Bit::Not(n) => known.get(&n).map_or(bit, |value| Bit::of(!*value)),
            _ => bit,
        }))
    }

    /// Of a packet.
    pub fn of(&self, seen: &Seen) -> u64 {
        self.0.iter().rev().fold(0, |number, bit| {
            number << 1
                | u64::from(match *bit {
                    Bit::Zero => false,
                    Bit::One => true,
                    Bit::Is(n) => seen.bit(n),
                    Bit::Not(n) => !seen.bit(n),
                })
        })
    }
}
