//! Bundles do what the interpreter does: on every script, on random packets, and of random programs.

use crate::support::{LANES, Replay, Twins, fill, image, objects, packets, programs, scripts, showing, steps, target};
use sluice_ebpf::vm::Ingress;
use sluice_formats::random::{Rng, test_seed};
use std::time::{Duration, Instant};

#[test]
fn every_script_does_the_same_with_every_number_of_lanes() {
    for path in scripts() {
        for steps in steps::steps(&path) {
            for lanes in LANES {
                println!("{} lanes {lanes}", path.display());
                Replay::play(&steps, &target(lanes));
            }
        }
    }
}

#[test]
fn every_object_does_the_same_on_random_packets() {
    let mut rng = Rng::new(test_seed("hxdp_objects"));
    for path in objects() {
        for lanes in LANES {
            let mut rng = rng.fork();
            let mut twins = Twins::new(image(&path), &target(lanes), None).unwrap_or_else(|e| panic!("{e}"));
            fill(&mut twins, &mut rng);
            for packet in 0..400 {
                let program = rng.index(twins.image.programs.len());
                let ingress = Ingress { ifindex: 1 + rng.below(4) as u32, queue: rng.below(2) as u32 };
                let frame = packets::frame(&mut rng);
                let result = twins.run(program, &frame, ingress);
                result.unwrap_or_else(|e| panic!("{}, {lanes} lanes, packet {packet}: {e}", path.display()));
            }
            twins.compare_maps().unwrap_or_else(|e| panic!("{}, {lanes} lanes: {e}", path.display()));
        }
    }
}

#[test]
fn fuzz_random_programs_do_the_same() {
    let seconds = std::env::var("SLUICE_FUZZ_SECONDS").ok().and_then(|s| s.parse().ok()).unwrap_or(1);
    let mut rng = Rng::new(test_seed("hxdp_programs"));
    let began = Instant::now();
    let (mut run, mut faults, mut ended) = (0u64, 0u64, 0u64);
    while began.elapsed() < Duration::from_secs(seconds) {
        let statements = 1 + rng.below(60) as u32;
        let image = showing::maybe(programs::random(&mut rng, statements), &mut rng);
        let lanes = LANES[rng.index(3)];
        let work = [None, Some(3), Some(20)][rng.index(3)].or(Some(2000));
        let listing = sluice_ebpf::insn::listing(&image.programs[0], &image.maps);
        let mut twins = Twins::new(image, &target(lanes), work).unwrap_or_else(|e| panic!("{listing}\n{e}"));
        fill(&mut twins, &mut rng);
        for _ in 0..6 {
            let frame = packets::frame(&mut rng);
            let outcome = twins.run(0, &frame, Ingress { ifindex: 1, queue: 0 });
            let outcome = outcome.unwrap_or_else(|e| panic!("{listing}\n{lanes} lanes: {e}"));
            if outcome.fault.is_some() {
                faults += 1
            } else {
                ended += 1
            }
            twins.compare_maps().unwrap_or_else(|e| panic!("{listing}\n{lanes} lanes: {e}"));
        }
        run += 1;
    }
    println!("fuzz: {run} inputs; {ended} packets ended, {faults} faulted");
    assert!(ended > 0 && faults > 0, "both kinds of ends are there");
}

#[test]
fn fuzz_damaged_programs_that_are_still_valid_do_the_same() {
    let seconds = std::env::var("SLUICE_FUZZ_SECONDS").ok().and_then(|s| s.parse().ok()).unwrap_or(1);
    let mut rng = Rng::new(test_seed("hxdp_damaged"));
    let began = Instant::now();
    let (mut refused, mut run) = (0u64, 0u64);
    while began.elapsed() < Duration::from_secs(seconds) {
        let mut image = programs::random(&mut rng, 12);
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
        let listing = sluice_ebpf::insn::listing(&image.programs[0], &image.maps);
        let lanes = LANES[rng.index(3)];
        // What is refused is not installed: only validation looks at every slot.
        match sluice_hxdp::compile(&image, &image.programs[0], &target(lanes)) {
            Ok(_) => run += 1,
            Err(sluice_hxdp::CompileError::Refused(_)) => {
                refused += 1;
                continue;
            }
            Err(error) => panic!("{listing}\n{error}"),
        }
        let mut twins = Twins::new(image, &target(lanes), Some(200)).unwrap_or_else(|e| panic!("{listing}\n{e}"));
        fill(&mut twins, &mut rng);
        for _ in 0..4 {
            let frame = packets::frame(&mut rng);
            let outcome = twins.run(0, &frame, Ingress { ifindex: 1, queue: 0 });
            outcome.unwrap_or_else(|e| panic!("{listing}\n{lanes} lanes: {e}"));
        }
        twins.compare_maps().unwrap_or_else(|e| panic!("{listing}\n{lanes} lanes: {e}"));
    }
    println!("fuzz: {run} inputs ran, {refused} were refused");
    assert!(run > 0 && refused > 0, "damage leaves some valid");
}
