//! Maps whose values a program's code stores to other than by atomic operations.
//!
//! An atomic operation loses nothing that another one does at the same time; a load, a sum and a store do.

use crate::effect::{Effect, SHARED};
use crate::pass::Code;
use crate::{Op, Step};
use sluice_ebpf::address::Region;
use sluice_ebpf::analysis::{Base, MapRef, Regions};
use sluice_ebpf::helper::{self, Arg};
use std::collections::BTreeSet;

/// The maps, by their index in the image.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stored {
    maps: BTreeSet<u32>,
    /// Of a store it is not known where it goes.
    any: bool,
}

impl Stored {
    /// Every map, as of a program that nothing is known of.
    pub fn any() -> Self {
        Self { maps: BTreeSet::new(), any: true }
    }

    /// What code stores to.
    pub fn of(code: &Code) -> Self {
        let mut stored = Self::default();
        for step in code.traces.values().flat_map(|trace| &trace.steps) {
            stored.step(step, &code.regions);
        }
        stored
    }

    /// Whether a map is among them.
    pub fn has(&self, map: u32) -> bool {
        self.any || self.maps.contains(&map)
    }

    /// The maps of so many.
    pub fn of_maps(&self, maps: usize) -> BTreeSet<u32> {
        (0..maps as u32).filter(|map| self.has(*map)).collect()
    }

    /// Those of another program too.
    pub fn add(&mut self, other: &Self) {
        self.any |= other.any;
        self.maps.extend(&other.maps);
    }

    /// Whether another one has all of them.
    pub fn is_within(&self, other: &Self) -> bool {
        other.any || !self.any && self.maps.is_subset(&other.maps)
    }

    fn step(&mut self, step: &Step, regions: &Regions) {
        match step.op {
            Op::Store { .. } if Effect::of(step, regions).stores & SHARED != 0 => {
                let access = regions.slots.get(step.slot as usize).and_then(|at| at.access.as_deref());
                match access.filter(|_| regions.complete).map(|access| (access.region, access.map)) {
                    Some((Some(Region::Record | Region::ReadOnly), _)) => {}
                    Some((Some(Region::MapValue), Some(map))) => self.map(map),
                    _ => self.any = true,
                }
            }
            Op::Helper { id, .. } => self.helper(id, step.slot, regions),
            _ => {}
        }
    }

    /// Helpers that write memory which the program names, and the value of a map.
    fn helper(&mut self, id: i32, slot: u32, regions: &Regions) {
        let args = helper::find_any(id).map_or(&[][..], |helper| helper.args);
        let writes = |arg: &Arg| matches!(arg, Arg::Value | Arg::WriteValue | Arg::Write | Arg::WriteExact(_));
        if !args.iter().any(writes) {
            return;
        }
        let call = regions.slots.get(slot as usize).and_then(|at| at.call.as_ref()).filter(|_| regions.complete);
        let Some(call) = call else {
            self.any = true;
            return;
        };
        for (arg, value) in call.args.iter().filter(|(arg, _)| writes(arg)) {
            match (arg, value.base, call.map) {
                // It is read, and the map has it then.
                (Arg::Value, _, Some(map)) | (_, Base::Map(map), _) => self.map(map),
                (Arg::Value, _, None) => self.any = true,
                (_, Base::Stack(_) | Base::Packet(_) | Base::Meta(_) | Base::Record(_), _) => {}
                _ => self.any = true,
            }
        }
    }

    fn map(&mut self, map: MapRef) {
        for map in map.each() {
            match map {
                MapRef::Map(map) => {
                    self.maps.insert(map);
                }
                // Which map a map of maps holds is the host's matter.
                _ => self.any = true,
            }
        }
    }
}
