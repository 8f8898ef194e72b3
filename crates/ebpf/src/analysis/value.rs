//! What is known of a register or a stack slot: a base and an offset from it.

use super::alu::{self, Op};
use super::num::Num;
use crate::address::{self, Region};
use crate::image::map_flags::RDONLY_PROG;
use crate::{Image, MapSpec};
use serde::Serialize;

/// Longest packet buffer, headroom included, that the claims hold for.
pub const MAX_BUFFER: u32 = 1 << 20;

/// Which packet bounds a packet address counts from. Bounds change with the helpers that move
/// the packet; an address keeps those it was loaded under.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Generation {
    /// Those that the program began with.
    Entry,
    /// Those since the helper call at this slot.
    Call(u32),
    /// Those that held when control last came to this slot, where several ways meet.
    Merge(u32),
}

/// A map that the analysis can name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MapRef {
    /// The map with this index in the image.
    Map(u32),
    /// Some map inside of the map of maps with this index.
    Inner(u32),
    /// One of several maps: bit i stands for the map with index i, below 64.
    OneOf(u64),
}

impl MapRef {
    /// Its declaration, if it is one map.
    pub fn spec(self, image: &Image) -> Option<&MapSpec> {
        match self {
            Self::Map(index) => image.maps.get(index as usize),
            Self::Inner(index) => image.maps.get(index as usize)?.inner.as_deref(),
            Self::OneOf(_) => None,
        }
    }

    /// The maps that it may be, each alone.
    pub fn each(self) -> Vec<Self> {
        match self {
            Self::OneOf(set) => (0..64).filter(|i| set >> i & 1 == 1).map(Self::Map).collect(),
            one => vec![one],
        }
    }

    fn set(self) -> Option<u64> {
        match self {
            Self::Map(index) => 1u64.checked_shl(index),
            Self::OneOf(set) => Some(set),
            Self::Inner(_) => None,
        }
    }

    /// One of both.
    fn join(self, o: Self) -> Option<Self> {
        if self == o { Some(self) } else { Some(Self::OneOf(self.set()? | o.set()?)) }
    }

    /// Whether `f` holds for each map it may be.
    pub(super) fn all(self, image: &Image, f: impl Fn(&MapSpec) -> bool) -> bool {
        self.each().into_iter().all(|m| m.spec(image).is_some_and(&f))
    }

    /// Bytes that each value has at least.
    pub(super) fn value_bytes(self, image: &Image) -> Option<u32> {
        let sizes = self.each().into_iter().map(|m| m.spec(image).map(|s| s.value_size));
        sizes.collect::<Option<Vec<u32>>>()?.into_iter().min()
    }

    /// Its name; of an inner map that of the outer one, with `[]`.
    pub fn name(self, image: &Image) -> String {
        match self {
            Self::Map(i) => image.maps.get(i as usize).map_or_else(|| format!("map{i}"), |m| m.name.clone()),
            Self::Inner(i) => Self::Map(i).name(image) + "[]",
            Self::OneOf(_) => {
                let names: Vec<String> = self.each().into_iter().map(|m| m.name(image)).collect();
                names.join("|")
            }
        }
    }
}

/// What a value counts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Base {
    /// Zero: a plain number. The context and functions are numbers too, their addresses are fixed.
    Number,
    /// The frame's first byte.
    Packet(Generation),
    /// One past the frame's last byte.
    End(Generation),
    /// The metadata's first byte.
    Meta(Generation),
    /// r10 of a stack frame: 0 is the program's own, 1 that of the function it called.
    Stack(u8),
    /// The first byte of some value of a map.
    Map(MapRef),
    /// The handle of a map.
    Handle(MapRef),
    /// The first byte of a reserved record of so many bytes or more.
    Record(u32),
    /// The first byte of a key of so many bytes that a callback is shown.
    Key(u32),
}

impl Base {
    /// Whether it stands for one address at a time, so that a difference of two offsets from it
    /// is the difference of the addresses.
    pub fn is_one_address(self) -> bool {
        matches!(self, Self::Number | Self::Packet(_) | Self::End(_) | Self::Meta(_) | Self::Stack(_))
    }

    /// Least and greatest address it can be.
    pub fn addresses(self) -> (u32, u32) {
        match self {
            Self::Number => (0, 0),
            Self::Packet(_) | Self::End(_) | Self::Meta(_) => (address::PACKET, address::PACKET + MAX_BUFFER),
            Self::Stack(_) => {
                (address::STACK + address::STACK_STRIDE, address::STACK + address::STACK_FRAMES * address::STACK_STRIDE)
            }
            Self::Map(_) => (address::MAP_VALUES, address::RECORDS - 1),
            Self::Record(_) | Self::Key(_) => (address::RECORDS, address::MAP_HANDLES - 1),
            Self::Handle(_) => (address::MAP_HANDLES, address::FUNCTIONS - 1),
        }
    }

    /// Of two bases that differ.
    fn join(self, o: Self) -> Option<Self> {
        match (self, o) {
            (Self::Map(a), Self::Map(b)) => a.join(b).map(Self::Map),
            (Self::Handle(a), Self::Handle(b)) => a.join(b).map(Self::Handle),
            (Self::Record(a), Self::Record(b)) => Some(Self::Record(a.min(b))),
            (Self::Key(a), Self::Key(b)) => Some(Self::Key(a.min(b))),
            _ => None,
        }
    }

    fn packet_generation(self) -> Option<Generation> {
        match self {
            Self::Packet(g) | Self::End(g) | Self::Meta(g) => Some(g),
            _ => None,
        }
    }

    fn with_generation(self, generation: Generation) -> Self {
        match self {
            Self::Packet(_) => Self::Packet(generation),
            Self::End(_) => Self::End(generation),
            Self::Meta(_) => Self::Meta(generation),
            other => other,
        }
    }
}

/// A value: `base + offset`, or 0 where it is nullable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Value {
    /// What it counts from.
    pub base: Base,
    /// How far it is from there, modulo 2^64; the number itself if the base is one.
    pub offset: Num,
    /// Whether it may be 0 instead.
    pub nullable: bool,
    /// Values with the same first part differ by their second parts only.
    pub(super) id: Option<(u32, i64)>,
}

impl Value {
    /// Nothing is known.
    pub fn unknown() -> Self {
        Self::number(Num::unknown())
    }

    /// A plain number.
    pub fn number(offset: Num) -> Self {
        Self { base: Base::Number, offset, nullable: false, id: None }
    }

    /// A known number.
    pub fn constant(x: u64) -> Self {
        Self::number(Num::constant(x))
    }

    /// The address a base stands for.
    pub fn pointer(base: Base) -> Self {
        Self { base, offset: Num::constant(0), nullable: false, id: None }
    }

    /// The same, or 0.
    pub fn or_null(self) -> Self {
        Self { nullable: true, ..self }
    }

    /// The number, if it is a known one.
    pub fn as_constant(&self) -> Option<u64> {
        if self.base == Base::Number && !self.nullable { self.offset.as_constant() } else { None }
    }

    /// The value as a number.
    pub fn as_number(&self) -> Num {
        if self.base == Base::Number {
            return self.offset;
        }
        let (low, high) = self.base.addresses();
        let base = Num::unsigned(low.into(), high.into());
        let sum = Op::Add.apply(64, base, self.offset);
        if self.nullable { sum.join(Num::constant(0)) } else { sum }
    }

    /// Whether it fits in 32 bits: then 32-bit moves keep it.
    pub fn fits_32(&self) -> bool {
        self.as_number().whole.umax <= u64::from(u32::MAX)
    }

    /// Plus a constant.
    pub fn plus(&self, k: i64) -> Self {
        if k == 0 {
            return *self;
        }
        if self.nullable {
            return Self::number(Op::Add.apply(64, self.as_number(), Num::constant(k as u64)));
        }
        let offset = Op::Add.apply(64, self.offset, Num::constant(k as u64));
        Self { offset, id: self.id.map(|(id, d)| (id, d.wrapping_add(k))), ..*self }
    }

    /// The address of an access at this address plus `k` that does not fault: never near 0.
    pub(super) fn accessed(&self, k: i64) -> Self {
        Self { nullable: false, ..*self }.plus(k)
    }

    /// A 64-bit operation.
    pub fn apply(&self, op: Op, o: &Self) -> Self {
        let pointers = (self.base != Base::Number || self.nullable, o.base != Base::Number || o.nullable);
        match (op, pointers) {
            (Op::Add, (_, false)) if o.offset.as_constant().is_some() => {
                self.plus(o.offset.as_constant().unwrap_or(0) as i64)
            }
            (Op::Sub, (_, false)) if o.offset.as_constant().is_some() => {
                self.plus((o.offset.as_constant().unwrap_or(0) as i64).wrapping_neg())
            }
            (Op::Add | Op::Sub, (true, false)) if !self.nullable => {
                Self { offset: op.apply(64, self.offset, o.offset), id: None, ..*self }
            }
            (Op::Add, (false, true)) => o.apply(op, self),
            (Op::Sub, (true, true)) if !self.nullable && !o.nullable => self.difference(o),
            _ => Self::number(op.apply(64, self.as_number(), o.as_number())),
        }
    }

    fn difference(&self, o: &Self) -> Self {
        let offsets = Op::Sub.apply(64, self.offset, o.offset);
        if self.base == o.base && self.base.is_one_address() {
            return Self::number(offsets);
        }
        let ordered = match (self.base, o.base) {
            // The frame's end is not before its start, and its start not before the metadata.
            (Base::End(a), Base::Packet(b) | Base::Meta(b)) | (Base::Packet(a), Base::Meta(b)) => a == b,
            _ => false,
        };
        if ordered {
            let length = Num::unsigned(0, MAX_BUFFER.into());
            return Self::number(Op::Add.apply(64, length, offsets));
        }
        Self::number(Op::Sub.apply(64, self.as_number(), o.as_number()))
    }

    /// Everything that either may be.
    pub fn join(&self, o: &Self) -> Self {
        let id = self.id.filter(|_| self.id == o.id);
        let nullable = self.nullable || o.nullable;
        if self.base == o.base {
            return Self { base: self.base, offset: self.offset.join(o.offset), nullable, id };
        }
        if let Some(base) = self.base.join(o.base) {
            return Self { base, offset: self.offset.join(o.offset), nullable, id };
        }
        for (null, pointer) in [(self, o), (o, self)] {
            if null.as_constant() == Some(0) && pointer.base != Base::Number {
                return Self { nullable: true, id, ..*pointer };
            }
        }
        Self { id, ..Self::number(self.as_number().join(o.as_number())) }
    }

    /// [`Value::join`] that ends after a bounded number of steps.
    pub(super) fn widen(&self, newer: &Self, thresholds: &[i64]) -> Self {
        let joined = self.join(newer);
        if joined.base == self.base {
            return Self { offset: self.offset.widen(joined.offset, thresholds), ..joined };
        }
        if joined.base == Base::Number && !thresholds.is_empty() {
            return joined;
        }
        if joined.base == Base::Number {
            return Self::number(self.as_number().widen(joined.offset, &[]));
        }
        Self { offset: self.offset.widen(joined.offset, thresholds), ..joined }
    }

    /// The low `bits` bits, zero above; the value itself if it is no longer than that.
    pub(super) fn truncate(&self, bits: u32) -> Self {
        let number = self.as_number();
        if number.whole.umax <= super::tnum::low(bits) { *self } else { Self::number(alu::truncate(bits, number)) }
    }

    /// Renames packet bounds: `None` makes the address a number.
    pub(super) fn rename(&mut self, from: Generation, to: Option<Generation>) {
        if self.base.packet_generation() == Some(from) {
            match to {
                Some(to) => self.base = self.base.with_generation(to),
                None => *self = Self { id: self.id, ..Self::number(self.as_number()) },
            }
        }
    }

    pub(super) fn has_generation(&self, generation: Generation) -> bool {
        self.base.packet_generation() == Some(generation)
    }

    /// Signed bounds of the offset.
    pub fn offsets(&self) -> (i64, i64) {
        (self.offset.whole.smin, self.offset.whole.smax)
    }

    /// The region that every access of `width` bytes here lies in, if there is one.
    pub fn region(&self, image: &Image, width: u32) -> Option<Region> {
        if let Some(bytes) = self.object_bytes(image)
            && !self.nullable
            && self.within(bytes, width)
        {
            return Some(match self.base {
                Base::Map(map) if map.all(image, is_read_only) => Region::ReadOnly,
                Base::Map(map) if map.all(image, |s| !is_read_only(s)) => Region::MapValue,
                Base::Map(_) => return None,
                Base::Stack(_) => Region::Stack,
                _ => Region::Record,
            });
        }
        let whole = self.as_number().whole;
        let (low, high) = (whole.umin, whole.umax.checked_add(width.max(1).into())? - 1);
        let (first, last) = (Region::of(low), Region::of(high));
        // Between two addresses of one region lie only addresses of it, but for the unmapped ones.
        (first == last && first != Region::Unmapped).then_some(first)
    }

    /// Bytes of what the base points at the start of (at the end of, for a stack frame), if that
    /// is known.
    fn object_bytes(&self, image: &Image) -> Option<(i64, i64)> {
        match self.base {
            Base::Map(map) => Some((0, map.value_bytes(image)?.into())),
            Base::Stack(_) => Some((-i64::from(address::STACK_BYTES), 0)),
            Base::Record(bytes) | Base::Key(bytes) => Some((0, bytes.into())),
            _ => None,
        }
    }

    fn within(&self, (from, to): (i64, i64), width: u32) -> bool {
        let (low, high) = self.offsets();
        from <= low && high.checked_add(width.into()).is_some_and(|end| end <= to)
    }

    /// Whether every access of `width` bytes here lies in the map value, frame or record.
    pub fn is_inside(&self, image: &Image, width: u32) -> bool {
        !self.nullable && self.object_bytes(image).is_some_and(|bytes| self.within(bytes, width))
    }

    /// Whether an access here could be one to the stack.
    pub(super) fn may_be_stack(&self, image: &Image, width: u32) -> bool {
        if matches!(self.base, Base::Map(_) | Base::Record(_)) && self.is_inside(image, width) {
            return false;
        }
        let whole = self.as_number().whole;
        let (first, last) = (u64::from(address::STACK), u64::from(address::MAP_VALUES) - 1);
        whole.umin <= last && whole.umax.saturating_add(width.into()) >= first
    }
}

/// Whether a map's values are in the region that programs only read.
pub(super) fn is_read_only(spec: &MapSpec) -> bool {
    use crate::MapType::{Devmap, DevmapHash};
    spec.flags & RDONLY_PROG != 0 || matches!(spec.kind, Devmap | DevmapHash)
}
