//! The system calls. All `unsafe` of the kernel oracle is here; every function is safe to call.
//!
//! A buffer's length is checked against what the kernel writes before its address is given away:
//! maps know their sizes from [`Map::create`] and nothing else makes one.
#![allow(unsafe_code)]

use crate::Errno;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// Answer of the kernel.
pub type Result<T> = std::result::Result<T, Errno>;

#[cfg(target_os = "linux")]
fn last_errno() -> Errno {
    Errno(std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EINVAL))
}

/// An attribute block of bpf(2): plain numbers in the kernel's layout, without padding bytes.
///
/// # Safety
/// The type is `repr(C)`, holds only integers, and has no padding.
unsafe trait Attr {}

/// Calls bpf(2).
///
/// # Safety
/// Every address in `attr` is valid for what `command` reads and writes there.
#[cfg(target_os = "linux")]
unsafe fn bpf<T: Attr>(command: libc::c_long, attr: &mut T) -> Result<i32> {
    loop {
        // SAFETY: `attr` is live and as long as said; its addresses are the caller's promise.
        let r = unsafe { libc::syscall(libc::SYS_bpf, command, std::ptr::from_mut(attr), size_of::<T>()) };
        if r >= 0 {
            return Ok(r as i32);
        }
        let e = last_errno();
        // A signal stopped the verifier, or it was asked to try again.
        if e.0 != libc::EAGAIN && e.0 != libc::EINTR {
            return Err(e);
        }
    }
}

/// Elsewhere there is no bpf(2).
///
/// # Safety
/// None needed.
#[cfg(not(target_os = "linux"))]
unsafe fn bpf<T: Attr>(_: i64, _: &mut T) -> Result<i32> {
    Err(Errno(78))
}

fn address<T>(of: &[T]) -> u64 {
    if of.is_empty() { 0 } else { of.as_ptr() as u64 }
}

fn address_mut<T>(of: &mut [T]) -> u64 {
    if of.is_empty() { 0 } else { of.as_mut_ptr() as u64 }
}

fn name(text: &str) -> [u8; 16] {
    let mut out = [0; 16];
    let plain = text.bytes().map(|b| if b.is_ascii_alphanumeric() || b == b'.' { b } else { b'_' });
    for (o, b) in out[..15].iter_mut().zip(plain) {
        *o = b;
    }
    out
}

fn owned(fd: i32) -> OwnedFd {
    // SAFETY: the kernel has just given this descriptor, nobody else has it.
    unsafe { OwnedFd::from_raw_fd(fd) }
}

/// What a map is made of.
#[repr(C)]
#[derive(Default)]
pub struct MapCreate {
    pub map_type: u32,
    pub key_size: u32,
    pub value_size: u32,
    pub max_entries: u32,
    pub map_flags: u32,
    pub inner_map_fd: u32,
    pub numa_node: u32,
    pub map_name: [u8; 16],
    pub map_ifindex: u32,
    pub btf_fd: u32,
    pub btf_key_type_id: u32,
    pub btf_value_type_id: u32,
    pub btf_vmlinux_value_type_id: u32,
    pub map_extra: u64,
}
// SAFETY: see the type.
unsafe impl Attr for MapCreate {}

#[repr(C)]
#[derive(Default)]
struct Element {
    map_fd: u32,
    zero: u32,
    key: u64,
    value: u64,
    flags: u64,
}
// SAFETY: see the type.
unsafe impl Attr for Element {}

/// A map's descriptor with the sizes the kernel reads and writes.
pub struct Map {
    fd: OwnedFd,
    key_bytes: usize,
    value_bytes: usize,
}

impl Map {
    /// Makes a map. `per_cpu` says that a value is so many times its size, each rounded up to 8.
    pub fn create(mut attr: MapCreate, label: &str, per_cpu: Option<u32>) -> Result<Self> {
        attr.map_name = name(label);
        let value_bytes = match per_cpu {
            Some(cpus) => attr.value_size.next_multiple_of(8) as usize * cpus as usize,
            None => attr.value_size as usize,
        };
        let key_bytes = attr.key_size as usize;
        // SAFETY: no addresses in it.
        let fd = unsafe { bpf(0, &mut attr) }?;
        Ok(Self { fd: owned(fd), key_bytes, value_bytes })
    }

    pub fn fd(&self) -> i32 {
        self.fd.as_raw_fd()
    }

    pub fn value_bytes(&self) -> usize {
        self.value_bytes
    }

    fn element(&self, key: &[u8], value: u64, flags: u64) -> Result<Element> {
        if key.len() != self.key_bytes {
            return Err(Errno::INVAL);
        }
        // A map without keys takes no address of one.
        let key = if key.is_empty() { 0 } else { address(key) };
        Ok(Element { map_fd: self.fd() as u32, zero: 0, key, value, flags })
    }

    pub fn lookup(&self, key: &[u8]) -> Result<Vec<u8>> {
        let mut value = vec![0u8; self.value_bytes.max(8)];
        let mut attr = self.element(key, address_mut(&mut value), 0)?;
        // SAFETY: the key has the map's size, the value at least it.
        unsafe { bpf(1, &mut attr) }?;
        value.truncate(self.value_bytes);
        Ok(value)
    }

    pub fn update(&self, key: &[u8], value: &[u8], flags: u64) -> Result<()> {
        if value.len() != self.value_bytes {
            return Err(Errno::INVAL);
        }
        let mut attr = self.element(key, address(value), flags)?;
        // SAFETY: key and value have the map's sizes; the kernel only reads them.
        unsafe { bpf(2, &mut attr) }.map(drop)
    }

    pub fn delete(&self, key: &[u8]) -> Result<()> {
        let mut attr = self.element(key, 0, 0)?;
        // SAFETY: the key has the map's size.
        unsafe { bpf(3, &mut attr) }.map(drop)
    }

    /// Of a map without keys.
    pub fn pop(&self) -> Result<Vec<u8>> {
        let mut value = vec![0u8; self.value_bytes.max(8)];
        let mut attr = self.element(&[], address_mut(&mut value), 0)?;
        // SAFETY: the map has no keys, the value has at least the map's size.
        unsafe { bpf(21, &mut attr) }?;
        value.truncate(self.value_bytes);
        Ok(value)
    }

    pub fn next_key(&self, key: Option<&[u8]>) -> Result<Option<Vec<u8>>> {
        let mut next = vec![0u8; self.key_bytes.max(8)];
        let mut attr = match key {
            Some(key) => self.element(key, 0, 0)?,
            None => Element { map_fd: self.fd() as u32, ..Element::default() },
        };
        attr.value = address_mut(&mut next);
        // SAFETY: both keys have the map's size at least.
        match unsafe { bpf(4, &mut attr) } {
            Ok(_) => {
                next.truncate(self.key_bytes);
                Ok(Some(next))
            }
            Err(Errno::NOENT) => Ok(None),
            Err(e) => Err(e),
        }
    }

    pub fn freeze(&self) -> Result<()> {
        let mut attr = Element { map_fd: self.fd() as u32, ..Element::default() };
        // SAFETY: no addresses in it.
        unsafe { bpf(22, &mut attr) }.map(drop)
    }
}

#[repr(C)]
#[derive(Default)]
struct BtfLoad {
    btf: u64,
    log: u64,
    btf_size: u32,
    log_size: u32,
    log_level: u32,
    log_true_size: u32,
}
// SAFETY: see the type.
unsafe impl Attr for BtfLoad {}

/// Loads type information; with a buffer the reason of a refusal is written there.
pub fn btf_load(btf: &[u8], log: &mut [u8]) -> Result<OwnedFd> {
    let mut attr = BtfLoad {
        btf: address(btf),
        btf_size: btf.len() as u32,
        log_size: log.len() as u32,
        log_level: u32::from(!log.is_empty()),
        log: address_mut(log),
        log_true_size: 0,
    };
    // SAFETY: both addresses are of slices as long as said.
    unsafe { bpf(18, &mut attr) }.map(owned)
}

/// One `struct bpf_func_info`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct FuncInfo {
    pub insn_off: u32,
    pub type_id: u32,
}

#[repr(C)]
#[derive(Default)]
struct ProgramLoad {
    prog_type: u32,
    insn_cnt: u32,
    insns: u64,
    license: u64,
    log_level: u32,
    log_size: u32,
    log_buf: u64,
    kern_version: u32,
    prog_flags: u32,
    prog_name: [u8; 16],
    prog_ifindex: u32,
    expected_attach_type: u32,
    prog_btf_fd: u32,
    func_info_rec_size: u32,
    func_info: u64,
    func_info_cnt: u32,
    line_info_rec_size: u32,
    line_info: u64,
    line_info_cnt: u32,
    attach_btf_id: u32,
    attach_prog_fd: u32,
    core_relo_cnt: u32,
    fd_array: u64,
    core_relos: u64,
    core_relo_rec_size: u32,
    log_true_size: u32,
}
// SAFETY: see the type.
unsafe impl Attr for ProgramLoad {}

/// What a program is loaded from.
pub struct ProgramSource<'a> {
    pub name: &'a str,
    pub insns: &'a [[u8; 8]],
    pub license: &'a std::ffi::CStr,
    /// `BPF_F_*` flags.
    pub flags: u32,
    pub btf: Option<&'a OwnedFd>,
    pub functions: &'a [FuncInfo],
    /// Descriptors of the image's maps; must be live.
    pub maps: &'a [i32],
}

/// Loads an XDP program; with a buffer the verifier's log is written there.
pub fn program_load(source: &ProgramSource<'_>, log: &mut [u8]) -> Result<OwnedFd> {
    let mut attr = ProgramLoad {
        prog_type: 6,
        insn_cnt: source.insns.len() as u32,
        insns: address(source.insns),
        license: source.license.as_ptr() as u64,
        log_level: u32::from(!log.is_empty()),
        log_size: log.len() as u32,
        log_buf: address_mut(log),
        prog_flags: source.flags,
        prog_name: name(source.name),
        expected_attach_type: 37,
        prog_btf_fd: source.btf.map_or(0, |b| b.as_raw_fd() as u32),
        func_info_rec_size: if source.functions.is_empty() { 0 } else { size_of::<FuncInfo>() as u32 },
        func_info: address(source.functions),
        func_info_cnt: source.functions.len() as u32,
        fd_array: address(source.maps),
        ..ProgramLoad::default()
    };
    // SAFETY: every address is of a slice as long as said; of `fd_array` the kernel reads the
    // entries that instructions name, which `KernelProgram::load` has checked.
    unsafe { bpf(5, &mut attr) }.map(owned)
}

#[repr(C)]
#[derive(Default)]
struct Test {
    prog_fd: u32,
    retval: u32,
    data_size_in: u32,
    data_size_out: u32,
    data_in: u64,
    data_out: u64,
    repeat: u32,
    duration: u32,
    ctx_size_in: u32,
    ctx_size_out: u32,
    ctx_in: u64,
    ctx_out: u64,
    flags: u32,
    cpu: u32,
    batch_size: u32,
    zero: u32,
}
// SAFETY: see the type.
unsafe impl Attr for Test {}

/// A `struct xdp_md` of a test run: offsets in the data instead of addresses.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct XdpMd {
    pub data: u32,
    pub data_end: u32,
    pub data_meta: u32,
    pub ingress_ifindex: u32,
    pub rx_queue_index: u32,
    pub egress_ifindex: u32,
}

/// What a test run gave: r0's lower half, bytes written to `out`, nanoseconds a run.
pub struct Tested {
    pub r0: u32,
    pub bytes: usize,
    pub nanoseconds: u32,
}

/// Runs a program `repeat` times on `data` (each time on what the time before left).
pub fn test_run(program: &OwnedFd, data: &[u8], context: &mut XdpMd, out: &mut [u8], repeat: u32) -> Result<Tested> {
    let input = [*context];
    let mut output = [XdpMd::default()];
    let mut attr = Test {
        prog_fd: program.as_raw_fd() as u32,
        data_size_in: data.len() as u32,
        data_size_out: out.len() as u32,
        data_in: address(data),
        data_out: address_mut(out),
        repeat,
        ctx_size_in: size_of::<XdpMd>() as u32,
        ctx_size_out: size_of::<XdpMd>() as u32,
        ctx_in: address(&input),
        ctx_out: address_mut(&mut output),
        ..Test::default()
    };
    // SAFETY: every address is of a live array as long as said.
    unsafe { bpf(10, &mut attr) }?;
    *context = output[0];
    Ok(Tested { r0: attr.retval, bytes: attr.data_size_out as usize, nanoseconds: attr.duration })
}

/// What `BPF_OBJ_GET_INFO_BY_FD` is asked: the first fields of what the kernel knows of a program.
#[repr(C)]
#[derive(Default)]
struct AskInfo {
    fd: u32,
    info_len: u32,
    info: u64,
}
// SAFETY: see the type.
unsafe impl Attr for AskInfo {}

/// The first fields of the kernel's `struct bpf_prog_info`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct ProgramInfo {
    kind: u32,
    id: u32,
    tag: [u8; 8],
    jited_len: u32,
    xlated_len: u32,
    // Where the kernel would write both programs: nowhere, for no buffer is given.
    jited: u64,
    xlated: u64,
}

/// Bytes of machine code that the kernel has made of a program; 0 where it interprets it, or may not say so.
pub fn machine_code_bytes(program: &OwnedFd) -> Result<u32> {
    let mut info = [ProgramInfo::default()];
    let mut attr = AskInfo {
        fd: program.as_raw_fd() as u32,
        info_len: size_of::<ProgramInfo>() as u32,
        info: address_mut(&mut info),
    };
    // SAFETY: `info` is live and as long as said, and asks for no code, so the kernel writes nowhere else.
    unsafe { bpf(15, &mut attr) }?;
    Ok(info[0].jited_len)
}

/// Processors a thread may run on.
#[cfg(target_os = "linux")]
pub struct CpuSet(libc::cpu_set_t);

#[cfg(target_os = "linux")]
impl CpuSet {
    /// Only this one; none above what the set holds.
    pub fn only(cpu: u32) -> Self {
        // SAFETY: all zero is the empty set; `CPU_SET` stays below its size.
        unsafe {
            let mut set: libc::cpu_set_t = std::mem::zeroed();
            if (cpu as usize) < libc::CPU_SETSIZE as usize {
                libc::CPU_SET(cpu as usize, &mut set);
            }
            Self(set)
        }
    }
}

/// The calling thread's processors.
#[cfg(target_os = "linux")]
pub fn affinity() -> Result<CpuSet> {
    let mut set = CpuSet::only(u32::MAX);
    // SAFETY: the set is as long as said.
    match unsafe { libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &mut set.0) } {
        0 => Ok(set),
        _ => Err(last_errno()),
    }
}

/// Sets the calling thread's processors.
#[cfg(target_os = "linux")]
pub fn set_affinity(set: &CpuSet) -> Result<()> {
    // SAFETY: the set is as long as said.
    match unsafe { libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &set.0) } {
        0 => Ok(()),
        _ => Err(last_errno()),
    }
}

/// Elsewhere threads are not pinned.
#[cfg(not(target_os = "linux"))]
pub struct CpuSet;

#[cfg(not(target_os = "linux"))]
impl CpuSet {
    pub fn only(_: u32) -> Self {
        Self
    }
}

#[cfg(not(target_os = "linux"))]
pub fn affinity() -> Result<CpuSet> {
    Ok(CpuSet)
}

#[cfg(not(target_os = "linux"))]
pub fn set_affinity(_: &CpuSet) -> Result<()> {
    Ok(())
}
