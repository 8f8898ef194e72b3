//! The host's operations on maps of a simulated NIC, over its configuration ring while packets run.

use crate::device::RtlNic;
use crate::xdp::host_maps::Placed;
use sluice_device::{DeviceError, EngineCounts, Map, MapId, Maps, ProgramCounts, ProgramEvent};
use sluice_ebpf::Errno;
use sluice_ebpf::helper::routes::Routes;
use sluice_formats::{Node, Table};

fn failed(operation: &'static str, map: MapId) -> impl FnOnce(Errno) -> DeviceError {
    move |errno| DeviceError::Map { operation, map: map.0, errno: errno.0 }
}

impl RtlNic {
    /// The map, which the device holds.
    fn held(&self, module: u8, map: MapId, operation: &'static str) -> Result<Placed, DeviceError> {
        let errno = match self.host().list(module)?.iter().any(|known| known.id == map) {
            true => Errno::OPNOTSUPP,
            false => Errno::BADF,
        };
        self.host().placed(module, map)?.ok_or_else(|| failed(operation, map)(errno))
    }

    /// Bytes of a map's values in the device, with what lies between them.
    pub fn value_bytes(&mut self, map: &Placed, at: u64, bytes: usize) -> Result<Vec<u8>, DeviceError> {
        let (rows, within) = self.host().value_rows(map, at, bytes)?;
        let words = self.read_rows(Node::Xdp, Table::XdpValue, rows)?;
        let all: Vec<u8> = words.iter().flatten().flat_map(|word| word.to_le_bytes()).collect();
        Ok(all[within..within + bytes].to_vec())
    }
}

impl Maps for RtlNic {
    /// Contexts of the engine.
    fn cpus(&self) -> u32 {
        self.host().contexts()
    }

    fn list(&mut self, module: u8) -> Result<Vec<Map>, DeviceError> {
        self.host().list(module)
    }

    fn lookup(&mut self, module: u8, map: MapId, key: &[u8]) -> Result<Vec<u8>, DeviceError> {
        let held = self.held(module, map, "lookup")?;
        if (Self::engine_has(&held) || held.outside) && !Self::host_keeps(&held) {
            return self.engine_lookup(module, &held, key)?.map_err(failed("lookup", map));
        }
        let known = self.host_mut().shadow(module)?.user_lookup(map, key).map_err(failed("lookup", map))?;
        if Self::host_keeps(&held) {
            return Ok(known);
        }
        let index = key.first_chunk().map_or(0, |key| u32::from_le_bytes(*key));
        self.value_bytes(&held, u64::from(index) << held.laid.shift, held.spec.value_size as usize)
    }

    fn update(&mut self, module: u8, map: MapId, key: &[u8], value: &[u8], flags: u64) -> Result<(), DeviceError> {
        let held = self.held(module, map, "update")?;
        if Self::host_keeps(&held) {
            return self.kept_update(module, map, &held, (key, value, flags))?.map_err(failed("update", map));
        }
        self.engine_update(module, map, &held, (key, value, flags))?.map_err(failed("update", map))
    }

    fn delete(&mut self, module: u8, map: MapId, key: &[u8]) -> Result<(), DeviceError> {
        let held = self.held(module, map, "delete")?;
        if Self::host_keeps(&held) {
            return self.kept_delete(module, map, &held, key)?.map_err(failed("delete", map));
        }
        if Self::engine_has(&held) {
            return self.engine_delete(module, map, &held, key)?.map_err(failed("delete", map));
        }
        // No array gives an entry up: this only says so.
        self.host_mut().shadow(module)?.user_delete(map, key).map_err(failed("delete", map))
    }

    fn pop(&mut self, module: u8, map: MapId) -> Result<Vec<u8>, DeviceError> {
        let held = self.held(module, map, "pop")?;
        if held.laid.shape.kind.is_queue() {
            return self.engine_pop(module, &held)?.map_err(failed("pop", map));
        }
        // Other kinds have it not: this only says so.
        self.host_mut().shadow(module)?.user_pop(map).map_err(failed("pop", map))
    }

    fn elements(&mut self, module: u8, map: MapId) -> Result<Vec<Vec<u8>>, DeviceError> {
        let held = self.held(module, map, "elements")?;
        if held.laid.shape.kind.is_queue() {
            return self.engine_elements(module, &held)?.map_err(failed("elements", map));
        }
        self.host_mut().shadow(module)?.elements(map).map_err(failed("elements", map))
    }

    fn next_key(&mut self, module: u8, map: MapId, key: Option<&[u8]>) -> Result<Option<Vec<u8>>, DeviceError> {
        let held = self.held(module, map, "next key")?;
        if held.laid.shape.has_chains() && !Self::host_keeps(&held) {
            return self.engine_next(module, &held, key);
        }
        // Tries are the host's, and indices need no asking.
        self.host_mut().shadow(module)?.next_key(map, key).map_err(failed("next key", map))
    }

    fn order_behind(&mut self, module: u8, map: MapId, key: Option<&[u8]>) -> Result<Option<u64>, DeviceError> {
        let held = self.held(module, map, "next key")?;
        if held.laid.shape.has_chains() && !Self::host_keeps(&held) {
            // Chains never grow: entries keep their order.
            return Ok(match key {
                Some(key) => self.engine_lookup(module, &held, key)?.is_ok().then_some(0),
                None => Some(0),
            });
        }
        self.host_mut().shadow(module)?.order_behind(map, key).map_err(failed("next key", map))
    }

    /// All keys: the host does not know which values are zero.
    fn next_held_key(&mut self, module: u8, map: MapId, key: Option<&[u8]>) -> Result<Option<Vec<u8>>, DeviceError> {
        self.next_key(module, map, key)
    }

    fn set_routes(&mut self, module: u8, routes: &str) -> Result<(), DeviceError> {
        self.host_mut().shadow(module)?;
        let routes = Routes::parse(routes).map_err(|e| DeviceError::Routes { what: e.to_string(), code: e.code() })?;
        self.say_routes(module, routes)
    }

    /// After a failure of the device those that came before it; the next operation says what it was.
    fn take_events(&mut self, module: u8) -> Vec<ProgramEvent> {
        self.told(module).unwrap_or_default()
    }

    fn counts(&mut self, module: u8) -> Result<ProgramCounts, DeviceError> {
        self.host_mut().shadow(module)?;
        Err(DeviceError::Unavailable("instructions of programs are not counted in hardware".to_owned()))
    }

    fn engine_counts(&mut self, module: u8) -> Result<Option<EngineCounts>, DeviceError> {
        self.read_engine_counts(module).map(Some)
    }
}
