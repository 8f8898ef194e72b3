//! An object file after loading: relocatable, without addresses and file descriptors.

use crate::insn::{Kind, pseudo};
use crate::load::LoadError;
use crate::map::MapError;
use crate::map::file::unlike;
use crate::{Errno, Insn};
use std::collections::{BTreeMap, BTreeSet};

/// All programs and maps of one object file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Image {
    /// Programs in the order of their sections and addresses.
    pub programs: Vec<Program>,
    /// Maps: declared ones first, then `.rodata`, `.data`, `.bss`.
    pub maps: Vec<MapSpec>,
    /// The license section's text.
    pub license: String,
    /// `.BTF` as the kernel takes it, if the object has it.
    pub btf: Option<Vec<u8>>,
    /// Programs of the object that cannot be run, in its order.
    pub refused: Vec<RefusedProgram>,
    /// Maps that cannot be made; programs that use them are refused.
    pub refused_maps: Vec<RefusedMap>,
    /// What was taken otherwise than the object says, or left out.
    pub notes: Vec<Note>,
}

/// Something that the loader did and that the object's author may not expect.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Note {
    /// The function or map.
    pub name: String,
    /// What was done with it, and why.
    pub text: String,
}

/// A program that cannot be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedProgram {
    /// Symbol.
    pub name: String,
    /// Section.
    pub section: String,
    /// Why.
    pub error: LoadError,
}

/// A map that cannot be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedMap {
    /// Symbol.
    pub name: String,
    /// Why.
    pub error: LoadError,
}

impl Image {
    /// The map with this name.
    pub fn map(&self, name: &str) -> Option<usize> {
        self.maps.iter().position(|m| m.name == name)
    }

    /// Indices of the programs meant by section and name; without either, of all that the object
    /// does not itself put into a program array.
    pub fn chosen(&self, section: Option<&str>, name: Option<&str>) -> Vec<usize> {
        let meant = |p: &Program| match (section, name) {
            (None, None) => !self.calls(&p.name),
            _ => section.is_none_or(|s| s == p.section) && name.is_none_or(|n| n == p.name),
        };
        (0..self.programs.len()).filter(|i| meant(&self.programs[*i])).collect()
    }

    /// Whether the object puts the program with this name into a program array.
    pub fn calls(&self, name: &str) -> bool {
        let places = |(_, initial): &(u32, Initial)| matches!(initial, Initial::Program(n) if n == name);
        self.maps.iter().any(|spec| spec.initial.iter().any(places))
    }

    /// The program with this name.
    pub fn program(&self, name: &str) -> Option<usize> {
        self.programs.iter().position(|p| p.name == name)
    }

    /// Makes `template` what a map of maps holds, as user space does that supplies the first inner map
    /// itself: any map of the object that holds no maps.
    pub fn set_inner_map(&mut self, outer: &str, template: &str) -> Result<(), LoadError> {
        let names = |wanted: bool| {
            let there = self.maps.iter().filter(|m| m.kind.holds_maps() == wanted && !m.name.starts_with('.'));
            there.map(|m| format!("`{}`", m.name)).collect::<Vec<_>>().join(", ")
        };
        let refuse = |found: String, wanted: bool| {
            let there = names(wanted);
            let what = if wanted { "a map of maps" } else { "a map that holds no maps" };
            let allowed =
                if there.is_empty() { format!("{what}: the object has none") } else { format!("{what}: {there}") };
            LoadError::Template { map: outer.to_owned(), found, allowed }
        };
        let found = |name: &str| match self.map(name) {
            Some(at) => format!("`{name}`, a {}", self.maps[at].kind.name()),
            None => format!("`{name}`, which the object does not have"),
        };
        let holder = self.map(outer).filter(|at| self.maps[*at].kind.holds_maps());
        let holder = holder.ok_or_else(|| refuse(found(outer), true))?;
        let held = self.map(template).filter(|at| !self.maps[*at].kind.holds_maps());
        let held = held.ok_or_else(|| refuse(found(template), false))?;
        let inner = MapSpec { initial: Vec::new(), pinned: false, contents: None, ..self.maps[held].clone() };
        self.maps[holder].inner = Some(Box::new(inner));
        Ok(())
    }

    /// An inner map that the object begins with, and that its template, as user space has set it, does not take.
    pub fn unfit_inner(&self) -> Option<MapError> {
        let of_map = |outer: &MapSpec| {
            let begins = outer.initial.iter().filter_map(|(_, initial)| match initial {
                Initial::Map(index) => self.maps.get(*index),
                Initial::Program(_) => None,
            });
            let template = outer.inner.as_deref()?;
            let (inner, (found, allowed)) =
                begins.into_iter().find_map(|inner| Some((inner, unlike(inner, template)?)))?;
            let found = format!("`{}`, {found}", inner.name);
            Some(MapError::Inner { map: outer.name.clone(), found, allowed, errno: Errno::INVAL })
        };
        self.maps.iter().find_map(of_map)
    }

    /// Sets how many entries a map has, as user space does before it loads an object. It must be
    /// set where the object leaves it 0. A ring buffer takes whole powers of two of pages: the
    /// number is rounded up. Entries that the object gives must still have room. A map that a map of
    /// maps has for its template, or begins with, changes the template too; `NAME.inner` is the
    /// template that the declaration of NAME has.
    pub fn set_max_entries(&mut self, name: &str, entries: u32) -> Result<(), LoadError> {
        let refuse = |why| LoadError::MaxEntries { map: name.to_string(), found: entries, why };
        let Some(index) = self.map(name) else {
            let template = self.maps.iter_mut().filter_map(|m| m.inner.as_deref_mut()).find(|inner| inner.name == name);
            template.ok_or_else(|| refuse("the object has no such map"))?.max_entries = entries;
            return Ok(());
        };
        let map = &mut self.maps[index];
        if map.contents.is_some() || map.name.starts_with('.') {
            return Err(refuse("a data section has one entry"));
        }
        let given = map.initial.iter().map(|(index, _)| *index).max();
        if map.kind != MapType::HashOfMaps && given.is_some_and(|last| last >= entries) {
            return Err(refuse("the object gives entries beyond it"));
        }
        let before = map.max_entries;
        map.max_entries = if map.kind == MapType::Ringbuf { crate::map::ring_size(entries) } else { entries };
        let after = map.max_entries;
        for holder in &mut self.maps {
            let begins_with = holder.initial.iter().any(|(_, initial)| *initial == Initial::Map(index));
            if let Some(template) = holder.inner.as_deref_mut()
                && template.max_entries == before
                && (begins_with || template.name == name)
            {
                template.max_entries = after;
            }
        }
        Ok(())
    }
}

impl Program {
    /// Maps that its instructions name, by index in the image.
    pub fn maps(&self) -> BTreeSet<usize> {
        let named = |i: &&Insn| i.is_wide() && matches!(i.src, pseudo::MAP | pseudo::MAP_VALUE);
        self.instructions().filter(named).map(|i| i.imm as usize).collect()
    }

    /// Instructions, without the second halves of 64-bit immediates.
    pub fn instructions(&self) -> impl Iterator<Item = &Insn> {
        let mut second = false;
        self.insns.iter().filter(move |i| {
            let first = !second;
            second = first && i.is_wide();
            first
        })
    }
}

/// One program: its own instructions, and behind them the functions it calls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Program {
    /// Symbol.
    pub name: String,
    /// Section, such as `xdp` or `xdp/firewall`.
    pub section: String,
    /// Slots. Map references are `pseudo::MAP` and `pseudo::MAP_VALUE`, by index in the image.
    pub insns: Vec<Insn>,
    /// The program at slot 0 first, then its functions, by rising start.
    pub functions: Vec<Function>,
    /// Source lines by first slot, where BTF has them.
    pub lines: BTreeMap<u32, Line>,
}

impl Program {
    /// A program of slots alone: its functions are slot 0 and what it calls or points to.
    pub fn from_insns(name: &str, insns: Vec<Insn>) -> Self {
        let mut starts = std::collections::BTreeSet::from([0]);
        let mut slot = 0;
        while slot < insns.len() {
            let kind = insns[slot].kind(insns.get(slot + 1).copied()).ok();
            if let Some(kind @ (Kind::CallLocal { .. } | Kind::Wide { .. })) = kind {
                let target = kind.target(slot as u32).and_then(|t| u32::try_from(t).ok());
                starts.extend(target.filter(|t| (*t as usize) < insns.len()));
            }
            slot += kind.map_or(1, Kind::slots) as usize;
        }
        let function = |start| {
            let name = if start == 0 { name.to_owned() } else { format!("function_{start}") };
            Function { name, start, btf_type: 0 }
        };
        let functions = starts.into_iter().map(function).collect();
        Self { name: name.to_owned(), insns, functions, ..Self::default() }
    }

    /// The source line that a slot is from, where BTF has lines.
    pub fn line_of(&self, slot: u32) -> Option<&Line> {
        self.lines.range(..=slot).next_back().map(|(_, line)| line)
    }
}

/// A function of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Symbol.
    pub name: String,
    /// First slot; it ends where the next begins.
    pub start: u32,
    /// BTF type of the function, for the kernel; 0 without.
    pub btf_type: u32,
}

/// A source line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// File as the compiler names it.
    pub file: String,
    /// Text of the line.
    pub text: String,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1; 0 when unknown.
    pub column: u32,
}

/// Kind of a map; numbers as in `enum bpf_map_type`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)] // The names are the kernel's.
pub enum MapType {
    Hash = 1,
    Array = 2,
    ProgArray = 3,
    PerfEventArray = 4,
    PercpuHash = 5,
    PercpuArray = 6,
    LruHash = 9,
    LruPercpuHash = 10,
    LpmTrie = 11,
    ArrayOfMaps = 12,
    HashOfMaps = 13,
    Devmap = 14,
    Cpumap = 16,
    Xskmap = 17,
    Queue = 22,
    Stack = 23,
    DevmapHash = 25,
    Ringbuf = 27,
}

impl MapType {
    /// All that exist here.
    pub const ALL: [Self; 18] = [
        Self::Hash,
        Self::Array,
        Self::ProgArray,
        Self::PerfEventArray,
        Self::PercpuHash,
        Self::PercpuArray,
        Self::LruHash,
        Self::LruPercpuHash,
        Self::LpmTrie,
        Self::ArrayOfMaps,
        Self::HashOfMaps,
        Self::Devmap,
        Self::Cpumap,
        Self::Xskmap,
        Self::Queue,
        Self::Stack,
        Self::DevmapHash,
        Self::Ringbuf,
    ];

    /// The kind with this number.
    pub fn from_number(number: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|t| *t as u32 == number)
    }

    /// Name as bpftool prints it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Hash => "hash",
            Self::Array => "array",
            Self::ProgArray => "prog_array",
            Self::PerfEventArray => "perf_event_array",
            Self::PercpuHash => "percpu_hash",
            Self::PercpuArray => "percpu_array",
            Self::LruHash => "lru_hash",
            Self::LruPercpuHash => "lru_percpu_hash",
            Self::LpmTrie => "lpm_trie",
            Self::ArrayOfMaps => "array_of_maps",
            Self::HashOfMaps => "hash_of_maps",
            Self::Devmap => "devmap",
            Self::Cpumap => "cpumap",
            Self::Xskmap => "xskmap",
            Self::Queue => "queue",
            Self::Stack => "stack",
            Self::DevmapHash => "devmap_hash",
            Self::Ringbuf => "ringbuf",
        }
    }

    /// Whether maps of this type hold maps.
    pub fn holds_maps(self) -> bool {
        matches!(self, Self::ArrayOfMaps | Self::HashOfMaps)
    }

    /// Whether programs tell the host through it, and it holds no entries that the host reads.
    pub fn takes_events(self) -> bool {
        matches!(self, Self::Ringbuf | Self::PerfEventArray)
    }

    /// Whether it holds elements one behind the other, without keys.
    pub fn is_queue(self) -> bool {
        matches!(self, Self::Queue | Self::Stack)
    }

    /// Full maps give up what was not used for long.
    pub fn is_lru(self) -> bool {
        matches!(self, Self::LruHash | Self::LruPercpuHash)
    }

    /// One value a CPU.
    pub fn is_per_cpu(self) -> bool {
        matches!(self, Self::PercpuHash | Self::PercpuArray | Self::LruPercpuHash)
    }
}

/// Flags of `map_flags`.
pub mod map_flags {
    /// Entries are not allocated before (LPM must have it).
    pub const NO_PREALLOC: u32 = 1 << 0;
    /// One LRU list a CPU.
    pub const NO_COMMON_LRU: u32 = 1 << 1;
    /// A NUMA node is given.
    pub const NUMA_NODE: u32 = 1 << 2;
    /// User space only reads.
    pub const RDONLY: u32 = 1 << 3;
    /// User space only writes.
    pub const WRONLY: u32 = 1 << 4;
    /// Seed of the hash is zero.
    pub const ZERO_SEED: u32 = 1 << 6;
    /// Programs only read.
    pub const RDONLY_PROG: u32 = 1 << 7;
    /// Programs only write.
    pub const WRONLY_PROG: u32 = 1 << 8;
    /// User space maps it into its memory.
    pub const MMAPABLE: u32 = 1 << 10;
    /// An array of maps takes inner arrays of any length.
    pub const INNER_MAP: u32 = 1 << 12;
}

/// A map as the object declares it.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MapSpec {
    /// Symbol; `.rodata` and the like for data sections.
    pub name: String,
    /// Kind.
    pub kind: MapType,
    /// Bytes of a key.
    pub key_size: u32,
    /// Bytes of a value.
    pub value_size: u32,
    /// Most entries; 0 when user space must set it before the map is made.
    pub max_entries: u32,
    /// `map_flags`.
    pub flags: u32,
    /// `LIBBPF_PIN_BY_NAME`: it outlives a replacement.
    pub pinned: bool,
    /// What a map of maps holds.
    pub inner: Option<Box<MapSpec>>,
    /// Entries that the object gives: inner maps of a map of maps, programs of a program array.
    #[serde(skip)]
    pub initial: Vec<(u32, Initial)>,
    /// First value of a data section's map.
    pub contents: Option<Vec<u8>>,
    /// No program and no user may write it (`.rodata`).
    pub frozen: bool,
    /// Offset of a `struct bpf_spin_lock` in the value.
    pub spin_lock: Option<u32>,
    /// BTF types of key and value, for the kernel and for printing; 0 without.
    pub btf: (u32, u32),
}

impl MapSpec {
    /// Bytes of a value as bpf(2) takes it: of a per-CPU map one a processor, each rounded up to 8.
    pub fn value_bytes(&self, cpus: u32) -> usize {
        let size = self.value_size as usize;
        if self.kind.is_per_cpu() { size.next_multiple_of(8) * cpus as usize } else { size }
    }

    /// Values lie every so many bytes, as a power of two.
    pub fn value_shift(&self) -> u8 {
        crate::map::stride_shift(self.value_size) as u8
    }

    /// A declaration without flags and without anything else beside its sizes.
    pub fn new(name: impl Into<String>, kind: MapType, key_size: u32, value_size: u32, max_entries: u32) -> Self {
        Self {
            name: name.into(),
            kind,
            key_size,
            value_size,
            max_entries,
            flags: 0,
            pinned: false,
            inner: None,
            initial: Vec::new(),
            contents: None,
            frozen: false,
            spin_lock: None,
            btf: (0, 0),
        }
    }
}

/// An entry that the object gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Initial {
    /// The map with this index in the image.
    Map(usize),
    /// The program with this name.
    Program(String),
}
