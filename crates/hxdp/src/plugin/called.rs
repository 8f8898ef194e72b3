//! A conformance program as rows of the XDP engine, which has no way to say r0.
//!
//! A program around it gives it r1 and r2, calls it as a function, makes the packet 16 bytes longer and puts r0 there. So
//! the program under test runs as it is, one frame deeper; the memory is the packet, and ends where the packet ends.

use super::failure;
use crate::compile::compile_unanalysed;
use crate::rows::code;
use crate::{Target, compile};
use sluice_ebpf::address::{CONTEXT, PACKET};
use sluice_ebpf::insn::assemble;
use sluice_ebpf::plugin::{self, Request};
use sluice_ebpf::vm::HEADROOM;
use sluice_ebpf::{Image, Program};
use sluice_formats::xdp::target::LANES;
use sluice_object::XdpCode;

/// Bytes behind the memory: r0, and 8 more, because a packet has 14 bytes at least.
const TAIL: usize = 16;
/// Longest memory: the packet's buffer has room for 3,520 bytes.
const MOST: usize = 3520 - TAIL;

/// A program with what it works on.
#[derive(Clone, Debug)]
pub struct Called {
    /// Rows of the program around it and its own.
    pub code: XdpCode,
    /// The packet.
    pub frame: Vec<u8>,
}

impl Called {
    /// r0, from the packet as it left.
    pub fn r0(&self, left: &[u8]) -> Option<u64> {
        let at = left.len().checked_sub(TAIL)?;
        Some(u64::from_le_bytes(left[at..at + 8].try_into().ok()?))
    }
}

/// The rows of a request. What the engine has not is said in words.
pub fn called(request: &Request, input: &str) -> Result<Called, String> {
    let (image, memory) = plugin::read(request, input)?;
    plugin::valid(&image)?;
    if !image.maps.is_empty() {
        return Err(
            "the object has maps, which the device rtl has not here; `sluice xdp run --device rtl` has them".to_owned()
        );
    }
    if memory.len() > MOST {
        return Err(format!("the memory has {} bytes, the device rtl takes {MOST}", memory.len()));
    }
    let (first, length) = match (request.xdp, memory.len()) {
        (true, _) => (CONTEXT, 0),
        (false, 0) => (0, 0),
        (false, length) => (PACKET + HEADROOM, length),
    };
    let around = around(first, length)?;
    let shift = around.len();
    let program = Program::from_insns("program", [around, image.programs[0].insns.clone()].concat());
    let image = Image { programs: vec![program], ..Image::default() };
    let target = Target::new(LANES).map_err(|e| e.to_string())?;
    // r1 is the memory, which the analysis takes for the context.
    let compiled = if request.xdp { compile } else { compile_unanalysed };
    let made = compiled(&image, &image.programs[0], &target).map_err(failure)?;
    let code = code(&made, &image.maps).map_err(|mut e| {
        e.slot = e.slot.saturating_sub(shift as u32);
        format!("[E0805] {e}")
    })?;
    // A packet has a byte at least.
    let frame = if memory.is_empty() { vec![0] } else { memory };
    Ok(Called { code, frame })
}

/// The program around: it calls what stands behind it, and comes back with r0.
fn around(first: u32, length: usize) -> Result<Vec<sluice_ebpf::Insn>, String> {
    let text = format!(
        "r1 = {first}\nr2 = {length}\ncall program\nr6 = r0\nr1 = {CONTEXT}\nr2 = {TAIL}\ncall bpf_xdp_adjust_tail\n\
         r1 = {CONTEXT}\nr2 = *(u32 *)(r1 +4)\nif r0 != 0 goto full\n*(u64 *)(r2 -{TAIL}) = r6\nr0 = 3\nexit\n\
         full:\nr0 = 1\nexit\nprogram:\nr0 = 0\nexit\n"
    );
    let mut insns = assemble("around", &text, &[]).map_err(|e| e.to_string())?.insns;
    insns.truncate(insns.len() - 2);
    Ok(insns)
}
