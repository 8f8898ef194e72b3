//! Maps that a run has saved; changes are written back at once.

use super::access::Entry;
use super::{MapAccess, MapInfo};
use crate::failure::Failure;
use crate::files;
use sluice_ebpf::state::{self, State};
use sluice_ebpf::{Errno, MapId, MapSpace};
use std::path::{Path, PathBuf};

/// A state file.
pub struct Saved {
    path: PathBuf,
    space: MapSpace,
}

impl Saved {
    /// Reads it.
    pub fn open(path: &Path) -> Result<Self, Failure> {
        let bytes = files::read(path)?;
        let text = String::from_utf8_lossy(&bytes);
        let restored = State::from_json(&text).and_then(|state| state.restore());
        let failure = |e: state::StateError| Failure::input(e.code(), format!("{}: {e}", path.display()));
        Ok(Self { path: path.to_owned(), space: restored.map_err(failure)?.0 })
    }

    fn save(&self) -> Result<(), Failure> {
        files::write(&self.path, State::of(&self.space).to_json().as_bytes())
    }
}

impl MapAccess for Saved {
    fn list(&mut self) -> Result<Vec<MapInfo>, Failure> {
        let space = &self.space;
        let info = |id: MapId| Some(MapInfo { tenant: String::new(), id: id.0, spec: space.spec(id)?.clone() });
        Ok(space.ids().into_iter().filter_map(info).collect())
    }

    fn lookup(&mut self, map: &MapInfo, key: &[u8]) -> Result<Result<Vec<u8>, Errno>, Failure> {
        Ok(self.space.user_lookup(MapId(map.id), key))
    }

    fn update(&mut self, map: &MapInfo, key: &[u8], value: &[u8], flags: u64) -> Result<Result<(), Errno>, Failure> {
        let done = self.space.user_update(MapId(map.id), key, value, flags);
        if done.is_ok() {
            self.save()?;
        }
        Ok(done)
    }

    fn delete(&mut self, map: &MapInfo, key: &[u8]) -> Result<Result<(), Errno>, Failure> {
        let done = self.space.user_delete(MapId(map.id), key);
        if done.is_ok() {
            self.save()?;
        }
        Ok(done)
    }

    fn pop(&mut self, map: &MapInfo) -> Result<Result<Vec<u8>, Errno>, Failure> {
        let done = self.space.user_pop(MapId(map.id));
        if done.is_ok() {
            self.save()?;
        }
        Ok(done)
    }

    fn dump(&mut self, map: &MapInfo) -> Result<Vec<Entry>, Failure> {
        Ok(state::entries(&self.space, MapId(map.id)))
    }

    fn cpus(&mut self) -> Result<u32, Failure> {
        Ok(self.space.cpus())
    }
}
