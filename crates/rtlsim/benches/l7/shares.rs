//! A tenant with short programs beside one with long ones (figure 4.21 of QingNiao's text).
//!
//! The engine's own top has one input. What stands in front of it in a NIC, a queue for each module and a scheduler, is here: packets come to
//! their module's queue at their rate, and one goes to the engine when the one before has gone in.

use super::engine::{Build, CLOCK, Engine};
use super::messages::{Fill, Shape, placed};
use crate::plot::{Axis, Look, Plot, Scale, Series};
use std::collections::VecDeque;
use std::fmt::Write;

/// Millions of messages a second of the light module, and of the heavy one.
pub const LIGHT: f64 = 7.0;
const HEAVY: [f64; 9] = [0.0, 1.0, 2.5, 5.0, 10.0, 15.0, 20.0, 25.0, 30.0];
/// Cycles that are measured, behind some others.
pub const CYCLES: u64 = 60_000;
const WARM: u64 = 5_000;
/// Packets that a module's queue holds.
const QUEUE: usize = 64;
/// Steps that the scheduler gives a module in its turn.
const QUANTUM: i64 = 48;

/// What stands in front of the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Front {
    /// One queue for both.
    OneQueue,
    /// A queue for each, in turn by the steps that the engine has charged.
    Scheduler,
    /// The same, but none may have more messages in the engine than all matchers have places for one module.
    Credits,
}

/// What a module sends.
pub struct Load {
    /// Millions of packets a second.
    pub rate: f64,
    /// Steps of each.
    pub steps: i64,
    /// The frame of a packet, by its number.
    pub frame: Box<dyn FnMut(u32) -> Vec<u8>>,
}

/// A module of the run.
struct Module {
    load: Load,
    /// Cycles from a packet to the next.
    apart: f64,
    next: f64,
    /// Ticks at which those that wait came.
    queue: VecDeque<u64>,
    deficit: i64,
    inside: usize,
    sent: u32,
    lost: u64,
    dropped: u64,
    latencies: Vec<u64>,
}

impl Module {
    fn new(load: Load) -> Self {
        let apart = if load.rate > 0.0 { CLOCK / 1e6 / load.rate } else { f64::INFINITY };
        let (queue, latencies) = (VecDeque::new(), Vec::new());
        let (deficit, inside, sent, lost, dropped) = (0, 0, 0, 0, 0);
        Self { load, apart, next: apart, queue, deficit, inside, sent, lost, dropped, latencies }
    }
}

/// What has been seen of a module.
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    /// Millions of packets that were decided a second.
    pub rate: f64,
    /// Those for which the queue had no room.
    pub lost: u64,
    /// Those that the engine dropped.
    pub dropped: u64,
    /// Median and 99 % of the cycles from a packet's coming to its queue to its decision's row.
    pub median: u64,
    pub most_of: u64,
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

/// Two modules, 1 and 2, whose packets go through queues and a scheduler to the engine.
pub fn share(front: Front, engine: &mut Engine, loads: [Load; 2]) -> [Seen; 2] {
    let target = Build::Matchers(4).target();
    let places = target.matchers * (target.places - 1);
    let mut modules = loads.map(Module::new);
    let begin = engine.now();
    let (mut turn, mut looked, before) = (0, engine.done, engine.decided.len());
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
        if engine.came.len() == before + offered.len()
            && let Some(chosen) = choose(front, &mut modules, &mut turn, places)
        {
            let module = &mut modules[chosen];
            let frame = (module.load.frame)(module.sent);
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
                let Some(decided) = engine.decided[before + packet] else { return true };
                let (chosen, came) = offered[packet];
                let module = &mut modules[chosen];
                module.inside -= 1;
                module.deficit -= module.load.steps;
                if came >= begin + WARM {
                    module.dropped += u64::from(decided.row.dropped);
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
        Seen { rate, lost: module.lost, dropped: module.dropped, median: at(0.5), most_of: at(0.99) }
    })
}

/// Messages of a shape, its rules in turn.
pub fn messages(shape: Shape, rate: f64) -> Load {
    let frame = move |number: u32| shape.frame(number, number as usize % shape.rules, 128, Fill::Other);
    Load { rate, steps: shape.compares as i64, frame: Box::new(frame) }
}

/// The light module beside the heavy one.
fn run(front: Front, heavy: f64, seed: u64) -> [Seen; 2] {
    let build = Build::Matchers(4);
    let shapes = [(2, 9000), (48, 9001)].map(|(compares, port)| Shape { compares, port, ..Shape::default() });
    let tables = placed(build.target(), &shapes).unwrap_or_else(|e| panic!("{e}"));
    let mut engine = Engine::open(build, seed, &tables);
    let seen = share(front, &mut engine, [messages(shapes[0], LIGHT), messages(shapes[1], heavy)]);
    assert!(seen.iter().all(|module| module.dropped == 0), "{seen:?}");
    seen
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
