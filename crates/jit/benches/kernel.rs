//! Nanoseconds a packet of interpreter, compiled program and the kernel's JIT.
//!
//!     cargo bench -p sluice-jit --bench kernel                          # programs of this bench
//!     cargo bench -p sluice-jit --bench kernel -- FILE.o PROGRAM [HEX]  # one of an object, on one frame

use sluice_ebpf::insn::assemble;
use sluice_ebpf::kernel::{self, Kernel};
use sluice_ebpf::vm::{Ingress, Packet, Runtime};
use sluice_ebpf::{Image, MapSpec, MapType, load};
use sluice_jit::Jit;
use std::hint::black_box;
use std::time::Instant;

const ROUNDS: usize = 101;
const PACKETS: u32 = 4000;

fn map(name: &str, kind: MapType, key_size: u32, max_entries: u32) -> MapSpec {
    MapSpec { initial: vec![], ..MapSpec::new(name, kind, key_size, 8, max_entries) }
}

/// 64 bytes: Ethernet, IPv4 from 10.0.0.1 to 192.0.2.1, UDP.
fn frame() -> Vec<u8> {
    let mut frame = vec![0; 64];
    frame[12] = 8;
    frame[14] = 0x45;
    frame[17] = 50;
    frame[22..24].copy_from_slice(&[64, 17]);
    frame[26..34].copy_from_slice(&[10, 0, 0, 1, 192, 0, 2, 1]);
    frame[34..38].copy_from_slice(&[0x10, 0, 0, 53]);
    frame
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(f64::NAN)
}

fn timed(mut run: impl FnMut()) -> f64 {
    let start = Instant::now();
    for _ in 0..PACKETS {
        run();
    }
    start.elapsed().as_secs_f64() * 1e9 / f64::from(PACKETS)
}

fn measure(name: &str, image: &Image, index: usize, frame: &[u8]) {
    let mut runtime = Runtime::new(1, 1);
    let installed = runtime.install(image, &|_| None).expect("it installs");
    let number = runtime.program_number(installed, index).expect("a program");
    let mut jit = Jit::new();
    let start = Instant::now();
    for refused in jit.compile(&runtime, image, installed) {
        println!("{refused}");
    }
    let compiled = start.elapsed();
    let in_kernel = kernel::available().and_then(|()| Kernel::load(image).map_err(|e| e.to_string()));
    let mut packet = Packet::new(frame);
    let ingress = Ingress { ifindex: 1, queue: 0 };
    let outcome = runtime.run_number(number, &mut packet, ingress, None);
    let [mut interpreter, mut compiled_ns, mut with_copy, mut kernel_ns] = [const { Vec::new() }; 4];
    packet.set(frame);
    for _ in 0..ROUNDS {
        interpreter.push(timed(|| {
            black_box(&runtime.run_number(number, &mut packet, ingress, None));
        }));
        packet.set(frame);
        compiled_ns.push(timed(|| {
            black_box(&runtime.run_number_on(&jit, number, &mut packet, ingress));
        }));
        with_copy.push(timed(|| {
            packet.set(black_box(frame));
            black_box(&runtime.run_number_on(&jit, number, &mut packet, ingress));
        }));
        packet.set(frame);
        if let Ok(kernel) = &in_kernel {
            kernel_ns.push(kernel.programs[index].time(frame, PACKETS).expect("it runs").into());
        }
    }
    let [i, c, w, k] = [interpreter, compiled_ns, with_copy, kernel_ns].map(median);
    println!(
        "{name:20} {:6} {:8} {i:9.1} {c:9.1} {w:9.1} {k:9.1} {:8.2} {:8.2}   {:6.2} ms, {} bytes for {} slots",
        outcome.instructions,
        outcome.verdict.name(),
        i / k,
        c / k,
        compiled.as_secs_f64() * 1e3,
        jit.code_bytes(number).unwrap_or_default(),
        image.programs[index].insns.len()
    );
    if let Err(why) = in_kernel {
        println!("kernel skipped: {}", why.lines().next().unwrap_or_default());
    }
}

fn main() {
    let named: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with("--")).collect();
    if named.first().is_some_and(|n| n == "spin") {
        let program = assemble("spin", "r0 = 1\nexit", &[]).expect("a program of this bench");
        let image = Image { programs: vec![program], ..Image::default() };
        let mut runtime = Runtime::new(1, 1);
        let installed = runtime.install(&image, &|_| None).expect("it installs");
        let mut jit = Jit::new();
        jit.compile(&runtime, &image, installed);
        let mut packet = Packet::new(&frame());
        for _ in 0..50 { println!("{}", timed(|| { for _ in 0..1000 { black_box(&runtime.run_number_on(&jit, 0, &mut packet, Ingress::default())); } }) / 1000.0); }
        return;
    }
    println!("                      insns verdict  interp.       jit  jit+copy    kernel interp/k   jit/k   compiled");
    if let Some(file) = named.first() {
        let mut image = load::load(&std::fs::read(file).expect("the file")).expect("an object");
        for spec in &mut image.maps {
            if spec.max_entries == 0 {
                spec.max_entries = 64;
            }
        }
        let frame = named.get(2).map_or_else(frame, |hex| {
            (0..hex.len() / 2).map(|i| u8::from_str_radix(&hex[2 * i..2 * i + 2], 16).expect("hex")).collect()
        });
        for (index, program) in image.programs.iter().enumerate() {
            if named.get(1).is_none_or(|name| name == "all" || *name == program.name) {
                measure(&program.name, &image, index, &frame);
            }
        }
        return;
    }
    let programs = [
        ("drop", "r0 = 1\nexit", vec![], ""),
        ("parse", include_str!("../../ebpf/benches/interpreter/parse.bpf"), vec![], ""),
        ("xdp1", include_str!("../../ebpf/benches/interpreter/xdp1.bpf"), vec![map("counts", MapType::Array, 4, 256)], "counts"),
        (
            "firewall",
            include_str!("../../ebpf/benches/interpreter/firewall.bpf"),
            vec![map("flows", MapType::Hash, 16, 1024)],
            "flows",
        ),
    ];
    for (name, text, maps, map) in programs {
        let program = assemble(name, text, &[map]).expect("a program of this bench");
        let image = Image { programs: vec![program], maps, license: "GPL".into(), ..Image::default() };
        measure(name, &image, 0, &frame());
    }
}
