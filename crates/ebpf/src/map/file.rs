//! Map files: the entries a map begins with.
//!
//! Text: an entry a line, `KEY VALUE [any|noexist|exist]` in items, `#` begins a comment; of a queue or stack `VALUE [any|exist]`, the oldest element first. A value of a
//! per-CPU map is one for all CPUs, or one for each with `|` between them. Or JSON, as a dump gives it.
//! Entries are applied as they are read: of a file only one is in memory beside its text.

use super::notation::{self, Written, flag, hex_item, quoted};
use super::{MapId, MapSpace};
use crate::{Errno, MapSpec, MapType};
use serde::de::{DeserializeSeed, Deserializer, Error, SeqAccess, Visitor};
use std::fmt::{self, Write};

/// Largest file that is read.
pub const MOST_FILE_BYTES: u64 = 256 << 20;

/// A map file that is wrong, or an entry that the map refuses.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {what}")]
pub struct MapFileError {
    /// Line, from 1.
    pub line: usize,
    /// Column, from 1.
    pub column: usize,
    /// What was found and what is allowed.
    pub what: String,
}

impl MapFileError {
    /// Code for `sluice explain`.
    pub fn code(&self) -> &'static str {
        "E0437"
    }
}

/// What an error number means for an update of a map.
pub fn explain(errno: Errno) -> String {
    let why = match errno {
        Errno::PERM => "the map may not be written",
        Errno::NOENT => "there is no such entry",
        Errno::TOOBIG => "the map is full, or the index is not below max_entries",
        Errno::NOSPC => "the map is full",
        Errno::EXIST => "there is such an entry",
        Errno::NODEV => "there is no such CPU",
        Errno(9) => "there is no such map",
        Errno(75) => "a CPU queues at most 16384 packets",
        Errno::INVAL => "the map does not take this key, value or flag",
        Errno::NOTSUPP | Errno::OPNOTSUPP => "maps of this kind cannot do that",
        _ => return format!("refused: {}", std::io::Error::from_raw_os_error(errno.0)),
    };
    format!("{why} (error {})", errno.0)
}

/// The same for one entry: of an index that is too large with what was found and what is allowed.
pub fn explain_entry(spec: &MapSpec, key: &[u8], errno: Errno) -> String {
    let of_indices = matches!(
        spec.kind,
        MapType::Array
            | MapType::PercpuArray
            | MapType::Devmap
            | MapType::Cpumap
            | MapType::Xskmap
            | MapType::ProgArray
            | MapType::PerfEventArray
            | MapType::ArrayOfMaps
    );
    let index = key.try_into().ok().map(u32::from_le_bytes).filter(|_| of_indices);
    match (index.filter(|index| *index >= spec.max_entries), errno) {
        (Some(index), Errno::TOOBIG | Errno::INVAL) => {
            format!("index {index}, allowed: below {} (error {})", spec.max_entries, errno.0)
        }
        (_, Errno::INVAL) if above_key(spec, key).is_some() => {
            let (bits, most) = above_key(spec, key).unwrap_or_default();
            format!("prefix length {bits}, allowed: 0 to {most}, the bits of the key behind it (error {})", errno.0)
        }
        (_, Errno::TOOBIG | Errno::NOSPC) => {
            format!("the map is full: it has {} entries, its max_entries (error {})", spec.max_entries, errno.0)
        }
        (_, Errno::BADF) if spec.kind == MapType::ProgArray => {
            format!("the module has no program at this position (error {})", errno.0)
        }
        _ => explain(errno),
    }
}

/// Prefix length of an LPM key that is longer than the key, and the most it may be.
fn above_key(spec: &MapSpec, key: &[u8]) -> Option<(u32, u32)> {
    let bits = u32::from_le_bytes(*key.first_chunk()?);
    let most = (key.len() as u32 - 4) * 8;
    (spec.kind == MapType::LpmTrie && bits > most).then_some((bits, most))
}

/// In what a map differs from what the map of maps holds.
fn inner_difference(maps: &MapSpace, map: MapId, value: &[u8]) -> Option<String> {
    let template = maps.spec(map)?.inner.as_deref()?;
    let inner = maps.spec(MapId(u32::from_le_bytes(value.try_into().ok()?)))?;
    let (found, allowed) = unlike(inner, template)?;
    Some(format!("inner map `{}` is of kind {found}, allowed: {allowed}", inner.name))
}

/// What an inner map is and what it must be, where they differ.
pub(crate) fn unlike(inner: &MapSpec, template: &MapSpec) -> Option<(String, String)> {
    let words = |spec: &MapSpec| {
        let (kind, key, value, flags) = (spec.kind.name(), spec.key_size, spec.value_size, spec.flags);
        format!("{kind} with keys of {key} bytes, values of {value}, flags {flags:#x}, {} entries", spec.max_entries)
    };
    if super::attributes::may_stand_for(inner, template) {
        return None;
    }
    Some((words(inner), words(template)))
}

fn refusal(maps: &MapSpace, map: MapId, key: &[u8], value: &[u8], errno: Errno) -> String {
    let different = if errno == Errno::INVAL { inner_difference(maps, map, value) } else { None };
    if let Some(different) = different {
        return format!("{different} (error {})", errno.0);
    }
    maps.spec(map).map_or_else(|| explain(errno), |spec| explain_entry(spec, key, errno))
}

/// Applies a map file's entries; returns how many. `named` finds the map of `map:NAME`.
pub fn read(
    maps: &mut MapSpace,
    map: MapId,
    text: &str,
    named: &dyn Fn(&str) -> Option<MapId>,
) -> Result<u64, MapFileError> {
    if text.trim_start().starts_with(['[', '{']) {
        read_json(maps, map, text)
    } else {
        read_text(maps, map, text, named)
    }
}

fn read_text(
    maps: &mut MapSpace,
    map: MapId,
    text: &str,
    named: &dyn Fn(&str) -> Option<MapId>,
) -> Result<u64, MapFileError> {
    let mut count = 0;
    for (number, line) in text.lines().enumerate() {
        let entry = line.split('#').next().unwrap_or("");
        let mut words = entry.split_whitespace().map(|word| (column_of(line, word), word));
        let Some(key) = words.next() else { continue };
        let is_queue = maps.spec(map).is_some_and(|spec| spec.kind.is_queue());
        let at = |column, what: String| MapFileError { line: number + 1, column, what };
        // An element of a queue or stack has no key.
        let value = if is_queue { Some(key) } else { words.next() };
        let Some(value) = value else {
            return Err(at(entry.trim_end().chars().count() + 1, "found the line's end, allowed: a value".to_owned()));
        };
        let flags = match words.next() {
            None => 0,
            Some((column, word)) => flag(word).ok_or_else(|| {
                at(column, format!("found {}, allowed: any, noexist, exist or the line's end", quoted(word)))
            })?,
        };
        if let Some((column, word)) = words.next() {
            return Err(at(column, format!("found {}, allowed: the line's end", quoted(word))));
        }
        let (key_column, key) = key;
        let key = match is_queue {
            true => Vec::new(),
            false => notation::items(key).map_err(|e| at(key_column + e.column() - 1, item_text(&e)))?,
        };
        check_size(maps, map, "key", key.len()).map_err(|what| at(key_column, what))?;
        let (column, value) = value;
        let value = value_bytes(maps, map, value, named).map_err(|(offset, what)| at(column + offset, what))?;
        maps.user_update(map, &key, &value, flags)
            .map_err(|errno| at(key_column, refusal(maps, map, &key, &value, errno)))?;
        count += 1;
    }
    Ok(count)
}

/// Column of a word that is a piece of a line.
fn column_of(line: &str, word: &str) -> usize {
    let offset = word.as_ptr() as usize - line.as_ptr() as usize;
    line[..offset].chars().count() + 1
}

fn item_text(error: &notation::NotationError) -> String {
    match error {
        notation::NotationError::Item { found, allowed, .. } | notation::NotationError::Word { found, allowed, .. } => {
            format!("found {found}, allowed: {allowed}")
        }
    }
}

fn check_size(maps: &MapSpace, map: MapId, what: &str, found: usize) -> Result<(), String> {
    let spec = maps.spec(map).ok_or_else(|| explain(Errno(9)))?;
    let size = if what == "key" { spec.key_size } else { spec.value_size };
    if found == size as usize { Ok(()) } else { Err(format!("the {what} has {found} bytes, allowed: {size}")) }
}

/// A value for `user_update`; an error with its offset in the text.
fn value_bytes(
    maps: &MapSpace,
    map: MapId,
    text: &str,
    named: &dyn Fn(&str) -> Option<MapId>,
) -> Result<Vec<u8>, (usize, String)> {
    let spec = maps.spec(map).ok_or_else(|| (0, explain(Errno(9))))?;
    let copies: Vec<&str> = text.split('|').take(maps.cpus() as usize + 1).collect();
    if copies.len() > 1 && (!spec.kind.is_per_cpu() || copies.len() != maps.cpus() as usize) {
        let allowed = if spec.kind.is_per_cpu() { maps.cpus() } else { 1 };
        return Err((0, format!("found values of {} CPUs or more, allowed: 1 or {allowed}", copies.len())));
    }
    let (mut all, mut offset) = (Vec::new(), 0);
    for copy in &copies {
        let written = Written::parse(copy).map_err(|e| (offset + e.column() - 1, item_text(&e)))?;
        let bytes = match &written {
            Written::Map(name) if spec.kind.holds_maps() => {
                let inner = named(name)
                    .ok_or_else(|| (offset, format!("found {}, allowed: the name of a map", quoted(name))))?;
                inner.0.to_le_bytes().to_vec()
            }
            written => match written.bytes() {
                Some(bytes) => bytes.to_vec(),
                None => return Err((offset, format!("found {}, allowed: bytes", quoted(copy)))),
            },
        };
        check_size(maps, map, "value", bytes.len()).map_err(|what| (offset, what))?;
        offset += copy.chars().count() + 1;
        all.extend(&bytes);
        if copies.len() > 1 {
            all.resize(all.len().next_multiple_of(8), 0);
        }
    }
    Ok(if copies.len() > 1 { all } else { notation::per_cpu(spec, maps.cpus(), all) })
}

/// Writes a map's entries as text that [`read`] takes.
pub fn write(maps: &MapSpace, map: MapId) -> Result<String, Errno> {
    let spec = maps.spec(map).ok_or(Errno(9))?;
    let size = spec.value_size as usize;
    let mut text = String::new();
    maps.for_each::<Errno>(map, &mut |key, value| {
        let copies: Vec<String> = if spec.kind.is_per_cpu() {
            value.chunks(size.next_multiple_of(8)).map(|copy| hex_item(&copy[..size])).collect()
        } else {
            vec![hex_item(value)]
        };
        let key = if spec.kind.is_queue() { String::new() } else { hex_item(key) + " " };
        let _ = writeln!(text, "{key}{}", copies.join("|"));
        Ok(())
    })?;
    Ok(text)
}

fn read_json(maps: &mut MapSpace, map: MapId, text: &str) -> Result<u64, MapFileError> {
    let mut reader = serde_json::Deserializer::from_str(text);
    let count = Entries { maps, map }.deserialize(&mut reader).and_then(|count| reader.end().map(|()| count));
    count.map_err(|e| {
        let (line, column) = (e.line().max(1), e.column().max(1));
        let text = e.to_string();
        let what = text.rsplit_once(" at line ").map_or(&text[..], |(what, _)| what).to_owned();
        MapFileError { line, column, what }
    })
}

/// The array of a dump, applied entry by entry.
struct Entries<'a> {
    maps: &'a mut MapSpace,
    map: MapId,
}

#[derive(serde::Deserialize)]
struct Entry {
    key: Vec<Byte>,
    #[serde(default)]
    value: Option<Vec<Byte>>,
    #[serde(default)]
    values: Option<Vec<Copy>>,
    /// What bpftool adds where it has BTF; the bytes say the same.
    #[serde(default, rename = "formatted")]
    _formatted: serde::de::IgnoredAny,
}

#[derive(serde::Deserialize)]
struct Copy {
    cpu: u32,
    value: Vec<Byte>,
}

/// `"0x1f"`, `"31"` or 31.
struct Byte(u8);

impl<'de> serde::Deserialize<'de> for Byte {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl Visitor<'_> for Reader {
            type Value = Byte;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a byte such as \"0x1f\" or 31")
            }

            fn visit_u64<E: Error>(self, number: u64) -> Result<Byte, E> {
                u8::try_from(number).map(Byte).map_err(|_| E::custom(format!("found {number}, allowed: 0 to 255")))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Byte, E> {
                let number = match text.strip_prefix("0x") {
                    Some(hex) => u8::from_str_radix(hex, 16),
                    None => text.parse(),
                };
                let wrong = || E::custom(format!("found `{}`, allowed: \"0x00\" to \"0xff\"", text.escape_debug()));
                number.ok().filter(|_| !text.contains('+')).map(Byte).ok_or_else(wrong)
            }
        }
        deserializer.deserialize_any(Reader)
    }
}

impl<'de> DeserializeSeed<'de> for Entries<'_> {
    type Value = u64;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<u64, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Entries<'_> {
    type Value = u64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of entries")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut entries: A) -> Result<u64, A::Error> {
        let mut count = 0;
        while let Some(entry) = entries.next_element::<Entry>()? {
            apply(self.maps, self.map, entry).map_err(A::Error::custom)?;
            count += 1;
        }
        Ok(count)
    }
}

fn apply(maps: &mut MapSpace, map: MapId, entry: Entry) -> Result<(), String> {
    let plain = |bytes: Vec<Byte>| bytes.into_iter().map(|byte| byte.0).collect::<Vec<u8>>();
    let key = plain(entry.key);
    check_size(maps, map, "key", key.len())?;
    let spec = maps.spec(map).ok_or_else(|| explain(Errno(9)))?;
    let value = match (entry.value, entry.values) {
        (Some(one), None) => {
            let one = plain(one);
            check_size(maps, map, "value", one.len())?;
            notation::per_cpu(spec, maps.cpus(), one)
        }
        (None, Some(copies)) if spec.kind.is_per_cpu() => {
            let stride = (spec.value_size as usize).next_multiple_of(8);
            let mut all = vec![0; stride * maps.cpus() as usize];
            for copy in copies {
                let one = plain(copy.value);
                check_size(maps, map, "value", one.len())?;
                if copy.cpu >= maps.cpus() {
                    return Err(format!("found CPU {}, allowed: below {}", copy.cpu, maps.cpus()));
                }
                all[copy.cpu as usize * stride..][..one.len()].copy_from_slice(&one);
            }
            all
        }
        _ => {
            return Err(
                "found an entry with both or neither, allowed: `value`, or `values` of a per-CPU map".to_owned()
            );
        }
    };
    maps.user_update(map, &key, &value, 0).map_err(|errno| refusal(maps, map, &key, &value, errno))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::map::testing::{space, spec};

    fn none(_: &str) -> Option<MapId> {
        None
    }

    #[test]
    fn both_forms_give_the_map_back() {
        for kind in [MapType::Hash, MapType::PercpuHash] {
            let declared = spec(kind, 4, 6, 8);
            let (mut maps, map) = space(&declared);
            let value = if kind.is_per_cpu() { "u32:7,u16:1|hex:000000000000" } else { "u32:7,u16:1" };
            let text = format!("# counters\nip:10.0.0.1 {value} noexist # first\n\n  u32:5\tzero:6\n");
            assert_eq!(read(&mut maps, map, &text, &none), Ok(2));
            let (written, json) = (write(&maps, map).unwrap(), maps.json_dump(map).unwrap().to_string());
            assert_eq!(written.lines().count(), 2);
            for form in [&written, &json] {
                let (mut again, other) = space(&declared);
                assert_eq!(read(&mut again, other, form, &none), Ok(2));
                assert_eq!(write(&again, other).unwrap(), written);
            }
        }
    }

    #[test]
    fn what_is_wrong_is_shown_with_line_and_column() {
        let (mut maps, map) = space(&spec(MapType::Hash, 4, 2, 2));
        let mut message = |text: &str| read(&mut maps, map, text, &none).unwrap_err().to_string();
        assert!(message("\n u32:1 u16:1,u9:2").starts_with("line 2, column 14: found `u9:2`, allowed: u8:N"));
        assert_eq!(message("u16:1 u16:1"), "line 1, column 1: the key has 2 bytes, allowed: 4");
        assert_eq!(message("u32:1 u8:1"), "line 1, column 7: the value has 1 bytes, allowed: 2");
        assert_eq!(message("u32:1 # x"), "line 1, column 6: found the line's end, allowed: a value");
        assert_eq!(
            message("u32:1 u16:1 no"),
            "line 1, column 13: found `no`, allowed: any, noexist, exist or the line's end"
        );
        assert_eq!(message("u32:9 u16:1 exist"), "line 1, column 1: there is no such entry (error 2)");
        assert_eq!(message("u32:1 u16:1|u16:2"), "line 1, column 7: found values of 2 CPUs or more, allowed: 1 or 1");
        assert_eq!(message("u32:1 sum:1"), "line 1, column 7: found `sum:1`, allowed: bytes");
        let json = message("[{\"key\":[1,0,0,0],\n \"value\":[1,\"0x100\"]}]");
        assert_eq!(json, "line 2, column 19: found `0x100`, allowed: \"0x00\" to \"0xff\"");
        assert!(message("[{\"key\":[1,0,0,0]}]").contains("allowed: `value`"));
        assert!(message("[").starts_with("line 1, column 1: EOF"));
        assert!(message("[] x").starts_with("line 1, column 4: trailing"));
    }

    #[test]
    fn an_inner_map_of_another_kind_and_a_prefix_beyond_the_key_are_told_apart() {
        let template = spec(MapType::Array, 4, 8, 2);
        let outer = MapSpec { inner: Some(Box::new(template)), ..spec(MapType::HashOfMaps, 4, 4, 4) };
        let (mut maps, map) = space(&outer);
        let other = maps.create(&MapSpec { name: "other".to_owned(), ..spec(MapType::Hash, 4, 8, 2) }).unwrap();
        let named = |_: &str| Some(other);
        let message = read(&mut maps, map, "u32:1 map:other", &named).unwrap_err().to_string();
        let expected = "line 1, column 1: inner map `other` is of kind hash with keys of 4 bytes, values of 8, flags 0x0, 2 \
                        entries, allowed: array with keys of 4 bytes, values of 8, flags 0x0, 2 entries (error 22)";
        assert_eq!(message, expected);
        let (mut maps, map) = space(&spec(MapType::LpmTrie, 8, 4, 4));
        let message = read(&mut maps, map, "u32:33,ip:10.0.0.0 u32:1", &none).unwrap_err().to_string();
        let expected = "line 1, column 1: prefix length 33, allowed: 0 to 32, the bits of the key behind it (error 22)";
        assert_eq!(message, expected);
        assert_eq!(read(&mut maps, map, "u32:32,ip:10.0.0.0 u32:1", &none), Ok(1));
    }

    #[test]
    fn inner_maps_go_by_name() {
        let mut outer = spec(MapType::ArrayOfMaps, 4, 4, 2);
        outer.inner = Some(Box::new(spec(MapType::Array, 4, 8, 1)));
        let (mut maps, map) = space(&outer);
        let inner = maps.create(&spec(MapType::Array, 4, 8, 1)).unwrap();
        let named = |name: &str| (name == "table").then_some(inner);
        assert_eq!(read(&mut maps, map, "u32:1 map:table", &named), Ok(1));
        assert_eq!(maps.user_lookup(map, &[1, 0, 0, 0]), Ok(inner.0.to_le_bytes().to_vec()));
        assert!(read(&mut maps, map, "u32:1 map:other", &named).is_err());
    }
}
