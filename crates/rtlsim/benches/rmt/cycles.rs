//! Cycles a packet, and from the first beat in to the last beat out.

use super::compared;
use crate::pipeline::{Pipeline, object};
use crate::plot::{Axis, Look, Plot, Scale, Series};
use sluice_device::{Device, Verdict};
use sluice_formats::random::Rng;
use sluice_formats::rmt::target::{DEFAULT, TINY, Target, WIDE};
use sluice_object::Object;
use sluice_rtlsim::{Comparison, Ready, Stalls};
use std::fmt::Write;

const LENGTHS: [usize; 13] = [60, 64, 65, 96, 127, 128, 129, 192, 256, 512, 1024, 1500, 9000];

/// What comes in: gaps between packets.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Gaps {
    None,
    /// Behind each packet as many cycles as it has beats.
    Uniform,
    /// Before each beat, in half of the cycles, by chance.
    Random,
}

/// A module that sends every packet to port 0, its header grown or shrunk.
fn module(target: &sluice_formats::Target, change: &str) -> Object {
    let source = format!(
        "module forward\ncontainer m = c6[0]\ncontainer p = c4[0]\nparser {{\n select 0:1 {{\n * -> all\n }}\n \
         path all {{\n take m @0, p @14\n least 34\n }}\n}}\nstage 1 {{\n default out\n action out {{ send port0 }}\n}}\n\
         deparser {{\n row r {{\n {change}\n }}\n}}\n"
    );
    object(&source, target)
}

/// When a packet's first beat was accepted, and its first and last beat left.
#[derive(Clone, Copy)]
struct Times {
    first_in: u64,
    first: u64,
    last: u64,
}

impl Times {
    fn latency(&self) -> u64 {
        self.last - self.first_in
    }
}

struct Bench {
    target: Target,
    pipeline: Pipeline<Comparison>,
    rng: Rng,
}

impl Bench {
    fn new(target: &Target, change: &str, seed: u64) -> Self {
        let mut pipeline = Pipeline::new(compared(target.name, seed));
        let object = module(pipeline.target, change);
        pipeline.admit(1, &[&object], 1);
        pipeline.load(1, &object);
        Self { target: *target, pipeline, rng: Rng::new(seed) }
    }

    /// Packets of some lengths, all of which must leave.
    fn run(&mut self, lengths: &[usize], gaps: Gaps, stalls: bool) -> Vec<Times> {
        let stalls = Stalls {
            port_gaps: if gaps == Gaps::Random { 128 } else { 0 },
            ready: if stalls { Ready::Random { chance: 128 } } else { Ready::Always },
            ..Stalls::default()
        };
        self.pipeline.nic.set_stalls(stalls).expect("a chance");
        let mut at = self.pipeline.nic.now();
        let mut frames = Vec::new();
        for &length in lengths {
            let bytes = (0..length).map(|_| self.rng.next_u32() as u8).collect();
            frames.push((1, bytes, if gaps == Gaps::Uniform { at } else { 0 }));
            at += 2 * self.target.beats(length) as u64;
        }
        self.pipeline.offer(frames);
        self.pipeline.nic.quiesce().expect("RTL and model agree");
        // What is behind the last beat out comes to rest.
        self.pipeline.nic.advance(50).expect("RTL and model agree");
        let outcomes = self.pipeline.take().into_iter();
        let left = outcomes.filter(|outcome| matches!(outcome.verdict, Verdict::Forwarded { .. }));
        let times: Vec<Times> = left
            .map(|outcome| Times {
                first_in: outcome.first_in.expect("the RTL tells it"),
                first: outcome.first_out.expect("the RTL tells it"),
                last: outcome.last_out.expect("the RTL tells it"),
            })
            .collect();
        assert_eq!(times.len(), lengths.len(), "nothing is lost");
        times
    }

    /// Cycles a packet, between the first output beats of the first and the last one.
    fn rate(&mut self, lengths: &[usize], gaps: Gaps, stalls: bool) -> f64 {
        let times = self.run(lengths, gaps, stalls);
        (times[times.len() - 1].first - times[0].first) as f64 / (times.len() - 1) as f64
    }

    /// A packet that is alone.
    fn idle(&mut self, length: usize) -> Times {
        self.run(&[length], Gaps::None, false)[0]
    }

    /// Median and most of the latency.
    fn full(&mut self, lengths: &[usize], stalls: bool) -> (u64, u64) {
        let mut latency: Vec<u64> = self.run(lengths, Gaps::None, stalls).iter().map(Times::latency).collect();
        latency.sort_unstable();
        (latency[latency.len() / 2], latency[latency.len() - 1])
    }
}

/// 7 of 64, 4 of 576, 1 of 1,500 bytes.
fn imix(packets: usize, rng: &mut Rng) -> Vec<usize> {
    let one = |rng: &mut Rng| match rng.below(12) {
        0..=6 => 64,
        7..=10 => 576,
        _ => 1500,
    };
    (0..packets).map(|_| one(rng)).collect()
}

const INTRODUCTION: &str = "\
`sluice_rmt_top` alone, one module that sends to port 0; every packet is compared with the model, and none may be
missing. Cycles per packet: between the first output beats of the first and the last packet. Back to back; with uniform
gaps (behind each packet as many cycles as it has beats); with random gaps (before each beat, in half of the cycles);
each with an output that is always ready and with one that is ready in half of the cycles (stalls); back to back, and
with random gaps and stalls, with headers that grow or shrink by 4 bytes.

";
const RATES: &str = "\
| config | bytes | beats | back to back | uniform gaps | random gaps | stalls | uniform and stalls | random and stalls \
| +4 bytes | with both | -4 bytes | with both |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
";
const LATENCIES: &str = "
Latency in cycles, from the first beat accepted to the last beat out (*first*: to the first beat out). Idle: one packet at a
time. Full: back to back, median and most. Where headers grow by 4 bytes into one beat more, the output takes more than
the input brings, so that packets wait inside. Stalls: back to back with an output that is ready in half of the cycles.

| config | bytes | idle: first | last | +4 bytes | -4 bytes | full: median | most | +4: median | most | -4: median | most \
| stalls: median | most |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
";
/// What is said of the published pipeline, as NUMBERS and the paper's text have it.
const PUBLISHED: &str = "
![Cycles per packet, 512 bit](plots/rmt_cycles_default.svg)
![Cycles per packet, 256 bit](plots/rmt_cycles_tiny.svg)
![Latency, 512 bit](plots/rmt_latency_default.svg)
![Latency, 256 bit](plots/rmt_latency_tiny.svg)

The plots show the tables' columns over the length, both axes logarithmic, up to 1,500 bytes; the points are in the CSV files
beside them. Back to back the line is the number of beats, a stair of one step a bus width; shrinking headers follow it, growing
ones take the next step 4 bytes earlier; gaps and stalls in half of the cycles double it. Diamonds are the published pipeline.

Published (Menshen, NSDI 2022, section 5.2, 512 bit at 250 MHz): 100 Gbit/s from 256 bytes up, which is 5.5 cycles a packet there
and 30.4 at 1,500 bytes (with 20 bytes of preamble and gap); without its optimisations 80 Gbit/s at 1,500 bytes, 38 cycles. Its
RTL, simulated with uniform gaps, takes a packet in 2 cycles at 64 bytes, 3 at 96 to 192 and 4 at 256, and is lossless at the bus
rate from 192 bytes only. Latency: 106 cycles at 64 bytes and 129 at 1,500 (its text says 112 too); 256 bit: 79 cycles at
64 bytes, 146 or 150 at 1,500.
";

/// What the plots show of one target.
#[derive(Default)]
struct Curves {
    rates: [Vec<(f64, f64)>; 6],
    latencies: [Vec<(f64, f64)>; 3],
}

/// The section's text.
pub fn cycles(seed: u64) -> String {
    let (mut rates, mut latencies) = (RATES.to_owned(), LATENCIES.to_owned());
    for target in [DEFAULT, TINY] {
        let mut curves = Curves::default();
        let mut plain = Bench::new(&target, "put m @0", seed);
        let mut grows = Bench::new(&target, "grow 4 at 14\n put m @0, p @14", seed);
        let mut shrinks = Bench::new(&target, "shrink 4 at 14\n put m @0", seed);
        let name = target.name;
        let mixed = imix(200, &mut plain.rng);
        for n in LENGTHS.map(Some).into_iter().chain([None]) {
            let lengths = n.map_or_else(|| mixed.clone(), |n| vec![n; (50_000 / n).clamp(20, 200)]);
            let beats = lengths.iter().map(|&n| target.beats(n)).sum::<usize>() as f64 / lengths.len() as f64;
            let free = [Gaps::None, Gaps::Uniform, Gaps::Random].map(|gaps| plain.rate(&lengths, gaps, false));
            let stalled = [Gaps::None, Gaps::Uniform, Gaps::Random].map(|gaps| plain.rate(&lengths, gaps, true));
            let changed = [&mut grows, &mut shrinks]
                .map(|bench| [bench.rate(&lengths, Gaps::None, false), bench.rate(&lengths, Gaps::Random, true)]);
            let full = [&mut plain, &mut grows, &mut shrinks].map(|bench| bench.full(&lengths, false));
            let waits = plain.full(&lengths, true);
            let label = n.map_or("IMIX".to_owned(), |n| n.to_string());
            let beats = n.map_or_else(|| format!("{beats:.3}"), |_| format!("{beats}"));
            let cells: Vec<String> =
                free.iter().chain(&stalled).chain(changed.as_flattened()).map(|r| format!("{r:.3}")).collect();
            let _ = writeln!(rates, "| {name} | {label} | {beats} | {} |", cells.join(" | "));
            let idle = n.map(|n| {
                let alone = plain.idle(n);
                [alone.first - alone.first_in, alone.latency(), grows.idle(n).latency(), shrinks.idle(n).latency()]
            });
            let idle_cells = idle.map_or([const { String::new() }; 4], |idle| idle.map(|c| c.to_string())).join(" | ");
            let full_cells: Vec<String> =
                full.iter().chain([&waits]).map(|(m, most)| format!("{m} | {most}")).collect();
            let _ = writeln!(latencies, "| {name} | {label} | {idle_cells} | {} |", full_cells.join(" | "));
            if let (Some(n), Some(idle)) = (n.filter(|&n| n <= 1500), idle) {
                let rates = [free[0], free[1], free[2], stalled[2], changed[0][0], changed[1][0]];
                curves.rates.iter_mut().zip(rates).for_each(|(curve, rate)| curve.push((n as f64, rate)));
                let latencies = [idle[1], full[0].1, waits.1];
                curves.latencies.iter_mut().zip(latencies).for_each(|(curve, l)| curve.push((n as f64, l as f64)));
            }
        }
        plots(&target, curves);
    }
    format!("{INTRODUCTION}{rates}{latencies}{PUBLISHED}")
}

/// The section's text for the target of most stages, which has no plots: it has the bus of `default`.
pub fn wide(seed: u64) -> String {
    let mut text = format!(
        "As above, target `wide` of {} stages, {} more than `default`: cycles per packet back to back, and cycles from the first \
         beat accepted to the first and to the last beat out.\n\n\
         | bytes | beats | cycles per packet | idle: first | last | full: median | most |\n\
         | --- | --- | --- | --- | --- | --- | --- |\n",
        WIDE.stages,
        WIDE.stages - DEFAULT.stages
    );
    let mut bench = Bench::new(&WIDE, "put m @0", seed);
    for n in LENGTHS {
        let lengths = vec![n; (50_000 / n).clamp(20, 200)];
        let rate = bench.rate(&lengths, Gaps::None, false);
        let alone = bench.idle(n);
        let (median, most) = bench.full(&lengths, false);
        let (first, last) = (alone.first - alone.first_in, alone.latency());
        let _ = writeln!(text, "| {n} | {} | {rate:.3} | {first} | {last} | {median} | {most} |", WIDE.beats(n));
    }
    text
}

fn bytes() -> Axis {
    let ticks = vec![60.0, 96.0, 128.0, 192.0, 256.0, 512.0, 1024.0, 1500.0];
    Axis { title: "bytes of a packet", scale: Scale::Log, ticks }
}

fn plots(target: &Target, curves: Curves) {
    let bits = 8 * target.bus_bytes;
    let series = |name: &str, look, points| Series { name: name.to_owned(), look, points };
    let names = [
        "back to back",
        "uniform gaps",
        "random gaps",
        "random gaps and stalls",
        "headers 4 bytes longer",
        "4 bytes shorter",
    ];
    let looks = [Look::Line, Look::Line, Look::Dashed, Look::Dashed, Look::Line, Look::Dashed];
    let mut all: Vec<Series> =
        curves.rates.into_iter().zip(names).zip(looks).map(|((p, name), look)| series(name, look, p)).collect();
    if target.bus_bytes == 64 {
        let rtl = vec![(64.0, 2.0), (96.0, 3.0), (192.0, 3.0), (256.0, 4.0)];
        all.push(series("published RTL, uniform gaps", Look::Points, rtl));
        all.push(series("published, 100 Gbit/s", Look::Points, vec![(256.0, 5.5), (1500.0, 30.4)]));
        all.push(series("published, not optimised", Look::Points, vec![(1500.0, 38.0)]));
    }
    let most = if target.bus_bytes == 64 { 64.0 } else { 128.0 };
    let ticks = (0..8).map(|p| f64::from(1 << p)).filter(|&t| t <= most).collect();
    Plot {
        title: format!("rmt pipeline, {bits} bit: cycles per packet"),
        x: bytes(),
        y: Axis { title: "cycles per packet", scale: Scale::Log, ticks },
        series: all,
        marks: Vec::new(),
    }
    .write(&format!("rmt_cycles_{}", target.name));

    let names = ["idle", "back to back, most", "output stalls, most"];
    let aim = curves.latencies[0].iter().map(|&(n, _)| (n, aim(target, n as usize))).collect();
    let mut all: Vec<Series> = curves.latencies.into_iter().zip(names).map(|(p, n)| series(n, Look::Line, p)).collect();
    all.push(series("aim", Look::Dashed, aim));
    let points = match target.bus_bytes {
        64 => vec![(64.0, 106.0), (1500.0, 129.0)],
        _ => vec![(64.0, 79.0), (1500.0, 146.0)],
    };
    all.push(series("published", Look::Points, points));
    Plot {
        title: format!("rmt pipeline, {bits} bit: first beat in to last beat out"),
        x: bytes(),
        y: Axis { title: "cycles", scale: Scale::Log, ticks: vec![32.0, 64.0, 128.0, 256.0, 512.0, 1024.0] },
        series: all,
        marks: Vec::new(),
    }
    .write(&format!("rmt_latency_{}", target.name));
}

/// At most 64 cycles at 64 bytes and 64 + beats above.
fn aim(target: &Target, bytes: usize) -> f64 {
    if bytes <= 64 { 64.0 } else { 64.0 + target.beats(bytes) as f64 }
}
