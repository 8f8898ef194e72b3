//! Every access of a program, checked against the region its address lies in.

use super::Cpu;
use super::trace::Access;
use crate::address::{self, CONTEXT, MAP_HANDLES, PACKET, Region};
use crate::insn::AtomicOp;
use crate::{FaultReason, MapId};

/// The fault of an access.
#[cold]
#[inline(never)]
pub(super) fn denied(access: &'static str, address: u64, bytes: u32) -> FaultReason {
    FaultReason::Access { access, address, bytes, region: Region::of(address) }
}

impl Cpu<'_> {
    #[inline(always)]
    pub(super) fn load<const N: usize>(&self, address: u64) -> Result<[u8; N], FaultReason> {
        let bytes = match address >> 28 {
            2 => self.packet.read(address, N),
            3 => self.stack.read(address, N),
            4..=8 => self.maps.read(address, N),
            1 if N == 4 => return self.context(address).map(|w| w.to_le_bytes()[..].try_into().expect("4 bytes")),
            9 => self.held.read(address, N),
            _ => None,
        };
        match bytes {
            Some(bytes) => Ok(bytes.try_into().expect("as many as asked for")),
            None => Err(denied("load", address, N as u32)),
        }
    }

    #[inline(always)]
    pub(super) fn store<const N: usize>(&mut self, address: u64, value: [u8; N]) -> Result<(), FaultReason> {
        match self.writable(address, N) {
            Some(bytes) => {
                bytes.copy_from_slice(&value);
                Ok(())
            }
            None => Err(denied("store", address, N as u32)),
        }
    }

    #[inline(always)]
    fn writable(&mut self, address: u64, bytes: usize) -> Option<&mut [u8]> {
        match address >> 28 {
            2 => self.packet.write(address, bytes),
            3 => self.stack.write(address, bytes),
            4..=7 => self.maps.write(address, bytes),
            9 => self.held.write(address, bytes),
            _ => None,
        }
    }

    /// A field of `struct xdp_md`; programs load whole fields only, and store none.
    fn context(&self, address: u64) -> Result<u32, FaultReason> {
        Ok(match address.wrapping_sub(CONTEXT.into()) {
            0 => PACKET + self.packet.data(),
            4 => PACKET + self.packet.end(),
            8 => PACKET + self.packet.meta(),
            12 => self.ingress.ifindex,
            16 => self.ingress.queue,
            20 => 0,
            _ => return Err(denied("load", address, 4)),
        })
    }

    /// An atomic operation; gives the old value. Aligned, and in a stack, value or record, as the
    /// kernel's verifier wants it.
    pub(super) fn atomic(
        &mut self,
        address: u64,
        wide: bool,
        op: AtomicOp,
        operand: u64,
        expected: u64,
    ) -> Result<u64, FaultReason> {
        let bytes = if wide { 8 } else { 4 };
        let fault = || denied("atomic", address, bytes);
        if !address.is_multiple_of(bytes.into()) || address >> 28 == 2 {
            return Err(fault());
        }
        let memory = self.writable(address, bytes as usize).ok_or_else(fault)?;
        let mut old = [0; 8];
        old[..bytes as usize].copy_from_slice(memory);
        let old = u64::from_le_bytes(old);
        let (operand, expected) =
            if wide { (operand, expected) } else { (operand & 0xffff_ffff, expected & 0xffff_ffff) };
        let new = match op {
            AtomicOp::Add => old.wrapping_add(operand),
            AtomicOp::Or => old | operand,
            AtomicOp::And => old & operand,
            AtomicOp::Xor => old ^ operand,
            AtomicOp::Xchg => operand,
            AtomicOp::Cmpxchg if old == expected => operand,
            AtomicOp::Cmpxchg => old,
        };
        memory.copy_from_slice(&new.to_le_bytes()[..bytes as usize]);
        Ok(old)
    }

    /// Memory at a device address, if one object holds all of it. No bytes are held everywhere.
    pub fn read(&self, access: &'static str, address: u64, bytes: u32) -> Result<&[u8], FaultReason> {
        if bytes == 0 {
            return Ok(&[]);
        }
        let n = bytes as usize;
        let found = match Region::of(address) {
            Region::Packet => self.packet.read(address, n),
            Region::Stack => self.stack.read(address, n),
            Region::MapValue | Region::ReadOnly => self.maps.read(address, n),
            Region::Record => self.held.read(address, n),
            _ => None,
        };
        if let (Some(tracer), Some(_)) = (self.tracer, found) {
            tracer.access(Access::HelperRead, address, bytes);
        }
        found.ok_or_else(|| denied(access, address, bytes))
    }

    /// The same to write.
    pub fn write(&mut self, access: &'static str, address: u64, bytes: u32) -> Result<&mut [u8], FaultReason> {
        if bytes == 0 {
            return Ok(&mut []);
        }
        let tracer = self.tracer;
        let found = self.writable(address, bytes as usize).ok_or_else(|| denied(access, address, bytes))?;
        if let Some(tracer) = tracer {
            tracer.access(Access::HelperWrite, address, bytes);
        }
        Ok(found)
    }

    /// The map of a handle.
    pub fn map(&self, helper: &'static str, argument: u8, handle: u64) -> Result<MapId, FaultReason> {
        let wrong = FaultReason::Argument { helper, argument, value: handle, expected: "the handle of a map" };
        if Region::of(handle) != Region::MapHandle {
            return Err(wrong);
        }
        let map = MapId(handle as u32 - MAP_HANDLES);
        self.maps.spec(map).map(|_| map).ok_or(wrong)
    }

    /// Slot of the function at a device address, if the running program has it.
    pub(super) fn function(&self, function: u64) -> Option<u32> {
        let slot = u32::try_from(function.checked_sub(address::FUNCTIONS.into())?).ok()?;
        let program = self.programs.get(self.program as usize)?.as_ref()?;
        program.functions.binary_search(&slot).ok().map(|_| slot)
    }
}
