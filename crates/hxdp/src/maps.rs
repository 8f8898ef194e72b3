//! Maps of an image as the engine in hardware has them.

use crate::rows::MapPlace;
use sluice_ebpf::image::map_flags::RDONLY_PROG;
use sluice_ebpf::{MapSpec, MapType};
use sluice_formats::xdp::codes::XdpMapKind;
use sluice_formats::xdp::map::{MapPlacement, MapShape};

/// What an engine of so many contexts makes of a map; the error says what it has not.
pub fn shape(map: &MapSpec, contexts: u32) -> Result<MapShape, String> {
    let kind = match map.kind {
        MapType::Array | MapType::PercpuArray => XdpMapKind::Array,
        MapType::Hash | MapType::PercpuHash | MapType::LruHash | MapType::LruPercpuHash => XdpMapKind::Hash,
        MapType::LpmTrie => XdpMapKind::Trie,
        MapType::Devmap => XdpMapKind::Devices,
        MapType::DevmapHash => XdpMapKind::KeyedReferences,
        other => return Err(format!("maps of kind {}", other.name())),
    };
    if map.spin_lock.is_some() {
        return Err("spin locks".into());
    }
    let shape = MapShape {
        kind,
        per_cpu: map.kind.is_per_cpu(),
        lru: matches!(map.kind, MapType::LruHash | MapType::LruPercpuHash),
        constant: map.flags & RDONLY_PROG != 0,
        key_bytes: map.key_size,
        value_bytes: map.value_size,
        entries: map.max_entries,
        contexts,
    };
    shape.check().map_err(|e| e.to_string())?;
    Ok(shape)
}

/// What a program's rows need to know of a map.
pub fn place(number: u16, shape: &MapShape, placement: &MapPlacement) -> MapPlace {
    MapPlace {
        number,
        first: placement.first,
        shift: shape.shift(),
        array: shape.kind == XdpMapKind::Array && !shape.per_cpu,
        copies: if shape.per_cpu { shape.slots() } else { 0 },
    }
}
