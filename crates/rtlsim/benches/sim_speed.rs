//! Simulation speed: clock cycles of the whole NIC in a second, through the Device trait. Each
//! figure is the best of some stretches, because other programs slow the others down.
//!
//!     make plugins-bench && cargo bench -p sluice-rtlsim

#[path = "../tests/support/mod.rs"]
mod support;

use sluice_formats::random::Rng;
use sluice_formats::target;
use sluice_nic::{Device, Offer};
use sluice_rtlsim::{RtlNic, RtlOptions, Variant};
use std::time::Instant;

const STRETCHES: u64 = 8;
const STRETCH_CYCLES: u64 = 5_000;

/// What the ports carry.
#[derive(Clone, Copy)]
enum Traffic {
    Idle,
    Minimum,
    Mixed,
}

fn main() {
    println!("{:<18} {:<8} {:>12} {:>12}", "config", "traffic", "cycles/s", "outcomes/s");
    for (target, variant) in target::ALL.into_iter().flat_map(|t| [(t, Variant::Bench), (t, Variant::Test)]) {
        if !support::has(target.name, variant) {
            continue;
        }
        let label = format!("{}{}", target.name, if variant == Variant::Bench { "" } else { " (checked)" });
        for (name, traffic) in [("idle", Traffic::Idle), ("64 B", Traffic::Minimum), ("mixed", Traffic::Mixed)] {
            let (cycles, outcomes) = measure(target.name, variant, traffic);
            println!("{label:<18} {name:<8} {cycles:>12.0} {outcomes:>12.0}");
        }
    }
}

/// Cycles and outcomes in a second of wall-clock time.
fn measure(config: &str, variant: Variant, traffic: Traffic) -> (f64, f64) {
    let options = RtlOptions { variant, check_accounting: false, ..RtlOptions::default() };
    let mut nic = RtlNic::open(config, options).expect("the plug-in was found");
    support::set_up(&mut nic);
    let frames = frames(&nic, traffic);
    nic.offer(&frames).expect("frames are in range");
    let (mut cycles, mut outcomes) = (0f64, 0f64);
    for _ in 0..STRETCHES {
        let begin = Instant::now();
        nic.advance(STRETCH_CYCLES).expect("the simulation runs");
        let events = nic.poll(usize::MAX).len();
        let seconds = begin.elapsed().as_secs_f64();
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
        let length = match traffic {
            Traffic::Mixed if rng.chance(5, 12) => 1518,
            Traffic::Mixed if rng.chance(1, 3) => 594,
            _ => 68,
        };
        let at = begin + beats;
        beats += u64::from(target.beats(length as u32 - 4));
        let module = 1 + rng.below(u64::from(target.modules) - 1) as u16;
        let port = (frames.len() % target.ports as usize) as u8;
        frames.push(Offer { port, bytes: support::tagged(module, length, &mut rng), at, bad: false });
    }
    frames
}
