//! How long compiling takes.

use sluice_ebpf::insn::assemble;
use sluice_ebpf::{Image, MapSpec, MapType, Runtime};
use sluice_formats::random::{Rng, test_seed};
use sluice_jit::Jit;
use std::fmt::Write;
use std::time::Instant;

/// A program of about so many instructions: header fields, arithmetic, stack, branches and map lookups, in blocks.
fn source(rng: &mut Rng, instructions: usize) -> String {
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

#[test]
fn five_thousand_instructions_are_compiled_in_time() {
    let mut rng = Rng::new(test_seed("jit_long"));
    let program = assemble("long", &source(&mut rng, 5000), &["values"]).unwrap_or_else(|e| panic!("{e}"));
    let slots = program.insns.len();
    let maps = vec![MapSpec::new("values", MapType::Hash, 4, 8, 64)];
    let image = Image { programs: vec![program], maps, ..Image::default() };
    let mut runtime = Runtime::new(1, 1);
    let installed = runtime.install(&image, &|_| None).unwrap();
    let mut best = f64::INFINITY;
    let mut bytes = 0;
    for _ in 0..if cfg!(debug_assertions) { 1 } else { 9 } {
        let began = Instant::now();
        let mut jit = Jit::new();
        assert_eq!(jit.compile(&runtime, &image, installed), []);
        best = best.min(began.elapsed().as_secs_f64() * 1e3);
        bytes = jit.code_bytes(0).unwrap();
    }
    println!("{slots} slots: {best:.1} ms, {bytes} bytes");
    // Without optimisation of the compiler itself, time says nothing.
    assert!(cfg!(debug_assertions) || best < 250.0, "{best} ms");
}
