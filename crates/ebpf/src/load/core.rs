//! CO-RE relocations and externs: what a kernel would fill in when the object is loaded.
//!
//! There is no kernel under a NIC. What does not depend on one is resolved to the object's own
//! layout, which is what libbpf does with a kernel whose type is identical: local type IDs, and
//! sizes and fields of types whose layout is the same in all kernels (`core_fixed`), where the object
//! declares them as they are. The compiler has already put these numbers into the instructions.
//! Where a kernel's types are given ([`KernelTypes`]), everything else is what it is there, by the rules of libbpf.
//! Without them it is refused by name: other types and fields, and whether a kernel has a type or
//! an enumerator, or has it as the object declares it, and which number an enumerator has there.

use super::btf::{Btf, kind};
use super::btf_ext::{BtfExt, CoreInfo};
use super::code::{Function, Places};
use super::core_fixed::FIXED;
use super::core_kernel::KernelTypes;
use super::core_patch::patch;
use super::core_spec::{essential, relo};
use super::elf::Elf;
use super::error::LoadError;
use crate::Insn;
use crate::image::Note;
use std::cell::Cell;
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
    kernel: Option<&'e KernelTypes<'e>>,
    /// Relocations that it has answered.
    answered: Cell<u32>,
    externs: HashMap<&'a str, &'static str>,
}

impl<'e, 'a> Core<'e, 'a> {
    /// Of an object.
    pub fn new(places: &'e Places<'e, 'a>, kernel: Option<&'e KernelTypes<'e>>) -> Self {
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
        Self { elf: places.elf, btf: places.btf, ext: places.ext, places, kernel, answered: Cell::new(0), externs }
    }

    /// What is told where a kernel's types have answered something.
    pub fn note(&self) -> Option<Note> {
        let (kernel, answered) = (self.kernel?, self.answered.get());
        let text = format!(
            "{answered} CO-RE relocations are answered by a kernel's types, whose BTF has the FNV-1a hash {:016x}",
            kernel.hash()
        );
        (answered > 0).then(|| Note { name: ".BTF".to_owned(), text })
    }

    /// "kconfig", "ksym" or "symbol".
    pub fn extern_kind(&self, name: &str) -> &'static str {
        self.externs.get(name).copied().unwrap_or("symbol")
    }

    /// Resolves a function's relocations in its instructions, or refuses one that only a kernel can answer.
    pub fn apply(&self, function: &Function<'_>, insns: &mut [Insn]) -> Result<(), LoadError> {
        let section = self.elf.sections[function.section].name;
        let (Some(records), Some(btf)) = (self.ext.core.get(section), self.btf) else { return Ok(()) };
        let (from, to) = (function.start * 8, (function.start + function.len) * 8);
        let first = records.partition_point(|r| r.offset < from);
        for record in records[first..].iter().take_while(|r| r.offset < to) {
            if resolves(btf, record) {
                continue;
            }
            let slot = record.offset / 8 - function.start;
            let kind = KINDS.get(record.kind as usize).copied().unwrap_or("of unknown kind");
            let Some(kernel) = self.kernel else {
                let place = self.places.of(function, Some(slot));
                return Err(LoadError::Core { place, kind, name: access(btf, record) });
            };
            let relocated = kernel.relocate(btf, record).and_then(|by| patch(insns, slot as usize, by));
            relocated.map_err(|why| {
                let (place, name) = (self.places.of(function, Some(slot)), access(btf, record));
                LoadError::CoreKernel { place, kind, name, why }
            })?;
            self.answered.set(self.answered.get() + 1);
        }
        Ok(())
    }
}

/// Whether the object's own number is the answer of every kernel.
fn resolves(btf: &Btf<'_>, record: &CoreInfo) -> bool {
    if record.kind == relo::TYPE_ID_LOCAL {
        return true;
    }
    let Some((_, root)) = btf.skip(record.root) else { return false };
    let is_aggregate = matches!(root.kind, kind::STRUCT | kind::UNION);
    let Some((_, size, fields)) = FIXED.iter().find(|(name, ..)| *name == essential(root.name)) else { return false };
    let alike = is_aggregate && *size == root.size_or_type;
    match record.kind {
        0..=relo::FIELD_RSHIFT_U64 => alike && is_field(btf, record, fields).unwrap_or(false),
        relo::TYPE_SIZE => alike,
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
    Some(record.kind != relo::FIELD_SIGNED || (last.kind == kind::INT && last.encoding() & SIGNED == 0))
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
