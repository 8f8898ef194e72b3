//! The rmt pipeline alone; packets are compared with the model in every byte meanwhile.

mod cycles;
mod replacement;
mod writes;

pub use cycles::{cycles, wide};
pub use replacement::replacement;
pub use writes::writes;

use crate::pipeline::Pipeline;
use sluice_device::Device;
use sluice_object::{Load, Step};
use sluice_rtlsim::{Comparison, RtlNic, RtlOptions, Variant, top};
use std::ops::Range;

/// The build that is measured: all assertions are on.
pub const VARIANT: Variant = Variant::Test;
/// Cycles of a microsecond at 250 MHz.
const CYCLES_A_MICROSECOND: f64 = 250.0;
/// Longest time without an answer.
const PATIENCE: u64 = 200_000;

fn options(seed: u64) -> RtlOptions {
    RtlOptions { top: &top::RMT, seed, variant: VARIANT, ..RtlOptions::default() }
}

/// An empty pipeline with its model.
fn compared(config: &str, seed: u64) -> Comparison {
    Comparison::open(config, options(seed), crate::support::waves_folder()).unwrap_or_else(|e| panic!("{e}"))
}

/// An empty pipeline without.
fn alone(config: &str, seed: u64) -> Pipeline<RtlNic> {
    Pipeline::new(RtlNic::open(config, options(seed)).unwrap_or_else(|e| panic!("{e}")))
}

/// Sends steps of one kind that wait for nothing but their answers, and runs to the tick of the last answer.
fn timed(nic: &mut RtlNic, load: &Load, steps: Vec<Step>) -> Range<u64> {
    let begin = nic.now();
    let wanted = nic.requester_counts().answered + steps.len() as u64;
    nic.submit(&Load { steps, ..load.clone() }).expect("it is taken");
    while nic.requester_counts().answered < wanted {
        assert!(nic.now() - begin < PATIENCE, "the ring answers");
        nic.step(PATIENCE).expect("it runs");
    }
    let end = nic.now();
    // The driver sees that the load is over when it looks again.
    while nic.has_loads() {
        nic.step(1).expect("it runs");
    }
    begin..end
}
