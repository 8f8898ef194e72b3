//! CO-RE relocations and externs: what a kernel would fill in when the object is loaded.
//!
//! There is no kernel under a NIC. What does not depend on one is resolved to the object's own
//! layout, which is what libbpf does with a kernel whose type is identical: local type IDs, and
//! types whose layout is fixed for all kernels because programs of user space and the network
//! rely on it (`struct xdp_md`, packet headers, `enum xdp_action`). Their size must be the fixed
//! one. The compiler has already put these numbers into the instructions. Everything else is
//! refused by name.

use super::btf::{Btf, kind};
use super::btf_ext::{BtfExt, CoreInfo};
use super::code::{Function, Places};
use super::elf::Elf;
use super::error::LoadError;
use std::collections::HashMap;

/// Types of one layout in all kernels: name and size.
#[rustfmt::skip]
const FIXED: [(&str, u32); 35] = [
    ("ethhdr", 14), ("vlan_hdr", 4), ("vlan_ethhdr", 18), ("arphdr", 8), ("iphdr", 20), ("ipv6hdr", 40),
    ("in_addr", 4), ("in6_addr", 16), ("ipv6_opt_hdr", 2), ("ipv6_rt_hdr", 4), ("frag_hdr", 8),
    ("ip_auth_hdr", 12), ("ip_esp_hdr", 8), ("ip_comp_hdr", 4), ("tcphdr", 20), ("udphdr", 8),
    ("icmphdr", 8), ("icmp6hdr", 8), ("igmphdr", 8), ("gre_base_hdr", 4), ("sctphdr", 12), ("dccp_hdr", 12),
    ("mpls_label", 4), ("vxlanhdr", 8), ("pppoe_hdr", 6), ("nd_opt_hdr", 2),
    ("xdp_md", 24), ("bpf_fib_lookup", 64), ("bpf_redir_neigh", 20), ("bpf_devmap_val", 8),
    ("bpf_cpumap_val", 8), ("bpf_spin_lock", 4), ("bpf_lpm_trie_key", 4), ("bpf_lpm_trie_key_u8", 4),
    ("xdp_action", 4),
];

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

/// `BPF_CORE_TYPE_ID_LOCAL`.
const TYPE_ID_LOCAL: u32 = 6;
/// `BPF_CORE_TYPE_ID_TARGET`.
const TYPE_ID_TARGET: u32 = 7;

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
                    ".ksyms" => "ksym",
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

/// Whether the object's own layout is the answer of every kernel.
fn resolves(btf: &Btf<'_>, record: &CoreInfo) -> bool {
    if record.kind == TYPE_ID_LOCAL {
        return true;
    }
    if record.kind == TYPE_ID_TARGET || record.kind as usize >= KINDS.len() {
        return false;
    }
    let Some((_, root)) = btf.skip(record.root) else { return false };
    let is_aggregate = matches!(root.kind, kind::STRUCT | kind::UNION | kind::ENUM | kind::ENUM64);
    let size = FIXED.iter().find(|(name, _)| *name == plain(root.name)).map(|(_, size)| *size);
    is_aggregate && size == Some(root.size_or_type)
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
    // The first number counts whole objects, as in a pointer's [0].
    for step in path.split(':').skip(1).take(64) {
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
