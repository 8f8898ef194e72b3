//! Programs that are compiled by what packets did.

use crate::support::{LANES, Twins, fill, image, objects, packets, programs, target};
use sluice_ebpf::insn::assemble;
use sluice_ebpf::vm::Ingress;
use sluice_ebpf::{Image, Packet, Program, Runtime};
use sluice_formats::random::{Rng, test_seed};
use sluice_hxdp::{CompileError, Pass, Passes, Profile, compile_profiled, compile_with, encode};

const INGRESS: Ingress = Ingress { ifindex: 1, queue: 0 };

/// A profile of each program over these frames.
fn profiles(image: &Image, frames: &[Vec<u8>]) -> Vec<Profile> {
    let mut runtime = Runtime::new(2, 7);
    runtime.work_limit = 2000;
    let installed = runtime.install_unchecked(image, &|_| None).unwrap();
    let profile = |(index, program): (usize, &Program)| {
        let profile = Profile::new(runtime.program_number(installed, index).unwrap(), program.insns.len());
        for frame in frames {
            runtime.run_traced(installed, index, &mut Packet::new(frame), INGRESS, &profile);
        }
        profile
    };
    image.programs.iter().enumerate().map(profile).collect()
}

/// Both sides of an image, compiled by these profiles.
fn twins(image: Image, lanes: usize, work: Option<u64>, profiles: &[Profile]) -> Result<Twins, CompileError> {
    Twins::compiled(image, work, |image, program| {
        let index = image.programs.iter().position(|p| p.name == program.name).unwrap();
        Ok(compile_profiled(image, program, &target(lanes), Passes::ALL, &profiles[index])?.bundles)
    })
}

/// The longer way is the fixed rule's; the packets go the shorter one, which goes on as long as the other's copies.
const CONTRARY: &str = "
    r6 = *(u32 *)(r1 +0)
    r2 = *(u32 *)(r1 +4)
    r3 = r6
    r3 += 40
    r0 = 1
    if r3 > r2 goto out
    r4 = *(u8 *)(r6 +0)
    if r4 == 7 goto rare
    r5 = *(u8 *)(r6 +1)
    r5 += 1
    *(u8 *)(r6 +1) = r5
    goto both
rare:
    r5 = *(u8 *)(r6 +2)
    r5 *= 3
    *(u8 *)(r6 +2) = r5
    r5 = *(u8 *)(r6 +3)
    r5 ^= 3
    *(u8 *)(r6 +3) = r5
    r5 = *(u8 *)(r6 +4)
    r5 += 9
    *(u8 *)(r6 +4) = r5
    r5 = *(u8 *)(r6 +5)
    r5 += 9
    *(u8 *)(r6 +5) = r5
both:
    r5 = *(u8 *)(r6 +8)
    r7 = *(u8 *)(r6 +9)
    r5 += r7
    *(u8 *)(r6 +10) = r5
    r7 = *(u8 *)(r6 +11)
    r7 ^= r5
    *(u8 *)(r6 +12) = r7
    r0 = 2
out:
    exit";

#[test]
fn a_profile_against_the_fixed_rule_makes_fewer_bundles_for_its_packets() {
    let program = assemble("contrary", CONTRARY, &[]).unwrap();
    let image = Image { programs: vec![program], ..Image::default() };
    let frames: Vec<Vec<u8>> = (0..50).map(|n| vec![if n % 10 == 0 { 7 } else { 1 }; 64]).collect();
    let profiles = profiles(&image, &frames);
    for lanes in [2, 4] {
        let executed = |mut twins: Twins| {
            for frame in &frames {
                twins.run(0, frame, INGRESS).unwrap();
            }
            twins.executed.bundles
        };
        let fixed = executed(Twins::new(image.clone(), &target(lanes), None).unwrap());
        let profiled = executed(self::twins(image.clone(), lanes, None, &profiles).unwrap());
        println!("{lanes} lanes: {fixed} bundles by the fixed rule, {profiled} by the profile");
        assert!(profiled < fixed, "{lanes} lanes: {fixed} {profiled}");
    }
}

#[test]
fn counts_are_those_of_the_branches() {
    let program = assemble("contrary", CONTRARY, &[]).unwrap();
    let image = Image { programs: vec![program], ..Image::default() };
    let frames = [vec![7; 64], vec![1; 64], vec![1; 64], vec![1; 20]];
    let profile = &profiles(&image, &frames)[0];
    // Slot 5 is the length check, slot 7 the comparison with 7.
    assert_eq!((profile.hits(5), profile.taken(5)), (4, 1));
    assert_eq!((profile.hits(7), profile.taken(7)), (3, 1));
    assert_eq!((profile.hits(8), profile.hits(12), profile.hits(1_000), profile.taken(1_000)), (2, 1, 0, 0));
}

#[test]
fn profiled_programs_do_the_same_and_the_same_profile_gives_the_same_bytes() {
    let mut rng = Rng::new(test_seed("hxdp_profiled"));
    for path in objects() {
        for lanes in LANES {
            let image = image(&path);
            let frames: Vec<Vec<u8>> = (0..40).map(|_| packets::frame(&mut rng)).collect();
            let profiles = profiles(&image, &frames);
            for (program, profile) in image.programs.iter().zip(&profiles) {
                let bytes = || {
                    let made = compile_profiled(&image, program, &target(lanes), Passes::ALL, profile).unwrap();
                    encode::encode(&made.bundles)
                };
                assert_eq!(bytes(), bytes());
                // A profile without packets changes nothing.
                let nothing = compile_profiled(
                    &image,
                    program,
                    &target(lanes),
                    Passes::ALL.without(Pass::Superblocks),
                    &Profile::default(),
                );
                let plain = compile_with(&image, program, &target(lanes), Passes::ALL.without(Pass::Superblocks));
                assert_eq!(encode::encode(&nothing.unwrap().bundles), encode::encode(&plain.unwrap().bundles));
            }
            let mut twins = twins(image, lanes, None, &profiles).unwrap_or_else(|e| panic!("{e}"));
            fill(&mut twins, &mut rng);
            for _ in 0..60 {
                let program = rng.index(twins.image.programs.len());
                let result = twins.run(program, &packets::frame(&mut rng), INGRESS);
                result.unwrap_or_else(|e| panic!("{}, {lanes} lanes: {e}", path.display()));
            }
            twins.compare_maps().unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        }
    }
}

#[test]
fn profiled_random_programs_do_the_same() {
    let mut rng = Rng::new(test_seed("hxdp_profiled_random"));
    for _ in 0..150 {
        let statements = 1 + rng.below(60) as u32;
        let image = programs::random(&mut rng, statements);
        let frames: Vec<Vec<u8>> = (0..6).map(|_| packets::frame(&mut rng)).collect();
        let profiles = profiles(&image, &frames);
        let listing = sluice_ebpf::insn::listing(&image.programs[0], &image.maps);
        let mut twins =
            twins(image, LANES[rng.index(3)], Some(2000), &profiles).unwrap_or_else(|e| panic!("{listing}\n{e}"));
        fill(&mut twins, &mut rng);
        for _ in 0..6 {
            twins.run(0, &packets::frame(&mut rng), INGRESS).unwrap_or_else(|e| panic!("{listing}\n{e}"));
        }
        twins.compare_maps().unwrap_or_else(|e| panic!("{listing}\n{e}"));
    }
}
