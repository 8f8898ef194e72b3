//! Generated programs that do one thing again and again: what the rates of engine and Linux JIT are taken of.
//!
//! All send the frame back. None branches on what it has computed, so each run takes the same way.

use sluice_ebpf::{MapSpec, MapType};
use std::fmt::Write;

/// The frame: 64 bytes, any.
pub const FRAME: [u8; 64] = [2; 64];
/// The program's map, where it has one.
pub const MAP: &str = "values";
/// Bytes of keys of hash maps.
pub const KEYS: [u32; 7] = [1, 2, 4, 8, 16, 32, 64];
/// Bytes of values that updates of an array write.
pub const VALUES: [u32; 4] = [8, 32, 128, 256];

/// Byte of the key whose entry is there.
const KEY_BYTE: u8 = 0x5a;
/// Entries of each map.
const ENTRIES: u32 = 256;
/// Words of the frame in r3 to r5, four values to compute with.
const BEGIN: &str = "r6 = *(u32 *)(r1 +0)\nr2 = *(u32 *)(r1 +4)\nr3 = r6\nr3 += 64\nif r3 > r2 goto drop\n\
    r3 = *(u64 *)(r6 +0)\nr4 = *(u64 *)(r6 +8)\nr5 = *(u64 *)(r6 +24)\nr2 = r3\nr7 = r4\nr8 = r5\nr9 = *(u64 *)(r6 +32)\n";
const END: &str = "r0 = 3\nexit\ndrop:\nr0 = 1\nexit\n";

/// What the programs of a family repeat.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// Sums and bitwise operations of 64 bits, each of what the one before gave.
    Chain,
    /// The same in four chains.
    Chains,
    /// `bpf_csum_diff` of 4 bytes of the stack by 4 of the frame.
    Sum,
    /// Lookup in a hash map, and a test whether the entry was there, by the key's bytes.
    Lookup(u32),
    /// Update of an entry of a hash map, values of 8 bytes, by the key's bytes.
    Update(u32),
    /// Deletion of an entry of a hash map, and an update that puts it in again, by the key's bytes.
    Replace(u32),
    /// Lookup in an array.
    Index,
    /// Update of an array, by the value's bytes.
    Write(u32),
}

/// Programs that differ in how often they do it.
pub struct Family {
    pub what: What,
    /// How often; ascending.
    pub times: &'static [u32],
}

/// All of them.
pub fn families() -> Vec<Family> {
    let maps = &[1, 8];
    let one = |what, times| Family { what, times };
    let mut all = vec![
        one(What::Chain, &[0, 8, 16, 32, 64, 128, 256]),
        one(What::Chains, &[0, 8, 16, 32, 64, 128, 256]),
        one(What::Sum, &[1, 2, 4, 8, 16, 32]),
        one(What::Index, maps),
    ];
    all.extend(VALUES.map(|bytes| one(What::Write(bytes), maps)));
    for of in [What::Lookup, What::Update, What::Replace] {
        all.extend(KEYS.map(|bytes| one(of(bytes), maps)));
    }
    all
}

impl What {
    /// How tables name it.
    pub fn name(self) -> String {
        match self {
            Self::Chain => "arithmetic, one chain".into(),
            Self::Chains => "arithmetic, four chains".into(),
            Self::Sum => "csum_diff, 4 by 4 bytes".into(),
            Self::Index => "array lookup".into(),
            Self::Write(bytes) => format!("array update, value of {bytes}"),
            Self::Lookup(bytes) => format!("hash lookup, key of {bytes}"),
            Self::Update(bytes) => format!("hash update, key of {bytes}"),
            Self::Replace(bytes) => format!("hash delete and insert, key of {bytes}"),
        }
    }

    /// Its map.
    pub fn map(self) -> Option<MapSpec> {
        match self {
            Self::Chain | Self::Chains | Self::Sum => None,
            Self::Index => Some(MapSpec::new(MAP, MapType::Array, 4, 8, ENTRIES)),
            Self::Write(bytes) => Some(MapSpec::new(MAP, MapType::Array, 4, bytes, ENTRIES)),
            Self::Lookup(bytes) | Self::Update(bytes) | Self::Replace(bytes) => {
                Some(MapSpec::new(MAP, MapType::Hash, bytes, 8, ENTRIES))
            }
        }
    }

    /// Key and value of the entry that is there before the first packet; an array has all.
    pub fn entry(self) -> Option<(Vec<u8>, Vec<u8>)> {
        let map = self.map().filter(|map| map.kind == MapType::Hash)?;
        Some((vec![KEY_BYTE; map.key_size as usize], vec![1; map.value_size as usize]))
    }

    /// The program that does it so often.
    pub fn program(self, times: u32) -> String {
        let mut text = BEGIN.to_owned();
        let one = |text: &mut String, line: &str| text.push_str(line);
        match self {
            Self::Chain | Self::Chains => {
                let chains = if self == Self::Chain { &["r2"][..] } else { &["r2", "r7", "r8", "r9"] };
                let steps = ["+= r3", "^= r4", "-= r5", "|= r3", "+= r4", "^= r5", "-= r3", "&= r4"];
                for n in 0..times as usize {
                    let _ = writeln!(text, "{} {}", chains[n % chains.len()], steps[n / chains.len() % steps.len()]);
                }
                one(&mut text, "r2 ^= r7\nr2 ^= r8\nr2 ^= r9\n*(u64 *)(r6 +16) = r2\n");
            }
            Self::Sum => {
                one(&mut text, "*(u64 *)(r10 -8) = r2\nr0 = 0\n");
                for _ in 0..times {
                    one(
                        &mut text,
                        "r5 = r0\nr1 = r10\nr1 += -8\nr2 = 4\nr3 = r6\nr3 += 28\nr4 = 4\ncall bpf_csum_diff\n",
                    );
                }
                one(&mut text, "*(u32 *)(r6 +16) = r0\n");
            }
            _ => {
                let map = self.map().expect("operations of maps have one");
                let hash = map.kind == MapType::Hash;
                // The key ends at r10 - 256; the value begins there.
                let key = -256 - map.key_size.next_multiple_of(8) as i32;
                for word in 0..map.key_size.div_ceil(8) as i32 {
                    // An index of an array comes from the frame: with a number the compiler needs no lookup.
                    let bytes = u64::from_le_bytes([KEY_BYTE; 8]);
                    let made = if hash { format!("r2 = {bytes:#x}") } else { "r2 = r3\nr2 &= 3".to_owned() };
                    let _ = writeln!(text, "{made}\n*(u64 *)(r10 {:+}) = r2", key + 8 * word);
                }
                for word in 0..map.value_size.div_ceil(8) as i32 {
                    let _ = writeln!(text, "*(u64 *)(r10 {:+}) = r3", 8 * word - 256);
                }
                let find = format!("r1 = map[{MAP}]\nr2 = r10\nr2 += {key}\n");
                let put = format!("{find}r3 = r10\nr3 += -256\nr4 = 0\ncall bpf_map_update_elem\n");
                let each = match self {
                    Self::Index | Self::Lookup(_) => format!("{find}call bpf_map_lookup_elem\nif r0 == 0 goto drop\n"),
                    Self::Replace(_) => format!("{find}call bpf_map_delete_elem\n{put}"),
                    _ => put,
                };
                (0..times).for_each(|_| one(&mut text, &each));
            }
        }
        text + END
    }
}

/// Cycles a packet and cycles each time (none in a family's first row), as docs/measurements.md has them of the engine in RTL.
pub fn of_rtl(what: What, times: u32) -> (f64, Option<f64>) {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/measurements.md");
    let page = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let table = page.split("<!-- xdp-rates -->").nth(1).expect("a section xdp-rates");
    let begins = format!("| {} | {times} |", what.name());
    let line = table.lines().find(|line| line.starts_with(&begins)).unwrap_or_else(|| panic!("no {begins}"));
    let fields: Vec<&str> = line.split('|').map(str::trim).collect();
    (fields[3].parse().unwrap_or_else(|_| panic!("{line}")), fields[4].parse().ok())
}
