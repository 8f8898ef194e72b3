//! Each pass alone leaves a program what it was: it is run as it was before the pass and as it is behind it.

use crate::support::{LANES, Twins, fill, image, objects, packets, programs, showing, target};
use sluice_ebpf::vm::Ingress;
use sluice_formats::random::{Rng, test_seed};
use sluice_hxdp::compile::{schedule, stages};
use sluice_hxdp::{Pass, Passes, compile_with, verify};
use std::time::{Duration, Instant};

/// Random packets and map entries through both sides.
fn run(twins: &mut Twins, rng: &mut Rng, packets: usize) -> Result<(), String> {
    fill(twins, rng);
    for _ in 0..packets {
        let program = rng.index(twins.image.programs.len());
        let ingress = Ingress { ifindex: 1 + rng.below(4) as u32, queue: rng.below(2) as u32 };
        twins.run(program, &packets::frame(rng), ingress)?;
    }
    twins.compare_maps()
}

/// Sets of passes that differ: none, all, each alone, all but each.
fn sets() -> Vec<Passes> {
    let alone = Pass::ALL.map(|pass| Passes::NONE.with(pass));
    let without = Pass::ALL.map(|pass| Passes::ALL.without(pass));
    [Passes::NONE, Passes::ALL].into_iter().chain(alone).chain(without).collect()
}

#[test]
fn a_program_behind_each_pass_does_what_it_did_before() {
    let mut rng = Rng::new(test_seed("hxdp_stages"));
    for path in objects() {
        let image = image(&path);
        let names: Vec<&str> =
            stages(&image, &image.programs[0], Passes::ALL).into_iter().map(|stage| stage.name).collect();
        for (index, name) in names.iter().enumerate() {
            // In one lane nothing is side by side; what the pass made is run step by step.
            let twins = Twins::compiled(image.clone(), None, |image, program| {
                let stage = &stages(image, program, Passes::ALL)[index];
                verify::traces(&stage.code).unwrap_or_else(|e| panic!("{}, after {name}: {e}", path.display()));
                // `values` has more registers than a core until the last pass.
                let code = stage.in_core().unwrap_or_else(|| panic!("{}, after {name}: no room", path.display()));
                schedule(&code, &target(1))
            });
            let mut twins = twins.unwrap_or_else(|e| panic!("{}, after {name}: {e}", path.display()));
            let result = run(&mut twins, &mut rng.fork(), 60);
            result.unwrap_or_else(|e| panic!("{}, after {name}: {e}", path.display()));
        }
    }
}

#[test]
fn every_object_does_the_same_with_each_pass_alone_and_without_it() {
    let mut rng = Rng::new(test_seed("hxdp_sets"));
    for path in objects() {
        let image = image(&path);
        for passes in sets() {
            let lanes = LANES[rng.index(3)];
            let twins = Twins::compiled(image.clone(), None, |image, program| {
                Ok(compile_with(image, program, &target(lanes), passes)?.bundles)
            });
            let mut twins = twins.unwrap_or_else(|e| panic!("{}, {passes:?}: {e}", path.display()));
            let result = run(&mut twins, &mut rng.fork(), 30);
            result.unwrap_or_else(|e| panic!("{}, {lanes} lanes, {passes:?}: {e}", path.display()));
        }
    }
}

#[test]
fn fuzz_random_programs_do_the_same_with_any_passes() {
    let seconds = std::env::var("SLUICE_FUZZ_SECONDS").ok().and_then(|s| s.parse().ok()).unwrap_or(1);
    let mut rng = Rng::new(test_seed("hxdp_any_passes"));
    let (began, sets, mut inputs) = (Instant::now(), sets(), 0u64);
    while began.elapsed() < Duration::from_secs(seconds) {
        let image = showing::maybe(programs::random(&mut rng, 40), &mut rng);
        let listing = sluice_ebpf::insn::listing(&image.programs[0], &image.maps);
        let (passes, lanes) = (sets[rng.index(sets.len())], LANES[rng.index(3)]);
        let work = [3, 20, 2000][rng.index(3)];
        let twins = Twins::compiled(image, Some(work), |image, program| {
            Ok(compile_with(image, program, &target(lanes), passes)?.bundles)
        });
        let mut twins = twins.unwrap_or_else(|e| panic!("{listing}\n{passes:?}: {e}"));
        run(&mut twins, &mut rng, 4).unwrap_or_else(|e| panic!("{listing}\n{lanes} lanes, {passes:?}: {e}"));
        inputs += 1;
    }
    println!("fuzz: {inputs} inputs");
    assert!(inputs > 0);
}

/// r2 is overwritten where both ways meet, and nobody reads it there: the compiler may leave its old value in it. What the
/// region analysis says of r2 then is not of that value.
#[test]
fn what_the_analysis_says_of_a_dead_register_is_not_used() {
    let way = |at: u8| format!("r8 = r2\nr2 = *(u32 *)(r6 +0)\n*(u8 *)(r2 +{at}) = r8\n");
    let source = format!(
        "r6 = r1\nr7 = *(u32 *)(r6 +0)\nr3 = *(u32 *)(r6 +4)\nr4 = r7\nr4 += 40\nr0 = 1\nif r4 > r3 goto out\n\
         r2 = *(u8 *)(r7 +5)\nif r2 > 100 goto other\n{}goto join\nother:\n{}join:\nr8 += 1\n*(u64 *)(r7 +8) = r8\nr0 = 2\n\
         out:\nexit",
        way(1),
        way(2)
    );
    let program = sluice_ebpf::insn::assemble("dead", &source, &[]).unwrap();
    let image = sluice_ebpf::Image { programs: vec![program], ..Default::default() };
    for passes in ["all", "-superblocks,-short", "-superblocks,-short,-values"] {
        let passes: Passes = passes.parse().unwrap();
        let twins = Twins::compiled(image.clone(), None, |image, program| {
            Ok(compile_with(image, program, &target(2), passes)?.bundles)
        });
        let mut twins = twins.unwrap_or_else(|e| panic!("{passes:?}: {e}"));
        run(&mut twins, &mut Rng::new(1), 40).unwrap_or_else(|e| panic!("{passes:?}: {e}"));
    }
}
