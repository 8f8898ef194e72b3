//! `csum_diff`: the one's complement difference of two pieces of memory.

use super::memory;
use super::{Arg, Helper, Ret};
use crate::FaultReason;
use crate::map::Class;
use crate::vm::Cpu;

/// `s64 bpf_csum_diff(from, from_size, to, to_size, seed)`.
pub const CSUM_DIFF: Helper = Helper {
    id: 28,
    name: "csum_diff",
    args: &[Arg::Read, Arg::Size, Arg::Read, Arg::Size, Arg::Number],
    ret: Ret::Number,
    class: Class::Exact,
    moves_packet: false,
    run: csum_diff,
};

fn csum_diff(cpu: &mut Cpu<'_>, [from, from_size, to, to_size, seed]: [u64; 5]) -> Result<u64, FaultReason> {
    let from = memory::read(cpu, CSUM_DIFF.name, from, from_size as u32)?;
    let to = memory::read(cpu, CSUM_DIFF.name, to, to_size as u32)?;
    Ok(u64::from(difference(from, to, seed as u32)))
}

/// As in Linux 6.13 and later: any sizes, and a result that is folded to 16 bits.
fn difference(from: &[u8], to: &[u8], seed: u32) -> u16 {
    let sum = match (from, to) {
        ([], []) => seed,
        ([], to) => partial(to, seed),
        (from, []) => !partial(from, !seed),
        (from, to) => add(partial(to, seed), !partial(from, 0)),
    };
    // The upper half of the sum of both halves, with the carry from the lower one.
    (sum.wrapping_add(sum.rotate_right(16)) >> 16) as u16
}

/// One's complement sum of little-endian 32-bit words, a last odd part filled with zeros. It is 0
/// only if all summands are; every order of adding gives the same.
fn partial(bytes: &[u8], seed: u32) -> u32 {
    let words = bytes.chunks_exact(4);
    let mut last = [0; 4];
    last[..words.remainder().len()].copy_from_slice(words.remainder());
    let sum: u64 = words.map(|w| u64::from(u32::from_le_bytes([w[0], w[1], w[2], w[3]]))).sum();
    let sum = sum + u64::from(u32::from_le_bytes(last)) + u64::from(seed);
    add(sum as u32, (sum >> 32) as u32)
}

/// One's complement sum of two words.
fn add(a: u32, b: u32) -> u32 {
    let (sum, carry) = a.overflowing_add(b);
    sum + u32::from(carry)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_those_of_linux_6_18() {
        // Expected values: the helper itself, in BPF_PROG_TEST_RUN (tests/helpers_kernel.rs asks it again).
        assert_eq!(difference(&[], &[], 0), 0);
        assert_eq!(difference(&[], &[0; 4], 0), 0);
        assert_eq!(difference(&[0; 4], &[0; 4], 0), 0xffff);
        assert_eq!(difference(&[], &[], 0x1_0001), 2);
    }
}
