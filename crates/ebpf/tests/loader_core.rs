//! CO-RE relocations against the types of a kernel: the same instructions as libbpf's, and what they do.

use sluice_ebpf::kernel::{Differential, Pinned, TestInput, available};
use sluice_ebpf::load::{KernelTypes, load, load_for};
use sluice_ebpf::vm::Ingress;
use sluice_ebpf::{FaultReason, Image, Packet, Runtime};
use sluice_formats::random::{Rng, test_seed};
use std::time::{Duration, Instant};

const OBJECT: &[u8] = include_bytes!("objects/core/asks.o");
/// Types of a kernel of our own: fields have other places, widths and names there.
const THERE: &[u8] = include_bytes!("objects/core/there.btf");
/// What libbpf 1.1 makes of each program with these types: name, what the kernel said, instructions.
const LIBBPF: &str = include_str!("objects/core/asks.libbpf");

fn image() -> Image {
    let kernel = KernelTypes::parse(THERE).unwrap_or_else(|e| panic!("{e}"));
    load_for(OBJECT, Some(&kernel)).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn instructions_are_those_that_libbpf_makes_of_them() {
    let image = image();
    assert_eq!(image.refused.iter().map(|r| r.error.to_string()).collect::<Vec<_>>(), [] as [String; 0]);
    assert_eq!(image.programs.len(), LIBBPF.lines().count());
    for (program, line) in image.programs.iter().zip(LIBBPF.lines()) {
        let mut words = line.split(' ');
        assert_eq!(words.next(), Some(program.name.as_str()));
        let theirs: Vec<&str> = words.skip(1).collect();
        let ours: Vec<String> =
            program.insns.iter().map(|i| format!("{:016x}", u64::from_le_bytes(i.to_bytes()))).collect();
        assert_eq!(ours, theirs, "{}", program.name);
    }
}

#[test]
fn programs_read_the_kernels_fields_and_fault_only_where_one_is_missing() {
    let image = image();
    let mut runtime = Runtime::new(1, 0);
    let installed = runtime.install(&image, &|_| None).unwrap();
    let frame: Vec<u8> = (0..100).collect();
    let mut run = |name: &str| {
        let program = image.program(name).unwrap_or_else(|| panic!("no {name}"));
        let outcome = runtime.run(installed, program, &mut Packet::new(&frame), Ingress { ifindex: 1, queue: 0 });
        outcome.fault.map_or(Ok(outcome.r0), |fault| Err(fault.reason))
    };
    for (name, expected) in [
        ("offset", 8),
        ("element", 28),
        ("deep", 12),
        ("exists", 1),
        ("exists_not", 0),
        ("load", 0x0b0a_0908),
        ("load_wider", 0x0f0e_0d0c_0b0a_0908),
        ("load_pointer", 24),
        ("has_sign", 1),
        // Bits 7 to 9 of 00 01 02 03.
        ("bit_field", 0x0302_0100 >> 7 & 7),
        ("type_exists_not", 0),
        ("type_size", 48),
        ("matches", 1),
        ("matches_not", 0),
        ("enum_value", 77),
        ("enum_large", 0x1234),
        ("enum_exists_not", 0),
        ("asks_first", 5),
    ] {
        assert_eq!(run(name), Ok(expected), "{name}");
    }
    for name in ["poison_load", "poison_sign", "poison_enum", "poison_type"] {
        assert_eq!(run(name), Err(FaultReason::NotFound { what: "a CO-RE relocation" }), "{name}");
    }
}

#[test]
fn relocated_programs_run_as_in_the_kernel() {
    if let Err(why) = available() {
        println!("skipped: {why}");
        return;
    }
    let _pinned = Pinned::to(0).unwrap();
    let mut image = image();
    // The verifier refuses what executes something missing.
    image.programs.retain(|p| !p.name.starts_with("poison"));
    let frame: Vec<u8> = (0..100).collect();
    let mut both = Differential::new(&image).unwrap_or_else(|e| panic!("{}", e.0));
    for program in 0..image.programs.len() {
        both.run(program, &TestInput::frame(&frame)).unwrap_or_else(|e| panic!("{}", e.0));
    }
}

#[test]
fn the_running_kernels_types_answer_what_it_has() {
    let Ok(types) = std::fs::read("/sys/kernel/btf/vmlinux") else { return println!("skipped: no BTF of a kernel") };
    let kernel = KernelTypes::parse(&types).unwrap_or_else(|e| panic!("{e}"));
    let image = load_for(include_bytes!("objects/core_kinds.o"), Some(&kernel)).unwrap();
    assert_eq!(image.refused.iter().map(|r| r.error.to_string()).collect::<Vec<_>>(), [] as [String; 0]);
    let mut runtime = Runtime::new(1, 0);
    let installed = runtime.install(&image, &|_| None).unwrap();
    let mut run = |name: &str| {
        let program = image.program(name).unwrap_or_else(|| panic!("no {name}"));
        let outcome = runtime.run(installed, program, &mut Packet::new(&[0; 100]), Ingress { ifindex: 1, queue: 0 });
        outcome.fault.map_or(Ok(outcome.r0), |fault| Err(fault.reason))
    };
    // XDP_TX is 3 and not what the object declares; no iphdr has `hops`.
    for (name, expected) in
        [("enum_value", 3), ("enum_exists", 1), ("type_exists", 1), ("named", 0), ("size_of_enum", 4)]
    {
        assert_eq!(run(name), Ok(expected), "{name}");
    }
    let missing = FaultReason::NotFound { what: "a CO-RE relocation" };
    assert_eq!(run("addresses"), Err(missing), "ipv6hdr has no such field");
    let note = image.notes.iter().find(|n| n.name == ".BTF").expect("a note");
    assert!(note.text.contains(&format!("{:016x}", kernel.hash())), "{}", note.text);
}

#[test]
fn without_types_what_a_kernel_answers_is_refused_by_name() {
    let error = load(OBJECT).unwrap_err().to_string();
    assert!(error.contains("CO-RE relocation field_byte_offset of `moved.b` needs a kernel's types"), "{error}");
    assert!(error.contains("--btf FILE"), "{error}");
    let image = load(include_bytes!("objects/core_kinds.o")).unwrap();
    assert!(image.notes.iter().all(|n| n.name != ".BTF"), "nothing was taken from a kernel");
}

#[test]
fn damaged_types_and_objects_end_with_an_error_in_time() {
    let seed = test_seed("damaged_types");
    let (mut rng, start, mut loaded) = (Rng::new(seed), Instant::now(), 0);
    while start.elapsed() < Duration::from_secs(1) {
        let (mut types, mut object) = (THERE.to_vec(), OBJECT.to_vec());
        let damaged = if rng.chance(1, 2) { &mut types } else { &mut object };
        for _ in 0..1 + rng.below(8) {
            let at = rng.index(damaged.len());
            match rng.below(4) {
                0 => damaged[at] ^= 1 << rng.below(8),
                1 => damaged[at] = rng.next_u32() as u8,
                2 => damaged[at] = rng.below(24) as u8,
                _ => damaged[at] = 0xff,
            }
        }
        if rng.chance(1, 50) {
            damaged.truncate(rng.index(damaged.len()));
        }
        let began = Instant::now();
        let Ok(kernel) = KernelTypes::parse(&types) else { continue };
        if let Ok(image) = load_for(&object, Some(&kernel)) {
            loaded += 1;
            // What is loaded is refused by name or runs to its end.
            let mut runtime = Runtime::new(1, 0);
            if let Ok(installed) = runtime.install(&image, &|_| None) {
                for program in 0..image.programs.len() {
                    runtime.run(installed, program, &mut Packet::new(&[1; 100]), Ingress { ifindex: 1, queue: 0 });
                }
            }
        }
        assert!(began.elapsed() < Duration::from_secs(5), "seed {seed}");
    }
    assert!(loaded > 10, "{loaded}");
}
