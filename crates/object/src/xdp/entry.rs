//! What the engine in hardware keeps of an entry of a map of references: a word of 8 bytes.
//!
//! Its lower half is what the engine goes by, 0 where there is no entry; the upper half is what the host gave.

use super::{Xdp, XdpInitial};
use crate::destination::Destination;
use sluice_formats::Target;

/// Bytes of such an entry.
pub const BYTES: u32 = 8;
/// There is an entry.
const THERE: u32 = 1 << 31;
/// No destination: a packet that is sent there is dropped.
const NOWHERE: u32 = 15;
/// Handle of map 0; that of map n is n above.
pub const HANDLES: u32 = 0xa000_0000;

/// `BPF_MAP_TYPE_PROG_ARRAY`, `BPF_MAP_TYPE_CPUMAP`, `BPF_MAP_TYPE_XSKMAP`.
pub const PROG_ARRAY: u32 = 3;
/// Processors: an entry of no packets is none.
pub const CPUMAP: u32 = 16;
/// Sockets.
pub const XSKMAP: u32 = 17;

/// Whether entries of this kind are words of this module, and only the host changes them.
pub fn is_host_kept(kind: u32) -> bool {
    matches!(kind, PROG_ARRAY | 12 | 13 | CPUMAP | XSKMAP)
}

fn word(referent: u32, given: u32) -> [u8; BYTES as usize] {
    (u64::from(given) << 32 | u64::from(referent)).to_le_bytes()
}

/// Entries that a map begins with, as key and value: those that the program gives, then those that the host gives. Programs and maps
/// are named by their position.
pub fn first_entries(xdp: &Xdp, map: u32) -> Vec<(Vec<u8>, Vec<u8>)> {
    let Some(declared) = xdp.maps.get(map as usize) else { return Vec::new() };
    let initial = declared.initial.iter().filter_map(|(key, initial)| {
        let position = match initial {
            XdpInitial::Map(position) => *position,
            XdpInitial::Program(name) => xdp.programs.iter().position(|program| program.name == *name)? as u32,
        };
        let mut key = key.to_le_bytes().to_vec();
        key.resize(declared.key_size as usize, 0);
        Some((key, position.to_le_bytes().to_vec()))
    });
    let given = xdp.entries.iter().filter(|entry| entry.map == map);
    initial.chain(given.map(|entry| (entry.key.clone(), entry.value.clone()))).collect()
}

/// A processor's or socket's: packets go to the host queue of this number, of a processor's to that of the remainder.
pub fn destination(kind: u32, index: u32, given: u32, target: &Target) -> [u8; BYTES as usize] {
    let queue = if kind == CPUMAP { index % target.hosts } else { index };
    let queue = u8::try_from(queue).ok().and_then(|queue| Destination::Host(queue).number(target));
    match given {
        0 if kind == CPUMAP => [0; BYTES as usize],
        _ => word(THERE | queue.map_or(NOWHERE, u32::from), given),
    }
}

/// A program's, by its first row and its position.
pub fn program(row: u16, position: u32) -> [u8; BYTES as usize] {
    word(THERE | u32::from(row), position)
}

/// A map's, by its number and what the host calls it.
pub fn map(number: u16, given: u32) -> [u8; BYTES as usize] {
    word(HANDLES + u32::from(number), given)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluice_formats::target::DEFAULT;

    #[test]
    fn processors_go_round_the_host_queues_and_sockets_beyond_them_lead_nowhere() {
        let hosts = DEFAULT.hosts;
        let of = |kind, index| u64::from_le_bytes(destination(kind, index, 7, &DEFAULT));
        let first = u64::from(Destination::Host(0).number(&DEFAULT).unwrap());
        assert_eq!(of(CPUMAP, hosts + 1), 7 << 32 | 1 << 31 | (first + 1));
        assert_eq!((of(XSKMAP, 1), of(XSKMAP, hosts)), (7 << 32 | 1 << 31 | (first + 1), 7 << 32 | 1 << 31 | 15));
        assert_eq!(destination(CPUMAP, 1, 0, &DEFAULT), [0; 8]);
        assert_ne!(destination(XSKMAP, 1, 0, &DEFAULT), [0; 8]);
    }
}
