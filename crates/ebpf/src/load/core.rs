//! CO-RE relocations and externs: what a kernel would fill in when the object is loaded.
//!
//! There is no kernel under a NIC. What does not depend on one is resolved to the object's own
//! layout, which is what libbpf does with a kernel whose type is identical: local type IDs, and
//! sizes and fields of types whose layout is the same in all kernels (`core_fixed`), where the object
//! declares them as they are. The compiler has already put these numbers into the instructions.
//! Everything else is refused by name: other types and fields, and whether a kernel has a type or
//! an enumerator, or has it as the object declares it, and which number an enumerator has there.

use super::btf::{Btf, kind};
use super::btf_ext::{BtfExt, CoreInfo};
use super::code::{Function, Places};
use super::core_fixed::FIXED;
use super::elf::Elf;
use super::error::LoadError;
use std::collections::HashMap;

/// Names of the kinds of relocations, as in `enum bpf_core_relo_kind`.
const KINDS: [&str; 13] = [
    "field_byte_offset",
    "field_byte_size",
    "field_exists",
    "field_signed",
    "field_lshift_u64",
    "field_rshift_u64",
    "type_id_local",
    "type_id_target",
    "type_exists",
    "type_size",
    "enumval_exists",
    "enumval_value",
    "type_matches",
];

/// `BPF_CORE_FIELD_SIGNED`.
const FIELD_SIGNED: u32 = 3;
/// `BPF_CORE_FIELD_RSHIFT_U64`, the last kind about a field.
const LAST_OF_FIELDS: u32 = 5;
/// `BPF_CORE_TYPE_ID_LOCAL`.
const TYPE_ID_LOCAL: u32 = 6;
/// `BPF_CORE_TYPE_SIZE`.
const TYPE_SIZE: u32 = 9;
/// Kind of an extern that is a kernel's variable or function.
pub(super) const KSYM: &str = "ksym";
/// Steps of an access that are looked at.
const MOST_STEPS: usize = 64;
/// Encoding of a signed integer.
const SIGNED: u32 = 1;

/// What an object would have relocated.
pub(super) struct Core<'e, 'a> {
    elf: &'e Elf<'a>,
    btf: Option<&'e Btf<'a>>,
    ext: &'e BtfExt<'a>,
    places: &'e Places<'e, 'a>,
    externs: HashMap<&'a str, &'static str>,
}

impl<'e, 'a> Core<'e, 'a> {
    /// Of an object.
    pub fn new(places: &'e Places<'e, 'a>) -> Self {
        let mut externs = HashMap::new();
        if let Some(btf) = places.btf {
            for (_, datasec) in btf.iter().filter(|(_, t)| t.kind == kind::DATASEC) {
                let what = match datasec.name {
                    ".kconfig" => "kconfig",
                    ".ksyms" => KSYM,
                    _ => continue,
                };
                externs.extend(datasec.variables().filter_map(|v| Some((btf.get(v.kind)?.name, what))));
            }
        }
        Self { elf: places.elf, btf: places.btf, ext: places.ext, places, externs }
    }

    /// "kconfig", "ksym" or "symbol".
    pub fn extern_kind(&self, name: &str) -> &'static str {
        self.externs.get(name).copied().unwrap_or("symbol")
    }

    /// Refuses a function that has a relocation which only a kernel can answer.
    pub fn check(&self, function: &Function<'_>) -> Result<(), LoadError> {
        let section = self.elf.sections[function.section].name;
        let (Some(records), Some(btf)) = (self.ext.core.get(section), self.btf) else { return Ok(()) };
        let (from, to) = (function.start * 8, (function.start + function.len) * 8);
        let first = records.partition_point(|r| r.offset < from);
        for record in records[first..].iter().take_while(|r| r.offset < to) {
            if !resolves(btf, record) {
                return Err(LoadError::Core {
                    place: self.places.of(function, Some(record.offset / 8 - function.start)),
                    kind: KINDS.get(record.kind as usize).copied().unwrap_or("of unknown kind"),
                    name: access(btf, record),
                });
            }
        }
        Ok(())
    }
}

/// Whether the object's own number is the answer of every kernel.
fn resolves(btf: &Btf<'_>, record: &CoreInfo) -> bool {
    if record.kind == TYPE_ID_LOCAL {
        return true;
    }
    let Some((_, root)) = btf.skip(record.root) else { return false };
    let is_aggregate = matches!(root.kind, kind::STRUCT | kind::UNION);
    let Some((_, size, fields)) = FIXED.iter().find(|(name, ..)| *name == plain(root.name)) else { return false };
    let alike = is_aggregate && *size == root.size_or_type;
    match record.kind {
        0..=LAST_OF_FIELDS => alike && is_field(btf, record, fields).unwrap_or(false),
        TYPE_SIZE => alike,
        _ => false,
    }
}

/// Whether an access, and all on its way, is a field that all kernels have at this place and of this size.
fn is_field(btf: &Btf<'_>, record: &CoreInfo, fields: &str) -> Option<bool> {
    let (mut at, mut path, mut bit) = (record.root, String::new(), 0u64);
    // The first number counts whole objects, as in a pointer's [0].
    for step in btf.string(record.access)?.split(':').skip(1) {
        let (_, one) = btf.skip(at)?;
        let step: u32 = step.parse().ok()?;
        if let Some((element, _)) = one.array() {
            at = element;
            continue;
        }
        let member = btf.member(one, step as usize)?;
        (at, bit) = (member.kind, bit.checked_add(member.bit.into())?);
        if member.name.is_empty() {
            continue;
        }
        path = if path.is_empty() { member.name.to_owned() } else { format!("{path}.{}", member.name) };
        let bits = if member.width > 0 { member.width.into() } else { btf.size(member.kind)?.checked_mul(8)? };
        let element = btf.skip(member.kind)?.1.array().map(|(element, _)| btf.size(element));
        let of = element.map_or(Some(String::new()), |bytes| Some(format!("/{}", bytes?.checked_mul(8)?)))?;
        let declared = format!("{path} {bit} {bits}{of}");
        if !fields.split(", ").any(|field| field == declared) {
            return Some(false);
        }
    }
    let (_, last) = btf.skip(at)?;
    Some(record.kind != FIELD_SIGNED || (last.kind == kind::INT && last.encoding() & SIGNED == 0))
}

/// A name without its flavour: `xdp_md___old` is `xdp_md`.
fn plain(name: &str) -> &str {
    name.split_once("___").map_or(name, |(name, _)| name)
}

/// `task_struct.mm.pgd`, as far as the types say.
fn access(btf: &Btf<'_>, record: &CoreInfo) -> String {
    let Some(root) = btf.get(record.root) else { return format!("type {}", record.root) };
    let mut shown = root.name.to_string();
    let mut at = record.root;
    let path = btf.string(record.access).unwrap_or("");
    if matches!(root.kind, kind::ENUM | kind::ENUM64) {
        let name = path.parse().ok().and_then(|at| root.values().nth(at)).and_then(|(name, _)| btf.string(name));
        return name.map_or(shown, |name| format!("{}.{name}", root.name));
    }
    // The first number counts whole objects, as in a pointer's [0].
    for step in path.split(':').skip(1).take(MOST_STEPS) {
        let (Some((_, one)), Ok(step)) = (btf.skip(at), step.parse::<u32>()) else { break };
        match one.kind {
            kind::STRUCT | kind::UNION => {
                let Some(member) = btf.member(one, step as usize) else { break };
                if !member.name.is_empty() {
                    shown.push('.');
                    shown.push_str(member.name);
                }
                at = member.kind;
            }
            kind::ARRAY => {
                shown.push_str(&format!("[{step}]"));
                at = one.array().map_or(0, |(element, _)| element);
            }
            _ => break,
        }
    }
    shown
}
