//! The map in which an engine in hardware finds routes, neighbours and interfaces: the calls of a program that ask for them go
//! through it, the host fills it.
//!
//! One trie of longest prefixes. The linker adds it to a program that calls `fib_lookup` or `check_mtu`; no program names it, and hosts
//! that list maps do not see it. What lies in it is said in `sluice_ebpf::helper::fib::rows`.

use super::{Xdp, XdpMap};
use sluice_formats::xdp::target::Target;

/// Its name: no symbol of a program has a dot in it.
pub const NAME: &str = "sluice.routes";
/// Bytes of a key: the prefix length, the space, and an address.
pub const KEY_BYTES: usize = 24;
/// Bits of a space's number: they stand before the address.
pub const SPACE_BITS: u32 = 32;
/// Bytes of a value.
pub const VALUE_BYTES: usize = 64;

/// `fib_lookup` and `check_mtu`.
pub const CALLS: [i32; 2] = [69, 163];

/// `BPF_MAP_TYPE_LPM_TRIE`.
const LPM_TRIE: u32 = 11;
/// `BPF_F_NO_PREALLOC` and `BPF_F_RDONLY_PROG`.
const FLAGS: u32 = 1 | 1 << 7;
/// A call of a helper: its code and first source register.
const CALL: u64 = 0x85;

/// Whether a program calls what needs the map.
pub fn is_needed(xdp: &Xdp) -> bool {
    let calls = |slot: &u64| slot & 0xf0ff == CALL && CALLS.contains(&((slot >> 32) as i32));
    xdp.programs.iter().any(|program| program.slots.iter().any(calls))
}

/// Whether a map is this one.
pub fn is_routes(map: &XdpMap) -> bool {
    map.name == NAME
}

/// The map of a program on this engine.
pub fn map(engine: &Target) -> XdpMap {
    XdpMap {
        name: NAME.to_owned(),
        kind: LPM_TRIE,
        key_size: KEY_BYTES as u32,
        value_size: VALUE_BYTES as u32,
        max_entries: engine.routes as u32,
        flags: FLAGS,
        ..XdpMap::default()
    }
}
