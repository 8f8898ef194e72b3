//! Maps for who has compiled accesses to them: where values lie in the host's memory, and how keys become slots.

use super::{MapSpace, MapSpec, Place, Store};
use crate::{MapId, MapType};

/// Where the values of a map lie. Good until [`MapSpace::stamp`] changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NativeMap {
    /// The first value in the host's memory; null where programs see no values.
    pub values: *mut u8,
    /// By page of 64 KiB, whether it was ever written; whoever writes a value sets it.
    pub touched: *mut bool,
    /// Bytes of the values.
    pub bytes: usize,
    /// What does not change while the map is there.
    pub shape: Shape,
}

/// What compiled code may take for granted of a map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Kind.
    pub kind: MapType,
    /// Bytes of a key.
    pub key_size: u32,
    /// Bytes of a value.
    pub value_size: u32,
    /// Most entries.
    pub max_entries: u32,
    /// Flags of its creation.
    pub flags: u32,
    /// Address of slot 0; 0 without values.
    pub first: u32,
    /// The stride of slots is `1 << shift`.
    pub shift: u32,
    /// Slots of one processor's values; those of the next lie behind.
    pub slots: u32,
    /// Whether the key is the slot.
    pub indexed: bool,
}

impl Shape {
    /// Whether a declaration says the same: what was found out from it then holds of the map.
    pub fn is_of(&self, spec: &MapSpec) -> bool {
        (self.kind, self.key_size, self.value_size, self.max_entries, self.flags)
            == (spec.kind, spec.key_size, spec.value_size, spec.max_entries, spec.flags)
    }
}

impl MapSpace {
    /// A number that no other space has had, and this one not before its last map came or went: as long as it is the
    /// same, so is what [`MapSpace::native`] says.
    pub fn stamp(&self) -> u64 {
        self.stamp
    }

    /// What does not change of a map while it is there.
    pub fn shape(&self, map: MapId) -> Option<Shape> {
        let m = self.get(map)?;
        let Place { first, shift } = m.place;
        Some(Shape {
            kind: m.spec.kind,
            key_size: m.spec.key_size,
            value_size: m.spec.value_size,
            max_entries: m.spec.max_entries,
            flags: m.spec.flags,
            first,
            shift,
            slots: m.slots,
            indexed: matches!(m.store, Store::Array) && m.spec.kind != MapType::Devmap,
        })
    }

    /// Where a map's values lie.
    pub fn native(&mut self, map: MapId) -> Option<NativeMap> {
        let shape = self.shape(map)?;
        let (values, touched, bytes) = match self.pages.native(map.0).filter(|_| shape.first != 0) {
            Some((values, touched)) => (values.as_mut_ptr(), touched.as_mut_ptr(), values.len()),
            None => (std::ptr::null_mut(), std::ptr::null_mut(), 0),
        };
        Some(NativeMap { values, touched, bytes, shape })
    }
}
