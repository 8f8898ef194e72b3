//! A tenant with short programs beside one with long ones (figure 4.21 of QingNiao's text).
//!
//! The engine's own top has one input. What stands in front of it in a NIC, a queue for each module and a scheduler, is here: packets come to
//! their module's queue at their rate, and one goes to the engine when the one before has gone in.

use super::engine::{Build, CLOCK, Engine};
use super::messages::{Shape, placed};
use crate::plot::{Axis, Look, Plot, Scale, Series};
use std::collections::VecDeque;
use std::fmt::Write;

/// Millions of messages a second of the light module, and of the heavy one.
const LIGHT: f64 = 7.0;
const HEAVY: [f64; 9] = [0.0, 1.0, 2.5, 5.0, 10.0, 15.0, 20.0, 25.0, 30.0];
/// Cycles that are measured, behind some others.
const CYCLES: u64 = 60_000;
const WARM: u64 = 5_000;
/// Packets that a module's queue holds.
const QUEUE: usize = 64;
/// Steps that the scheduler gives a module in its turn.
const QUANTUM: i64 = 48;

/// What stands in front of the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Front {
    /// One queue for both.
    OneQueue,
    /// A queue for each, in turn by the steps that the engine has charged.
    Scheduler,
    /// The same, but none may have more messages in the engine than all matchers have places for one module.
    Credits,
}

/// A module of the run.
struct Module {
    shape: Shape,
    steps: i64,
    /// Cycles from a message to the next.
    apart: f64,
    next: f64,
    /// Ticks at which those that wait came.
    queue: VecDeque<u64>,
    deficit: i64,
    inside: usize,
    sent: u32,
    lost: u64,
    latencies: Vec<u64>,
}

impl Module {
    fn new(compares: usize, port: u16, rate: f64, steps: i64) -> Self {
        let apart = if rate > 0.0 { CLOCK / 1e6 / rate } else { f64::INFINITY };
        let shape = Shape { compares, port, ..Shape::default() };
        let (queue, latencies) = (VecDeque::new(), Vec::new());
        Self { shape, steps, apart, next: apart, queue, deficit: 0, inside: 0, sent: 0, lost: 0, latencies }
    }
}

/// What has been seen of a module.
#[derive(Clone, Copy, Debug)]
struct Seen {
    /// Millions of messages a second.
    rate: f64,
    lost: u64,
    /// Median and 99 % of the cycles from a message's coming to its queue to its decision's row.
    median: u64,
    most_of: u64,
}

/// Which module the next packet is of.
fn choose(front: Front, modules: &mut [Module; 2], turn: &mut usize, places: usize) -> Option<usize> {
    if front == Front::OneQueue {
        let [a, b] = [0, 1].map(|m| modules[m].queue.front().copied().unwrap_or(u64::MAX));
        return (a.min(b) != u64::MAX).then_some(usize::from(b < a));
    }
    let may = |m: &Module| !m.queue.is_empty() && (front == Front::Scheduler || m.inside < places);
    // Deficit round robin with late charge: who owes steps waits until his turns have paid for them.
    for _ in 0..64 {
        if !modules.iter().any(may) {
            return None;
        }
        let module = &mut modules[*turn];
        if may(module) && module.deficit > 0 {
            return Some(*turn);
        }
        *turn = 1 - *turn;
        let next = &mut modules[*turn];
        next.deficit = if next.queue.is_empty() { next.deficit.min(0) } else { next.deficit.min(0) + QUANTUM };
    }
    None
}

fn run(front: Front, heavy: f64, seed: u64) -> [Seen; 2] {
    let build = Build::Matchers(4);
    let mut modules = [Module::new(2, 9000, LIGHT, 2), Module::new(48, 9001, heavy, 48)];
    let shapes = [modules[0].shape, modules[1].shape];
    let tables = placed(build.target(), &shapes).unwrap_or_else(|e| panic!("{e}"));
    let mut engine = Engine::open(build, seed, &tables);
    let places = build.target().matchers * (build.target().places - 1);
    let begin = engine.now();
    let (mut turn, mut looked) = (0, 0);
    // Of each packet in the engine: its module, and when it came to its queue.
    let mut offered: Vec<(usize, u64)> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    while engine.now() < begin + WARM + CYCLES {
        let now = engine.now() - begin;
        for module in &mut modules {
            while module.next <= now as f64 {
                module.next += module.apart;
                if module.queue.len() < QUEUE {
                    module.queue.push_back(engine.now());
                } else {
                    module.lost += u64::from(now >= WARM);
                }
            }
        }
        if engine.came.len() == offered.len()
            && let Some(chosen) = choose(front, &mut modules, &mut turn, places)
        {
            let module = &mut modules[chosen];
            let frame = module.shape.frame(module.sent, module.sent as usize % 32, 128, false);
            let came = module.queue.pop_front().expect("it waits");
            (module.sent, module.inside) = (module.sent + 1, module.inside + 1);
            engine.offer(1 + chosen as u8, 0, &frame);
            open.push(offered.len());
            offered.push((chosen, came));
        }
        engine.run(1);
        if looked != engine.done {
            looked = engine.done;
            open.retain(|&packet| {
                let Some(decided) = engine.decided[packet] else { return true };
                assert!(!decided.row.dropped, "{decided:?}");
                let (chosen, came) = offered[packet];
                let module = &mut modules[chosen];
                module.inside -= 1;
                module.deficit -= module.steps;
                if came >= begin + WARM {
                    module.latencies.push(decided.at - came);
                }
                false
            });
        }
    }
    modules.map(|mut module| {
        module.latencies.sort_unstable();
        let at = |part: f64| {
            let last = module.latencies.len().saturating_sub(1);
            module.latencies.get((part * last as f64).ceil() as usize).copied().unwrap_or(0)
        };
        let rate = module.latencies.len() as f64 * CLOCK / 1e6 / CYCLES as f64;
        Seen { rate, lost: module.lost, median: at(0.5), most_of: at(0.99) }
    })
}

/// The section of docs/measurements.md.
pub fn table(seed: u64) -> String {
    let mut out = format!(
        "{LIGHT} million messages a second of 2 compares, 128 bytes, beside those of another module with 48 compares, target `default`, {CYCLES} cycles behind {WARM}. The engine's own top has one input; \
         what a NIC has in front of it is in the bench:\na queue of {QUEUE} packets for each module, and a scheduler that takes turns by the steps that the engine has charged. *One queue*: \
         both modules' packets in the order in which they came, in a queue of {} (2 x {QUEUE}).\n*Credits*: the scheduler also lets a module have at most as many messages in the engine as its matchers have places \
         for one module ({} x {}).\nMillions of messages a second, lost ones, and cycles from a message's coming to its queue to its decision's row.\n\n\
         | front | heavy: offered | decided | lost | light: decided | lost | median | 99 % | 99 %, more than alone |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
        2 * QUEUE,
        Build::Matchers(4).target().matchers,
        Build::Matchers(4).target().places - 1
    );
    let fronts =
        [(Front::OneQueue, "one queue"), (Front::Scheduler, "scheduler"), (Front::Credits, "scheduler and credits")];
    let mut series = Vec::new();
    for (front, name) in fronts {
        let mut points = Vec::new();
        let mut alone = 0;
        for heavy in HEAVY {
            let [light, other] = run(front, heavy, seed);
            if heavy == 0.0 {
                alone = light.most_of;
            }
            let more = light.most_of as i64 - alone as i64;
            let _ = writeln!(
                out,
                "| {name} | {heavy} | {:.2} | {} | {:.2} | {} | {} | {} | {more:+} |",
                other.rate, other.lost, light.rate, light.lost, light.median, light.most_of
            );
            points.push((heavy, light.most_of as f64));
        }
        series.push(Series { name: format!("{name}: 99 %"), look: Look::Line, points });
    }
    out.push_str("\n![Latency of the light module](plots/l7_shares.svg)\n");
    Plot {
        title: "l7: latency of 2 compares beside 48".into(),
        x: Axis {
            title: "million messages a second of the heavy module",
            scale: Scale::Linear,
            ticks: vec![0.0, 5.0, 10.0, 15.0, 20.0, 25.0, 30.0],
        },
        y: Axis {
            title: "cycles",
            scale: Scale::Log,
            ticks: vec![16.0, 32.0, 64.0, 128.0, 256.0, 512.0, 1024.0, 2048.0, 4096.0],
        },
        series,
        marks: Vec::new(),
    }
    .write("l7_shares");
    out
}
