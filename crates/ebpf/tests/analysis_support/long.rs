//! Programs of as many instructions as are asked for.

use sluice_formats::random::Rng;
use std::fmt::Write;

/// A program of about so many instructions: header fields, arithmetic, stack, branches and map lookups, in blocks.
pub fn source(rng: &mut Rng, instructions: usize) -> String {
    let mut text = String::from("r6 = r1\nr7 = 0\n");
    let mut count = 2;
    while count + 24 < instructions {
        let (byte, number, slot) = (rng.below(60), rng.below(1000), 8 * (1 + rng.below(16)));
        let _ = write!(
            text,
            "r2 = *(u32 *)(r6 +0)\nr3 = *(u32 *)(r6 +4)\nr4 = r2\nr4 += {}\nif r4 > r3 goto pc+5\n\
             r5 = *(u8 *)(r2 +{byte})\nif r5 > {number} goto pc+3\nr7 += r5\nr7 *= {}\n*(u64 *)(r10 -{slot}) = r7\n\
             r8 = *(u64 *)(r10 -{slot})\nr7 ^= r8\n",
            byte + 1,
            number + 3,
        );
        count += 12;
        if rng.chance(1, 4) {
            text.push_str(
                "*(u32 *)(r10 -132) = r7\nr2 = r10\nr2 += -132\nr1 = map[values]\ncall bpf_map_lookup_elem#1\n\
                 if r0 == 0 goto pc+3\nr1 = *(u64 *)(r0 +0)\nr1 += r7\n*(u64 *)(r0 +0) = r1\n",
            );
            count += 9;
        }
    }
    text + "r0 = r7\nr0 &= 3\nexit"
}
