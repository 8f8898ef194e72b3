//! Where maps lie on an XDP engine in hardware, as people and programs read it.

use serde_json::{Value, json};
use sluice_object::XdpMemory;
use sluice_object::linker::MapPlace;

/// A list of objects.
pub fn value(maps: &[(String, MapPlace)]) -> Value {
    let one = |(name, place): &(String, MapPlace)| {
        let (memory, rows) = place.search.map_or((None, 0), |(memory, rows)| (Some(memory.name()), rows));
        json!({ "map": name, "values": place.values.name(), "bytes": place.bytes, "search": memory, "search_rows": rows })
    };
    maps.iter().map(one).collect()
}

/// A line for each map.
pub fn lines(maps: &[(String, MapPlace)]) -> Vec<String> {
    maps.iter().map(|(name, place)| format!("map {name}: {}", said(place))).collect()
}

/// Where it lies, in words.
pub fn said(place: &MapPlace) -> String {
    let at = |memory: XdpMemory| if memory == XdpMemory::Chip { "on the chip" } else { "outside" };
    match place.search {
        Some((memory, rows)) if memory == place.values => {
            format!("{}, {} bytes of values and {rows} search rows", at(memory), place.bytes)
        }
        Some((memory, rows)) => {
            format!("{} bytes of values {}, {rows} search rows {}", place.bytes, at(place.values), at(memory))
        }
        None => format!("{}, {} bytes of values", at(place.values), place.bytes),
    }
}
