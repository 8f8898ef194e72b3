//! Nanoseconds a packet of the interpreter, beside the kernel's JIT and rbpf's interpreter.
//!
//! `cargo bench -p sluice-ebpf --bench interpreter`. All run in turns on the same frame, the median
//! of the rounds counts. "with copy" puts the frame into the packet's buffer before each run, as a
//! device does; the kernel's test run and rbpf work on a frame that is there. rbpf has no context of
//! 32-bit addresses and no maps: see `interpreter/other.rs`. The shipped programs are set up by
//! their own packet scripts and run on the first frame that they send on; they change it, so that only runs
//! on a fresh copy mean something, which neither of the others measures.

#[path = "interpreter/other.rs"]
mod other;

use sluice_ebpf::insn::assemble;
use sluice_ebpf::kernel::{self, Kernel};
use sluice_ebpf::map::{notation, update_flags};
use sluice_ebpf::vm::{Ingress, Packet, Runtime};
use sluice_ebpf::{Image, MapSpec, MapType, Verdict, load};
use sluice_packet::script::{Command, MapOperation, Script};
use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

/// Rounds are short, so that most of them are not interrupted by whatever else runs.
const ROUNDS: usize = 401;
const PACKETS: u32 = 2000;

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

fn median(mut times: Vec<f64>) -> Option<f64> {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied()
}

fn timed(mut run: impl FnMut()) -> f64 {
    let start = Instant::now();
    for _ in 0..PACKETS {
        run();
    }
    start.elapsed().as_secs_f64() * 1e9 / f64::from(PACKETS)
}

/// A row of the table; what was not measured is a dash.
fn row(name: &str, instructions: u64, columns: [Option<f64>; 4]) {
    print!("{name:14} {instructions:6}");
    for column in columns {
        match column {
            Some(ns) => print!(" {ns:10.1}"),
            None => print!(" {:>10}", "-"),
        }
    }
    println!();
}

/// Programs that leave the frame as it is, in all three.
fn compared() {
    let programs = [
        ("drop", "r0 = 1\nexit", vec![], "", 1),
        ("parse", include_str!("interpreter/parse.bpf"), vec![], "", 1),
        ("xdp1", include_str!("interpreter/xdp1.bpf"), vec![map("counts", MapType::Array, 4, 256)], "counts", 1),
        ("firewall", include_str!("interpreter/firewall.bpf"), vec![map("flows", MapType::Hash, 16, 1024)], "flows", 3),
    ];
    for (name, text, maps, map, verdict) in programs {
        let program = assemble(name, text, &[map]).expect("a program of this bench");
        let slots = other::bytes(&program);
        let machine = other::machine(&slots);
        let image = Image { programs: vec![program], maps, license: "GPL".into(), ..Image::default() };
        let mut runtime = Runtime::new(1, 1);
        let installed = runtime.install(&image, &|_| None).expect("a program of this bench");
        let frame = frame();
        let context = other::context(&frame);
        let mut packet = Packet::new(&frame);
        let ingress = Ingress { ifindex: 1, queue: 0 };
        let first = runtime.run(installed, 0, &mut packet, ingress);
        assert_eq!((first.fault, first.r0), (None, verdict), "{name}");
        assert_eq!(machine.execute_program(&frame, &context).expect("it runs"), verdict, "{name} in rbpf");
        let in_kernel = kernel::available().and_then(|()| Kernel::load(&image).map_err(|e| e.to_string()));
        if let Err(why) = &in_kernel {
            println!("kernel skipped: {why}");
        }
        let instructions = runtime.run(installed, 0, &mut packet, ingress).instructions;
        let [mut sluice, mut copied, mut jit, mut rbpf] = [const { Vec::new() }; 4];
        for _ in 0..ROUNDS {
            sluice.push(timed(|| {
                black_box(runtime.run(installed, 0, &mut packet, ingress));
            }));
            copied.push(timed(|| {
                packet.set(black_box(&frame));
                black_box(runtime.run(installed, 0, &mut packet, ingress));
            }));
            if let Ok(kernel) = &in_kernel {
                jit.push(kernel.programs[0].time(&frame, PACKETS).expect("it ran before").into());
            }
            rbpf.push(timed(|| {
                black_box(machine.execute_program(black_box(&frame), &context).expect("it runs"));
            }));
        }
        row(name, instructions, [sluice, copied, jit, rbpf].map(median));
    }
}

/// A shipped program with the maps of its script, on the first frame that it sends on.
fn shipped(name: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/xdp").join(name);
    let script = Script::read(&folder.join(format!("{name}.pkt"))).expect("a shipped script");
    let mut image = Image::default();
    let mut runtime = Runtime::new(1, 1);
    let mut installed = None;
    for statement in &script.statements {
        match &statement.command {
            Command::Xdp(xdp) => {
                let object = std::fs::read(folder.join(&xdp.file)).expect("a shipped object");
                image = load::load(&object).expect("a shipped object");
                for (map, entries) in &xdp.max_entries {
                    image.set_max_entries(map, *entries).expect("as the script says");
                }
                installed = Some(runtime.install(&image, &|_| None).expect("a shipped object"));
            }
            Command::Map(statement) => {
                let MapOperation::Set { value, .. } = &statement.operation else { continue };
                let index = |name: &str| image.map(name).expect("a map of the object");
                let made = |index| runtime.map(installed.expect("loaded first"), index).expect("it was made");
                let at = index(&statement.map);
                let value = match value.strip_prefix("map:") {
                    Some(inner) => made(index(inner)).0.to_le_bytes().to_vec(),
                    None => notation::per_cpu(&image.maps[at], 1, notation::items(value).expect("a value")),
                };
                let (map, key) = (made(at), notation::items(&statement.key).expect("a key"));
                runtime.maps.user_update(map, &key, &value, update_flags::ANY).expect("an entry of the script");
            }
            Command::Send(send) => {
                let installed = installed.expect("the script loads it first");
                // The tenant's tag is off when the program sees the frame.
                let mut frame = send.bytes.clone();
                if frame[12..14] == [0x81, 0] {
                    frame.drain(12..16);
                }
                let ingress = Ingress { ifindex: u32::from(send.port) + 1, queue: 0 };
                let mut packet = Packet::new(&frame);
                let first = runtime.run(installed, 0, &mut packet, ingress);
                assert_eq!(first.fault, None, "{name}");
                if !matches!(first.verdict, Verdict::Tx | Verdict::Redirect) {
                    continue;
                }
                let mut instructions = 0;
                let copied = (0..ROUNDS).map(|_| {
                    timed(|| {
                        packet.set(black_box(&frame));
                        instructions = black_box(runtime.run(installed, 0, &mut packet, ingress)).instructions;
                    })
                });
                let copied = median(copied.collect());
                row(&format!("{name} ({})", first.verdict.name()), instructions, [None, copied, None, None]);
                return;
            }
            _ => {}
        }
    }
    println!("{name}: its script has no frame that goes on");
}

fn main() {
    println!("ns a packet    insns     sluice  with copy kernel JIT       rbpf");
    compared();
    for name in ["firewall", "router", "load_balancer"] {
        shipped(name);
    }
}
