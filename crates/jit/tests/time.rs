//! How long compiling takes.

#[path = "../../ebpf/tests/analysis_support/long.rs"]
mod long;

use long::source;
use sluice_ebpf::insn::assemble;
use sluice_ebpf::{Image, MapSpec, MapType, Runtime};
use sluice_formats::random::{Rng, test_seed};
use sluice_jit::Jit;
use std::time::Instant;

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
