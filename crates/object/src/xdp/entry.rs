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

/// `BPF_MAP_TYPE_PROG_ARRAY`.
pub const PROG_ARRAY: u32 = 3;
/// `BPF_MAP_TYPE_ARRAY_OF_MAPS`, `BPF_MAP_TYPE_HASH_OF_MAPS`.
const OF_MAPS: [u32; 2] = [12, 13];
/// `BPF_MAP_TYPE_CPUMAP`: an entry of no packets is none.
const CPUMAP: u32 = 16;
/// `BPF_MAP_TYPE_XSKMAP`.
const XSKMAP: u32 = 17;

/// An entry as the engine keeps it.
pub type Word = [u8; BYTES as usize];

/// Why there is no word of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoWord {
    /// Its value has so many bytes, fewer than 4.
    Short(usize),
    /// There is no such program.
    Program(u32),
    /// There is no such map.
    Map(u32),
}

/// Whether entries of this kind are words of this module, and only the host changes them.
pub fn is_host_kept(kind: u32) -> bool {
    [PROG_ARRAY, CPUMAP, XSKMAP].contains(&kind) || OF_MAPS.contains(&kind)
}

/// The word of an entry of such a kind. What the host gives is the first number of the value: a program's first row is asked for, or a
/// map's number in the engine.
pub fn word(
    kind: u32,
    (key, value): (&[u8], &[u8]),
    target: &Target,
    program: impl FnOnce(u32) -> Option<u16>,
    map: impl FnOnce(u32) -> Option<u16>,
) -> Result<Word, NoWord> {
    let number = |bytes: &[u8]| bytes.first_chunk().map(|bytes| u32::from_le_bytes(*bytes));
    let given = number(value).ok_or(NoWord::Short(value.len()))?;
    Ok(match kind {
        PROG_ARRAY => with(THERE | u32::from(program(given).ok_or(NoWord::Program(given))?), given),
        CPUMAP | XSKMAP => destination(kind, number(key).unwrap_or(0), given, target),
        _ => with(HANDLES + u32::from(map(given).ok_or(NoWord::Map(given))?), given),
    })
}

fn with(referent: u32, given: u32) -> Word {
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
fn destination(kind: u32, index: u32, given: u32, target: &Target) -> Word {
    let queue = if kind == CPUMAP { index % target.hosts } else { index };
    let queue = u8::try_from(queue).ok().and_then(|queue| Destination::Host(queue).number(target));
    match given {
        0 if kind == CPUMAP => [0; BYTES as usize],
        _ => with(THERE | queue.map_or(NOWHERE, u32::from), given),
    }
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
