//! Maps in the kernel, with the user side's operations of bpf(2).

use super::{KernelError, possible_cpus, sys};
use crate::{Errno, MapSpec, MapType};
use std::os::fd::OwnedFd;

/// A key and its value.
pub type Entry = (Vec<u8>, Vec<u8>);

/// Type information that the kernel has taken.
pub struct Btf(pub(super) OwnedFd);

impl Btf {
    /// Loads the bytes of a `.BTF` section.
    pub fn load(btf: &[u8]) -> Result<Self, KernelError> {
        sys::btf_load(btf, &mut []).map(Self).map_err(|errno| {
            let mut log = vec![0; 1 << 20];
            let _ = sys::btf_load(btf, &mut log);
            KernelError { what: "loading BTF".into(), errno, log: text(&log) }
        })
    }
}

/// A log buffer's text, up to its end mark.
pub(super) fn text(log: &[u8]) -> String {
    let end = log.iter().position(|b| *b == 0).unwrap_or(log.len());
    String::from_utf8_lossy(&log[..end]).into_owned()
}

/// One map in the kernel; it is gone when dropped.
pub struct KernelMap {
    map: sys::Map,
    spec: MapSpec,
}

impl KernelMap {
    /// Makes a map, and its contents if it is a data section's; frozen if the declaration says so.
    ///
    /// A perf event array without a size gets one entry for each processor. A map of maps is
    /// made with a template of its inner declaration. Entries of `spec.initial` are not set.
    pub fn create(spec: &MapSpec, btf: Option<&Btf>) -> Result<Self, KernelError> {
        let refused = |what: &str, e| KernelError::new(format!("{what} map `{}` ({})", spec.name, spec.kind.name()), e);
        let template = match &spec.inner {
            Some(inner) => Some(Self::create(inner, btf)?),
            None => None,
        };
        let mut spec = spec.clone();
        if spec.kind == MapType::PerfEventArray && spec.max_entries == 0 {
            spec.max_entries = possible_cpus();
        }
        // The kernel wants to know where a lock is; other types it would only check and print.
        let typed = btf.filter(|_| spec.spin_lock.is_some() && spec.btf.1 != 0);
        let attr = sys::MapCreate {
            map_type: spec.kind as u32,
            key_size: spec.key_size,
            value_size: spec.value_size,
            max_entries: spec.max_entries,
            map_flags: spec.flags,
            inner_map_fd: template.as_ref().map_or(0, |t| t.map.fd() as u32),
            btf_fd: typed.map_or(0, |b| std::os::fd::AsRawFd::as_raw_fd(&b.0) as u32),
            btf_key_type_id: typed.map_or(0, |_| spec.btf.0),
            btf_value_type_id: typed.map_or(0, |_| spec.btf.1),
            ..sys::MapCreate::default()
        };
        let per_cpu = spec.kind.is_per_cpu().then(possible_cpus);
        let map = sys::Map::create(attr, &spec.name, per_cpu).map_err(|e| refused("making", e))?;
        let map = Self { map, spec };
        if let Some(contents) = &map.spec.contents {
            let mut value = contents.clone();
            value.resize(map.map.value_bytes(), 0);
            map.update(&[0; 4], &value, 0).map_err(|e| refused("filling", e))?;
        }
        if map.spec.frozen {
            map.map.freeze().map_err(|e| refused("freezing", e))?;
        }
        Ok(map)
    }

    /// Its declaration.
    pub fn spec(&self) -> &MapSpec {
        &self.spec
    }

    /// Its descriptor: what a map of maps takes as a value.
    pub fn fd(&self) -> i32 {
        self.map.fd()
    }

    /// Bytes of a value as user space sees it: with per-CPU maps all copies.
    pub fn value_bytes(&self) -> usize {
        self.map.value_bytes()
    }

    /// The value of a key.
    pub fn lookup(&self, key: &[u8]) -> Result<Vec<u8>, Errno> {
        self.map.lookup(key)
    }

    /// Sets an entry; a key or value of another length than the map's is EINVAL.
    pub fn update(&self, key: &[u8], value: &[u8], flags: u64) -> Result<(), Errno> {
        self.map.update(key, value, flags)
    }

    /// Removes an entry.
    pub fn delete(&self, key: &[u8]) -> Result<(), Errno> {
        self.map.delete(key)
    }

    /// Takes an element out of a queue or stack.
    pub fn pop(&self) -> Result<Vec<u8>, Errno> {
        self.map.pop()
    }

    /// The key behind this one, or the first one; `None` at the end.
    pub fn next_key(&self, key: Option<&[u8]>) -> Result<Option<Vec<u8>>, Errno> {
        self.map.next_key(key)
    }

    /// All keys in the kernel's order, while nothing else changes the map.
    pub fn keys(&self) -> Result<Vec<Vec<u8>>, Errno> {
        let mut keys: Vec<Vec<u8>> = Vec::new();
        while let Some(next) = self.next_key(keys.last().map(Vec::as_slice))? {
            keys.push(next);
        }
        Ok(keys)
    }

    /// All entries in the kernel's order; keys whose value cannot be read (empty slots) are left out.
    ///
    /// A queue or stack shows the element that goes next; all others only by taking them out.
    pub fn entries(&self) -> Result<Vec<Entry>, Errno> {
        if self.spec.kind.is_queue() {
            return match self.lookup(&[]) {
                Err(Errno::NOENT) => Ok(Vec::new()),
                value => Ok(vec![(Vec::new(), value?)]),
            };
        }
        Ok(self.keys()?.into_iter().filter_map(|k| self.lookup(&k).ok().map(|v| (k, v))).collect())
    }
}
