//! Running one load to its end, while packets flow.

use crate::device::Device;
use crate::error::{DeviceError, Waited};
use crate::outcome::{Event, Outcome};
use sluice_object::{Load, Step};

/// Ticks between two looks at a load that is under way.
const PIECE_TICKS: u64 = 64;
/// A load that has not ended this many ticks after the last packet of a generation that it waits for never will: something is blocked.
const PATIENCE_TICKS: u64 = 4_000_000;
/// Nor one that has not ended after this many, whatever packets end.
const MOST_TICKS: u64 = 100 * PATIENCE_TICKS;

/// Submits a load and lets time pass until it has ended; what happens to packets meanwhile is
/// added to `outcomes`.
pub fn run_load(device: &mut dyn Device, load: &Load, outcomes: &mut Vec<Outcome>) -> Result<(), DeviceError> {
    let op = device.submit(load)?;
    let start = device.now();
    let mut since = start;
    let drains = |outcome: &Outcome| {
        let is_of = |step: &Step| match step {
            Step::WaitDrained { module, generation } => {
                (outcome.module, outcome.generation) == (*module, Some(*generation))
            }
            _ => false,
        };
        load.steps.iter().any(is_of)
    };
    loop {
        device.advance(PIECE_TICKS)?;
        let mut ended = None;
        for event in device.poll(usize::MAX) {
            match event {
                Event::Outcome(outcome) => {
                    since = if drains(&outcome) { device.now() } else { since };
                    outcomes.push(outcome);
                }
                Event::OpDone { op: done, result } if done == op => ended = Some(result),
                Event::OpDone { .. } => {}
            }
        }
        if let Some(result) = ended {
            return result;
        }
        let ticks = device.now().saturating_sub(start);
        if device.now().saturating_sub(since) > PATIENCE_TICKS || ticks > MOST_TICKS {
            return Err(DeviceError::Timeout { what: Waited::Load(load.label.clone()), ticks });
        }
    }
}
