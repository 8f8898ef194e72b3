//! Simulation speed: clock cycles in a second of the whole NIC and of smaller ones, through the Device trait, and of the rmt
//! pipeline alone. Seconds are those of the processor, where the system tells them, because other programs have their
//! share of it; each figure is the best of some stretches.
//!
//!     make plugins-bench && cargo bench -p sluice-rtlsim

#[path = "../tests/support/pipeline.rs"]
mod pipeline;
#[path = "../tests/support/mod.rs"]
mod support;

use pipeline::Pipeline;
use sluice_device::{Device, Offer};
use sluice_formats::random::Rng;
use sluice_formats::{Target, target};
use sluice_frontends::Reading;
use sluice_rtlsim::{RtlNic, RtlOptions, Variant, locate, top};
use std::path::Path;
use std::time::Instant;
use support::Build;

const STRETCHES: u64 = 8;
const STRETCH_CYCLES: u64 = 5_000;
/// Cycles a second that one engine is to reach with the plug-in built for speed.
const ENGINE_AIM: f64 = 100_000.0;
/// Stretches and their cycles of the rmt pipeline.
const RMT_STRETCHES: u64 = 5;
const RMT_STRETCH_CYCLES: u64 = 4_000;

/// Time that this thread has had a processor, or time by the clock where that is not known.
struct Clock {
    begin: Instant,
    had: Option<u64>,
}

impl Clock {
    fn start() -> Self {
        Self { begin: Instant::now(), had: Self::had() }
    }

    fn seconds(&self) -> f64 {
        match (self.had, Self::had()) {
            (Some(before), Some(now)) => (now - before) as f64 * 1e-9,
            _ => self.begin.elapsed().as_secs_f64(),
        }
    }

    /// Nanoseconds on a processor.
    fn had() -> Option<u64> {
        let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
        text.split(' ').next()?.parse().ok()
    }
}

/// What the ports carry.
#[derive(Clone, Copy)]
enum Traffic {
    Idle,
    Minimum,
    Mixed,
}

fn main() {
    println!("{:<18} {:<8} {:>12} {:>12}", "config", "traffic", "cycles/s", "outcomes/s");
    let nics = [&top::NIC, &top::BARE, &top::WITH_XDP, &top::WITH_L7];
    let nics = target::ALL.into_iter().flat_map(|target| nics.map(|top| Build::new(top, target.name)));
    for build in nics.flat_map(|b| [Build { variant: Variant::Bench, ..b }, b]) {
        let config = build.top.config(build.target);
        if locate::find(&config, build.variant).is_err() {
            continue;
        }
        let label = format!("{config}{}", if build.variant == Variant::Bench { "" } else { " (checked)" });
        for (name, traffic) in [("idle", Traffic::Idle), ("64 B", Traffic::Minimum), ("mixed", Traffic::Mixed)] {
            let (cycles, outcomes) = measure(build, traffic);
            println!("{label:<18} {name:<8} {cycles:>12.0} {outcomes:>12.0}");
        }
    }
    rmt();
}

/// The rmt pipeline with CALC, beside the aim.
fn rmt() {
    println!("{:<18} {:<8} {:>12} {:>12} {:>12}", "config", "traffic", "cycles/s", "packets/s", "of the aim");
    for (target, variant) in target::ALL.into_iter().flat_map(|t| [(t, Variant::Bench), (t, Variant::Test)]) {
        let config = format!("rmt_{}", target.name);
        if locate::find(&config, variant).is_err() {
            println!("skipped: no {}: {}", locate::file_name(&config, variant), variant.recipe(&config));
            continue;
        }
        let label = format!("{config}{}", if variant == Variant::Bench { "" } else { " (checked)" });
        for (name, traffic) in [("idle", Traffic::Idle), ("64 B", Traffic::Minimum), ("mixed", Traffic::Mixed)] {
            let (cycles, packets) = measure_rmt(&target, variant, traffic);
            let share = 100.0 * cycles / ENGINE_AIM;
            println!("{label:<18} {name:<8} {cycles:>12.0} {packets:>12.0} {share:>10.1} %");
        }
    }
    println!("aim: {ENGINE_AIM:.0} cycles/s an engine");
}

/// Cycles and packets in a second, one packet after the other.
fn measure_rmt(target: &Target, variant: Variant, traffic: Traffic) -> (f64, f64) {
    let options = RtlOptions { top: &top::RMT, variant, check_accounting: false, ..RtlOptions::default() };
    let mut pipeline = Pipeline::new(RtlNic::open(target.name, options).expect("the plug-in was found"));
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/rmt/calc.rmt");
    let calc = sluice_frontends::read(&path, &Reading::new(target, "calc")).expect("CALC is there");
    pipeline.admit(1, &[&calc], 1);
    pipeline.load(1, &calc);
    let (mut rng, mut beats, mut frames) = (Rng::new(1), 0, Vec::new());
    while !matches!(traffic, Traffic::Idle) && beats < RMT_STRETCHES * RMT_STRETCH_CYCLES {
        let length = tagged_length(traffic, &mut rng) - 4;
        beats += u64::from(target.beats(length as u32));
        frames.push((1, question(length, &mut rng), 0));
    }
    let quiet = frames.is_empty();
    pipeline.offer(frames);
    let (mut cycles, mut packets) = (0f64, 0f64);
    for _ in 0..RMT_STRETCHES {
        let begin = Clock::start();
        pipeline.nic.advance(RMT_STRETCH_CYCLES).expect("the simulation runs");
        let seconds = begin.seconds();
        let ended = pipeline.take().len();
        assert!(quiet || ended > 0, "nothing came out");
        cycles = cycles.max(RMT_STRETCH_CYCLES as f64 / seconds);
        packets = packets.max(ended as f64 / seconds);
    }
    (cycles, packets)
}

/// A sum that CALC is asked for.
fn question(length: usize, rng: &mut Rng) -> Vec<u8> {
    let mut bytes = vec![2; 12];
    bytes.extend([0x12, 0x34, b'P', b'4', 1, b'+']);
    bytes.resize_with(length, || rng.next_u32() as u8);
    bytes
}

/// Cycles and outcomes in a second.
fn measure(build: Build, traffic: Traffic) -> (f64, f64) {
    let mut nic = build.open(RtlOptions { check_accounting: false, ..build.options(1) });
    support::set_up(&mut nic);
    let frames = frames(&nic, traffic);
    nic.offer(&frames).expect("frames are in range");
    let (mut cycles, mut outcomes) = (0f64, 0f64);
    for _ in 0..STRETCHES {
        let begin = Clock::start();
        nic.advance(STRETCH_CYCLES).expect("the simulation runs");
        let events = nic.poll(usize::MAX).len();
        let seconds = begin.seconds();
        assert!(frames.is_empty() || events > 0, "nothing came out");
        cycles = cycles.max(STRETCH_CYCLES as f64 / seconds);
        outcomes = outcomes.max(events as f64 / seconds);
    }
    (cycles, outcomes)
}

/// One packet after the other, spread over the ports, so that the pipeline is full and none waits.
fn frames(nic: &RtlNic, traffic: Traffic) -> Vec<Offer> {
    let target = nic.capabilities().target;
    let mut rng = Rng::new(1);
    let (begin, mut beats) = (nic.now(), 0);
    let mut frames = Vec::new();
    while !matches!(traffic, Traffic::Idle) && beats < STRETCHES * STRETCH_CYCLES {
        let length = tagged_length(traffic, &mut rng);
        let at = begin + beats;
        beats += u64::from(target.beats(length as u32 - 4));
        let module = 1 + rng.below(u64::from(target.modules) - 1) as u16;
        let port = (frames.len() % target.ports as usize) as u8;
        frames.push(Offer { port, bytes: support::tagged(module, length, &mut rng), at, bad: false });
    }
    frames
}

/// Bytes of a frame with its tag.
fn tagged_length(traffic: Traffic, rng: &mut Rng) -> usize {
    match traffic {
        Traffic::Mixed if rng.chance(5, 12) => 1518,
        Traffic::Mixed if rng.chance(1, 3) => 594,
        _ => 68,
    }
}
