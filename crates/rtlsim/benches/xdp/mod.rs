//! Cycles of the XDP engine alone: small programs that it has all of, written in assembly.

mod area;
mod far;
mod far_flows;
mod paths;
mod rates;
mod sizes;
#[path = "../../tests/support/xdp/mod.rs"]
mod support;
mod warp;

use sluice_ebpf::vm::Ingress;
use sluice_ebpf::{Image, MapSpec, MapType, Packet, Program, Runtime};
use sluice_formats::limits::packet_id;
use sluice_formats::target::ALL;
use sluice_hxdp::{Cores, Target, compile};
use sluice_rtlsim::Variant;
use std::fmt::Write;
use support::engine::{Engine, MODULE};
use support::pair::Pair;

/// Kind of the plug-ins.
pub const VARIANT: Variant = Variant::Bench;

/// Packets before those that are measured, and these.
const WARM: usize = 200;
const MEASURED: usize = 1000;

const CHECK: &str = "r6 = *(u32 *)(r1 +0)\nr2 = *(u32 *)(r1 +4)\nr3 = r6\nr3 += 42\nif r3 > r2 goto drop\n";
const DROP: &str = "drop:\nr0 = 1\nexit\n";

/// Name and text.
fn programs() -> Vec<(&'static str, String)> {
    let checked = |text: &str| format!("{CHECK}{text}{DROP}");
    vec![
        ("drop", DROP.into()),
        ("pass", "r0 = 2\nexit\n".into()),
        (
            "swap addresses, transmit",
            checked(
                "r2 = *(u32 *)(r6 +0)\nr3 = *(u16 *)(r6 +4)\nr4 = *(u32 *)(r6 +6)\nr5 = *(u16 *)(r6 +10)\n\
                 *(u32 *)(r6 +6) = r2\n*(u16 *)(r6 +10) = r3\n*(u32 *)(r6 +0) = r4\n*(u16 *)(r6 +4) = r5\nr0 = 3\nexit\n",
            ),
        ),
        (
            "count by protocol, drop",
            checked(
                "r2 = *(u16 *)(r6 +12)\nif r2 != 8 goto drop\nr2 = *(u8 *)(r6 +23)\n*(u32 *)(r10 -4) = r2\nr1 = map[values]\n\
                 r2 = r10\nr2 += -4\ncall bpf_map_lookup_elem\nif r0 == 0 goto drop\nr1 = 1\nlock *(u64 *)(r0 +0) += r1\n",
            ),
        ),
        (
            "lower the TTL, redirect",
            checked(
                "r2 = *(u16 *)(r6 +12)\nif r2 != 8 goto drop\nr2 = *(u8 *)(r6 +22)\nif r2 < 2 goto drop\nr2 -= 1\n\
                 *(u8 *)(r6 +22) = r2\nr3 = *(u16 *)(r6 +24)\nr3 += 1\nr4 = r3\nr4 >>= 16\nr3 += r4\n*(u16 *)(r6 +24) = r3\n\
                 r2 = 0x1122334455\n*(u32 *)(r6 +0) = r2\n*(u16 *)(r6 +4) = r2\nr1 = 77\nr2 = 0\ncall bpf_redirect\nexit\n",
            ),
        ),
        (
            "20 bytes in front, transmit",
            format!(
                "r7 = r1\nr2 = -20\ncall bpf_xdp_adjust_head\nif r0 != 0 goto drop\nr1 = r7\n{CHECK}r2 = *(u64 *)(r6 +20)\n\
                 *(u64 *)(r6 +0) = r2\nr2 = *(u32 *)(r6 +28)\n*(u32 *)(r6 +8) = r2\n*(u16 *)(r6 +12) = 8\n\
                 *(u64 *)(r6 +14) = 69\n*(u64 *)(r6 +22) = 1088\n*(u32 *)(r6 +30) = 16777226\nr0 = 3\nexit\n{DROP}"
            ),
        ),
        ("remainder of two bytes, drop", checked("r2 = *(u16 *)(r6 +34)\nr2 %= 7\n*(u16 *)(r6 +36) = r2\n")),
    ]
}

fn image(text: &str) -> Image {
    let program = sluice_ebpf::insn::assemble("measured", text, &["values"]).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let map = MapSpec::new("values", MapType::Array, 4, 8, 256);
    Image { programs: vec![Program { section: "xdp".into(), ..program }], maps: vec![map], ..Image::default() }
}

/// A UDP packet in IPv4.
fn frame(length: usize) -> Vec<u8> {
    let mut frame: Vec<u8> = (0..length).map(|i| i as u8).collect();
    frame[12..14].copy_from_slice(&[8, 0]);
    frame[14] = 0x45;
    frame[22..24].copy_from_slice(&[64, 17]);
    frame
}

/// Instructions and bundles that a packet executes.
fn executed(image: &Image, frame: &[u8]) -> (u64, u64) {
    let run = |cores: Option<&Cores>, runtime: &mut Runtime, installed| {
        let mut packet = Packet::new(frame);
        let ingress = Ingress { ifindex: 1, queue: 0 };
        match cores {
            Some(cores) => runtime.run_on(cores, installed, 0, &mut packet, ingress),
            None => runtime.run(installed, 0, &mut packet, ingress),
        }
    };
    let mut runtime = Runtime::new(1, 0);
    let installed = runtime.install(image, &|_| None).unwrap_or_else(|e| panic!("{e}"));
    let outcome = run(None, &mut runtime, installed);
    assert_eq!(outcome.fault, None);
    let mut cores = Cores::new();
    let bundles =
        compile(image, &image.programs[0], &Target::new(2).unwrap()).unwrap_or_else(|e| panic!("{e}")).bundles;
    cores.bind(bundles, runtime.program_number(installed, 0).unwrap_or_default(), &runtime, installed);
    run(Some(&cores), &mut runtime, installed);
    (outcome.instructions, cores.take_executed().bundles)
}

/// Cycles from one packet's verdict to the next, back to back.
fn interval(engine: &mut Engine, frame: &[u8]) -> f64 {
    for n in 0..(2 * WARM + MEASURED) as u32 {
        engine.offer(packet_id(0, n), MODULE, frame);
    }
    engine.end(2 * WARM + MEASURED);
    engine.quiesce();
    let ticks = std::mem::take(&mut engine.verdict_ticks);
    engine.verdicts.clear();
    engine.routed.clear();
    (ticks[WARM + MEASURED] - ticks[WARM]) as f64 / MEASURED as f64
}

/// Cycles of a packet alone, from its last beat in to its first beat out, or to its verdict if it is dropped.
fn alone(engine: &mut Engine, frame: &[u8]) -> u64 {
    engine.offer(packet_id(0, 0), MODULE, frame);
    engine.end(1);
    engine.quiesce();
    let verdict = std::mem::take(&mut engine.verdict_ticks)[0];
    engine.verdicts.clear();
    let out = engine.routed.pop_first().map_or(verdict, |_| engine.first_out);
    out - engine.last_in
}

pub use far::{is_there as far_is_there, table as far};
pub use paths::{flows, table};
pub use rates::table as rates;
pub use sizes::{modules, table as sizes};
pub use warp::table as warp;

/// The section of docs/measurements.md.
pub fn cycles(seed: u64) -> String {
    let mut out = String::from(
        "Small programs on the engine alone ([XDP engine](design/hxdp-core.md)), two cores of two lanes. Frames of 64 bytes back to back: cycles from a verdict to the next, the mean \
         of 1,000 behind 200 others.\n*Alone*: cycles from a packet's last beat in to its first beat out, or to its verdict if it is dropped.\n\n\
         | program | instructions | bundles | default, 8 contexts: cycles a packet | alone | tiny, 2 contexts | alone |\n\
         | --- | --- | --- | --- | --- | --- | --- |\n",
    );
    let frame = frame(64);
    for (name, text) in programs() {
        let image = image(&text);
        let (instructions, bundles) = executed(&image, &frame);
        let _ = write!(out, "| {name} | {instructions} | {bundles} |");
        for target in &ALL {
            let mut engine = Engine::open_variant(target, seed, VARIANT);
            Pair::new(&mut engine, image.clone()).unwrap_or_else(|| panic!("{name}: the engine has not all of it"));
            let alone = alone(&mut engine, &frame);
            let _ = write!(out, " {:.1} | {alone} |", interval(&mut engine, &frame));
        }
        out.push('\n');
    }
    out.push_str("\n| frame, `pass` | default: cycles a packet | beats | tiny: cycles a packet | beats |\n| --- | --- | --- | --- | --- |\n");
    for length in [64, 65, 128, 256, 512, 1024, 1514, 9000] {
        let _ = write!(out, "| {length} |");
        for target in &ALL {
            let mut engine = Engine::open_variant(target, seed, VARIANT);
            Pair::new(&mut engine, image("r0 = 2\nexit\n")).expect("the engine has all of it");
            let cycles = interval(&mut engine, &self::frame(length));
            let _ = write!(out, " {cycles:.1} | {} |", target.beats(length as u32));
        }
        out.push('\n');
    }
    out
}
