//! Maps of a data plane with several workers: each tenant's are at its home; what programs tell and count is at every worker that runs them.

use super::KIND;
use super::all::All;
use sluice_device::{DeviceError, Map, MapId, Maps, ProgramCounts, ProgramEvent, Resumed};

impl All {
    fn maps_at(&mut self, worker: usize) -> Result<&mut dyn Maps, DeviceError> {
        self.cores[worker].tables.engines_mut().maps().ok_or(DeviceError::NoMaps { device: KIND })
    }

    fn at_home(&mut self, module: u8) -> Result<&mut dyn Maps, DeviceError> {
        self.maps_at(self.home(module))
    }
}

impl Maps for All {
    fn cpus(&self) -> u32 {
        self.cpus
    }

    fn list(&mut self, module: u8) -> Result<Vec<Map>, DeviceError> {
        self.at_home(module)?.list(module)
    }

    fn lookup(&mut self, module: u8, map: MapId, key: &[u8]) -> Result<Vec<u8>, DeviceError> {
        self.at_home(module)?.lookup(module, map, key)
    }

    fn update(&mut self, module: u8, map: MapId, key: &[u8], value: &[u8], flags: u64) -> Result<(), DeviceError> {
        self.at_home(module)?.update(module, map, key, value, flags)
    }

    fn delete(&mut self, module: u8, map: MapId, key: &[u8]) -> Result<(), DeviceError> {
        self.at_home(module)?.delete(module, map, key)
    }

    fn pop(&mut self, module: u8, map: MapId) -> Result<Vec<u8>, DeviceError> {
        self.at_home(module)?.pop(module, map)
    }

    fn elements(&mut self, module: u8, map: MapId) -> Result<Vec<Vec<u8>>, DeviceError> {
        self.at_home(module)?.elements(module, map)
    }

    fn next_key(&mut self, module: u8, map: MapId, key: Option<&[u8]>) -> Result<Option<Vec<u8>>, DeviceError> {
        self.at_home(module)?.next_key(module, map, key)
    }

    fn order_behind(&mut self, module: u8, map: MapId, key: Option<&[u8]>) -> Result<Option<u64>, DeviceError> {
        self.at_home(module)?.order_behind(module, map, key)
    }

    fn resume(&mut self, module: u8, map: MapId, key: Option<&[u8]>, order: u64) -> Result<Resumed, DeviceError> {
        self.at_home(module)?.resume(module, map, key, order)
    }

    fn next_held_key(&mut self, module: u8, map: MapId, key: Option<&[u8]>) -> Result<Option<Vec<u8>>, DeviceError> {
        self.at_home(module)?.next_held_key(module, map, key)
    }

    fn set_routes(&mut self, module: u8, routes: &str) -> Result<(), DeviceError> {
        (0..self.cores.len()).try_for_each(|worker| self.maps_at(worker)?.set_routes(module, routes))
    }

    fn take_events(&mut self, module: u8) -> Vec<ProgramEvent> {
        let workers = 0..self.cores.len();
        workers.flat_map(|worker| self.maps_at(worker).map_or(Vec::new(), |maps| maps.take_events(module))).collect()
    }

    fn remarks(&mut self, module: u8) -> Vec<String> {
        self.at_home(module).map_or(Vec::new(), |maps| maps.remarks(module))
    }

    fn counts(&mut self, module: u8) -> Result<ProgramCounts, DeviceError> {
        let mut sum = ProgramCounts::default();
        for worker in 0..self.cores.len() {
            sum.join(&self.maps_at(worker)?.counts(module)?);
        }
        Ok(sum)
    }
}
