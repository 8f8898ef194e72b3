//! Puts what a CO-RE relocation became into its instruction, as libbpf's `bpf_core_patch_insn`.

use super::core_kernel::Relocated;
use crate::Insn;
use crate::insn::{CALL, LD_IMM64, POISON_CORE, pseudo};

/// Classes of opcodes.
const ALU: u8 = 4;
const ALU64: u8 = 7;
const LDX: u8 = 1;
const ST: u8 = 2;
const STX: u8 = 3;
/// Bit of an opcode whose second operand is a register.
const REGISTER: u8 = 8;
/// Bits of an opcode that say how wide an access is.
const WIDTH: u8 = 0x18;

/// Changes the instruction in a slot; an error says why it cannot be the relocation's.
pub(super) fn patch(insns: &mut [Insn], slot: usize, by: Relocated) -> Result<(), &'static str> {
    let insn = insns.get(slot).copied().ok_or("an instruction that is not there")?;
    let Relocated::Numbers { own, there, is_unsafe } = by else { return poison(insns, slot) };
    let is_own = |found: u64| !own.is_checked || found == own.value;
    const OTHER: &str = "an instruction with another number than the object's types give";
    match insn.op & 7 {
        ALU | ALU64 => {
            if insn.op & REGISTER != 0 {
                return Err("an instruction without an immediate");
            }
            if !is_own(insn.imm as u32 as u64) && !is_own(insn.imm as i64 as u64) {
                return Err(OTHER);
            }
            insns[slot].imm = there.value as i32;
        }
        LDX | ST | STX => {
            if !is_own(insn.off as i64 as u64) {
                return Err(OTHER);
            }
            let off = i16::try_from(there.value).map_err(|_| "a field too far from the start for one instruction")?;
            if is_unsafe {
                return poison(insns, slot);
            }
            let mut op = insn.op;
            if let (Some((_, bytes)), Some((_, others))) = (own.memory, there.memory)
                && bytes != others
            {
                if width(insn.op) != bytes {
                    return Err("an access of another width than the object's field has");
                }
                op = op & !WIDTH | of_width(others).ok_or("a field of the kernel that no access is as wide as")?;
            }
            (insns[slot].off, insns[slot].op) = (off, op);
        }
        _ if insn.op == LD_IMM64 && insn.src == pseudo::NUMBER => {
            let next = insns.get(slot + 1).filter(|next| next.op == 0).ok_or("half a 64-bit immediate")?;
            if !is_own(u64::from(insn.imm as u32) | u64::from(next.imm as u32) << 32) {
                return Err(OTHER);
            }
            insns[slot].imm = there.value as i32;
            insns[slot + 1].imm = (there.value >> 32) as i32;
        }
        _ => return Err("an instruction that has no number of the types"),
    }
    Ok(())
}

/// Makes the instruction one that faults when it is executed.
fn poison(insns: &mut [Insn], slot: usize) -> Result<(), &'static str> {
    let stands = Insn { op: CALL, dst: 0, src: pseudo::HELPER, off: 0, imm: POISON_CORE };
    if insns[slot].op == LD_IMM64 {
        *insns.get_mut(slot + 1).ok_or("half a 64-bit immediate")? = stands;
    }
    insns[slot] = stands;
    Ok(())
}

fn width(op: u8) -> u64 {
    match op & WIDTH {
        0x00 => 4,
        0x08 => 2,
        0x10 => 1,
        _ => 8,
    }
}

fn of_width(bytes: u64) -> Option<u8> {
    match bytes {
        4 => Some(0x00),
        2 => Some(0x08),
        1 => Some(0x10),
        8 => Some(0x18),
        _ => None,
    }
}
