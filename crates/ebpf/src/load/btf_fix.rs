//! Completes `.BTF` for the kernel: what the compiler leaves to the loader.
//!
//! Sizes and offsets of variables in data sections come from the symbol table, in the way of
//! libbpf; variables stand by rising offset. Externs, which only programs that are refused
//! use, become plain types of the same size in the section, so that no ID changes.

use super::btf::{Btf, Type, kind};
use super::elf::{Elf, Home};
use std::collections::HashMap;

/// The section with everything filled in.
pub(super) fn fixed(btf: &Btf<'_>, data: &[u8], elf: &Elf<'_>) -> Vec<u8> {
    let mut out = data.to_vec();
    let symbols = elf.symbols.iter().filter(|s| !s.name.is_empty());
    let symbols: HashMap<(&str, usize), u64> = symbols
        .filter_map(|s| match s.home {
            Home::Section(home) => Some(((s.name, home), s.value)),
            _ => None,
        })
        .collect();
    let sections: HashMap<&str, usize> = elf.sections.iter().enumerate().rev().map(|(at, s)| (s.name, at)).collect();
    for (_, one) in btf.iter() {
        match one.kind {
            kind::DATASEC if matches!(one.name, ".ksyms" | ".kconfig") => extern_section(btf, one, &mut out),
            kind::DATASEC => {
                if let Some(at) = sections.get(one.name) {
                    data_section(btf, one, (*at, elf.sections[*at].size), &symbols, &mut out);
                }
            }
            kind::VAR | kind::FUNC if one.linkage() == EXTERN => extern_type(one, &mut out),
            // A tag may not stand on what an extern has become.
            kind::DECL_TAG if btf.get(one.size_or_type).is_some_and(is_extern) => int(one.at, &mut out),
            _ => {}
        }
    }
    out
}

/// Linkage of what another object defines.
const EXTERN: u32 = 2;

fn is_extern(one: &Type<'_>) -> bool {
    matches!(one.kind, kind::VAR | kind::FUNC) && one.linkage() == EXTERN
}

fn put(out: &mut [u8], at: usize, word: u32) {
    if let Some(to) = out.get_mut(at..at + 4) {
        to.copy_from_slice(&word.to_le_bytes());
    }
}

fn info(kind: u8, count: u32) -> u32 {
    u32::from(kind) << 24 | count
}

/// Makes the 16 bytes of a variable or tag a 32-bit integer of the same name.
fn int(at: usize, out: &mut [u8]) {
    put(out, at + 4, info(kind::INT, 0));
    put(out, at + 8, 4);
    put(out, at + 12, 32);
}

fn extern_type(one: &Type<'_>, out: &mut [u8]) {
    if one.kind == kind::VAR {
        return int(one.at, out);
    }
    // A function of 12 bytes becomes a pointer to its prototype.
    put(out, one.at, 0);
    put(out, one.at + 4, info(kind::PTR, 0));
}

/// A section of externs becomes a struct of what its externs have become.
fn extern_section(btf: &Btf<'_>, one: &Type<'_>, out: &mut [u8]) {
    let mut bytes = 0;
    for (n, var) in one.variables().enumerate() {
        let at = one.at + 12 + n * 12;
        let is_function = btf.get(var.kind).is_some_and(|t| t.kind == kind::FUNC);
        let size = if is_function { 8 } else { 4 };
        bytes = u32::next_multiple_of(bytes, size);
        put(out, at, 0);
        put(out, at + 4, var.kind);
        put(out, at + 8, bytes * 8);
        bytes += size;
    }
    put(out, one.at, 0);
    put(out, one.at + 4, info(kind::STRUCT, one.count));
    put(out, one.at + 8, bytes);
}

fn data_section(
    btf: &Btf<'_>,
    one: &Type<'_>,
    (index, size): (usize, u64),
    symbols: &HashMap<(&str, usize), u64>,
    out: &mut [u8],
) {
    let mut vars: Vec<(u32, u32, u32)> = Vec::new();
    for (n, var) in one.variables().enumerate() {
        let name = btf.get(var.kind).map_or("", |v| v.name);
        // Static variables have their offset already, and no symbol of their own in some objects.
        let offset = symbols.get(&(name, index)).and_then(|v| u32::try_from(*v).ok()).unwrap_or(var.offset);
        let size_at = one.at + 12 + n * 12 + 8;
        let bytes = out.get(size_at..size_at + 4).map_or(0, |b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]));
        vars.push((offset, var.kind, bytes));
    }
    vars.sort();
    for (n, (offset, kind, size)) in vars.into_iter().enumerate() {
        let at = one.at + 12 + n * 12;
        put(out, at, kind);
        put(out, at + 4, offset);
        put(out, at + 8, size);
    }
    put(out, one.at + 8, u32::try_from(size).unwrap_or(u32::MAX));
}
