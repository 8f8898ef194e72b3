//! Nanoseconds a packet of interpreter, compiled program and the kernel's JIT.
//!
//! `cargo bench -p sluice-jit --bench kernel`. All run in turns on the same frame, which these programs leave as it is; the median
//! of the rounds counts. `sluice xdp bench` does it with any object and capture.

use sluice_ebpf::insn::assemble;
use sluice_ebpf::kernel::{self, Kernel};
use sluice_ebpf::vm::{Ingress, Packet, Runtime};
use sluice_ebpf::{Image, MapSpec, MapType};
use sluice_jit::Jit;
use std::hint::black_box;
use std::time::Instant;

const ROUNDS: usize = 201;
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

fn measure(name: &str, image: &Image) {
    let mut runtime = Runtime::new(1, 1);
    let installed = runtime.install(image, &|_| None).expect("a program of this bench");
    let number = runtime.program_number(installed, 0).expect("a program of this bench");
    let mut jit = Jit::new();
    let began = Instant::now();
    assert_eq!(jit.compile(&runtime, image, installed), []);
    let compiled = began.elapsed().as_secs_f64() * 1e3;
    let in_kernel = kernel::available().and_then(|()| Kernel::load(image).map_err(|e| e.to_string()));
    let mut packet = Packet::new(&frame());
    let ingress = Ingress { ifindex: 1, queue: 0 };
    let [mut interpreter, mut machine_code, mut kernel_jit] = [const { Vec::new() }; 3];
    for _ in 0..ROUNDS {
        interpreter.push(timed(|| {
            black_box(&runtime.run_number(number, &mut packet, ingress, None));
        }));
        machine_code.push(timed(|| {
            black_box(&runtime.run_number_on(&jit, number, &mut packet, ingress));
        }));
        if let Ok(kernel) = &in_kernel {
            kernel_jit.push(kernel.programs[0].time(&frame(), PACKETS).expect("it runs").into());
        }
    }
    let [i, m, k] = [interpreter, machine_code, kernel_jit].map(median);
    let bytes = jit.code_bytes(number).unwrap_or_default();
    println!("{name:10} {i:12.1} {m:8.1} {k:8.1} {:10.2} {bytes:8} {compiled:12.2}", m / k);
    if let Err(why) = in_kernel {
        println!("kernel skipped: {}", why.lines().next().unwrap_or_default());
    }
}

fn main() {
    let programs = [
        ("drop", "r0 = 1\nexit", vec![], ""),
        ("parse", include_str!("../../ebpf/benches/interpreter/parse.bpf"), vec![], ""),
        (
            "xdp1",
            include_str!("../../ebpf/benches/interpreter/xdp1.bpf"),
            vec![map("counts", MapType::Array, 4, 256)],
            "counts",
        ),
        (
            "firewall",
            include_str!("../../ebpf/benches/interpreter/firewall.bpf"),
            vec![map("flows", MapType::Hash, 16, 1024)],
            "flows",
        ),
    ];
    println!("ns a packet interpreter      jit   kernel jit/kernel    bytes  compiled, ms");
    for (name, text, maps, map) in programs {
        let program = assemble(name, text, &[map]).expect("a program of this bench");
        measure(name, &Image { programs: vec![program], maps, license: "GPL".into(), ..Image::default() });
    }
}
