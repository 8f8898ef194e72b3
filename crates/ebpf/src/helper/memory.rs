//! Arguments that are memory: read as a copy, or written at once.

use crate::vm::Cpu;
use crate::{FaultReason, MapId, MapSpec};

/// Most bytes that one helper call reads as a copy; no packet or value that programs pass is longer.
const MAX_COPY: u64 = 1 << 20;

/// A copy of memory, without allocation while it is short.
pub(super) struct Copy {
    short: [u8; 64],
    long: Vec<u8>,
    len: usize,
}

impl Copy {
    /// A copy of bytes.
    pub fn of(bytes: &[u8]) -> Self {
        let mut copy = Copy { short: [0; 64], long: Vec::new(), len: bytes.len() };
        match copy.short.get_mut(..bytes.len()) {
            Some(short) => short.copy_from_slice(bytes),
            None => copy.long = bytes.to_vec(),
        }
        copy
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        if self.len <= self.short.len() { &self.short[..self.len] } else { &self.long }
    }
}

/// Copies `len` bytes at `address`. No bytes need no address.
pub(super) fn copy(cpu: &Cpu<'_>, helper: &'static str, address: u64, len: u32) -> Result<Copy, FaultReason> {
    read(cpu, helper, address, len).map(Copy::of)
}

/// The `len` bytes at `address`. No bytes need no address.
pub(super) fn read<'a>(
    cpu: &'a Cpu<'_>,
    helper: &'static str,
    address: u64,
    len: u32,
) -> Result<&'a [u8], FaultReason> {
    match u64::from(len) {
        0 => Ok(&[]),
        1..=MAX_COPY => cpu.read(helper, address, len),
        _ => Err(crate::map::access_fault(helper, address, len)),
    }
}

/// Writes bytes at `address`. No bytes need no address.
pub(super) fn write(cpu: &mut Cpu<'_>, helper: &'static str, address: u64, bytes: &[u8]) -> Result<(), FaultReason> {
    if !bytes.is_empty() {
        cpu.write(helper, address, bytes.len() as u32)?.copy_from_slice(bytes);
    }
    Ok(())
}

/// The zero-terminated text at `address`, without the zero: read up to the end of what is there, at most `max`.
pub(super) fn text(cpu: &Cpu<'_>, helper: &'static str, address: u64, max: u32) -> Result<Vec<u8>, FaultReason> {
    let mut text = Vec::new();
    while text.len() < max as usize {
        match cpu.read(helper, address.wrapping_add(text.len() as u64), 1)? {
            [0] => break,
            byte => text.extend_from_slice(byte),
        }
    }
    Ok(text)
}

/// The text at `address` up to its zero (not included) or up to `max` bytes; nothing when it runs into
/// what may not be read, which is no fault here: the kernel's formats read with care.
pub(super) fn peek_text(cpu: &Cpu<'_>, address: u64, max: usize) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    while text.len() < max {
        match cpu.read("format", address.checked_add(text.len() as u64)?, 1) {
            Ok([0]) => break,
            Ok(byte) => text.extend_from_slice(byte),
            Err(_) => return None,
        }
    }
    Some(text)
}

/// The map of a handle with its declaration.
pub(super) fn map<'a>(
    cpu: &'a Cpu<'_>,
    helper: &'static str,
    argument: u8,
    handle: u64,
) -> Result<(MapId, &'a MapSpec), FaultReason> {
    let id = cpu.map(helper, argument, handle)?;
    let spec = cpu.maps.spec(id).ok_or(FaultReason::Argument {
        helper,
        argument,
        value: handle,
        expected: "the handle of a map",
    })?;
    Ok((id, spec))
}
