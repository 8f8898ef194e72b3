//! The binary form of an XDP part, in objects and in loads.

use super::{Xdp, XdpEntry, XdpInitial, XdpMap, XdpMemory, XdpProgram};
use crate::bytes::{Reader, Writer, wrong};
use crate::error::ObjectError;
use std::collections::BTreeMap;

const PINNED: u8 = 1;
const FROZEN: u8 = 2;
const HAS_LOCK: u8 = 4;
const HAS_CONTENTS: u8 = 8;
const HAS_INNER: u8 = 16;
const ON_CHIP: u8 = 32;
const OUTSIDE: u8 = 64;

pub(crate) fn write_xdp(w: &mut Writer, xdp: &Xdp) {
    w.u32(xdp.main);
    w.u32(xdp.programs.len() as u32);
    for program in &xdp.programs {
        w.name(&program.name);
        w.u32(program.slots.len() as u32);
        program.slots.iter().for_each(|slot| w.u64(*slot));
        w.u32(program.functions.len() as u32);
        for (name, start) in &program.functions {
            w.name(name);
            w.u32(*start);
        }
    }
    w.u32(xdp.maps.len() as u32);
    xdp.maps.iter().for_each(|map| write_map(w, map));
    w.u32(xdp.keep.len() as u32);
    xdp.keep.iter().for_each(|name| w.name(name));
    w.u32(xdp.entries.len() as u32);
    for entry in &xdp.entries {
        w.u32(entry.map);
        write_bytes(w, &entry.key);
        write_bytes(w, &entry.value);
    }
    w.u32(xdp.interfaces.len() as u32);
    for (interface, port) in &xdp.interfaces {
        w.u32(*interface);
        w.u8(*port);
    }
}

fn write_bytes(w: &mut Writer, bytes: &[u8]) {
    w.u32(bytes.len() as u32);
    w.put(bytes);
}

fn write_map(w: &mut Writer, map: &XdpMap) {
    w.name(&map.name);
    for n in [map.kind, map.key_size, map.value_size, map.max_entries, map.flags] {
        w.u32(n);
    }
    let bits = [
        (map.pinned, PINNED),
        (map.frozen, FROZEN),
        (map.spin_lock.is_some(), HAS_LOCK),
        (map.contents.is_some(), HAS_CONTENTS),
        (map.inner.is_some(), HAS_INNER),
        (map.place == Some(XdpMemory::Chip), ON_CHIP),
        (map.place == Some(XdpMemory::Outside), OUTSIDE),
    ];
    w.u8(bits.iter().filter(|(set, _)| *set).map(|(_, bit)| bit).sum());
    map.spin_lock.into_iter().for_each(|offset| w.u32(offset));
    map.contents.iter().for_each(|contents| write_bytes(w, contents));
    w.u32(map.initial.len() as u32);
    for (index, initial) in &map.initial {
        w.u32(*index);
        match initial {
            XdpInitial::Map(map) => {
                w.u8(0);
                w.u32(*map);
            }
            XdpInitial::Program(name) => {
                w.u8(1);
                w.name(name);
            }
        }
    }
    map.inner.iter().for_each(|inner| write_map(w, inner));
}

pub(crate) fn read_xdp(r: &mut Reader) -> Result<Xdp, ObjectError> {
    let main = r.u32("main program")?;
    let programs = many(r, 10, "programs", read_program)?;
    let maps = many(r, 26, "maps", |r| read_map(r, false))?;
    let keep = many(r, 1, "kept maps", |r| r.name("name of a kept map"))?;
    let entry = |r: &mut Reader| {
        Ok(XdpEntry { map: r.u32("map")?, key: read_bytes(r, "key")?, value: read_bytes(r, "value")? })
    };
    let entries = many(r, 12, "entries", entry)?;
    let mut interfaces = BTreeMap::new();
    for _ in 0..r.count(5, "interfaces")? {
        let at = r.at();
        let interface = r.u32("interface")?;
        if interfaces.last_key_value().is_some_and(|(last, _)| *last >= interface) {
            return Err(wrong(at, interface, "interfaces in rising order, each once"));
        }
        interfaces.insert(interface, r.u8("port")?);
    }
    Ok(Xdp { main, programs, maps, keep, entries, interfaces })
}

fn many<T>(
    r: &mut Reader,
    least: usize,
    what: &str,
    mut read: impl FnMut(&mut Reader) -> Result<T, ObjectError>,
) -> Result<Vec<T>, ObjectError> {
    (0..r.count(least, what)?).map(|_| read(r)).collect()
}

fn read_bytes(r: &mut Reader, what: &str) -> Result<Vec<u8>, ObjectError> {
    let n = r.count(1, what)?;
    r.take(n, what).map(<[u8]>::to_vec)
}

fn read_program(r: &mut Reader) -> Result<XdpProgram, ObjectError> {
    let name = r.name("name of a program")?;
    let slots = many(r, 8, "slots", |r| r.u64("slot"))?;
    let functions = many(r, 5, "functions", |r| Ok((r.name("name of a function")?, r.u32("first slot")?)))?;
    Ok(XdpProgram { name, slots, functions })
}

fn read_map(r: &mut Reader, inside: bool) -> Result<XdpMap, ObjectError> {
    let name = r.name("name of a map")?;
    let [kind, key_size, value_size, max_entries, flags] =
        [r.u32("type")?, r.u32("key size")?, r.u32("value size")?, r.u32("max entries")?, r.u32("flags")?];
    let at = r.at();
    let allowed = PINNED | FROZEN | HAS_LOCK | HAS_CONTENTS | if inside { 0 } else { HAS_INNER | ON_CHIP | OUTSIDE };
    let bits = r.u8("map bits")?;
    if bits & !allowed != 0 {
        return Err(wrong(at, format!("map bits {bits:#04x}"), format!("bits of {allowed:#04x}")));
    }
    let has = |bit: u8| bits & bit != 0;
    let place = match (has(ON_CHIP), has(OUTSIDE)) {
        (false, false) => None,
        (true, false) => Some(XdpMemory::Chip),
        (false, true) => Some(XdpMemory::Outside),
        (true, true) => return Err(wrong(at, "a map on the chip and outside", "one of both")),
    };
    let spin_lock = if has(HAS_LOCK) { Some(r.u32("offset of the spin lock")?) } else { None };
    let contents = if has(HAS_CONTENTS) { Some(read_bytes(r, "contents")?) } else { None };
    let initial = many(r, 6, "initial entries", |r| {
        let index = r.u32("index")?;
        let at = r.at();
        match r.u8("kind of an initial entry")? {
            0 => Ok((index, XdpInitial::Map(r.u32("map")?))),
            1 => Ok((index, XdpInitial::Program(r.name("name of a program")?))),
            kind => Err(wrong(at, format!("initial entry of kind {kind}"), "0 (map) or 1 (program)")),
        }
    })?;
    let inner = if has(HAS_INNER) { Some(Box::new(read_map(r, true)?)) } else { None };
    let (pinned, frozen) = (has(PINNED), has(FROZEN));
    let map = XdpMap { name, kind, key_size, value_size, max_entries, flags, pinned, ..XdpMap::default() };
    Ok(XdpMap { frozen, spin_lock, contents, initial, inner, place, ..map })
}
