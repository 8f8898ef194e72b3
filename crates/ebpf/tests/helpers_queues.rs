//! `map_push_elem`, `map_pop_elem`, `map_peek_elem` in programs, against the kernel.

use crate::helpers_support::{Asm, Pair, map, skipped};
use sluice_ebpf::MapType;
use sluice_formats::random::{Rng, test_seed};

const FRAME: [u8; 64] = [5; 64];

/// One random call; its result in r0, and of a pop or peek the element, are added to r8.
fn step(rng: &mut Rng, asm: Asm, bytes: u32) -> Asm {
    let places = (0..bytes).step_by(4);
    let value: Vec<u8> = (0..bytes).map(|_| rng.below(256) as u8).collect();
    let asm = asm.bytes(2, 16, &value).map(1, 0);
    let asm = match rng.below(5) {
        0..=2 => asm.mov(3, [0, 0, 0, 2, 1, 4][rng.index(6)]).call(87),
        3 => asm.call(88),
        _ => asm.call(89),
    };
    // r8 = 3 * r8 + r0 + words of the memory.
    let mut asm = asm.raw(0x27, 8, 0, 0, 3).raw(0x0f, 8, 0, 0, 0);
    for at in places {
        asm = asm.load(4, 3, 10, at as i16 - 16).raw(0x0f, 8, 3, 0, 0);
    }
    asm
}

#[test]
fn elements_and_errors_are_the_kernels() {
    if skipped() {
        return;
    }
    let mut rng = Rng::new(test_seed("elements_and_errors_are_the_kernels"));
    for kind in [MapType::Queue, MapType::Stack] {
        for (bytes, entries) in [(4, 1), (12, 3), (16, 7)] {
            let mut program = || {
                let start = Asm::default().mov(8, 0);
                (0..30).fold(start, |asm, _| step(&mut rng, asm, bytes)).mov_reg(0, 8).exit().program("calls")
            };
            let programs = vec![program(), program(), program()];
            let mut pair = Pair::new(programs, vec![map("queue", kind, 0, bytes, entries)]);
            for round in 0..30 {
                pair.run(round % 3, &FRAME, &format!("{kind:?} of {entries}, round {round}"));
                pair.get(0, &[]);
            }
        }
    }
}
