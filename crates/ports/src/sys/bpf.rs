//! bpf(2): one map, one program, one link.

use super::checked;
use std::ffi::CStr;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// An attribute block: plain numbers in the kernel's layout, without padding.
///
/// # Safety
/// The type is `repr(C)`, holds only integers, and has no padding.
unsafe trait Attributes {}

/// Calls bpf(2).
///
/// # Safety
/// Every address in `attributes` is valid for what `command` reads and writes there.
unsafe fn bpf<T: Attributes>(command: libc::c_long, attributes: &mut T) -> io::Result<libc::c_int> {
    loop {
        let pointer = std::ptr::from_mut(attributes);
        // SAFETY: the block is live and as long as said; its addresses are the caller's promise.
        let result = unsafe { libc::syscall(libc::SYS_bpf, command, pointer, size_of::<T>()) };
        match checked(result as libc::c_int) {
            // A signal came, or the kernel wants to be asked again.
            Err(e) if matches!(e.raw_os_error(), Some(libc::EAGAIN | libc::EINTR)) => {}
            result => return result,
        }
    }
}

fn owned(fd: libc::c_int) -> OwnedFd {
    // SAFETY: the kernel has just given this descriptor, nobody else has it.
    unsafe { OwnedFd::from_raw_fd(fd) }
}

fn name(text: &str) -> [u8; 16] {
    let mut out = [0; 16];
    // The last byte stays zero.
    out[..15].iter_mut().zip(text.bytes()).for_each(|(o, b)| *o = b);
    out
}

#[repr(C)]
#[derive(Default)]
struct MapCreate {
    kind: u32,
    key_bytes: u32,
    value_bytes: u32,
    entries: u32,
    flags: u32,
    inner: u32,
    numa_node: u32,
    name: [u8; 16],
}
// SAFETY: see the type.
unsafe impl Attributes for MapCreate {}

/// Makes a map from queues to AF_XDP sockets.
pub fn socket_map(entries: u32) -> io::Result<OwnedFd> {
    const XSKMAP: u32 = 17;
    let mut attributes = MapCreate {
        kind: XSKMAP,
        key_bytes: 4,
        value_bytes: 4,
        entries,
        name: name("sluice_ports"),
        ..Default::default()
    };
    // SAFETY: no addresses in it.
    unsafe { bpf(0, &mut attributes) }.map(owned)
}

#[repr(C)]
#[derive(Default)]
struct Element {
    map: u32,
    zero: u32,
    key: u64,
    value: u64,
    flags: u64,
}
// SAFETY: see the type.
unsafe impl Attributes for Element {}

/// Puts a socket into a map made by [`socket_map`].
pub fn put_socket(map: &OwnedFd, queue: u32, socket: &OwnedFd) -> io::Result<()> {
    let value = socket.as_raw_fd() as u32;
    let mut attributes = Element {
        map: map.as_raw_fd() as u32,
        key: &raw const queue as u64,
        value: &raw const value as u64,
        ..Default::default()
    };
    // SAFETY: both addresses are of live numbers of four bytes, which is the map's key and value; they are only read.
    unsafe { bpf(2, &mut attributes) }.map(drop)
}

#[repr(C)]
#[derive(Default)]
struct ProgramLoad {
    kind: u32,
    count: u32,
    instructions: u64,
    license: u64,
    log_level: u32,
    log_bytes: u32,
    log: u64,
    kernel_version: u32,
    flags: u32,
    name: [u8; 16],
    interface: u32,
    attach_type: u32,
}
// SAFETY: see the type.
unsafe impl Attributes for ProgramLoad {}

/// `BPF_F_XDP_HAS_FRAGS`: the program takes frames of several pieces.
pub const HAS_FRAGS: u32 = 1 << 5;
/// `BPF_F_XDP_DEV_BOUND_ONLY`: the program is of one interface, and may ask its driver.
pub const BOUND: u32 = 1 << 6;
/// `BPF_XDP`.
const ATTACH_XDP: u32 = 37;

/// Loads an XDP program, bound to an interface where one is given. A refusal has the verifier's last words.
pub fn load(instructions: &[[u8; 8]], license: &CStr, flags: u32, interface: u32) -> io::Result<OwnedFd> {
    const XDP: u32 = 6;
    let mut attributes = ProgramLoad {
        kind: XDP,
        count: instructions.len() as u32,
        instructions: instructions.as_ptr() as u64,
        license: license.as_ptr() as u64,
        flags,
        name: name("sluice_steer"),
        interface,
        attach_type: ATTACH_XDP,
        ..Default::default()
    };
    // SAFETY: the addresses are of live instructions as many as said, and of a string that ends with a zero.
    let error = match unsafe { bpf(5, &mut attributes) } {
        Ok(fd) => return Ok(owned(fd)),
        Err(error) => error,
    };
    let mut log = vec![0u8; 1 << 16];
    attributes.log_level = 1;
    (attributes.log, attributes.log_bytes) = (log.as_mut_ptr() as u64, log.len() as u32);
    // SAFETY: as above, and the log is as long as said.
    if let Ok(fd) = unsafe { bpf(5, &mut attributes) } {
        return Ok(owned(fd));
    }
    let text = String::from_utf8_lossy(&log);
    let last = text.trim_end_matches('\0').lines().rev().find(|line| !line.starts_with("processed ")).unwrap_or("");
    Err(if last.is_empty() { error } else { io::Error::new(error.kind(), format!("{error}: {last}")) })
}

#[repr(C)]
#[derive(Default)]
struct LinkCreate {
    program: u32,
    interface: u32,
    attach_type: u32,
    flags: u32,
}
// SAFETY: see the type.
unsafe impl Attributes for LinkCreate {}

/// Where a program runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttachMode {
    /// In the driver.
    Native,
    /// Behind it, on the kernel's packets.
    Generic,
}

/// Attaches a program to an interface until the descriptor is closed, with the process at the latest.
pub fn attach(program: &OwnedFd, interface: u32, mode: AttachMode) -> io::Result<OwnedFd> {
    // XDP_FLAGS_DRV_MODE, XDP_FLAGS_SKB_MODE.
    let flags = match mode {
        AttachMode::Native => 1 << 2,
        AttachMode::Generic => 1 << 1,
    };
    let program = program.as_raw_fd() as u32;
    let mut attributes = LinkCreate { program, interface, attach_type: ATTACH_XDP, flags };
    // SAFETY: no addresses in it.
    unsafe { bpf(28, &mut attributes) }.map(owned)
}
