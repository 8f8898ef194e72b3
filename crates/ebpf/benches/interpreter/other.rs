//! The same programs in rbpf: its own verifier off, its memory checks on, maps as helpers.
#![allow(unsafe_code)] // Helpers of rbpf are given raw addresses.

use sluice_ebpf::Program;
use sluice_ebpf::insn::{Insn, pseudo};
use std::cell::RefCell;
use std::collections::HashMap;

const KEY: usize = 16;
const FLOWS: usize = 1024;

/// Values as rbpf's programs see them: 256 of the array, then those of the flows.
struct Maps {
    values: Box<[u64; 256 + FLOWS]>,
    flows: HashMap<[u8; KEY], usize>,
}

thread_local! {
    static MAPS: RefCell<Maps> =
        RefCell::new(Maps { values: Box::new([0; _]), flows: HashMap::with_capacity(FLOWS) });
}

fn key(address: u64) -> [u8; KEY] {
    // SAFETY: the programs of this bench pass the address of a key on rbpf's stack, 16 bytes long.
    unsafe { std::ptr::read_unaligned(address as *const [u8; KEY]) }
}

fn lookup(map: u64, address: u64, _: u64, _: u64, _: u64) -> u64 {
    MAPS.with_borrow_mut(|maps| {
        let index = if map == 0 {
            // SAFETY: as in `key`; this key has 4 bytes.
            let index = unsafe { std::ptr::read_unaligned(address as *const u32) };
            (index < 256).then_some(index as usize)
        } else {
            maps.flows.get(&key(address)).copied()
        };
        index.map_or(0, |index| &raw const maps.values[index] as u64)
    })
}

fn update(_: u64, address: u64, value: u64, _: u64, _: u64) -> u64 {
    MAPS.with_borrow_mut(|maps| {
        let free = 256 + maps.flows.len();
        if free == maps.values.len() {
            return -7i64 as u64;
        }
        maps.flows.insert(key(address), free);
        // SAFETY: as in `key`; values have 8 bytes.
        maps.values[free] = unsafe { std::ptr::read_unaligned(value as *const u64) };
        0
    })
}

/// Slots for rbpf: the context holds 64-bit addresses, maps are numbers.
pub fn bytes(program: &Program) -> Vec<u8> {
    let insns = program.insns.iter().map(|insn| match *insn {
        // `r2 = *(u32 *)(r1 +4)`: data_end, and `+0`: data.
        Insn { op: 0x61, src: 1, off: off @ (0 | 4), .. } => Insn { op: 0x79, off: off * 2, ..*insn },
        Insn { src: pseudo::MAP, imm: 0, .. } if insn.is_wide() => {
            Insn { src: 0, imm: i32::from(program.name == "firewall"), ..*insn }
        }
        insn => insn,
    });
    insns.flat_map(Insn::to_bytes).collect()
}

/// A virtual machine with the maps.
pub fn machine(bytes: &[u8]) -> rbpf::EbpfVmMbuff<'_> {
    let mut machine = rbpf::EbpfVmMbuff::new(Some(bytes)).expect("a program of this bench");
    machine.register_helper(1, lookup).expect("a free number");
    machine.register_helper(2, update).expect("a free number");
    MAPS.with_borrow(|maps| {
        let range = maps.values.as_ptr_range();
        machine.register_allowed_memory(range.start as u64..range.end as u64);
    });
    machine
}

/// The context of a frame.
pub fn context(frame: &[u8]) -> [u8; 16] {
    let range = frame.as_ptr_range();
    let mut context = [0; 16];
    context[..8].copy_from_slice(&(range.start as u64).to_le_bytes());
    context[8..].copy_from_slice(&(range.end as u64).to_le_bytes());
    context
}
