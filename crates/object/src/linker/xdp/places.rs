//! In which memory maps lie: what may be said of it, and what the linker has chosen.

use super::XdpSpace;
use super::error::XdpError;
use super::values::stays;
use crate::linker::engine::At;
use crate::linker::{LinkError, Linker};
use crate::object::Object;
use crate::xdp::layout::{VALUE_PAGE_BYTES, shape};
use crate::xdp::{Xdp, XdpMemory};
use sluice_formats::Target;
use sluice_formats::target::NIC;
use sluice_formats::xdp::map::MapShape;
use sluice_formats::xdp::target::Target as Engine;

/// Where a map of a running program lies on an XDP engine in hardware.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MapPlace {
    /// Its values.
    pub values: XdpMemory,
    /// Bytes of these.
    pub bytes: u64,
    /// Its search rows, and how many; none of a map without keys.
    pub search: Option<(XdpMemory, u32)>,
}

impl Linker {
    /// Where the maps of a tenant's program lie, by name; none without an XDP engine in hardware.
    pub fn map_places(&self, id: u16) -> Result<Vec<(String, MapPlace)>, LinkError> {
        let (module, generation) = (self.tenant(id)?.module, self.generation(id)?);
        let xdp = &self.engines.xdp;
        let (Some(program), Some(hardware)) = (xdp.program(module, generation), &xdp.hardware) else {
            return Ok(Vec::new());
        };
        let name = |index: u32| program.maps.get(index as usize).map(|map| map.name.clone());
        let places = hardware.places(module, generation);
        Ok(places.into_iter().filter_map(|(index, place)| Some((name(index)?, place))).collect())
    }
}

impl XdpSpace {
    /// Refuses what no target of this name can do, with hardware or without.
    pub(super) fn check_places(&self, at: &At, object: &Object, xdp: &Xdp) -> Result<(), LinkError> {
        let engine = Engine::by_name(self.target.name);
        for (index, map) in (0..).zip(&xdp.maps) {
            let Some(place) = map.place else { continue };
            let wrong = match shape(map, engine) {
                None => Some((
                    "a map of a kind that lies in none of the engine's memories".to_owned(),
                    "nothing said".to_owned(),
                )),
                Some(shape) if place == XdpMemory::Outside => not_outside(xdp, index, &shape, engine),
                Some(shape) => not_on_chip(&shape, engine),
            };
            if let Some((found, allowed)) = wrong {
                let (tenant, object, map) = (at.tenant.spec.name.clone(), object.name.clone(), map.name.clone());
                return Err(XdpError::Place { tenant, object, map, place, found, allowed }.into());
            }
        }
        Ok(())
    }
}

/// Why a map cannot lie in external memory: found, allowed.
fn not_outside(xdp: &Xdp, index: u32, shape: &MapShape, engine: &Engine) -> Option<(String, String)> {
    if !engine.has_outside() {
        let has = |target: &&Target| Engine::by_name(target.name).has_outside();
        let others: Vec<&str> = NIC.iter().filter(has).map(|target| target.name).collect();
        let found = format!("target {}, which has no external memory", engine.name);
        return Some((found, format!("chip, or target {}", others.join(" or "))));
    }
    stays(xdp, index, shape).map(|what| (format!("{what}, which stays on the chip"), "chip".to_owned()))
}

/// Why a map cannot lie on the chip, even if nothing else did.
fn not_on_chip(shape: &MapShape, engine: &Engine) -> Option<(String, String)> {
    let (pages, all) = (shape.value_memory().div_ceil(VALUE_PAGE_BYTES), engine.values as u64 / VALUE_PAGE_BYTES);
    if pages > all {
        let found = format!("{pages} pages of 4 KiB of values");
        return Some((found, format!("at most {all} on target {}", engine.name)));
    }
    let (rows, all) = (shape.search_rows(false), engine.search as u32);
    (rows > all).then(|| (format!("{rows} rows of search memory"), format!("at most {all} on target {}", engine.name)))
}
