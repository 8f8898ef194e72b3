//! Code runs for the program and the maps that it was made for, and for no others.

use crate::support::Twins;
use sluice_ebpf::insn::assemble;
use sluice_ebpf::vm::Ingress;
use sluice_ebpf::{FaultReason, Image, MapSpec, MapType, Packet, Runtime};
use sluice_jit::{Jit, Unsupported};

/// Adds 1 to the value of key 0; gives what it was.
const COUNT: &str = "r2 = 0\n*(u32 *)(r10 -4) = r2\nr2 = r10\nr2 += -4\nr1 = map[counts]\ncall bpf_map_lookup_elem#1\n\
    if r0 == 0 goto out\nr1 = *(u64 *)(r0 +0)\nr2 = r1\nr2 += 1\n*(u64 *)(r0 +0) = r2\nr0 = r1\nexit\nout:\nr0 = 77\nexit";

fn image(text: &str, kind: MapType) -> Image {
    let program = assemble("count", text, &["counts"]).unwrap_or_else(|e| panic!("{e}"));
    let maps = vec![MapSpec::new("counts", kind, 4, 8, 4)];
    Image { programs: vec![program], maps, ..Image::default() }
}

fn run(runtime: &mut Runtime, jit: &Jit, number: u32) -> u64 {
    let outcome = runtime.run_number_on(jit, number, &mut Packet::new(&[0; 64]), Ingress::default());
    assert_eq!(outcome.fault, None);
    outcome.r0
}

#[test]
fn a_map_that_is_gone_is_not_reached() {
    for kind in [MapType::Array, MapType::PercpuArray] {
        let image = image(COUNT, kind);
        let mut runtime = Runtime::new(2, 1);
        let installed = runtime.install(&image, &|_| None).unwrap();
        let mut jit = Jit::new();
        assert_eq!(jit.compile(&runtime, &image, installed), []);
        assert_eq!([(); 3].map(|()| run(&mut runtime, &jit, 0)), [0, 1, 2]);
        // Another map comes: rows are found anew.
        runtime.maps.create(&image.maps[0]).unwrap();
        assert_eq!(run(&mut runtime, &jit, 0), 3);
        let map = runtime.map(installed, 0).unwrap();
        runtime.maps.remove(map);
        let outcome = runtime.run_number_on(&jit, 0, &mut Packet::new(&[0; 64]), Ingress::default());
        let expected = runtime.run_number(0, &mut Packet::new(&[0; 64]), Ingress::default(), None);
        assert_eq!(outcome, expected);
        assert!(matches!(outcome.fault.unwrap().reason, FaultReason::Argument { .. }));
    }
}

#[test]
fn a_processor_that_maps_have_no_copy_for_is_the_interpreters() {
    let image = image(COUNT, MapType::PercpuArray);
    let mut runtime = Runtime::new(2, 1);
    let installed = runtime.install(&image, &|_| None).unwrap();
    let mut jit = Jit::new();
    jit.compile(&runtime, &image, installed);
    runtime.world.cpu = 1;
    assert_eq!([(); 2].map(|()| run(&mut runtime, &jit, 0)), [0, 1]);
    runtime.world.cpu = 5000;
    assert_eq!(run(&mut runtime, &jit, 0), 77);
}

#[test]
fn a_packet_longer_than_the_analysis_speaks_of_is_the_interpreters() {
    // The frame's end is beyond what is known of it: nothing may be concluded from comparing with it.
    let text = "r2 = *(u32 *)(r1 +0)\nr3 = *(u32 *)(r1 +4)\nr4 = r2\nr4 += 20\nr0 = 0\nif r4 > r3 goto out\n\
        r0 = *(u8 *)(r2 +19)\nout:\nexit";
    let mut twins = Twins::new(image(text, MapType::Array), None);
    assert!(twins.refused.is_empty());
    for length in [64, 4000, 1 << 20, (1 << 20) + 1, 3 << 20] {
        let mut frame = vec![7; length];
        frame[19] = 9;
        assert_eq!(twins.run(0, &frame, Ingress::default()).unwrap().r0, 9, "{length}");
    }
}

#[test]
fn another_program_of_the_same_number_is_not_run_by_old_code() {
    // Without maps, which would tell them apart.
    let plain = |text| Image { maps: Vec::new(), ..image(text, MapType::Array) };
    let (first, second) = (plain("r0 = 1\nexit"), plain("r0 = 2\nexit"));
    let mut runtime = Runtime::new(1, 1);
    let mut jit = Jit::new();
    let installed = runtime.install(&first, &|_| None).unwrap();
    jit.compile(&runtime, &first, installed);
    assert_eq!(run(&mut runtime, &jit, 0), 1);
    runtime.remove(installed);
    runtime.install(&second, &|_| None).unwrap();
    assert_eq!(run(&mut runtime, &jit, 0), 2);
    jit.forget(&runtime);
    assert_eq!(jit.code_bytes(0), None);
    // Nor in another runtime, whose maps have the same numbers.
    let mut other = Runtime::new(1, 1);
    let image = image(COUNT, MapType::Array);
    let installed = runtime.install(&image, &|_| None).unwrap();
    jit.compile(&runtime, &image, installed);
    let there = other.install(&image, &|_| None).unwrap();
    assert_eq!(other.program_number(there, 0), Some(0));
    assert_eq!(run(&mut other, &jit, 0), 0);
}

#[test]
fn an_image_that_is_not_the_installed_one_is_refused() {
    let small = image(COUNT, MapType::Array);
    let mut large = small.clone();
    large.maps[0].max_entries = 1 << 20;
    let mut runtime = Runtime::new(1, 1);
    let installed = runtime.install(&small, &|_| None).unwrap();
    let refused = Jit::new().compile(&runtime, &large, installed);
    assert_eq!(refused[0].why, Unsupported::Map { map: "counts".into() });
    assert!(refused[0].to_string().contains("`count` runs interpreted"));
}

#[test]
fn what_reads_registers_that_nothing_wrote_is_refused_by_name() {
    let refused = |text: &str| {
        let mut twins = Twins::new(image(text, MapType::Array), None);
        twins.run(0, &[0; 64], Ingress::default()).unwrap();
        twins.refused.first().map(|refused| refused.why.clone())
    };
    assert_eq!(refused("r0 = r6\nexit"), Some(Unsupported::Unwritten { register: 6, slot: 0 }));
    assert_eq!(refused("r2 = 1\nr0 = r2\nexit"), None);
    let after = "r1 = 3\ncall f\nr0 = r1\nexit\nf:\nr0 = 1\nr1 = 9\nexit";
    assert_eq!(refused(after), Some(Unsupported::Unwritten { register: 1, slot: 1 }));
    // A function without a result, that nobody asks for.
    assert_eq!(refused("call f\nr0 = 2\nexit\nf:\nr1 = 9\nexit"), None);
    assert_eq!(refused("call f\nexit\nf:\nr1 = 9\nexit"), Some(Unsupported::Unwritten { register: 0, slot: 0 }));
}
