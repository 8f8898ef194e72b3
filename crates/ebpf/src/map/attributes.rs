//! What a map may declare: the kernel's checks, with its error numbers.

use super::MapError;
use crate::image::map_flags::{
    INNER_MAP, MMAPABLE, NO_COMMON_LRU, NO_PREALLOC, NUMA_NODE, RDONLY, RDONLY_PROG, WRONLY, WRONLY_PROG, ZERO_SEED,
};
use crate::{Errno, MapSpec, MapType};

/// `BPF_F_PRESERVE_ELEMS`: events stay in a perf event array when its file is closed.
const PRESERVE_ELEMS: u32 = 1 << 11;
/// All four access flags.
const ACCESS: u32 = RDONLY | WRONLY | RDONLY_PROG | WRONLY_PROG;
/// Largest object that the kernel allocates.
const KMALLOC_MAX: u64 = 4 << 20;
/// Largest value of a per-CPU map.
const PER_CPU_MAX: u32 = 32 << 10;
/// Page of the kernel.
const KERNEL_PAGE: u32 = 4096;
/// Prefixes of an LPM trie: 8 to 2,048 bits, with their length in front.
pub(super) const LPM_KEY_BYTES: std::ops::RangeInclusive<u32> = 5..=260;
/// Most CPUs a cpumap may have (`NR_CPUS` of a common kernel).
const MOST_CPUS: u32 = 8192;

const NAMES: [(u32, &str); 11] = [
    (NO_PREALLOC, "NO_PREALLOC"),
    (NO_COMMON_LRU, "NO_COMMON_LRU"),
    (NUMA_NODE, "NUMA_NODE"),
    (RDONLY, "RDONLY"),
    (WRONLY, "WRONLY"),
    (ZERO_SEED, "ZERO_SEED"),
    (RDONLY_PROG, "RDONLY_PROG"),
    (WRONLY_PROG, "WRONLY_PROG"),
    (MMAPABLE, "MMAPABLE"),
    (PRESERVE_ELEMS, "PRESERVE_ELEMS"),
    (INNER_MAP, "INNER_MAP"),
];

fn flag_names(flags: u32) -> String {
    let names: Vec<&str> = NAMES.iter().filter(|(bit, _)| flags & bit != 0).map(|&(_, name)| name).collect();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

/// Checks a declaration as `BPF_MAP_CREATE` does, in its order.
pub(super) fn check(spec: &MapSpec) -> Result<(), MapError> {
    use MapType as T;
    let c = Check(spec);
    if spec.flags & (RDONLY | WRONLY) == RDONLY | WRONLY {
        return Err(c.flags("RDONLY or WRONLY, not both", Errno::INVAL));
    }
    if matches!(spec.kind, T::ArrayOfMaps | T::HashOfMaps) {
        c.inner()?;
    }
    match spec.kind {
        T::Array | T::PercpuArray => c.array()?,
        T::ProgArray | T::PerfEventArray | T::ArrayOfMaps => {
            c.size("value_size", spec.value_size, spec.value_size == 4, "4", Errno::INVAL)?;
            if spec.flags & (RDONLY_PROG | WRONLY_PROG) != 0 {
                return Err(c.flags("neither RDONLY_PROG nor WRONLY_PROG", Errno::INVAL));
            }
            c.array()?;
        }
        T::HashOfMaps => {
            c.size("value_size", spec.value_size, spec.value_size == 4, "4", Errno::INVAL)?;
            c.hash()?;
        }
        T::Hash | T::PercpuHash | T::LruHash | T::LruPercpuHash => c.hash()?,
        T::LpmTrie => c.trie()?,
        T::Devmap | T::DevmapHash => {
            c.entries()?;
            c.size("key_size", spec.key_size, spec.key_size == 4, "4", Errno::INVAL)?;
            let value = matches!(spec.value_size, 4 | 8);
            c.size("value_size", spec.value_size, value, "4 (interface) or 8 (interface, program)", Errno::INVAL)?;
            c.only(NUMA_NODE | RDONLY | WRONLY)?;
            let few = spec.kind == T::Devmap || spec.max_entries <= 1 << 31;
            c.size("max_entries", spec.max_entries, few, "at most 2147483648", Errno::INVAL)?;
        }
        T::Cpumap => {
            c.entries()?;
            c.size("key_size", spec.key_size, spec.key_size == 4, "4", Errno::INVAL)?;
            let value = matches!(spec.value_size, 4 | 8);
            c.size("value_size", spec.value_size, value, "4 (queue size) or 8 (queue size, program)", Errno::INVAL)?;
            c.only(NUMA_NODE)?;
            let few = spec.max_entries <= MOST_CPUS;
            c.size("max_entries", spec.max_entries, few, &format!("at most {MOST_CPUS}"), Errno::TOOBIG)?;
        }
        T::Xskmap => {
            c.entries()?;
            c.size("key_size", spec.key_size, spec.key_size == 4, "4", Errno::INVAL)?;
            c.size("value_size", spec.value_size, spec.value_size == 4, "4", Errno::INVAL)?;
            c.only(NUMA_NODE | RDONLY | WRONLY)?;
        }
        T::Queue | T::Stack => {
            c.entries()?;
            c.size("key_size", spec.key_size, spec.key_size == 0, "0", Errno::INVAL)?;
            c.size("value_size", spec.value_size, spec.value_size != 0, "1 and more", Errno::INVAL)?;
            c.only(NUMA_NODE | ACCESS)?;
            let fits = u64::from(spec.value_size) <= KMALLOC_MAX;
            c.size("value_size", spec.value_size, fits, &format!("at most {KMALLOC_MAX}"), Errno::TOOBIG)?;
        }
        T::Ringbuf => {
            c.only(NUMA_NODE)?;
            c.size("key_size", spec.key_size, spec.key_size == 0, "0", Errno::INVAL)?;
            c.size("value_size", spec.value_size, spec.value_size == 0, "0", Errno::INVAL)?;
            let fits = spec.max_entries.is_power_of_two() && spec.max_entries.is_multiple_of(KERNEL_PAGE);
            let allowed = format!("a power of two, a multiple of {KERNEL_PAGE}");
            c.size("max_entries", spec.max_entries, fits, &allowed, Errno::INVAL)?;
        }
    }
    c.spin_lock()
}

/// Whether `map` may stand where `template` was declared, as the kernel's `map_meta_equal`.
pub(super) fn may_stand_for(map: &MapSpec, template: &MapSpec) -> bool {
    let same = |s: &MapSpec| (s.kind, s.key_size, s.value_size, s.flags, s.spin_lock);
    if same(map) != same(template) {
        return false;
    }
    match map.kind {
        MapType::Array => map.flags & INNER_MAP != 0 || map.max_entries == template.max_entries,
        MapType::Xskmap => map.max_entries == template.max_entries,
        _ => true,
    }
}

struct Check<'a>(&'a MapSpec);

impl Check<'_> {
    fn size(&self, what: &'static str, found: u32, good: bool, allowed: &str, errno: Errno) -> Result<(), MapError> {
        if good {
            return Ok(());
        }
        let map = self.0.name.clone();
        Err(MapError::Declaration { map, what, found: found.to_string(), allowed: allowed.to_owned(), errno })
    }

    fn flags(&self, allowed: impl Into<String>, errno: Errno) -> MapError {
        let (map, kind) = (self.0.name.clone(), self.0.kind.name());
        MapError::Flags { map, kind, found: self.0.flags, allowed: allowed.into(), errno }
    }

    fn entries(&self) -> Result<(), MapError> {
        let entries = self.0.max_entries;
        self.size("max_entries", entries, entries != 0, "1 and more; set it before the map is made", Errno::INVAL)
    }

    fn only(&self, allowed: u32) -> Result<(), MapError> {
        if self.0.flags & !allowed != 0 {
            return Err(self.flags(flag_names(allowed), Errno::INVAL));
        }
        if self.0.flags & (RDONLY_PROG | WRONLY_PROG) == RDONLY_PROG | WRONLY_PROG {
            return Err(self.flags("RDONLY_PROG or WRONLY_PROG, not both", Errno::INVAL));
        }
        Ok(())
    }

    fn array(&self) -> Result<(), MapError> {
        let spec = self.0;
        self.entries()?;
        self.size("key_size", spec.key_size, spec.key_size == 4, "4", Errno::INVAL)?;
        self.size("value_size", spec.value_size, spec.value_size != 0, "1 and more", Errno::INVAL)?;
        let mut allowed = ACCESS;
        if spec.kind != MapType::PercpuArray {
            allowed |= NUMA_NODE;
        }
        if spec.kind == MapType::Array {
            allowed |= MMAPABLE | INNER_MAP;
        }
        if spec.kind == MapType::PerfEventArray {
            allowed |= PRESERVE_ELEMS;
        }
        self.only(allowed)?;
        let most = i32::MAX as u32;
        self.size("value_size", spec.value_size, spec.value_size <= most, "at most 2147483647", Errno::TOOBIG)?;
        self.per_cpu_value()
    }

    fn hash(&self) -> Result<(), MapError> {
        let spec = self.0;
        let lru = spec.kind.is_lru();
        self.only(NO_PREALLOC | NO_COMMON_LRU | NUMA_NODE | ACCESS | ZERO_SEED)?;
        if !lru && spec.flags & NO_COMMON_LRU != 0 {
            return Err(self.flags("NO_COMMON_LRU only for LRU maps", Errno::INVAL));
        }
        if lru && spec.flags & NO_PREALLOC != 0 {
            return Err(self.flags("LRU maps are preallocated: no NO_PREALLOC", Errno::NOTSUPP));
        }
        if spec.flags & NUMA_NODE != 0 && (spec.kind.is_per_cpu() || spec.flags & NO_COMMON_LRU != 0) {
            return Err(self.flags("no NUMA_NODE where there is something for each CPU", Errno::INVAL));
        }
        self.entries()?;
        self.size("key_size", spec.key_size, spec.key_size != 0, "1 and more", Errno::INVAL)?;
        self.size("value_size", spec.value_size, spec.value_size != 0, "1 and more", Errno::INVAL)?;
        let room = KMALLOC_MAX - 48;
        let fits = u64::from(spec.key_size) + u64::from(spec.value_size) < room;
        let allowed = format!("with the key below {room}");
        self.size("value_size", spec.value_size, fits, &allowed, Errno::TOOBIG)?;
        self.per_cpu_value()?;
        self.size("max_entries", spec.max_entries, spec.max_entries <= 1 << 31, "at most 2147483648", Errno::TOOBIG)
    }

    fn trie(&self) -> Result<(), MapError> {
        let spec = self.0;
        self.entries()?;
        if spec.flags & NO_PREALLOC == 0 {
            return Err(self.flags("with NO_PREALLOC", Errno::INVAL));
        }
        self.only(NO_PREALLOC | NUMA_NODE | ACCESS)?;
        let allowed = "5 to 260: 4 bytes of prefix length and the address";
        self.size("key_size", spec.key_size, LPM_KEY_BYTES.contains(&spec.key_size), allowed, Errno::INVAL)?;
        let most = KMALLOC_MAX - 256 - 40;
        let fits = (1..=most).contains(&u64::from(spec.value_size));
        self.size("value_size", spec.value_size, fits, &format!("1 to {most}"), Errno::INVAL)
    }

    fn per_cpu_value(&self) -> Result<(), MapError> {
        let size = self.0.value_size;
        let fits = !self.0.kind.is_per_cpu() || size <= PER_CPU_MAX;
        self.size("value_size", size, fits, &format!("at most {PER_CPU_MAX} for each CPU"), Errno::TOOBIG)
    }

    fn inner(&self) -> Result<(), MapError> {
        let bad = |found: String, allowed: &str, errno| {
            Err(MapError::Inner { map: self.0.name.clone(), found, allowed: allowed.to_owned(), errno })
        };
        let Some(inner) = &self.0.inner else {
            let named = format!(
                "a map declaration in `values`, an inner map, or a template that `--inner-map {}=MAP` (`inner_maps` in \
                 nic.toml) names",
                self.0.name
            );
            return bad("not declared".to_owned(), &named, Errno(9));
        };
        match inner.kind {
            MapType::ArrayOfMaps | MapType::HashOfMaps => {
                bad(format!("itself of kind {}", inner.kind.name()), "a map that holds no maps", Errno::INVAL)
            }
            MapType::ProgArray => bad("of kind prog_array".to_owned(), "any kind that holds data", Errno::NOTSUPP),
            _ => check(inner),
        }
    }

    fn spin_lock(&self) -> Result<(), MapError> {
        let spec = self.0;
        let Some(offset) = spec.spin_lock else { return Ok(()) };
        let bad = |found: String, allowed: &str, errno| {
            Err(MapError::SpinLock { map: spec.name.clone(), found, allowed: allowed.to_owned(), errno })
        };
        if !matches!(spec.kind, MapType::Hash | MapType::Array) {
            let found = format!("a spin lock in a {}", spec.kind.name());
            return bad(found, "spin locks in values of hash and array maps", Errno::OPNOTSUPP);
        }
        if spec.flags & (RDONLY_PROG | WRONLY_PROG) != 0 {
            return bad(
                "a spin lock in values that programs only read or only write".to_owned(),
                "no such flag",
                Errno(13),
            );
        }
        if offset % 4 != 0 || u64::from(offset) + 4 > u64::from(spec.value_size) {
            let found = format!("a spin lock at byte {offset} of {}", spec.value_size);
            return bad(found, "4 aligned bytes inside of the value", Errno::INVAL);
        }
        Ok(())
    }
}

/// Rounds the size of a ring buffer up to a power of two of pages, as libbpf does.
pub(crate) fn ring_size(entries: u32) -> u32 {
    if entries == 0 {
        return 0;
    }
    let pages = entries.div_ceil(KERNEL_PAGE).next_power_of_two();
    pages.checked_mul(KERNEL_PAGE).unwrap_or(entries)
}

/// What loaders complete in every declaration: a ring buffer's length as libbpf, and as cilium/ebpf the sizes that a
/// perf event array leaves out. It has no others than 4 and 4.
pub(crate) fn as_loaders_complete(spec: &mut MapSpec) {
    match spec.kind {
        MapType::Ringbuf => spec.max_entries = ring_size(spec.max_entries),
        MapType::PerfEventArray => {
            let four_if_none = |size: &mut u32| *size = if *size == 0 { 4 } else { *size };
            four_if_none(&mut spec.key_size);
            four_if_none(&mut spec.value_size);
        }
        _ => {}
    }
}

/// The declaration as libbpf hands it to the kernel: a perf event array without length gets one entry
/// a CPU, a ring buffer's length the next power of two of pages.
pub fn as_libbpf_creates(spec: &MapSpec, cpus: u32) -> MapSpec {
    let mut spec = spec.clone();
    match spec.kind {
        MapType::PerfEventArray if spec.max_entries == 0 => spec.max_entries = cpus.max(1),
        MapType::Ringbuf => spec.max_entries = ring_size(spec.max_entries),
        _ => {}
    }
    if let Some(inner) = &mut spec.inner {
        **inner = as_libbpf_creates(inner, cpus);
    }
    spec
}
