//! Random programs, whole and damaged, do the same compiled as interpreted; none ends the process.

#[path = "../../ebpf/tests/kernel_random/forms.rs"]
#[allow(dead_code)] // Others use more of it.
mod forms;
#[path = "../../ebpf/tests/kernel_random/generate.rs"]
#[allow(dead_code)]
mod generate;

use crate::support::defined::defined;
use crate::support::{Twins, fill, packets, programs, seconds};
use generate::{INPUTS, VALUE, generate, number};
use sluice_ebpf::image::Function;
use sluice_ebpf::insn::listing;
use sluice_ebpf::validate::{Options, validate_program};
use sluice_ebpf::vm::Ingress;
use sluice_ebpf::{Image, MapSpec, MapType, Program};
use sluice_formats::random::{Rng, test_seed};
use std::time::Instant;

/// Those that the kernel accepts: arithmetic, branches, loops, stack, atomics and calls, every register shown at the end.
#[test]
fn fuzz_programs_that_the_kernel_accepts() {
    let (mut rng, began, mut ran) = (Rng::new(test_seed("jit_kernel_random")), Instant::now(), 0u64);
    while began.elapsed() < seconds() * 3 {
        let generated = generate(&mut rng);
        let function = |start: &u32| Function { name: format!("f{start}"), start: *start, btf_type: 0 };
        let functions = generated.functions.iter().map(function).collect();
        let program = Program { name: "random".into(), functions, insns: generated.insns, ..Program::default() };
        let maps = vec![MapSpec::new("shared", MapType::Array, 4, VALUE as u32, 1)];
        let mut twins = Twins::new(Image { programs: vec![program], maps, ..Image::default() }, None);
        let text = listing(&twins.image.programs[0], &twins.image.maps);
        assert!(twins.refused.is_empty(), "{:?}\n{text}", twins.refused);
        for _ in 0..4 {
            let mut value: Vec<u8> = (0..INPUTS / 8).flat_map(|_| number(&mut rng).to_le_bytes()).collect();
            value.extend(rng.bytes(VALUE - INPUTS));
            twins.each(|runtime, installed| {
                let map = runtime.map(installed, 0).expect("the image's map");
                runtime.maps.user_update(map, &[0; 4], &value, 0).expect("an array takes its value");
            });
            let outcome = twins.run(0, &[0; 64], Ingress::default()).unwrap_or_else(|e| panic!("{e}\n{text}"));
            assert_eq!(outcome.fault, None, "{text}");
            twins.compare_maps().unwrap_or_else(|e| panic!("{e}\n{text}"));
        }
        ran += 1;
    }
    println!("fuzz: {ran} inputs");
    assert!(ran > 20);
}

/// Those that run far and often fault: packet and map accesses with and without checks, loops, helpers, callbacks.
#[test]
fn fuzz_programs_that_fault() {
    let (mut rng, began) = (Rng::new(test_seed("jit_programs")), Instant::now());
    let (mut compiled, mut refused, mut faults, mut ended) = (0u64, 0u64, 0u64, 0u64);
    while began.elapsed() < seconds() * 3 {
        let statements = 1 + rng.below(60) as u32;
        let mut image = programs::random(&mut rng, statements);
        if !rng.chance(1, 8) {
            image.programs[0] = defined(&image.programs[0]);
        }
        let work = [3, 20, 2000][rng.index(3)];
        let text = listing(&image.programs[0], &image.maps);
        let mut twins = Twins::new(image, Some(work));
        refused += u64::from(!twins.refused.is_empty());
        compiled += u64::from(twins.refused.is_empty());
        fill(&mut twins, &mut rng);
        for _ in 0..6 {
            let frame = packets::frame(&mut rng);
            let outcome = twins.run(0, &frame, Ingress { ifindex: 1, queue: 0 });
            let outcome = outcome.unwrap_or_else(|e| panic!("{e}\n{text}"));
            *(if outcome.fault.is_some() { &mut faults } else { &mut ended }) += 1;
            twins.compare_maps().unwrap_or_else(|e| panic!("{e}\n{text}"));
        }
    }
    println!("fuzz: {compiled} inputs, {refused} refused; {ended} packets ended, {faults} faulted");
    assert!(ended > 0 && faults > 0 && compiled > 4 * refused, "{compiled} compiled, {refused} refused");
}

/// Damage, validated or not: what is no valid program is refused, and the rest does the same.
#[test]
fn fuzz_damaged_programs() {
    let (mut rng, began) = (Rng::new(test_seed("jit_damaged")), Instant::now());
    let (mut valid, mut invalid, mut compiled) = (0u64, 0u64, 0u64);
    while began.elapsed() < seconds() * 3 {
        let statements = 1 + rng.below(16) as u32;
        let mut image = programs::random(&mut rng, statements);
        image.programs[0] = defined(&image.programs[0]);
        for _ in 0..1 + rng.below(4) {
            let insns = &mut image.programs[0].insns;
            let at = rng.index(insns.len());
            match rng.below(5) {
                0 => insns[at].off = rng.below(24) as i16 - 8,
                1 => insns[at].dst = rng.below(11) as u8,
                2 => insns[at].src = rng.below(11) as u8,
                3 => insns[at].imm = rng.next_u32() as i32,
                _ => insns[at].op = rng.next_u32() as u8,
            }
        }
        let text = listing(&image.programs[0], &image.maps);
        // What no path reaches is not compiled, and so not refused.
        let is_valid = validate_program(&image.programs[0], &image.maps, Options { unreachable: true }).is_ok();
        *(if is_valid { &mut valid } else { &mut invalid }) += 1;
        let mut twins = Twins::new(image, Some(200));
        assert!(is_valid || !twins.refused.is_empty(), "{text}");
        compiled += u64::from(twins.refused.is_empty());
        fill(&mut twins, &mut rng);
        for _ in 0..4 {
            let frame = packets::frame(&mut rng);
            twins.run(0, &frame, Ingress { ifindex: 1, queue: 0 }).unwrap_or_else(|e| panic!("{e}\n{text}"));
        }
        twins.compare_maps().unwrap_or_else(|e| panic!("{e}\n{text}"));
    }
    println!("fuzz: {valid} inputs valid, {compiled} of them compiled, {invalid} invalid");
    assert!(compiled > 0 && invalid > 0);
}
