//! Host operations on maps of both: at rest, with the same answer, and what the maps hold at the end.

use crate::device::RtlNic;
use crate::lockstep::follow::{Difference, Follower};
use crate::lockstep::{Comparison, Halt, Input};
use crate::xdp::host_maps::Placed;
use sluice_device::{Device, DeviceError, EngineCounts, Map, MapId, Maps, ProgramCounts, ProgramEvent};
use sluice_formats::xdp::codes::XdpMapKind;
use sluice_nic::Mismatch;
use sluice_object::XdpMap;
use std::collections::BTreeSet;

/// Routes that the engine's map has no room for.
const TOO_MUCH: &str = "E0806";

/// An operation, as the journal keeps it.
#[derive(Clone, Debug)]
pub(crate) enum MapOp {
    List,
    Lookup(MapId, Vec<u8>),
    Update(MapId, Vec<u8>, Vec<u8>, u64),
    Delete(MapId, Vec<u8>),
    NextKey(MapId, Option<Vec<u8>>),
    Pop(MapId),
    Elements(MapId),
    Routes(String),
}

/// What an operation answers.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum MapAnswer {
    List(Vec<Map>),
    Bytes(Option<Vec<u8>>),
    Elements(Vec<Vec<u8>>),
    Done,
}

impl MapOp {
    fn carry_out(&self, maps: &mut dyn Maps, module: u8) -> Result<MapAnswer, DeviceError> {
        let bytes = MapAnswer::Bytes;
        let done = |()| MapAnswer::Done;
        match self {
            Self::List => maps.list(module).map(MapAnswer::List),
            Self::Lookup(map, key) => maps.lookup(module, *map, key).map(Some).map(bytes),
            Self::Update(map, key, value, flags) => maps.update(module, *map, key, value, *flags).map(done),
            Self::Delete(map, key) => maps.delete(module, *map, key).map(done),
            Self::NextKey(map, key) => maps.next_key(module, *map, key.as_deref()).map(bytes),
            Self::Pop(map) => maps.pop(module, *map).map(Some).map(bytes),
            Self::Elements(map) => maps.elements(module, *map).map(MapAnswer::Elements),
            Self::Routes(text) => maps.set_routes(module, text).map(done),
        }
    }

    /// The operation as the model takes it, which has another number of processors than the engine: copies that it has alone are
    /// zeros. What has not a copy for each of the engine's is wrong on both, whatever its length.
    fn as_long_for(&self, rtl: &RtlNic, maps: &dyn Maps, module: u8) -> Self {
        let Self::Update(map, key, value, flags) = self else { return self.clone() };
        let mut value = value.clone();
        if let Ok(Some(placed)) = rtl.host().placed(module, *map)
            && placed.laid.shape.per_cpu
        {
            let copy = (placed.spec.value_size as usize).next_multiple_of(8);
            let right = value.len() == copy * rtl.host().contexts() as usize;
            value.resize(if right { copy * maps.cpus() as usize } else { 0 }, 0);
        }
        Self::Update(*map, key.clone(), value, *flags)
    }

    /// On both, which answer alike.
    pub fn on_both(&self, rtl: &mut RtlNic, follower: &mut Follower, module: u8) -> Result<MapAnswer, Halt> {
        let device = self.carry_out(rtl, module);
        // What the engine has not is not done at all: the model does not do it either.
        if let Err(
            error @ (DeviceError::Unavailable(_)
            | DeviceError::Timeout { .. }
            | DeviceError::Read { .. }
            | DeviceError::MapLacks { .. }
            | DeviceError::Routes { code: TOO_MUCH, .. }),
        ) = device
        {
            return Err(error.into());
        }
        follower.follow(rtl.take_tapped())?;
        let Some(maps) = follower.maps() else { return Ok(device?) };
        let model = self.as_long_for(rtl, maps, module).carry_out(maps, module);
        let alike = match (self, &model, &device) {
            (Self::Lookup(..), Ok(MapAnswer::Bytes(Some(model))), Ok(MapAnswer::Bytes(Some(device)))) => {
                common_copies(model, device)
            }
            _ => model == device,
        };
        // Maps by key have an order of their own in hardware; what they hold is compared at the end.
        if !alike && !matches!(self, Self::NextKey(..)) {
            let at = "host's operation on a map";
            let model = format!("module {module}, {self:?}: {model:?}");
            return Err(different(rtl, Mismatch { packet: None, at, model, device: format!("{device:?}") }));
        }
        Ok(device?)
    }
}

/// Whether values are alike in the copies that both have: model and engine have different numbers of processors.
fn common_copies(model: &[u8], device: &[u8]) -> bool {
    let bytes = model.len().min(device.len());
    model[..bytes] == device[..bytes]
}

fn different(rtl: &RtlNic, mismatch: Mismatch) -> Halt {
    Difference { tick: rtl.now(), mismatch }.into()
}

/// What programs told is what the model's told, whatever its order: packets end in the order of their flows only.
fn compare_events(rtl: &mut RtlNic, follower: &mut Follower) -> Result<(), Halt> {
    for module in rtl.host().modules() {
        let told = rtl.told(module)?;
        follower.told(module, &told, 1);
        follower.keep(module, told);
        follower.follow(rtl.take_tapped())?;
        let Some(model) = follower.maps() else { continue };
        let expected = model.take_events(module);
        follower.told(module, &expected, -1);
    }
    match follower.untold() {
        None => Ok(()),
        Some((model, device)) => Err(different(rtl, Mismatch { packet: None, at: "events", model, device })),
    }
}

/// Every value of every map that the device holds is the model's, and every event.
pub(crate) fn compare_all(rtl: &mut RtlNic, follower: &mut Follower) -> Result<(), Halt> {
    compare_events(rtl, follower)?;
    for module in rtl.host().modules() {
        let Ok(maps) = rtl.host().list(module) else { continue };
        for Map { id, declared } in maps {
            let Some(placed) = rtl.host().placed(module, id)? else { continue };
            if placed.laid.shape.kind.is_queue() {
                compare_elements(rtl, follower, module, (id, &declared))?;
                continue;
            }
            let by_key = placed.laid.shape.searched() || RtlNic::host_keeps(&placed);
            match by_key {
                true => compare_entries(rtl, follower, module, &placed, (id, &declared))?,
                false if placed.outside => compare_held(rtl, follower, module, (id, &declared))?,
                false => compare_values(rtl, follower, module, &placed, (id, &declared))?,
            }
        }
    }
    Ok(())
}

/// The elements of a queue or stack are the model's, in their order.
fn compare_elements(
    rtl: &mut RtlNic,
    follower: &mut Follower,
    module: u8,
    (id, declared): (MapId, &XdpMap),
) -> Result<(), Halt> {
    let found = rtl.elements(module, id);
    follower.follow(rtl.take_tapped())?;
    let Some(model) = follower.maps() else { return Ok(()) };
    let expected = model.elements(module, id);
    if found == expected {
        return Ok(());
    }
    let model = format!("module {module}, map `{}`: {expected:02x?}", declared.name);
    Err(different(rtl, Mismatch { packet: None, at: "elements of a map", model, device: format!("{found:02x?}") }))
}

/// Every value of a map by index is the model's. The device's are read in one piece: an operation of the map engine for each entry and copy
/// would take some hundred cycles.
fn compare_values(
    rtl: &mut RtlNic,
    follower: &mut Follower,
    module: u8,
    placed: &Placed,
    (id, declared): (MapId, &XdpMap),
) -> Result<(), Halt> {
    let shape = placed.laid.shape;
    let bytes = rtl.value_bytes(placed, 0, shape.all_values() as usize)?;
    follower.follow(rtl.take_tapped())?;
    let Some(model) = follower.maps() else { return Ok(()) };
    let size = declared.value_size as usize;
    let value = |copy: u32, index: u32| {
        let at = ((copy * shape.slots() + index) as usize) << placed.laid.shift;
        let padding = if shape.per_cpu { size.next_multiple_of(8) - size } else { 0 };
        [&bytes[at..at + size], &vec![0; padding]].concat()
    };
    for index in 0..shape.entries {
        let found: Vec<u8> = (0..shape.copies()).flat_map(|copy| value(copy, index)).collect();
        let expected = match model.lookup(module, id, &index.to_le_bytes()) {
            // The engine has zeros for an entry of a devmap that is not there.
            Err(DeviceError::Map { .. }) if shape.kind == XdpMapKind::Devices => vec![0; size],
            expected => expected?,
        };
        if !common_copies(&expected, &found) && placed.spec.spin_lock.is_none() {
            let model = format!("module {module}, map `{}`, entry {index}: {expected:02x?}", declared.name);
            let device = format!("{found:02x?}");
            return Err(different(rtl, Mismatch { packet: None, at: "map", model, device }));
        }
    }
    Ok(())
}

/// Every value of a map by index that is not zero in the model is the same in external memory, which no host reads in one piece.
fn compare_held(
    rtl: &mut RtlNic,
    follower: &mut Follower,
    module: u8,
    (id, declared): (MapId, &XdpMap),
) -> Result<(), Halt> {
    let Some(model) = follower.maps() else { return Ok(()) };
    let (mut held, mut key) = (Vec::new(), None);
    while let Some(next) = model.next_held_key(module, id, key.as_deref())? {
        let value = model.lookup(module, id, &next)?;
        if value.iter().any(|byte| *byte != 0) {
            held.push((next.clone(), value));
        }
        key = Some(next);
    }
    for (key, expected) in held {
        let found = rtl.lookup(module, id, &key)?;
        if !common_copies(&expected, &found) {
            let model = format!("module {module}, map `{}`, key {key:02x?}: {expected:02x?}", declared.name);
            return Err(different(rtl, Mismatch { packet: None, at: "map", model, device: format!("{found:02x?}") }));
        }
    }
    follower.follow(rtl.take_tapped())?;
    Ok(())
}

/// The entries of a map by key are the model's, whatever their order. To go through the chains of a large one takes the engine minutes: as many
/// entries as the model has, and each of the model's, are the same entries.
fn compare_entries(
    rtl: &mut RtlNic,
    follower: &mut Follower,
    module: u8,
    placed: &Placed,
    (id, declared): (MapId, &XdpMap),
) -> Result<(), Halt> {
    let keys = |maps: &mut dyn Maps| -> Result<BTreeSet<Vec<u8>>, DeviceError> {
        let (mut keys, mut key) = (BTreeSet::new(), None);
        while let Some(next) = maps.next_key(module, id, key.as_deref())? {
            key = Some(next.clone());
            keys.insert(next);
        }
        Ok(keys)
    };
    let counted = rtl.far_entries(module, placed)?;
    let found = if counted.is_none() { keys(rtl)? } else { BTreeSet::new() };
    follower.follow(rtl.take_tapped())?;
    let Some(model) = follower.maps() else { return Ok(()) };
    let expected = keys(model)?;
    let alike = counted.map_or(found == expected, |count| count as usize == expected.len());
    if placed.laid.shape.has_chains() && !alike {
        let device = counted.map_or(format!("{found:02x?}"), |count| format!("{count} entries"));
        let model = format!("module {module}, map `{}`: {expected:02x?}", declared.name);
        return Err(different(rtl, Mismatch { packet: None, at: "keys of a map", model, device }));
    }
    for key in expected {
        let found = rtl.lookup(module, id, &key);
        follower.follow(rtl.take_tapped())?;
        let Some(model) = follower.maps() else { return Ok(()) };
        let expected = model.lookup(module, id, &key);
        let alike = match (&expected, &found) {
            (Ok(expected), Ok(found)) => common_copies(expected, found),
            _ => expected == found,
        };
        if !alike {
            let model = format!("module {module}, map `{}`, key {key:02x?}: {expected:02x?}", declared.name);
            return Err(different(rtl, Mismatch { packet: None, at: "map", model, device: format!("{found:02x?}") }));
        }
    }
    Ok(())
}

impl Comparison {
    fn map(&mut self, module: u8, op: MapOp) -> Result<MapAnswer, DeviceError> {
        self.quiesce()?;
        self.input(Input::Map(module, op.clone()), |rtl, follower| op.on_both(rtl, follower, module))
    }

    fn map_bytes(&mut self, module: u8, op: MapOp) -> Result<Option<Vec<u8>>, DeviceError> {
        match self.map(module, op)? {
            MapAnswer::Bytes(bytes) => Ok(bytes),
            _ => Ok(None),
        }
    }
}

impl Maps for Comparison {
    /// Those of the RTL; the model has another number.
    fn cpus(&self) -> u32 {
        self.rtl().cpus()
    }

    fn list(&mut self, module: u8) -> Result<Vec<Map>, DeviceError> {
        match self.map(module, MapOp::List)? {
            MapAnswer::List(maps) => Ok(maps),
            _ => Ok(Vec::new()),
        }
    }

    fn lookup(&mut self, module: u8, map: MapId, key: &[u8]) -> Result<Vec<u8>, DeviceError> {
        Ok(self.map_bytes(module, MapOp::Lookup(map, key.to_vec()))?.unwrap_or_default())
    }

    fn update(&mut self, module: u8, map: MapId, key: &[u8], value: &[u8], flags: u64) -> Result<(), DeviceError> {
        self.map(module, MapOp::Update(map, key.to_vec(), value.to_vec(), flags)).map(drop)
    }

    fn delete(&mut self, module: u8, map: MapId, key: &[u8]) -> Result<(), DeviceError> {
        self.map(module, MapOp::Delete(map, key.to_vec())).map(drop)
    }

    fn pop(&mut self, module: u8, map: MapId) -> Result<Vec<u8>, DeviceError> {
        Ok(self.map_bytes(module, MapOp::Pop(map))?.unwrap_or_default())
    }

    fn elements(&mut self, module: u8, map: MapId) -> Result<Vec<Vec<u8>>, DeviceError> {
        match self.map(module, MapOp::Elements(map))? {
            MapAnswer::Elements(elements) => Ok(elements),
            _ => Ok(Vec::new()),
        }
    }

    fn next_key(&mut self, module: u8, map: MapId, key: Option<&[u8]>) -> Result<Option<Vec<u8>>, DeviceError> {
        self.map_bytes(module, MapOp::NextKey(map, key.map(<[u8]>::to_vec)))
    }

    fn order_behind(&mut self, module: u8, map: MapId, key: Option<&[u8]>) -> Result<Option<u64>, DeviceError> {
        self.rtl_mut().order_behind(module, map, key)
    }

    fn next_held_key(&mut self, module: u8, map: MapId, key: Option<&[u8]>) -> Result<Option<Vec<u8>>, DeviceError> {
        self.next_key(module, map, key)
    }

    fn set_routes(&mut self, module: u8, routes: &str) -> Result<(), DeviceError> {
        self.map(module, MapOp::Routes(routes.to_owned())).map(drop)
    }

    /// The device's. The model's are compared with them when both are at rest.
    fn take_events(&mut self, module: u8) -> Vec<ProgramEvent> {
        let told = self.rtl_mut().take_events(module);
        let mut all = self.follower_mut().take_kept(module);
        self.follower_mut().told(module, &told, 1);
        all.extend(told);
        all
    }

    /// The device's: the model has no cores.
    fn engine_counts(&mut self, module: u8) -> Result<Option<EngineCounts>, DeviceError> {
        self.rtl_mut().engine_counts(module)
    }

    /// The model's.
    fn counts(&mut self, module: u8) -> Result<ProgramCounts, DeviceError> {
        match self.follower_mut().maps() {
            Some(maps) => maps.counts(module),
            None => Err(DeviceError::NoProgram { module }),
        }
    }
}
