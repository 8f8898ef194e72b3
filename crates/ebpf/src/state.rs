//! Maps with their entries as a JSON document: what a run leaves, and what `sluice map` works on.
//!
//! Keys and values are hexadecimal; those of per-CPU maps are the values of all CPUs, one after
//! the other, each rounded up to 8 bytes. A map of maps holds the `id` of maps of the document.
//! Entries of arrays that are zero are left out: they are there without being named.

use crate::map::file::explain_entry;
use crate::map::update_flags;
use crate::{MapId, MapSpace, MapSpec, MapType};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Version of the document.
pub const STATE_VERSION: u32 = 1;
/// Most processors of a document.
pub const MAX_CPUS: u32 = 256;

/// Maps of one tenant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct State {
    /// [`STATE_VERSION`].
    pub sluice_maps: u32,
    /// Values of each entry of a per-CPU map.
    pub cpus: u32,
    /// The maps, inner ones too.
    pub maps: Vec<MapState>,
}

/// One map.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MapState {
    /// Number that maps of maps hold; not the same from run to run.
    pub id: u32,
    /// Declaration. A frozen map has its bytes in `contents`.
    pub spec: MapSpec,
    /// Entries, in the map's order; zeros of arrays may be left out.
    pub entries: Vec<Entry>,
}

/// One entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// Hexadecimal.
    pub key: String,
    /// Hexadecimal.
    pub value: String,
}

/// A document that is no state.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("[E0491] {at}: found {found}, expected {allowed}")]
pub struct StateError {
    /// Where: `maps[2].entries[0].key`, or a line and column.
    pub at: String,
    /// What is there.
    pub found: String,
    /// What may be there.
    pub allowed: String,
}

impl StateError {
    /// Its page.
    pub fn code(&self) -> &'static str {
        "E0491"
    }

    fn new(at: impl Into<String>, found: impl Into<String>, allowed: impl Into<String>) -> Self {
        Self { at: at.into(), found: found.into(), allowed: allowed.into() }
    }
}

/// Maps that hold entries a user may list.
pub fn has_entries(kind: MapType) -> bool {
    !kind.takes_events()
}

/// Entries of a map that hold something: of an array those that are not zero.
pub fn held_entries(space: &MapSpace, map: MapId) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut held = Vec::new();
    // A map that user space may not read shows none.
    let _ = space.for_each_held::<crate::Errno>(map, &mut |key, value| {
        held.push((key.to_vec(), value.to_vec()));
        Ok(())
    });
    held
}

/// All keys of a map, in its order.
pub fn keys(space: &MapSpace, map: MapId) -> Vec<Vec<u8>> {
    let mut keys: Vec<Vec<u8>> = Vec::new();
    while let Ok(Some(key)) = space.next_key(map, keys.last().map(Vec::as_slice)) {
        keys.push(key);
    }
    keys
}

/// All entries of a map. Places of an array of references that hold nothing are left out.
pub fn entries(space: &MapSpace, map: MapId) -> Vec<(Vec<u8>, Vec<u8>)> {
    if let Ok(elements) = space.elements(map) {
        return elements.into_iter().map(|value| (Vec::new(), value)).collect();
    }
    let value = |key: Vec<u8>| Some((space.user_lookup(map, &key).ok()?, key));
    keys(space, map).into_iter().filter_map(value).map(|(value, key)| (key, value)).collect()
}

impl State {
    /// Every map of a tenant.
    pub fn of(space: &MapSpace) -> Self {
        let maps = space.ids().into_iter().filter_map(|id| {
            let mut spec = space.spec(id)?.clone();
            let mut entries = if has_entries(spec.kind) { held_entries(space, id) } else { Vec::new() };
            if spec.frozen {
                spec.contents = entries.pop().map(|(_, value)| value);
                entries.clear();
            }
            let entries = entries.into_iter().map(|(k, v)| Entry { key: to_hex(&k), value: to_hex(&v) }).collect();
            Some(MapState { id: id.0, spec, entries })
        });
        Self { sluice_maps: STATE_VERSION, cpus: space.cpus(), maps: maps.collect() }
    }

    /// Reads a document.
    pub fn from_json(text: &str) -> Result<Self, StateError> {
        let state: Self = serde_json::from_str(text).map_err(|e| {
            let at = format!("line {}, column {}", e.line(), e.column());
            // serde_json repeats the place behind what it found.
            let found = e.to_string();
            let found = found.split(" at line ").next().unwrap_or_default();
            let found = found.strip_prefix("expected value").map_or(found, |_| "no JSON");
            StateError::new(at, found, "maps that a run has saved")
        })?;
        if state.sluice_maps != STATE_VERSION {
            return Err(StateError::new("sluice_maps", state.sluice_maps.to_string(), STATE_VERSION.to_string()));
        }
        if !(1..=MAX_CPUS).contains(&state.cpus) {
            return Err(StateError::new("cpus", state.cpus.to_string(), format!("1 to {MAX_CPUS}")));
        }
        Ok(state)
    }

    /// The document as text.
    pub fn to_json(&self) -> String {
        // Strings, numbers and lists only: there is nothing that serde_json could refuse.
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }

    /// Makes the maps again, in the document's order.
    pub fn restore(&self) -> Result<(MapSpace, Vec<MapId>), StateError> {
        let mut space = MapSpace::new(self.cpus);
        let mut ids = Vec::new();
        let mut by_number = BTreeMap::new();
        for (i, map) in self.maps.iter().enumerate() {
            if map.spec.name.is_empty() {
                return Err(StateError::new(format!("maps[{i}].spec.name"), "nothing", "the name of a map"));
            }
            if self.maps[..i].iter().any(|before| before.spec.name == map.spec.name) {
                let found = format!("`{}` again", map.spec.name);
                return Err(StateError::new(format!("maps[{i}].spec.name"), found, "each name once"));
            }
            map.check(&format!("maps[{i}]"))?;
            let id = space
                .create(&map.spec)
                .map_err(|e| StateError::new(format!("maps[{i}].spec"), e.to_string(), "a map that can be made"))?;
            if by_number.insert(map.id, id).is_some() {
                return Err(StateError::new(format!("maps[{i}].id"), map.id.to_string(), "each number once"));
            }
            ids.push(id);
        }
        for (i, (map, &id)) in self.maps.iter().zip(&ids).enumerate() {
            let mut seen = BTreeSet::new();
            for (j, entry) in map.entries.iter().enumerate() {
                let at = format!("maps[{i}].entries[{j}]");
                let key = from_hex(&entry.key, &format!("{at}.key"))?;
                let mut value = from_hex(&entry.value, &format!("{at}.value"))?;
                let sizes = [
                    ("key", key.len(), map.spec.key_size as usize),
                    ("value", value.len(), map.spec.value_bytes(self.cpus)),
                ];
                if let Some((which, found, allowed)) = sizes.into_iter().find(|(_, found, allowed)| found != allowed) {
                    let (found, allowed) = (format!("{found} bytes"), format!("{allowed} bytes"));
                    return Err(StateError::new(format!("{at}.{which}"), found, allowed));
                }
                if !map.spec.kind.is_queue() && !seen.insert(key.clone()) {
                    return Err(StateError::new(format!("{at}.key"), format!("{} again", entry.key), "each key once"));
                }
                if map.spec.kind.holds_maps() {
                    let number = value.as_slice().try_into().ok().map(u32::from_le_bytes);
                    let inner = number.and_then(|n| by_number.get(&n));
                    let inner =
                        inner.ok_or_else(|| StateError::new(&at, &entry.value, "the id of a map, as 4 bytes"))?;
                    value = inner.0.to_le_bytes().to_vec();
                }
                space.user_update(id, &key, &value, update_flags::ANY).map_err(|e| {
                    StateError::new(&at, explain_entry(&map.spec, &key, e), "an entry that the map takes")
                })?;
            }
        }
        Ok((space, ids))
    }
}

impl MapState {
    /// What a map would be made with in silence, and not as it stands here.
    fn check(&self, at: &str) -> Result<(), StateError> {
        let (spec, entries) = (&self.spec, self.entries.len());
        if let Some(contents) = spec.contents.as_ref().filter(|bytes| bytes.len() != spec.value_size as usize) {
            let found = format!("{} bytes", contents.len());
            return Err(StateError::new(format!("{at}.spec.contents"), found, spec.value_size.to_string()));
        }
        if spec.inner.as_ref().is_some_and(|inner| inner.inner.is_some()) {
            let allowed = "none: an inner map holds no maps";
            return Err(StateError::new(format!("{at}.spec.inner.inner"), "a map", allowed));
        }
        // An LRU map would make room for the last ones.
        if entries > spec.max_entries as usize {
            let allowed = format!("at most {}, the map's max_entries", spec.max_entries);
            return Err(StateError::new(format!("{at}.entries"), format!("{entries} entries"), allowed));
        }
        Ok(())
    }
}

/// Bytes as hexadecimal digits.
pub fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

/// Bytes of pairs of hexadecimal digits; `at` says where they stand.
pub fn from_hex(text: &str, at: &str) -> Result<Vec<u8>, StateError> {
    let digits: Option<Vec<u8>> = text.chars().map(|c| c.to_digit(16).map(|d| d as u8)).collect();
    match digits {
        Some(digits) if digits.len().is_multiple_of(2) => {
            Ok(digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect())
        }
        _ => {
            Err(StateError::new(at, format!("`{}`", text.chars().take(40).collect::<String>()), "pairs of hex digits"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(name: &str, kind: MapType, key_size: u32, value_size: u32) -> MapSpec {
        MapSpec::new(name, kind, key_size, value_size, 4)
    }

    fn filled() -> MapSpace {
        let mut space = MapSpace::new(2);
        let hash = space.create(&spec("flows", MapType::Hash, 4, 8)).unwrap();
        let percpu = space.create(&spec("counts", MapType::PercpuArray, 4, 8)).unwrap();
        let inner = spec("inner", MapType::Array, 4, 4);
        let first = space.create(&inner).unwrap();
        let outer = MapSpec { inner: Some(Box::new(inner)), ..spec("outer", MapType::HashOfMaps, 4, 4) };
        let outer = space.create(&outer).unwrap();
        let rodata = MapSpec {
            frozen: true,
            max_entries: 1,
            contents: Some(vec![7; 6]),
            ..spec(".rodata", MapType::Array, 4, 6)
        };
        space.create(&rodata).unwrap();
        space.user_update(hash, &[1, 2, 3, 4], &[9; 8], 0).unwrap();
        space.user_update(percpu, &2u32.to_le_bytes(), &[5; 16], 0).unwrap();
        space.user_update(outer, &[0; 4], &first.0.to_le_bytes(), 0).unwrap();
        space
    }

    #[test]
    fn what_is_saved_is_restored() {
        let state = State::of(&filled());
        let again = State::from_json(&state.to_json()).unwrap();
        assert_eq!(again, state);
        let (space, ids) = again.restore().unwrap();
        assert_eq!(ids.len(), 5);
        assert_eq!(State::of(&space), state);
        assert_eq!(space.user_lookup(ids[0], &[1, 2, 3, 4]), Ok(vec![9; 8]));
        assert_eq!(space.user_lookup(ids[4], &[0; 4]), Ok(vec![7; 6]));
    }

    #[test]
    fn an_array_keeps_what_is_not_zero_and_a_full_document_still_loads() {
        let mut space = filled();
        let data = MapSpec { contents: Some(vec![7; 4]), max_entries: 1, ..spec(".data", MapType::Array, 4, 4) };
        let data = space.create(&data).unwrap();
        space.user_update(data, &[0; 4], &[0; 4], 0).unwrap();
        let state = State::of(&space);
        let counts = state.maps.iter().find(|map| map.spec.name == "counts").unwrap();
        assert_eq!(counts.entries.iter().map(|e| e.key.as_str()).collect::<Vec<_>>(), ["02000000"]);
        // What an earlier version has saved has all four.
        let mut full = state.clone();
        let entry = |key: u32| Entry {
            key: to_hex(&key.to_le_bytes()),
            value: if key == 2 { "05".repeat(16) } else { "00".repeat(16) },
        };
        full.maps[1].entries = (0..4).map(entry).collect();
        for document in [&state, &full] {
            let (restored, ids) = State::from_json(&document.to_json()).unwrap().restore().unwrap();
            assert_eq!(State::of(&restored), state);
            assert_eq!(restored.user_lookup(ids[5], &[0; 4]), Ok(vec![0; 4]), "not the object's contents");
        }
    }

    #[test]
    fn malformed_documents_are_told_with_their_place() {
        let state = State::of(&filled());
        let broken = |change: &dyn Fn(&mut State)| {
            let mut state = state.clone();
            change(&mut state);
            State::from_json(&state.to_json()).and_then(|s| s.restore()).map(drop).unwrap_err().to_string()
        };
        assert_eq!(broken(&|s| s.sluice_maps = 2), "[E0491] sluice_maps: found 2, expected 1");
        assert_eq!(broken(&|s| s.cpus = 0), "[E0491] cpus: found 0, expected 1 to 256");
        let odd = broken(&|s| s.maps[0].entries[0].key = "0g".into());
        assert_eq!(odd, "[E0491] maps[0].entries[0].key: found `0g`, expected pairs of hex digits");
        assert!(
            broken(&|s| s.maps[0].entries[0].key = "00".into())
                .contains("maps[0].entries[0].key: found 1 bytes, expected 4 bytes")
        );
        let short = broken(&|s| s.maps[0].spec.value_size = 4);
        assert_eq!(short, "[E0491] maps[0].entries[0].value: found 8 bytes, expected 4 bytes");
        let twice = broken(&|s| {
            let entry = s.maps[0].entries[0].clone();
            s.maps[0].entries.push(entry);
        });
        assert_eq!(twice, "[E0491] maps[0].entries[1].key: found 01020304 again, expected each key once");
        assert!(broken(&|s| s.maps[0].spec.name.clear()).contains("maps[0].spec.name: found nothing"));
        let index = broken(&|s| s.maps[1].entries[0].key = "09000000".into());
        assert!(index.contains("maps[1].entries[0]: found index 9, allowed: below 4"), "{index}");
        assert!(broken(&|s| s.maps[1].id = s.maps[0].id).contains("maps[1].id"));
        assert!(broken(&|s| s.maps[3].entries[0].value = "ffffffff".into()).contains("the id of a map"));
        assert!(State::from_json("{").unwrap_err().at.starts_with("line 1"));
        let same = broken(&|s| s.maps[1].spec.name = s.maps[0].spec.name.clone());
        assert_eq!(same, "[E0491] maps[1].spec.name: found `flows` again, expected each name once");
        let many = broken(&|s| {
            s.maps[0].spec.kind = MapType::LruHash;
            s.maps[0].spec.max_entries = 1;
            let other = Entry { key: "05060708".to_owned(), value: "09".repeat(8) };
            s.maps[0].entries.push(other);
        });
        assert_eq!(many, "[E0491] maps[0].entries: found 2 entries, expected at most 1, the map's max_entries");
        let contents = broken(&|s| s.maps[4].spec.contents = Some(vec![7; 5]));
        assert!(contents.contains("maps[4].spec.contents: found 5 bytes, expected 6"), "{contents}");
        let nested = broken(&|s| {
            let inner = s.maps[3].spec.inner.clone();
            s.maps[3].spec.inner.as_mut().unwrap().inner = inner;
        });
        assert!(nested.contains("maps[3].spec.inner.inner: found a map, expected none"), "{nested}");
        for within in ["\"name\": \"flows\",", "\"name\": \"inner\","] {
            let text = state.to_json().replacen(within, &format!("{within} \"colour\": 1,"), 1);
            let error = State::from_json(&text).unwrap_err().to_string();
            assert!(error.contains("unknown field `colour`"), "{error}");
        }
    }
}
