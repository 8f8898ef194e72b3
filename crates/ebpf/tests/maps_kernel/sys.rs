//! bpf(2) as far as maps need it. All `unsafe` of these tests is here.
#![allow(unsafe_code)]

use sluice_ebpf::{Errno, MapSpec};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

const CREATE: i64 = 0;
const LOOKUP: i64 = 1;
const UPDATE: i64 = 2;
const DELETE: i64 = 3;
const NEXT_KEY: i64 = 4;
const POP: i64 = 21;
const FREEZE: i64 = 22;
/// Bytes of `union bpf_attr` that are given.
const ATTR: usize = 144;

/// A map of the kernel.
pub struct KernelMap(pub OwnedFd);

struct Attr([u8; ATTR]);

impl Attr {
    fn new() -> Self {
        Self([0; ATTR])
    }

    fn u32(mut self, at: usize, value: u32) -> Self {
        self.0[at..at + 4].copy_from_slice(&value.to_ne_bytes());
        self
    }

    fn u64(mut self, at: usize, value: u64) -> Self {
        self.0[at..at + 8].copy_from_slice(&value.to_ne_bytes());
        self
    }

    fn call(&mut self, command: i64) -> Result<i64, Errno> {
        // SAFETY: the attributes hold pointers only to slices that the caller borrows over the call,
        // of the lengths that the kernel takes for this map; the kernel checks everything else.
        let result = unsafe { libc::syscall(libc::SYS_bpf, command, self.0.as_mut_ptr(), ATTR) };
        if result >= 0 {
            return Ok(result);
        }
        Err(Errno(std::io::Error::last_os_error().raw_os_error().unwrap_or(0)))
    }
}

impl KernelMap {
    /// `BPF_MAP_CREATE`.
    pub fn create(spec: &MapSpec, inner: Option<&KernelMap>) -> Result<Self, Errno> {
        let mut attr = Attr::new()
            .u32(0, spec.kind as u32)
            .u32(4, spec.key_size)
            .u32(8, spec.value_size)
            .u32(12, spec.max_entries)
            .u32(16, spec.flags);
        if let Some(inner) = inner {
            attr = attr.u32(20, inner.0.as_raw_fd() as u32);
        }
        let fd = attr.call(CREATE)?;
        // SAFETY: the kernel just returned this descriptor, and nobody else has it.
        Ok(Self(unsafe { OwnedFd::from_raw_fd(fd as i32) }))
    }

    fn element(&self, key: u64, value: u64, flags: u64) -> Attr {
        Attr::new().u32(0, self.0.as_raw_fd() as u32).u64(8, key).u64(16, value).u64(24, flags)
    }

    /// `BPF_MAP_LOOKUP_ELEM`; `bytes` is the length of the value, all CPUs together.
    pub fn lookup(&self, key: &[u8], bytes: usize) -> Result<Vec<u8>, Errno> {
        let mut value = vec![0u8; bytes];
        self.element(start(key), value.as_mut_ptr() as u64, 0).call(LOOKUP)?;
        Ok(value)
    }

    /// `BPF_MAP_UPDATE_ELEM`.
    pub fn update(&self, key: &[u8], value: &[u8], flags: u64) -> Result<(), Errno> {
        self.element(start(key), value.as_ptr() as u64, flags).call(UPDATE).map(drop)
    }

    /// `BPF_MAP_DELETE_ELEM`.
    pub fn delete(&self, key: &[u8]) -> Result<(), Errno> {
        self.element(start(key), 0, 0).call(DELETE).map(drop)
    }

    /// `BPF_MAP_GET_NEXT_KEY`.
    pub fn next_key(&self, key: Option<&[u8]>, key_size: u32) -> Result<Option<Vec<u8>>, Errno> {
        let mut next = vec![0u8; key_size as usize];
        let from = key.map_or(0, start);
        match self.element(from, next.as_mut_ptr() as u64, 0).call(NEXT_KEY) {
            Ok(_) => Ok(Some(next)),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(errno),
        }
    }

    /// `BPF_MAP_LOOKUP_AND_DELETE_ELEM` of a map without keys.
    pub fn pop(&self, bytes: usize) -> Result<Vec<u8>, Errno> {
        let mut value = vec![0u8; bytes];
        self.element(0, value.as_mut_ptr() as u64, 0).call(POP)?;
        Ok(value)
    }

    /// `BPF_MAP_FREEZE`.
    pub fn freeze(&self) -> Result<(), Errno> {
        Attr::new().u32(0, self.0.as_raw_fd() as u32).call(FREEZE).map(drop)
    }
}

/// Address of a key; none of a map without keys.
fn start(key: &[u8]) -> u64 {
    if key.is_empty() { 0 } else { key.as_ptr() as u64 }
}

/// CPUs that the kernel has values for, or why these tests cannot run here.
pub fn cpus(spec: &MapSpec) -> Result<u32, String> {
    if let Err(errno) = KernelMap::create(spec, None) {
        return Err(format!("bpf(2) answers error {}", errno.0));
    }
    let list = std::fs::read_to_string("/sys/devices/system/cpu/possible").map_err(|e| e.to_string())?;
    let last = list.trim().rsplit(['-', ',']).next().and_then(|last| last.parse::<u32>().ok());
    last.map(|last| last + 1).ok_or_else(|| format!("possible CPUs are `{}`", list.trim()))
}
