//! Maps declared by a `struct bpf_map_def` (or iproute2's `struct bpf_elf_map`) in `maps`.
//!
//! The struct grew over the years; its size tells which one it is. All begin with type, key size,
//! value size, max_entries.
//!
//! | bytes | then |
//! | --- | --- |
//! | 16 | nothing |
//! | 20 | flags (libbpf) |
//! | 24 | flags, index of the inner map (kernel samples); for maps that hold no maps: pinning |
//! | 28 | flags, index of the inner map, NUMA node (kernel samples); or flags, id, pinning (iproute2) |
//! | 36 | flags, id, pinning, inner id, index in the outer map (iproute2) |
//! | more | as 24, then a namespace for pinning |
//!
//! With 28 bytes a map of maps is read the first way, any other the second, unless its flags say
//! that a NUMA node is given.

use super::elf::Elf;
use super::error::{LoadError, malformed};
use super::maps::{Declared, LEGACY_MAPS, check_count, map_type, symbols_of};
use crate::image::{Initial, MapSpec, map_flags};

/// What a declaration says beside the map itself.
#[derive(Clone, Copy, Default)]
struct Links {
    /// Position of the inner map in the section.
    inner_at: Option<u32>,
    /// A value of `pinning` beyond those of iproute2.
    odd_pinning: Option<u32>,
    /// iproute2: this map's id.
    id: u32,
    /// iproute2: id of the inner map.
    inner_id: u32,
    /// iproute2: index at which this map stands in those that hold it.
    index: u32,
}

/// Reads `maps`; the first one will be declaration number `base` of the object.
pub(super) fn read(elf: &Elf<'_>, base: usize) -> Result<Vec<Declared>, LoadError> {
    let Some((section, content)) = elf.section(LEGACY_MAPS).filter(|(_, s)| s.size != 0) else {
        return Ok(Vec::new());
    };
    let symbols = symbols_of(elf, section);
    if symbols.is_empty() {
        return Err(malformed("section `maps`", "no symbols", "one for each map"));
    }
    check_count(LEGACY_MAPS, symbols.len())?;
    let (mut found, mut links) = (Vec::new(), Vec::new());
    for (at, symbol) in symbols.iter().enumerate() {
        let symbol = &elf.symbols[*symbol];
        let end = symbols.get(at + 1).map_or(content.data.len() as u64, |s| elf.symbols[*s].value);
        let end = if symbol.size != 0 { symbol.value.saturating_add(symbol.size) } else { end };
        let range = symbol.value as usize..end as usize;
        let Some(bytes) = content.data.get(range).filter(|b| !b.is_empty()) else {
            let found = format!("map `{}` at bytes {} to {end}", symbol.name, symbol.value);
            let expected = format!("maps in its {} bytes, each at its own", content.data.len());
            return Err(malformed("section `maps`", found, expected));
        };
        let (spec, link) = match declaration(symbol.name, bytes) {
            Ok((spec, link)) => (Ok(spec), link),
            Err(error) => (Err(error), Links::default()),
        };
        links.push(link);
        found.push(Declared {
            name: symbol.name.to_string(),
            section,
            offset: symbol.value,
            size: bytes.len() as u64,
            is_data: false,
            spec,
            odd_pinning: link.odd_pinning,
            id: link.id,
            index: 0,
        });
    }
    for outer in 0..found.len() {
        let Ok(spec) = &found[outer].spec else { continue };
        if spec.kind.holds_maps() {
            let linked = inner(&found, &links, outer, base);
            match (linked, &mut found[outer].spec) {
                (Ok((inner, initial)), Ok(spec)) => (spec.inner, spec.initial) = (inner, initial),
                (Err(error), spec) => *spec = Err(error),
                _ => {}
            }
        }
    }
    Ok(found)
}

fn declaration(name: &str, bytes: &[u8]) -> Result<(MapSpec, Links), LoadError> {
    let bad = |field, found: String, expected| LoadError::LegacyMap { map: name.to_string(), field, found, expected };
    let size = bytes.len();
    let known = matches!(size, 16 | 20 | 24 | 28 | 36) || size > 36 && size.is_multiple_of(4);
    if !known {
        return Err(bad("size", format!("{size} bytes"), "16, 20, 24, 28, 36 or more, in fours"));
    }
    let word = |n: usize| bytes.get(n * 4..n * 4 + 4).map_or(0, |w| u32::from_le_bytes([w[0], w[1], w[2], w[3]]));
    let kind = map_type(name, word(0))?;
    let mut spec = MapSpec::new(name, kind, 0, 0, 0);
    (spec.key_size, spec.value_size, spec.max_entries, spec.flags) = (word(1), word(2), word(3), word(4));
    crate::map::as_loaders_complete(&mut spec);
    let mut links = Links::default();
    let mut pinning = 0;
    match size {
        28 if !kind.holds_maps() && spec.flags & map_flags::NUMA_NODE == 0 => (links.id, pinning) = (word(5), word(6)),
        36 => {
            (links.id, pinning, links.inner_id, links.index) = (word(5), word(6), word(7), word(8));
        }
        _ if kind.holds_maps() && size >= 24 => links.inner_at = Some(word(5)),
        24 => pinning = word(5),
        size if size > 36 => pinning = word(5),
        _ => {}
    }
    // PIN_OBJECT_NS, PIN_GLOBAL_NS, PIN_CUSTOM_NS: wherever it is, it outlives the program.
    links.odd_pinning = (pinning > 3).then_some(pinning);
    spec.pinned = pinning != 0;
    Ok((spec, links))
}

/// What a map of maps holds.
#[allow(clippy::type_complexity)]
fn inner(
    all: &[Declared],
    links: &[Links],
    outer: usize,
    base: usize,
) -> Result<(Option<Box<MapSpec>>, Vec<(u32, Initial)>), LoadError> {
    let bad =
        |field, found: String, expected| LoadError::LegacyMap { map: all[outer].name.clone(), field, found, expected };
    let inside = |at: usize| -> Result<Box<MapSpec>, LoadError> {
        let held = all[at].spec.as_ref().map_err(Clone::clone)?;
        match held.kind.holds_maps() {
            true => Err(bad("inner map", format!("`{}`, a map of maps", held.name), "maps of maps nested once")),
            false => Ok(Box::new(MapSpec { initial: Vec::new(), pinned: false, ..held.clone() })),
        }
    };
    if let Some(at) = links[outer].inner_at {
        let given = at;
        let at = usize::try_from(at).ok().filter(|at| *at < all.len() && *at != outer);
        // 0 is also what stands there when user space brings the template.
        let fits = |at: usize| all[at].spec.as_ref().is_ok_and(|spec| !spec.kind.holds_maps());
        if given == 0 && !at.is_some_and(fits) {
            return Ok((None, Vec::new()));
        }
        let at = at.ok_or_else(|| bad("inner_map_idx", format!("{:?}", links[outer].inner_at), "another map"))?;
        return Ok((Some(inside(at)?), Vec::new()));
    }
    let wanted = links[outer].inner_id;
    if wanted == 0 {
        return Ok((None, Vec::new()));
    }
    let held: Vec<usize> = (0..all.len()).filter(|m| *m != outer && links[*m].id == wanted).collect();
    let first = held.first().ok_or_else(|| bad("inner_id", wanted.to_string(), "the id of another map"))?;
    let inner = inside(*first)?;
    let mut initial = std::collections::BTreeMap::new();
    for at in &held {
        inside(*at)?;
        initial.insert(links[*at].index, Initial::Map(base + *at));
    }
    Ok((Some(inner), initial.into_iter().collect()))
}
