//! Maps declared by a struct type in `.maps` (`__uint(type, ...)`, `__type(key, ...)`).

use super::btf::{Btf, Member, Type, kind};
use super::elf::{Elf, Home, Symbol, SymbolKind};
use super::error::{LoadError, malformed};
use super::maps::{BTF_MAPS, Declared, check_count, map_type};
use crate::MapType;
use crate::image::{Initial, MapSpec};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap};

/// Most fields of a declaration: there are eleven kinds.
const MAX_FIELDS: u32 = 32;
/// `LIBBPF_PIN_BY_NAME`.
const PIN_BY_NAME: u32 = 1;

/// Reads `.maps`.
pub(super) fn read(elf: &Elf<'_>, btf: Option<&Btf<'_>>) -> Result<Vec<Declared>, LoadError> {
    let Some((section, bytes)) = elf.section(BTF_MAPS).filter(|(_, s)| s.size != 0) else { return Ok(Vec::new()) };
    let place = || format!("section `{BTF_MAPS}`");
    let btf = btf.ok_or_else(|| malformed(place(), "no section .BTF", "one that describes the maps (`clang -g`)"))?;
    let datasec = btf.iter().find(|(_, t)| t.kind == kind::DATASEC && t.name == BTF_MAPS);
    let (_, datasec) = datasec.ok_or_else(|| malformed(place(), "no DATASEC in .BTF", "one that lists the maps"))?;
    check_count(BTF_MAPS, datasec.count as usize)?;
    let is_object = |s: &&Symbol<'_>| matches!(s.kind, SymbolKind::Object | SymbolKind::NoType);
    let symbols = elf.symbols.iter().filter(|s| s.home == Home::Section(section)).filter(is_object);
    let symbols: HashMap<&str, &Symbol<'_>> = symbols.map(|s| (s.name, s)).collect();
    let (mut found, mut values) = (Vec::new(), Vec::new());
    // Many maps may have one large type of values.
    let locks = RefCell::default();
    for var in datasec.variables() {
        let Some(variable) = btf.get(var.kind).filter(|t| t.kind == kind::VAR) else {
            return Err(malformed(place(), format!("type {} in its DATASEC", var.kind), "a variable"));
        };
        let name = variable.name;
        let symbol =
            symbols.get(name).ok_or_else(|| malformed(place(), format!("no symbol `{name}`"), "one for each map"))?;
        let size = btf.size(variable.size_or_type).unwrap_or(0);
        if size == 0 || symbol.value.checked_add(size).is_none_or(|end| end > bytes.size) {
            let found = format!("map `{name}` of {size} bytes at byte {}", symbol.value);
            return Err(malformed(place(), found, format!("maps inside of its {} bytes", bytes.size)));
        }
        let declaration = btf.skip(variable.size_or_type).map(|(_, t)| t);
        let last =
            declaration.and_then(|t| btf.member(t, (t.count as usize).checked_sub(1)?)).filter(|m| m.name == "values");
        values.push(symbol.value + u64::from(last.map_or(0, |m| m.bit / 8)));
        let declaration = Declaration { btf, locks: &locks, map: name, odd_pinning: Cell::new(None) };
        let spec = declaration.read(variable, name);
        found.push(Declared {
            name: name.to_string(),
            section,
            offset: symbol.value,
            size,
            is_data: false,
            spec,
            odd_pinning: declaration.odd_pinning.get(),
            id: 0,
            index: 0,
        });
    }
    initials(elf, section, &values, &mut found);
    Ok(found)
}

/// One declaration while it is read.
struct Declaration<'b, 'a> {
    btf: &'b Btf<'a>,
    locks: &'b RefCell<HashMap<u32, Option<u32>>>,
    map: &'b str,
    /// A value of `pinning` that is none of libbpf's.
    odd_pinning: Cell<Option<u32>>,
}

impl<'a> Declaration<'_, 'a> {
    fn bad(&self, field: &str, found: impl Into<String>, expected: impl Into<String>) -> LoadError {
        LoadError::BtfMap {
            map: self.map.to_string(),
            field: field.to_string(),
            found: found.into(),
            expected: expected.into(),
        }
    }

    fn read(&self, variable: &Type<'a>, name: &str) -> Result<MapSpec, LoadError> {
        if variable.linkage() != 1 {
            return Err(self.bad("linkage", "static or extern", "a global variable"));
        }
        match self.btf.skip(variable.size_or_type) {
            Some((_, t)) if t.kind == kind::STRUCT => self.fields(t, name, false),
            _ => Err(self.bad("type of the variable", "no struct", "a struct of __uint and __type fields")),
        }
    }

    fn fields(&self, declaration: &Type<'a>, name: &str, is_inner: bool) -> Result<MapSpec, LoadError> {
        if declaration.count > MAX_FIELDS {
            let expected = format!("at most {MAX_FIELDS}");
            return Err(self.bad("number of fields", declaration.count.to_string(), expected));
        }
        let members: Vec<Member<'a>> = self.btf.members(declaration).collect();
        let number = members.iter().find(|m| m.name == "type");
        let number = number.ok_or_else(|| self.bad("type", "missing", "__uint(type, BPF_MAP_TYPE_...)"))?;
        let kind = map_type(self.map, self.number(number)?)?;
        let mut spec = MapSpec::new(name, kind, 0, 0, 0);
        let (mut key, mut value) = (None, None);
        for (at, member) in members.iter().enumerate() {
            match member.name {
                // The NUMA node is where a host keeps it: nothing to a NIC.
                "type" => {}
                "numa_node" => drop(self.number(member)?),
                "max_entries" => spec.max_entries = self.number(member)?,
                "map_flags" => spec.flags = self.number(member)?,
                "key_size" => self.size(&mut key, member.name, self.number(member)?.into())?,
                "value_size" => self.size(&mut value, member.name, self.number(member)?.into())?,
                "key" => {
                    spec.btf.0 = self.pointee(member)?;
                    self.size(&mut key, member.name, self.size_of(member, spec.btf.0)?)?;
                }
                "value" => {
                    spec.btf.1 = self.pointee(member)?;
                    self.size(&mut value, member.name, self.size_of(member, spec.btf.1)?)?;
                }
                "values" => {
                    if at + 1 != members.len() {
                        return Err(self.bad("values", "a field that is not the last", "the last field"));
                    }
                    spec.inner = self.values(member, kind, name, is_inner)?;
                    self.size(&mut value, member.name, 4)?;
                }
                "pinning" => match self.number(member)? {
                    _ if is_inner => return Err(self.bad("pinning", "given to an inner map", "none")),
                    by => {
                        spec.pinned = by != 0;
                        self.odd_pinning.set((by > PIN_BY_NAME).then_some(by));
                    }
                },
                "map_extra" => match self.long(member)? {
                    0 => {}
                    extra => return Err(self.bad("map_extra", extra.to_string(), "0 for the map types there are")),
                },
                other => {
                    let all = "type, key, key_size, value, value_size, max_entries, map_flags, pinning, numa_node, \
                               map_extra or values";
                    return Err(self.bad(other, "a field that no map has", all));
                }
            }
        }
        (spec.key_size, spec.value_size) = (key.unwrap_or(0), value.unwrap_or(0));
        crate::map::as_loaders_complete(&mut spec);
        let value = spec.btf.1;
        spec.spin_lock = *self.locks.borrow_mut().entry(value).or_insert_with(|| spin_lock(self.btf, value));
        if no_types(kind) {
            spec.btf = (0, 0);
        }
        Ok(spec)
    }

    /// `__uint(field, n)` is a pointer to an array of n elements.
    fn number(&self, member: &Member<'a>) -> Result<u32, LoadError> {
        let array = self.pointee(member).ok().and_then(|t| self.btf.skip(t)).and_then(|(_, t)| t.array());
        array.map(|(_, count)| count).ok_or_else(|| self.bad(member.name, "no number", "__uint(field, n)"))
    }

    /// `__ulong(field, n)` is a pointer to a 64-bit enumeration.
    fn long(&self, member: &Member<'a>) -> Result<u64, LoadError> {
        let wide = self.pointee(member).ok().and_then(|t| self.btf.skip(t)).and_then(|(_, t)| t.first_value64());
        wide.map_or_else(|| self.number(member).map(u64::from), Ok)
    }

    fn pointee(&self, member: &Member<'a>) -> Result<u32, LoadError> {
        match self.btf.skip(member.kind) {
            Some((_, t)) if t.kind == kind::PTR => Ok(t.size_or_type),
            _ => Err(self.bad(member.name, "no pointer", "__uint(...), __type(...) or __array(...)")),
        }
    }

    fn size_of(&self, member: &Member<'a>, id: u32) -> Result<u64, LoadError> {
        self.btf.size(id).ok_or_else(|| self.bad(member.name, "a type without a size", "a type with a size"))
    }

    /// Sets a size; given twice it must be the same.
    fn size(&self, to: &mut Option<u32>, field: &str, size: u64) -> Result<(), LoadError> {
        let size = u32::try_from(size).map_err(|_| self.bad(field, format!("{size} bytes"), "below 4 GiB"))?;
        match to.replace(size) {
            Some(before) if before != size => {
                Err(self.bad(field, format!("{size} bytes"), format!("{before} as said before")))
            }
            _ => Ok(()),
        }
    }

    /// `__array(values, ...)`: what an inner map is, or functions of a program array.
    fn values(
        &self,
        member: &Member<'a>,
        kind: MapType,
        name: &str,
        is_inner: bool,
    ) -> Result<Option<Box<MapSpec>>, LoadError> {
        let bad = |found: &str, expected: &str| self.bad("values", found, expected);
        let array = self.btf.skip(member.kind).and_then(|(_, t)| t.array());
        let (element, count) = array.ok_or_else(|| bad("no array", "__array(values, ...)"))?;
        if count != 0 {
            return Err(bad("an array with a length", "one without"));
        }
        let pointer = self.btf.skip(element).filter(|(_, t)| t.kind == kind::PTR);
        let (_, pointer) = pointer.ok_or_else(|| bad("no array of pointers", "__array(values, ...)"))?;
        let (_, pointee) = self.btf.skip(pointer.size_or_type).ok_or_else(|| bad("void", "a map or function"))?;
        match kind {
            _ if is_inner => Err(bad("given to an inner map", "maps of maps nested once")),
            MapType::ProgArray if pointee.kind == kind::FUNC_PROTO => Ok(None),
            MapType::ProgArray => Err(bad("no function", "__array(values, int (struct xdp_md *))")),
            _ if kind.holds_maps() && pointee.kind == kind::STRUCT => {
                self.fields(pointee, &format!("{name}.inner"), true).map(|m| Some(Box::new(m)))
            }
            _ if kind.holds_maps() => Err(bad("no map", "a struct that declares the inner map")),
            _ => Err(bad("given", "only in maps of maps and program arrays")),
        }
    }
}

/// Map types whose key and value types the kernel does not take; libbpf leaves them out.
fn no_types(kind: MapType) -> bool {
    kind.holds_maps()
        || matches!(
            kind,
            MapType::PerfEventArray
                | MapType::Devmap
                | MapType::DevmapHash
                | MapType::Cpumap
                | MapType::Xskmap
                | MapType::Queue
                | MapType::Stack
        )
}

/// Offset of a `struct bpf_spin_lock` that is a direct member.
fn spin_lock(btf: &Btf<'_>, value: u32) -> Option<u32> {
    let (_, value) = btf.skip(value).filter(|_| value != 0)?;
    btf.members(value).find(|m| is_spin_lock(btf, m.kind)).map(|m| m.bit / 8)
}

/// Whether a type is the kernel's `struct bpf_spin_lock`.
pub(super) fn is_spin_lock(btf: &Btf<'_>, id: u32) -> bool {
    btf.skip(id).is_some_and(|(_, t)| t.kind == kind::STRUCT && t.name == "bpf_spin_lock" && t.size_or_type == 4)
}

/// Reads relocations of `.maps`: entries of maps of maps and program arrays. `values` are the
/// bytes of the section where each map's first entry stands.
fn initials(elf: &Elf<'_>, section: usize, values: &[u64], maps: &mut [Declared]) {
    let by_offset: BTreeMap<u64, usize> = maps.iter().enumerate().map(|(at, m)| (m.offset, at)).collect();
    for relocation in &elf.sections[section].relocations {
        let Some((_, holder)) = by_offset.range(..=relocation.offset).next_back() else { continue };
        let map = &maps[*holder];
        // Entries may stand behind the type's end, which has an array without length there.
        let Ok(spec) = &map.spec else { continue };
        let bad = |found: String, expected| LoadError::Initial {
            map: map.name.clone(),
            offset: relocation.offset - map.offset,
            found,
            expected,
        };
        let slot = relocation.offset.checked_sub(values[*holder]);
        let entry = match slot.filter(|_| spec.kind == MapType::ProgArray || spec.kind.holds_maps()) {
            None => Err(bad("a field".into(), "an entry of `values`")),
            Some(slot) if slot % 8 != 0 || slot / 8 >= u64::from(spec.max_entries) => {
                Err(bad(format!("entry {}", slot as f64 / 8.0), "a whole number below max_entries"))
            }
            Some(slot) => {
                let symbol = &elf.symbols[relocation.symbol];
                let what = match spec.kind {
                    MapType::ProgArray => program(elf, symbol).ok_or("a program"),
                    _ => {
                        inner_map(symbol, section, &by_offset, maps).ok_or("a map of section .maps that holds no maps")
                    }
                };
                what.map(|what| ((slot / 8) as u32, what)).map_err(|e| bad(format!("`{}`", symbol.name), e))
            }
        };
        match (entry, &mut maps[*holder].spec) {
            (Ok(entry), Ok(spec)) => spec.initial.push(entry),
            (Err(error), spec) => *spec = Err(error),
            _ => {}
        }
    }
}

fn program(elf: &Elf<'_>, symbol: &Symbol<'_>) -> Option<Initial> {
    let is_code = matches!(symbol.home, Home::Section(s) if elf.sections[s].is_code);
    (is_code && !symbol.name.is_empty()).then(|| Initial::Program(symbol.name.to_string()))
}

fn inner_map(
    symbol: &Symbol<'_>,
    section: usize,
    by_offset: &BTreeMap<u64, usize>,
    maps: &[Declared],
) -> Option<Initial> {
    let held = *by_offset.get(&symbol.value).filter(|_| symbol.home == Home::Section(section))?;
    let holds = maps[held].spec.as_ref().is_ok_and(|s| s.kind.holds_maps());
    (!holds).then_some(Initial::Map(held))
}
