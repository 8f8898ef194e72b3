//! Nanoseconds a packet of the interpreter, beside rbpf's with the same programs.
//!
//! `cargo bench -p sluice-ebpf --bench interpreter`. Both run in turns, the median of the rounds
//! counts. rbpf has no context of 32-bit addresses and no maps: see `interpreter/other.rs`.

#[path = "interpreter/other.rs"]
mod other;

use sluice_ebpf::insn::assemble;
use sluice_ebpf::vm::{Ingress, Packet, Runtime};
use sluice_ebpf::{Image, MapSpec, MapType};
use std::hint::black_box;
use std::time::Instant;

const ROUNDS: usize = 41;
const PACKETS: u32 = 20_000;

fn map(name: &str, kind: MapType, key_size: u32, max_entries: u32) -> MapSpec {
    MapSpec {
        name: name.into(),
        kind,
        key_size,
        value_size: 8,
        max_entries,
        flags: 0,
        pinned: false,
        inner: None,
        initial: vec![],
        contents: None,
        frozen: false,
        spin_lock: None,
        btf: (0, 0),
    }
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
    times[times.len() / 2]
}

fn timed(mut run: impl FnMut()) -> f64 {
    let start = Instant::now();
    for _ in 0..PACKETS {
        run();
    }
    start.elapsed().as_secs_f64() * 1e9 / f64::from(PACKETS)
}

fn main() {
    let programs = [
        ("drop", "r0 = 1\nexit", vec![], "", 1),
        ("parse", include_str!("interpreter/parse.bpf"), vec![], "", 1),
        ("xdp1", include_str!("interpreter/xdp1.bpf"), vec![map("counts", MapType::Array, 4, 256)], "counts", 1),
        ("firewall", include_str!("interpreter/firewall.bpf"), vec![map("flows", MapType::Hash, 16, 1024)], "flows", 3),
    ];
    println!("{:10} {:>6} {:>10} {:>14} {:>10}", "program", "insns", "sluice ns", "with copy ns", "rbpf ns");
    for (name, text, maps, map, verdict) in programs {
        let program = assemble(name, text, &[map]).expect("a program of this bench");
        let slots = other::bytes(&program);
        let machine = other::machine(&slots);
        let image = Image { programs: vec![program], maps, ..Image::default() };
        let mut runtime = Runtime::new(1, 1);
        let installed = runtime.install(&image, &|_| None).expect("a program of this bench");
        let frame = frame();
        let context = other::context(&frame);
        let mut packet = Packet::new(&frame);
        let ingress = Ingress { ifindex: 1, queue: 0 };
        let first = runtime.run(installed, 0, &mut packet, ingress);
        assert_eq!((first.fault, first.r0), (None, verdict), "{name}");
        assert_eq!(machine.execute_program(&frame, &context).expect("it runs"), verdict, "{name} in rbpf");
        let instructions = runtime.run(installed, 0, &mut packet, ingress).instructions;
        let [mut sluice, mut copied, mut rbpf] = [const { Vec::new() }; 3];
        for _ in 0..ROUNDS {
            sluice.push(timed(|| {
                black_box(runtime.run(installed, 0, &mut packet, ingress));
            }));
            copied.push(timed(|| {
                packet.set(black_box(&frame));
                black_box(runtime.run(installed, 0, &mut packet, ingress));
            }));
            rbpf.push(timed(|| {
                black_box(machine.execute_program(black_box(&frame), &context).expect("it runs"));
            }));
        }
        let (sluice, copied, rbpf) = (median(sluice), median(copied), median(rbpf));
        println!("{name:10} {instructions:6} {sluice:10.1} {copied:14.1} {rbpf:10.1}");
    }
}
