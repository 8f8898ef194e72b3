//! The maps of a compiled program: what its code takes for granted of them, and where they lie now.

use crate::Unsupported;
use sluice_ebpf::map::native::Shape;
use sluice_ebpf::vm::Installed;
use sluice_ebpf::{Image, MapId, MapSpace, Runtime};
use std::cell::Cell;

/// Where a map's values lie. Code reads it by these offsets.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct Row {
    /// What is added to a value's device address.
    pub bias: u64,
    /// Marks of written pages.
    pub touched: u64,
}

/// A map that a program names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound {
    /// The map.
    pub id: MapId,
    /// What code takes for granted.
    pub shape: Shape,
}

/// The maps of an image in a runtime.
#[derive(Debug)]
pub struct Binding {
    maps: Vec<Bound>,
    /// One a map.
    rows: Box<[Cell<Row>]>,
    /// Of the space that the rows are right for.
    stamp: Cell<u64>,
}

impl Clone for Binding {
    fn clone(&self) -> Self {
        Self::new(self.maps.clone())
    }
}

/// The maps of an image, as they were made.
pub fn maps(runtime: &Runtime, image: &Image, installed: Installed) -> Result<Vec<Bound>, Unsupported> {
    let mut bound = Vec::new();
    for (index, spec) in image.maps.iter().enumerate() {
        let refused = || Unsupported::Map { map: spec.name.clone() };
        let id = runtime.map(installed, index).ok_or_else(refused)?;
        let shape = runtime.maps.shape(id).filter(|shape| shape.is_of(spec));
        bound.push(Bound { id, shape: shape.ok_or_else(refused)? });
    }
    Ok(bound)
}

impl Binding {
    /// Not yet right for any space.
    pub fn new(maps: Vec<Bound>) -> Self {
        Self { rows: maps.iter().map(|_| Cell::default()).collect(), maps, stamp: Cell::new(0) }
    }

    /// Makes the rows right for a space; false when its maps are none that the code is for.
    #[inline]
    pub fn ready(&self, maps: &mut MapSpace) -> bool {
        maps.stamp() == self.stamp.get() || self.bind(maps)
    }

    #[cold]
    fn bind(&self, maps: &mut MapSpace) -> bool {
        self.stamp.set(0);
        for (bound, row) in self.maps.iter().zip(&self.rows) {
            let Some(native) = maps.native(bound.id).filter(|native| native.shape == bound.shape) else { return false };
            let bias = (native.values as u64).wrapping_sub(native.shape.first.into());
            row.set(Row { bias, touched: native.touched as u64 });
        }
        self.stamp.set(maps.stamp());
        true
    }

    /// The rows, for code.
    pub fn rows(&self) -> *const Row {
        self.rows.as_ptr().cast()
    }
}
