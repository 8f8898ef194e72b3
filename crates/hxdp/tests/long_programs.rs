//! Programs of as many instructions as an engine must take, and objects that are damaged.

#[path = "../../ebpf/tests/analysis_support/long.rs"]
mod long;

use crate::support::{LANES, Twins, fill, image, objects, packets, target};
use long::source;
use sluice_ebpf::insn::assemble;
use sluice_ebpf::vm::Ingress;
use sluice_ebpf::{Image, MapSpec, MapType, load};
use sluice_formats::random::{Rng, test_seed};
use sluice_hxdp::{Target, compile};
use std::time::Instant;

#[test]
fn five_thousand_instructions_are_compiled_and_do_what_they_did() {
    let mut rng = Rng::new(test_seed("hxdp_long"));
    let program = assemble("long", &source(&mut rng, 5000), &["values"]).unwrap_or_else(|e| panic!("{e:?}"));
    assert!((4900..=5000).contains(&program.instructions().count()), "{}", program.instructions().count());
    let maps = vec![MapSpec::new("values", MapType::Hash, 4, 8, 64)];
    let image = Image { programs: vec![program], maps, ..Image::default() };
    for lanes in LANES {
        let began = Instant::now();
        let compiled = compile(&image, &image.programs[0], &target(lanes)).unwrap_or_else(|e| panic!("{e}"));
        println!("{lanes} lanes: {} rows, {:?}", compiled.bundles.rows.len(), began.elapsed());
        let mut twins = Twins::new(image.clone(), &target(lanes), None).unwrap();
        fill(&mut twins, &mut rng);
        for _ in 0..10 {
            twins.run(0, &packets::frame(&mut rng), Ingress { ifindex: 1, queue: 0 }).unwrap();
        }
        twins.compare_maps().unwrap();
    }
}

#[test]
fn what_does_not_fit_is_refused_with_its_rows() {
    let path = objects().into_iter().find(|path| path.ends_with("nat/nat.o")).expect("nat is shipped");
    let image = image(&path);
    let small = Target { rows: 64, ..target(2) };
    let error = compile(&image, &image.programs[0], &small).unwrap_err();
    assert_eq!(error.code(), "E0802");
    assert!(error.to_string().contains("the core has 64"), "{error}");
}

#[test]
fn fuzz_damaged_objects_are_refused_or_compiled() {
    let mut rng = Rng::new(test_seed("hxdp_damaged_objects"));
    let all: Vec<Vec<u8>> = objects().iter().map(|path| std::fs::read(path).unwrap()).collect();
    let (mut refused, mut compiled) = (0, 0);
    for _ in 0..150 {
        let mut bytes = all[rng.index(all.len())].clone();
        for _ in 0..1 + rng.index(4) {
            let at = rng.index(bytes.len());
            bytes[at] = rng.below(256) as u8;
        }
        bytes.truncate(if rng.chance(1, 8) { rng.index(bytes.len()) } else { bytes.len() });
        let Ok(image) = load::load(&bytes) else {
            refused += 1;
            continue;
        };
        for program in &image.programs {
            match compile(&image, program, &target(LANES[rng.index(3)])) {
                Ok(_) => compiled += 1,
                Err(error) => {
                    assert_ne!(error.code(), "E0803", "{error}");
                    refused += 1;
                }
            }
        }
    }
    println!("{refused} refused, {compiled} compiled");
    assert!(refused > 0 && compiled > 0);
}
