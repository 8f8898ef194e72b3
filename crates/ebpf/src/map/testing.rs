//! Declarations for this folder's tests.

use super::{MapId, MapSpace};
use crate::image::map_flags::NO_PREALLOC;
use crate::{MapSpec, MapType};

pub(super) fn spec(kind: MapType, key_size: u32, value_size: u32, max_entries: u32) -> MapSpec {
    MapSpec {
        flags: if kind == MapType::LpmTrie { NO_PREALLOC } else { 0 },
        ..MapSpec::new("test", kind, key_size, value_size, max_entries)
    }
}

/// One such map alone, for two CPUs.
pub(super) fn space(spec: &MapSpec) -> (MapSpace, MapId) {
    let mut maps = MapSpace::new(2);
    let map = maps.create(spec).expect("the declaration is right");
    (maps, map)
}
