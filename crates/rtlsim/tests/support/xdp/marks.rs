//! Programs that mark frames with whose they are and which version, and show what they find in a map, on the stack and in front of the frame.

use super::device::object;
use sluice_ebpf::{MapSpec, MapType};
use sluice_object::Object;

/// Most keys of a map; packets ask for some beyond.
pub const ENTRIES: u32 = 6;
/// Bytes that a frame gets in front.
const HEAD: usize = 16;
/// Where the key is, and from where on the marks are.
const KEY: usize = 14;
const MARKS: usize = 16;

/// A version of a tenant's program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Version {
    pub tenant: u16,
    pub number: u32,
    /// Its map is a hash map, else an array.
    pub hash: bool,
    /// It shows bytes in front of the frame.
    pub head: bool,
}

impl Version {
    fn mark(self) -> u64 {
        0xa5 << 56 | u64::from(self.tenant) << 32 | u64::from(self.number)
    }

    /// The value that the tenant's host writes at a key, in its nth operation.
    pub fn value(tenant: u16, key: u32, n: u32) -> u64 {
        0x5a << 56 | u64::from(tenant) << 48 | u64::from(key) << 32 | u64::from(n)
    }

    /// The object, whose map is the one before where it is kept.
    pub fn object(self, keep: bool) -> Object {
        let kind = if self.hash { MapType::Hash } else { MapType::Array };
        let map = MapSpec::new(self.map(), kind, 4, 8, ENTRIES);
        let mark = self.mark();
        let stack = [8, 16, 64, 256, 512];
        let seen: String = stack.iter().map(|at| format!("r4 = *(u64 *)(r10 -{at})\nr8 |= r4\n")).collect();
        let left: String = stack.iter().map(|at| format!("*(u64 *)(r10 -{at}) = r4\n")).collect();
        let head = format!("r2 = -{HEAD}\ncall bpf_xdp_adjust_head\nr3 = r0\nr0 = 1\nif r3 != 0 goto out\n");
        let bounds = |bytes: usize| {
            format!("r6 = *(u32 *)(r9 +0)\nr2 = *(u32 *)(r9 +4)\nr3 = r6\nr3 += {bytes}\nr0 = 1\nif r3 > r2 goto out\n")
        };
        let begin = match self.head {
            true => format!("{head}{}r4 = {mark:#x}\n*(u64 *)(r6 +8) = r4\nr6 += {HEAD}\n", bounds(HEAD + MARKS + 24)),
            false => bounds(MARKS + 24),
        };
        let text = format!(
            "r9 = r1\n{begin}r8 = 0\n{seen}r4 = {mark:#x}\n{left}*(u64 *)(r6 +{MARKS}) = r4\n*(u64 *)(r6 +{}) = r8\n\
             r4 = *(u8 *)(r6 +{KEY})\n*(u32 *)(r10 -4) = r4\nr2 = r10\nr2 += -4\nr1 = map[{}]\ncall bpf_map_lookup_elem\n\
             r5 = 0\nif r0 == 0 goto none\nr5 = *(u64 *)(r0 +0)\nnone:\n*(u64 *)(r6 +{}) = r5\nr0 = 3\nout:\nexit\n",
            MARKS + 16,
            map.name,
            MARKS + 8,
        );
        let keep: &[&str] = if keep { &[self.map()] } else { &[] };
        object("marks", &text, vec![map], keep)
    }

    /// The name of its map.
    pub fn map(self) -> &'static str {
        if self.hash { "keyed" } else { "indexed" }
    }

    /// A frame as it leaves, with the value that the program has found.
    pub fn leaves(self, frame: &[u8], value: u64) -> Vec<u8> {
        let mut bytes = frame.to_vec();
        bytes[MARKS..MARKS + 8].copy_from_slice(&self.mark().to_le_bytes());
        bytes[MARKS + 8..MARKS + 16].copy_from_slice(&value.to_le_bytes());
        bytes[MARKS + 16..MARKS + 24].fill(0);
        if self.head {
            bytes.splice(..0, [[0; 8], self.mark().to_le_bytes()].concat());
        }
        bytes
    }

    /// The number of the version that marked a frame, where one with or without a head did, and the value that it found.
    pub fn read(bytes: &[u8], tenant: u16) -> Vec<(u32, bool, u64)> {
        let word = |at: usize| bytes.get(at..at + 8).map_or(0, |word| u64::from_le_bytes(word.try_into().unwrap()));
        let marks = [(false, MARKS), (true, MARKS + HEAD)].map(|(head, at)| (word(at), head, word(at + 8)));
        let whose = |mark: u64| mark >> 32 == 0xa5 << 24 | u64::from(tenant);
        marks
            .into_iter()
            .filter(|(mark, ..)| whose(*mark))
            .map(|(mark, head, value)| (mark as u32, head, value))
            .collect()
    }
}

/// The key that a frame asks for.
pub fn key(frame: &[u8]) -> u32 {
    frame[KEY].into()
}
