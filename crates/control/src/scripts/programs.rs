//! XDP statements: programs, maps, routes and events.

use super::ScriptFailure;
use super::plan::{beside, destination};
use sluice_device::{Device, DeviceError, Map, Maps, ProgramEvent};
use sluice_ebpf::errno::Errno;
use sluice_ebpf::helper::routes::{Routes, RoutesError};
use sluice_ebpf::map::file::explain_entry;
use sluice_ebpf::map::notation::{NotationError, Written, hex_item, items};
use sluice_ebpf::map::update_flags;
use sluice_ebpf::tenant;
use sluice_ebpf::{MapSpec, MapType};
use sluice_formats::Target;
use sluice_frontends::{self as frontends, Kind, Reading};
use sluice_object::xdp::XdpMap;
use sluice_object::{Destination, Object};
use sluice_packet::bounded;
use sluice_packet::script::{MapOnly, MapOperation, MapStatement, Xdp};
use std::collections::VecDeque;
use std::path::Path;

/// The tenant's object of an object file of clang, or one that was made of it before.
pub(super) fn object(script: &str, xdp: &Xdp, target: &Target) -> Result<Object, ScriptFailure> {
    if let Some((interface, port)) = xdp.interfaces.iter().find(|(_, port)| u32::from(*port) >= target.ports) {
        let allowed = format!("ports 0 to {}", target.ports - 1);
        return Err(ScriptFailure::value("interfaces", format!("{interface}:{port}"), allowed));
    }
    let given = xdp.interfaces.iter().copied().collect();
    if let Some((index, port, other)) = tenant::ambiguous_interface(&given, target.ports) {
        let allowed = "an index of its own, or one for both ports";
        return Err(ScriptFailure::value("interfaces", format!("{index}:{port}, which is port {other}'s"), allowed));
    }
    if let Some(pass) = xdp.pass.map(destination).filter(|pass| pass.number(target).is_none()) {
        let allowed = format!("port 0 to port {}, host 0 to host {}", target.ports - 1, target.hosts - 1);
        return Err(ScriptFailure::value("pass", pass, allowed));
    }
    let path = beside(script, &xdp.file);
    let read = read_file(&path)?;
    let mut reading = Reading::new(target, &xdp.tenant);
    if Kind::of(&path, &read) != Kind::Elf {
        if let Some(option) = made_for(xdp) {
            let allowed = "options only with an object file of clang: an object has its own";
            let found = format!("{option}= with the object {}", path.display());
            return Err(ScriptFailure::value("xdp", found, allowed));
        }
    } else {
        reading.xdp = tenant::Options {
            section: xdp.section.clone(),
            program: xdp.program.clone(),
            pass: xdp.pass.map_or(Destination::Host(0), destination),
            keep: xdp.keep.clone(),
            max_entries: xdp.max_entries.clone(),
            interfaces: xdp.interfaces.iter().copied().collect(),
            ..tenant::Options::default()
        };
    }
    let object = frontends::decode(&path, &read, &reading)?;
    if object.parts.xdp.is_none() {
        let found = match (&object.parts.rmt, &object.parts.l7) {
            (Some(_), _) => "a module of the rmt pipeline (`rmt` takes it)",
            (None, Some(_)) => "rules for dispatch (`rules` takes them)",
            (None, None) => "a table (`load` takes it)",
        };
        let found = format!("{}, {found}", xdp.file.display());
        return Err(ScriptFailure::value(
            "program",
            found,
            "an object file of clang's, or an object with an XDP program",
        ));
    }
    Ok(object)
}

/// An option that says how an object is made, and is given.
fn made_for(xdp: &Xdp) -> Option<&'static str> {
    let given = [
        ("section", xdp.section.is_some()),
        ("program", xdp.program.is_some()),
        ("pass", xdp.pass.is_some()),
        ("keep", !xdp.keep.is_empty()),
        ("max_entries", !xdp.max_entries.is_empty()),
        ("interfaces", !xdp.interfaces.is_empty()),
    ];
    given.iter().find(|(_, given)| *given).map(|(option, _)| *option)
}

pub(super) fn read_file(path: &Path) -> Result<Vec<u8>, ScriptFailure> {
    bounded::read(path, bounded::MOST_OBJECT).map_err(|e| ScriptFailure::Object {
        file: path.display().to_string(),
        what: e.to_string(),
        code: "E0305",
    })
}

/// Carries out a `map` statement on the maps of a module.
pub(super) fn map(device: &mut dyn Device, module: u8, given: &MapStatement) -> Result<(), ScriptFailure> {
    let host = device.maps()?;
    let maps = host.list(module)?;
    let Map { id, declared } = named(&maps, &given.map)?;
    let spec = &spec_of(declared)?;
    let by_name = |name: &str| maps.iter().find(|m| m.declared.name == name).map(|m| m.id.0);
    let key = items(&given.key).map_err(notation("key"))?;
    let size = |what: &str, found: usize, allowed: u32| {
        if found == allowed as usize {
            return Ok(());
        }
        let what = format!("{what} of map `{}`", given.map);
        Err(ScriptFailure::value(what, format!("{found} bytes"), format!("{allowed} bytes")))
    };
    size("key", key.len(), spec.key_size)?;
    let has_keys = spec.key_size > 0;
    let value_of = |text: &str| match Written::parse(text).map_err(notation("value"))? {
        Written::Map(name) if !spec.kind.holds_maps() => {
            let allowed = format!("bytes: `{}` is no map of maps", given.map);
            Err(ScriptFailure::value("value", format!("`map:{name}`"), allowed))
        }
        Written::Map(name) => by_name(&name).map(Value::Map).ok_or_else(|| no_map(&maps, &name)),
        written => {
            let is_expected = matches!(given.operation, MapOperation::Expect(_) | MapOperation::Pop(_));
            if is_expected && written.bytes().is_none() && !spec.kind.is_per_cpu() {
                let allowed = format!("the value itself: `{}` has one for all processors", given.map);
                return Err(ScriptFailure::value("value", format!("`{text}`"), allowed));
            }
            size("value", written.len(), spec.value_size)?;
            Ok(Value::Items(written))
        }
    };
    let operation = match &given.operation {
        MapOperation::Delete => "delete",
        MapOperation::Set { .. } if has_keys => "set",
        MapOperation::Set { .. } => "push",
        MapOperation::Expect(_) if has_keys => "expect",
        MapOperation::Expect(_) => "peek",
        MapOperation::Pop(_) => "pop",
    };
    let answered = |error| match error {
        DeviceError::Map { errno, .. } => {
            let operation = if has_keys { format!("{operation} {}", given.key) } else { operation.to_owned() };
            let why = explain_entry(spec, &key, Errno(errno));
            ScriptFailure::Map { map: given.map.clone(), operation, why }
        }
        other => other.into(),
    };
    match &given.operation {
        MapOperation::Delete => host.delete(module, *id, &key).map_err(answered),
        MapOperation::Set { value, only } => {
            let mut value = match value_of(value)? {
                Value::Map(id) => id.to_le_bytes().to_vec(),
                Value::Items(written) => written.bytes().map(<[u8]>::to_vec).ok_or_else(|| {
                    ScriptFailure::value("value", format!("`{value}`"), "bytes: a sum is only expected")
                })?,
            };
            if spec.kind.is_per_cpu() {
                value.resize(value.len().next_multiple_of(8), 0);
                value = value.repeat(host.cpus() as usize);
            }
            let flags = match only {
                MapOnly::Any => update_flags::ANY,
                MapOnly::NoExist => update_flags::NOEXIST,
                MapOnly::Exist => update_flags::EXIST,
            };
            host.update(module, *id, &key, &value, flags).map_err(answered)
        }
        MapOperation::Expect(expected) | MapOperation::Pop(expected) => {
            let wanted = expected.as_deref().map(value_of).transpose()?;
            let found = match &given.operation {
                MapOperation::Pop(_) => host.pop(module, *id),
                _ => host.lookup(module, *id, &key),
            };
            let found = match found {
                Ok(value) => Some(value),
                Err(DeviceError::Map { errno, .. }) if errno == Errno::NOENT.0 => None,
                Err(error) => return Err(answered(error)),
            };
            let entry = format!("`{}` {}", given.map, if has_keys { &given.key } else { operation });
            let nothing = if has_keys { "no entry" } else { "no element" };
            match (expected, found) {
                (None, None) => Ok(()),
                (Some(expected), None) => {
                    let (expected, found) = (format!("{entry} {expected}"), nothing.to_owned());
                    Err(ScriptFailure::Expectation { expected, found })
                }
                (None, Some(found)) => {
                    let (expected, found) = (format!("{nothing} {entry}"), shown(&found));
                    Err(ScriptFailure::Expectation { expected, found })
                }
                (Some(expected), Some(found)) => {
                    let matches = wanted.is_some_and(|wanted| match wanted {
                        Value::Map(id) => found == id.to_le_bytes(),
                        Value::Items(written) => written.matches(spec, &found),
                    });
                    if matches {
                        return Ok(());
                    }
                    let (expected, found) = (format!("{entry} {expected}"), shown(&found));
                    Err(ScriptFailure::Expectation { expected, found })
                }
            }
        }
    }
}

/// A value of a `map` statement that this map can have.
enum Value {
    /// Bytes and sums.
    Items(Written),
    /// ID of an inner map.
    Map(u32),
}

/// That the running program has every map whose entries are to go on.
pub(super) fn check_kept(host: &mut dyn Maps, module: u8, first: bool, keep: &[String]) -> Result<(), ScriptFailure> {
    let maps = if first { Vec::new() } else { host.list(module)? };
    if maps.is_empty() {
        let found = "keep= without an XDP program before";
        return Err(ScriptFailure::value("xdp", found, "keep= with a program in place of another"));
    }
    let missing = keep.iter().find(|name| maps.iter().all(|m| m.declared.name != **name));
    missing.map_or(Ok(()), |name| Err(no_map(&maps, name)))
}

fn spec_of(declared: &XdpMap) -> Result<MapSpec, ScriptFailure> {
    tenant::map_spec(declared).map_err(|e| ScriptFailure::value("map", e, "kinds that Linux has"))
}

/// The map of this name.
fn named<'a>(maps: &'a [Map], name: &str) -> Result<&'a Map, ScriptFailure> {
    maps.iter().find(|m| m.declared.name == name).ok_or_else(|| no_map(maps, name))
}

fn no_map(maps: &[Map], name: &str) -> ScriptFailure {
    let names: Vec<&str> = maps.iter().map(|m| m.declared.name.as_str()).collect();
    ScriptFailure::value("map", format!("`{name}`"), format!("maps of the program: {}", names.join(", ")))
}

fn notation(what: &'static str) -> impl FnOnce(NotationError) -> ScriptFailure {
    move |error| ScriptFailure::Notation { what, error }
}

/// A value in messages.
fn shown(bytes: &[u8]) -> String {
    const MOST: usize = 64;
    let more = if bytes.len() > MOST { format!("... ({} bytes)", bytes.len()) } else { String::new() };
    hex_item(&bytes[..bytes.len().min(MOST)]) + &more
}

/// That a program tells events by this map.
pub(super) fn check_tells(host: &mut dyn Maps, module: u8, map: &str) -> Result<(), ScriptFailure> {
    let maps = host.list(module)?;
    match spec_of(&named(&maps, map)?.declared)?.kind {
        MapType::PerfEventArray | MapType::Ringbuf => Ok(()),
        kind => Err(ScriptFailure::value("event", format!("`{map}`, {kind:?}"), "a perf event array or ring buffer")),
    }
}

/// Takes the next event of a map out of what a program told.
pub(super) fn event(waiting: &mut VecDeque<ProgramEvent>, map: &str, expected: &str) -> Result<(), ScriptFailure> {
    let wanted = items(expected).map_err(notation("event"))?;
    let of_map = |event: &ProgramEvent| match event {
        ProgramEvent::Perf { map: of, .. } | ProgramEvent::Ring { map: of, .. } => of == map,
        _ => false,
    };
    let expectation = |found: String| {
        let expected = format!("the next event of `{map}`: {expected}");
        ScriptFailure::Expectation { expected, found }
    };
    let Some(at) = waiting.iter().position(of_map) else { return Err(expectation("none".to_owned())) };
    match waiting.remove(at) {
        Some(ProgramEvent::Perf { data, .. } | ProgramEvent::Ring { data, .. }) if data != wanted => {
            Err(expectation(shown(&data)))
        }
        _ => Ok(()),
    }
}

/// Reads routes and neighbours.
pub(super) fn routes(script: &str, file: &Path) -> Result<String, ScriptFailure> {
    let path = beside(script, file);
    let text = String::from_utf8(read_file(&path)?).map_err(|e| ScriptFailure::Object {
        file: path.display().to_string(),
        what: format!("byte {} is no UTF-8 text", e.utf8_error().valid_up_to()),
        code: "E0305",
    })?;
    let wrong = |e: RoutesError| ScriptFailure::Routes {
        file: path.display().to_string(),
        what: e.to_string(),
        code: e.code(),
    };
    Routes::parse(&text).map_err(wrong)?;
    Ok(text)
}
