//! Compiled programs do what the interpreter does: on every script and on random packets.

use crate::support::{Twins, fill, image, packets, play, shipped, steps};
use sluice_ebpf::Runtime;
use sluice_ebpf::analysis::analyze;
use sluice_ebpf::vm::Ingress;
use sluice_formats::random::{Rng, test_seed};
use std::path::PathBuf;

#[test]
fn every_script_does_the_same() {
    let mut packets = 0;
    for path in shipped("pkt") {
        for steps in steps::steps(&path) {
            packets += play(&steps).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        }
    }
    println!("{packets} packets");
    assert!(packets > 500, "{packets} packets");
}

/// `SLUICE_XDP_OBJECTS=FOLDER` adds objects of others.
fn objects() -> Vec<PathBuf> {
    let mut all = shipped("o");
    let mut folders: Vec<PathBuf> = std::env::var_os("SLUICE_XDP_OBJECTS").map(PathBuf::from).into_iter().collect();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display())) {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "o") {
                all.push(path);
            }
        }
    }
    all.sort();
    all
}

#[test]
fn every_object_does_the_same_on_random_packets() {
    let mut rng = Rng::new(test_seed("jit_objects"));
    let (mut programs, mut refused, mut ran) = (0, 0, 0u64);
    let (mut accesses, mut proven) = (0, 0);
    for path in objects() {
        let mut rng = rng.fork();
        let image = match image(&path) {
            Ok(image) if Runtime::new(2, 1).install(&image, &|_| None).is_ok() && !image.programs.is_empty() => image,
            Ok(_) => continue,
            Err(e) => {
                println!("{}: {e}", path.display());
                continue;
            }
        };
        let mut twins = Twins::new(image, Some(1 << 16));
        programs += twins.image.programs.len();
        for program in &twins.image.programs {
            let slots = analyze(&twins.image, program).slots;
            accesses += slots.iter().filter(|at| at.access.is_some()).count();
            proven += slots.iter().filter(|at| at.access.as_ref().is_some_and(|access| access.in_bounds)).count();
        }
        refused += twins.refused.len();
        for refusal in &twins.refused {
            println!("{}: {refusal}", path.display());
        }
        fill(&mut twins, &mut rng);
        for packet in 0..600 {
            let program = rng.index(twins.image.programs.len());
            let ingress = Ingress { ifindex: 1 + rng.below(4) as u32, queue: rng.below(2) as u32 };
            let (cpu, later) = (rng.below(2) as u32, rng.below(1 << 30));
            twins.each(|runtime, _| {
                runtime.world.cpu = cpu;
                runtime.world.now_ns += later;
            });
            let frame = packets::frame(&mut rng);
            let result = twins.run(program, &frame, ingress);
            result.unwrap_or_else(|e| panic!("{}, program {program}, packet {packet}: {e}", path.display()));
            ran += 1;
        }
        twins.compare_maps().unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    }
    println!("{programs} programs, {refused} refused, {ran} packets; {proven} of {accesses} accesses are proven");
    assert!(ran > 10_000 && refused * 20 < programs);
}
