//! From an image to the relocatable object that a NIC's linker places, and back on the device.

use crate::image::{Function, Initial};
use crate::load::LoadError;
use crate::map::file::{self, MapFileError};
use crate::map::{MapError, as_libbpf_creates};
use crate::validate::{Options as Checks, Refusal, validate_program};
use crate::{Image, Insn, MapId, MapSpace, MapSpec, MapType, Program};
use sluice_object::{
    Action, Destination, KeySpec, Object, ObjectError, Xdp, XdpEntry, XdpInitial, XdpMap, XdpMemory, XdpProgram,
};
use std::collections::BTreeMap;

/// Processors that a tenant's maps are made for: as many as a NIC has host queues, for a cpumap leads
/// to these. Its packets run on processor 0, one after the other.
pub const CPUS: u32 = 8;

/// What a tenant says beside its object file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Section of the program, where the file has several.
    pub section: Option<String>,
    /// Name of the program, where the file has several.
    pub program: Option<String>,
    /// Where `XDP_PASS` goes.
    pub pass: Destination,
    /// Maps kept over a replacement beside those that are pinned by name.
    pub keep: Vec<String>,
    /// Most entries of maps, by name.
    pub max_entries: Vec<(String, u32)>,
    /// Templates of maps of maps, by name: the map of maps, and the map that stands for what it holds.
    pub inner_maps: Vec<(String, String)>,
    /// Values of variables, by name.
    pub variables: Vec<(String, String)>,
    /// Port of an interface index, where it is not one less.
    pub interfaces: BTreeMap<u32, u8>,
    /// Entries that maps begin with, by name of the map, as the text of a map file.
    pub files: Vec<(String, String)>,
    /// Memories that maps lie in on an engine in hardware, by name of the map.
    pub places: Vec<(String, XdpMemory)>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            section: None,
            program: None,
            pass: Destination::Host(0),
            keep: Vec::new(),
            max_entries: Vec::new(),
            inner_maps: Vec::new(),
            variables: Vec::new(),
            interfaces: BTreeMap::new(),
            files: Vec::new(),
            places: Vec::new(),
        }
    }
}

/// Why an image does not become a tenant's object, or an object no image.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TenantError {
    /// A program, section or map that the file does not have, or too many to choose from.
    #[error("{what}: found {found}, allowed: {allowed}")]
    NoSuch {
        /// What was looked for.
        what: &'static str,
        /// Found.
        found: String,
        /// What the file has.
        allowed: String,
    },
    /// A program that can never run.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// A map that cannot be made.
    #[error(transparent)]
    Map(#[from] MapError),
    /// Entries that a map begins with.
    #[error("map `{map}`: {error}")]
    Entries {
        /// Which.
        map: String,
        /// Why not.
        error: MapFileError,
    },
    /// The file cannot be read.
    #[error(transparent)]
    Load(LoadError),
    /// The object itself.
    #[error(transparent)]
    Object(#[from] ObjectError),
}

impl TenantError {
    /// Code for `sluice explain`.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NoSuch { .. } => "E0471",
            Self::Refused(error) => error.code(),
            Self::Map(error) => error.code(),
            Self::Entries { error, .. } => error.code(),
            Self::Load(error) => error.code(),
            Self::Object(error) => error.code(),
        }
    }
}

/// Reads an object file and makes the tenant's object of it.
pub fn read(name: &str, elf: &[u8], options: &Options) -> Result<Object, TenantError> {
    object(name, &crate::load::load(elf).map_err(TenantError::Load)?, options)
}

/// The object of one program of an image, with the programs that it calls through program arrays.
///
/// Everything that can be refused without a NIC is refused here: the program is valid, and its
/// maps can be made.
pub fn object(name: &str, image: &Image, options: &Options) -> Result<Object, TenantError> {
    let main = main_program(image, options)?;
    let mut sized = image.clone();
    let names = || maps_of(image);
    for (map, max_entries) in &options.max_entries {
        if image.map(map).is_none() && !map.ends_with(".inner") {
            return Err(no_such("--max-entries (`map_sizes` in nic.toml)", map, names()));
        }
        sized.set_max_entries(map, *max_entries).map_err(TenantError::Load)?;
    }
    for (outer, template) in &options.inner_maps {
        sized.set_inner_map(outer, template).map_err(TenantError::Load)?;
    }
    for (name, value) in &options.variables {
        sized.set_variable(name, value).map_err(TenantError::Load)?;
    }
    if let Some(map) = options.keep.iter().find(|map| image.map(map).is_none()) {
        return Err(no_such("--keep-maps (`keep_maps` in nic.toml)", map, names()));
    }
    let is_asked = |map: &str| options.keep.iter().chain(options.files.iter().map(|(name, _)| name)).any(|n| n == map);
    let Image { programs, mut maps, .. } = sized.of_program(main, &is_asked);
    // As libbpf creates them, so that what is compared on a replacement is what was made.
    for spec in &mut maps {
        *spec = as_libbpf_creates(spec, CPUS);
    }
    let entries = first_entries(&maps, &options.files)?;
    for program in &programs {
        validate_program(program, &maps, Checks::default())?;
    }
    let mut object = Object::new(name, KeySpec::NONE, Action::to([options.pass]));
    object.parts.xdp = Some(Box::new(Xdp {
        main: 0,
        programs: programs.iter().map(plain_program).collect(),
        maps: maps.iter().map(plain_map).collect(),
        keep: options.keep.clone(),
        entries,
        interfaces: options.interfaces.clone(),
    }));
    place(&mut object, &options.places)?;
    object.check()?;
    Ok(object)
}

/// Says where maps of a program lie, by name.
pub fn place(object: &mut Object, places: &[(String, XdpMemory)]) -> Result<(), TenantError> {
    for (name, memory) in places {
        let maps = object.parts.xdp.as_deref_mut().map(|xdp| &mut xdp.maps[..]).unwrap_or_default();
        let Some(map) = maps.iter_mut().find(|map| map.name == *name) else {
            let names: Vec<&str> = maps.iter().map(|map| map.name.as_str()).collect();
            let all = if names.is_empty() { "none: the program has no maps".to_owned() } else { names.join(", ") };
            return Err(no_such("--place (`map_places` in nic.toml)", name, all));
        };
        map.place = Some(*memory);
    }
    Ok(())
}

/// An index that is given to one port and, because nothing else is said of it, is another port's too: index, and
/// both ports. A port that is not named has its number and one.
pub fn ambiguous_interface(interfaces: &BTreeMap<u32, u8>, ports: u32) -> Option<(u32, u8, u8)> {
    let named = |port: u8| interfaces.values().any(|named| *named == port);
    interfaces.iter().find_map(|(index, port)| {
        let other = u8::try_from(index.checked_sub(1)?).ok()?;
        (other != *port && u32::from(other) < ports && !named(other)).then_some((*index, *port, other))
    })
}

/// The object of a file that takes the place of a running program: packets pass to where that
/// passed them, interfaces have the same indices, and what the host gave the running program's maps
/// is given to those of the same name, kind and sizes that begin anew. Maps lie where it was said of those of the same name. Kept are the maps in `keep`,
/// and those that the running program was to keep, where there still are any of that name. `sizes` says how many entries maps of
/// the file have.
pub fn successor(
    name: &str,
    elf: &[u8],
    running: &Object,
    keep: &[String],
    sizes: &[(String, u32)],
) -> Result<Object, TenantError> {
    let mut options = Options { keep: keep.to_vec(), max_entries: sizes.to_vec(), ..Options::default() };
    if let Some(pass) = running.default.to.iter().next() {
        options.pass = pass;
    }
    let before = running.parts.xdp.as_deref();
    options.interfaces = before.map(|xdp| xdp.interfaces.clone()).unwrap_or_default();
    let mut object = read(name, elf, &options)?;
    if let (Some(before), Some(after)) = (before, object.parts.xdp.as_deref_mut()) {
        let place = |index: u32| {
            let old = before.maps.get(index as usize)?;
            let same = |new: &XdpMap| {
                new.name == old.name
                    && (new.kind, new.key_size, new.value_size) == (old.kind, old.key_size, old.value_size)
            };
            after.maps.iter().position(same).map(|new| new as u32)
        };
        let moved = |entry: &XdpEntry| {
            let map = place(entry.map)?;
            let holds_maps = [MapType::ArrayOfMaps as u32, MapType::HashOfMaps as u32];
            let value = match <[u8; 4]>::try_from(entry.value.as_slice()) {
                Ok(inner) if holds_maps.contains(&after.maps[map as usize].kind) => {
                    place(u32::from_le_bytes(inner))?.to_le_bytes().to_vec()
                }
                _ => entry.value.clone(),
            };
            Some(XdpEntry { map, key: entry.key.clone(), value })
        };
        let goes_on = |map: &&String| after.maps.iter().any(|m| m.name == **map) && !keep.contains(map);
        let kept: Vec<String> = before.keep.iter().filter(goes_on).cloned().collect();
        after.keep.extend(kept);
        after.entries = before.entries.iter().filter_map(moved).collect();
        for map in &mut after.maps {
            map.place = before.maps.iter().find(|old| old.name == map.name).and_then(|old| old.place);
        }
    }
    object.check()?;
    Ok(object)
}

/// Makes the maps to see that they can be made, and reads what they begin with.
fn first_entries(maps: &[MapSpec], files: &[(String, String)]) -> Result<Vec<XdpEntry>, TenantError> {
    let mut space = MapSpace::new(CPUS);
    // A new space numbers its maps from 0: an ID is a position.
    for spec in maps {
        space.create(spec)?;
    }
    let position = |name: &str| maps.iter().position(|spec| spec.name == *name);
    let id = |name: &str| position(name).map(|index| MapId(index as u32));
    let mut entries = Vec::new();
    for (name, text) in files {
        let is_state = |index: &usize| maps[*index].kind != MapType::ProgArray && !maps[*index].frozen;
        let index = position(name).filter(is_state).ok_or_else(|| {
            let all: Vec<&str> = maps.iter().enumerate().filter(|(i, _)| is_state(i)).map(|(_, m)| &*m.name).collect();
            no_such("--map (`maps` in nic.toml)", name, all.join(", "))
        })?;
        let map = MapId(index as u32);
        let refused = |error| TenantError::Entries { map: name.clone(), error };
        file::read(&mut space, map, text, &id).map_err(refused)?;
        let mut key: Option<Vec<u8>> = None;
        let unread = |e: crate::Errno| {
            refused(MapFileError {
                line: 1,
                column: 1,
                what: format!("maps of this kind are not read: {}", file::explain(e)),
            })
        };
        if space.spec(map).is_some_and(|spec| spec.kind.is_queue()) {
            let elements = space.elements(map).map_err(unread)?;
            entries.extend(elements.into_iter().map(|value| XdpEntry { map: map.0, key: Vec::new(), value }));
            continue;
        }
        while let Some(next) = space.next_held_key(map, key.as_deref()).map_err(unread)? {
            match space.user_lookup(map, &next) {
                Ok(value) => entries.push(XdpEntry { map: map.0, key: next.clone(), value }),
                Err(crate::Errno::NOENT) => {}
                Err(errno) => return Err(unread(errno)),
            }
            key = Some(next);
        }
    }
    Ok(entries)
}

/// Bytes by which the programs of a part make a frame longer at most, where that is known: what its tenant need not pay for beyond.
pub fn growth(xdp: &Xdp) -> Option<u16> {
    u16::try_from(crate::analysis::growth(&image(xdp).ok()?)?).ok()
}

/// The image that a device runs.
pub fn image(xdp: &Xdp) -> Result<Image, TenantError> {
    let program = |p: &XdpProgram| Program {
        name: p.name.clone(),
        section: "xdp".to_owned(),
        insns: p.slots.iter().map(|slot| Insn::from_bytes(slot.to_le_bytes())).collect(),
        functions: p.functions.iter().map(|(n, start)| function(n, *start)).collect(),
        lines: BTreeMap::new(),
    };
    Ok(Image {
        programs: xdp.programs.iter().map(program).collect(),
        maps: xdp.maps.iter().map(map_spec).collect::<Result<_, _>>()?,
        ..Image::default()
    })
}

fn no_such(what: &'static str, found: &str, allowed: String) -> TenantError {
    TenantError::NoSuch { what, found: format!("`{found}`"), allowed }
}

fn maps_of(image: &Image) -> String {
    let names: Vec<&str> = image.maps.iter().map(|m| m.name.as_str()).collect();
    if names.is_empty() { "none: the file has no maps".to_owned() } else { names.join(", ") }
}

/// The program that is meant. Without a name it is the only one that no program array calls.
fn main_program(image: &Image, options: &Options) -> Result<usize, TenantError> {
    let (section, name) = (options.section.as_deref(), options.program.as_deref());
    let found = image.chosen(section, name);
    match found[..] {
        [one] => Ok(one),
        _ => {
            let asked = match (section, name) {
                (None, None) => "neither section nor program named".to_owned(),
                (Some(s), None) => format!("section `{s}`"),
                (None, Some(n)) => format!("`{n}`"),
                (Some(s), Some(n)) => format!("`{n}` in section `{s}`"),
            };
            let all: Vec<String> =
                image.programs.iter().map(|p| format!("`{}` in section `{}`", p.name, p.section)).collect();
            let count = if found.is_empty() { "which picks none" } else { "which picks several" };
            let allowed = format!("one of {}", all.join(", "));
            Err(TenantError::NoSuch {
                what: "--program or --section (`program`, `section` in nic.toml)",
                found: format!("{asked}, {count}"),
                allowed,
            })
        }
    }
}

fn plain_program(program: &Program) -> XdpProgram {
    XdpProgram {
        name: program.name.clone(),
        slots: program.insns.iter().map(|insn| u64::from_le_bytes(insn.to_bytes())).collect(),
        functions: program.functions.iter().map(|f| (f.name.clone(), f.start)).collect(),
    }
}

/// A map's declaration as plain data.
pub fn plain_map(spec: &MapSpec) -> XdpMap {
    let initial = |(key, initial): &(u32, Initial)| match initial {
        Initial::Map(index) => (*key, XdpInitial::Map(*index as u32)),
        Initial::Program(name) => (*key, XdpInitial::Program(name.clone())),
    };
    XdpMap {
        name: spec.name.clone(),
        kind: spec.kind as u32,
        key_size: spec.key_size,
        value_size: spec.value_size,
        max_entries: spec.max_entries,
        flags: spec.flags,
        pinned: spec.pinned,
        frozen: spec.frozen,
        spin_lock: spec.spin_lock,
        contents: spec.contents.clone(),
        initial: spec.initial.iter().map(initial).collect(),
        inner: spec.inner.as_deref().map(|inner| Box::new(plain_map(inner))),
        place: None,
    }
}

fn function(name: &str, start: u32) -> Function {
    Function { name: name.to_owned(), start, btf_type: 0 }
}

/// A declaration as this crate works with it; a type that the kernel does not have is refused.
pub fn map_spec(map: &XdpMap) -> Result<MapSpec, TenantError> {
    let allowed = || MapType::ALL.map(|t| format!("{} ({})", t as u32, t.name())).join(", ");
    let kind = MapType::from_number(map.kind).ok_or_else(|| TenantError::NoSuch {
        what: "type of a map",
        found: map.kind.to_string(),
        allowed: allowed(),
    })?;
    let initial = |(key, initial): &(u32, XdpInitial)| match initial {
        XdpInitial::Map(index) => (*key, Initial::Map(*index as usize)),
        XdpInitial::Program(name) => (*key, Initial::Program(name.clone())),
    };
    Ok(MapSpec {
        flags: map.flags,
        pinned: map.pinned,
        inner: map.inner.as_deref().map(|inner| map_spec(inner).map(Box::new)).transpose()?,
        initial: map.initial.iter().map(initial).collect(),
        contents: map.contents.clone(),
        frozen: map.frozen,
        spin_lock: map.spin_lock,
        ..MapSpec::new(map.name.clone(), kind, map.key_size, map.value_size, map.max_entries)
    })
}
