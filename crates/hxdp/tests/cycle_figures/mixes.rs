//! Packets of the shipped programs' scripts, as each core executes them.

use super::Shape;
use crate::support::{Replay, scripts, steps};
use sluice_hxdp::cycles::{Timing, mean_alone, saturated};
use sluice_hxdp::{Engine, Target, Trace};
use std::collections::BTreeMap;

/// All cores that are compared.
pub const ALL: [Shape; 5] = [(1, 1), (2, 1), (2, 2), (4, 1), (4, 2)];
/// Those that the table of the default engine shows.
pub const DEFAULT_ENGINE: [Shape; 3] = [(1, 1), (2, 1), (4, 2)];

/// Packets of one object.
#[derive(Clone, Debug, Default)]
pub struct Mix {
    pub traces: Vec<Trace>,
    /// Instructions that the interpreter executed of each.
    pub instructions: Vec<u64>,
}

impl Mix {
    /// Mean instructions of a packet.
    pub fn mean_instructions(&self) -> f64 {
        self.instructions.iter().sum::<u64>() as f64 / self.instructions.len() as f64
    }

    /// Mean bundles of a packet.
    pub fn mean_bundles(&self) -> f64 {
        self.traces.iter().map(|trace| trace.issues.len()).sum::<usize>() as f64 / self.traces.len() as f64
    }

    /// The packets for which that is so, with their instructions.
    pub fn only(&self, keep: impl Fn(&Trace) -> bool) -> Self {
        let both = self.traces.iter().zip(&self.instructions).filter(|(trace, _)| keep(trace));
        let (traces, instructions) = both.map(|(trace, n)| (trace.clone(), *n)).unzip();
        Self { traces, instructions }
    }

    /// The same packets, changed.
    pub fn map(&self, change: impl Fn(&Trace) -> Trace) -> Self {
        Self { traces: self.traces.iter().map(change).collect(), ..self.clone() }
    }

    pub fn saturated(&self, engine: &Engine) -> Timing {
        saturated(engine, &self.traces)
    }

    pub fn alone(&self, engine: &Engine) -> f64 {
        mean_alone(engine, &self.traces)
    }
}

/// Mixes by object, for each core.
pub struct Mixes(BTreeMap<Shape, BTreeMap<String, Mix>>);

impl Mixes {
    /// Runs all scripts on these cores.
    pub fn new(shapes: &[Shape]) -> Self {
        Self(shapes.iter().map(|shape| (*shape, Self::of(*shape))).collect())
    }

    fn of((lanes, ports): Shape) -> BTreeMap<String, Mix> {
        let mut all: BTreeMap<String, Mix> = BTreeMap::new();
        let target = Target { ports, ..Target::new(lanes).unwrap() };
        for path in scripts() {
            for steps in steps::steps(&path) {
                for (file, packets) in Replay::record(&steps, &target).traces {
                    let mix = all.entry(file.file_stem().unwrap().to_string_lossy().into_owned()).or_default();
                    for (trace, instructions) in packets {
                        mix.traces.push(trace);
                        mix.instructions.push(instructions);
                    }
                }
            }
        }
        all.retain(|_, mix| !mix.traces.is_empty());
        all
    }

    /// By object.
    pub fn on(&self, shape: Shape) -> &BTreeMap<String, Mix> {
        &self.0[&shape]
    }

    /// Cycles a packet of the objects, their geometric mean: each counts the same.
    pub fn mean_cycles(&self, shape: Shape, engine: &Engine) -> f64 {
        geometric(self.on(shape).values().map(|mix| mix.saturated(engine).cycles_per_packet()))
    }

    /// Cycles of a packet alone, likewise.
    pub fn mean_alone(&self, shape: Shape, engine: &Engine) -> f64 {
        geometric(self.on(shape).values().map(|mix| mix.alone(engine)))
    }
}

/// Geometric mean.
pub fn geometric(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0), |(sum, count), value| (sum + value.ln(), count + 1));
    (sum / f64::from(count)).exp()
}
