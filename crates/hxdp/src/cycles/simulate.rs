//! Plays recorded packets on an engine, cycle by cycle.
//!
//! A beat of 64 bytes a cycle comes in, and one goes out; all cores share both. A row is written in the cycle in which its
//! beat comes; a packet whose rows are all there waits for a context. In a cycle each core first picks a bundle, then a row is
//! read and one is written where the ports are free. A packet that ends frees its context; it keeps its slot until its
//! last row is read, which begins when its order allows. What is dropped keeps nothing.

use super::core::{Core, Shared, Wanted};
use super::order::Tickets;
use super::{Dispatch, Engine, Start, Trace};
use std::collections::{HashMap, VecDeque};

/// When packets come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrivals {
    /// The next one waits already.
    BackToBack,
    /// One in so many thousandths of a cycle. Those that `queue` packets wait before are lost.
    Every {
        /// Thousandths of a cycle.
        period: u64,
        /// Packets that can wait.
        queue: usize,
    },
}

/// What is played: packets one after the other, and again from the first one on.
#[derive(Clone, Copy, Debug)]
pub struct Load<'a> {
    /// At least one.
    pub traces: &'a [Trace],
    /// When they come.
    pub arrivals: Arrivals,
    /// Packets that end before time is taken.
    pub warm: usize,
    /// Packets that time is taken of.
    pub measured: usize,
}

/// What came out.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Timing {
    /// Packets that ended while time was taken, dropped ones included.
    pub packets: u64,
    /// Cycles meanwhile.
    pub cycles: u64,
    /// Mean cycles from a packet's arrival to its last beat on the output, or to its end where it is dropped.
    pub latency: f64,
    /// Share of all cores' cycles in which a bundle was issued.
    pub issue: f64,
    /// Share of cycles in which the value port was used.
    pub value_port: f64,
    /// Share of cycles in which the map engine began something.
    pub map_engine: f64,
    /// Packets that were lost before the engine, from its start on.
    pub lost: u64,
    /// Packets that came, from its start on.
    pub came: u64,
}

impl Timing {
    /// Mean cycles from a packet to the next.
    pub fn cycles_per_packet(&self) -> f64 {
        self.cycles as f64 / self.packets as f64
    }
}

/// Packets that an engine is measured with, at least, and for each context: packets that began together end together,
/// and time is taken from one end to another.
const MEASURED: usize = 600;
const MEASURED_BY_CONTEXT: usize = 12;

/// A saturated engine: the next packet always waits.
pub fn saturated(engine: &Engine, traces: &[Trace]) -> Timing {
    loaded(engine, traces, Arrivals::BackToBack)
}

/// The same with other arrivals. Each packet is measured as often as each other.
pub fn loaded(engine: &Engine, traces: &[Trace], arrivals: Arrivals) -> Timing {
    let rounds = |packets: usize| packets.div_ceil(traces.len()) * traces.len();
    let warm = rounds(2 * engine.cores * engine.slots);
    let measured = rounds(MEASURED.max(MEASURED_BY_CONTEXT * engine.cores * engine.contexts));
    simulate(engine, &Load { traces, arrivals, warm, measured })
}

/// Cycles of one packet in an engine that has no other, from its first beat to the last one that leaves.
pub fn alone(engine: &Engine, trace: &Trace) -> u64 {
    let traces = std::slice::from_ref(trace);
    let load = Load { traces, arrivals: Arrivals::Every { period: u64::MAX, queue: 1 }, warm: 0, measured: 1 };
    simulate(engine, &load).latency as u64
}

/// The mean of that over packets.
pub fn mean_alone(engine: &Engine, traces: &[Trace]) -> f64 {
    let sum: u64 = traces.iter().map(|trace| alone(engine, trace)).sum();
    sum as f64 / traces.len() as f64
}

/// A packet that is in the engine or waits for it.
#[derive(Clone, Copy, Debug)]
struct Flight {
    trace: usize,
    core: usize,
    came: u64,
}

/// A packet whose rows move.
#[derive(Clone, Copy, Debug)]
struct Moving {
    packet: usize,
    rows: u32,
}

struct Simulation<'a> {
    engine: &'a Engine,
    load: &'a Load<'a>,
    cores: Vec<Core>,
    shared: Shared,
    tickets: Tickets,
    /// All packets that were dispatched, by number.
    flights: Vec<Flight>,
    /// Packets that wait before the engine: their traces, and when they came.
    queue: VecDeque<(usize, u64)>,
    came: u64,
    lost: u64,
    filling: Option<Moving>,
    draining: Option<Moving>,
    /// Packets that have ended and did not leave yet, the first to end first.
    finished: VecDeque<usize>,
    /// Whether one of them may be allowed to leave that was not before.
    may_leave: bool,
    /// The core that got the last packet.
    last_core: usize,
    /// Flows that are being executed, for packets that wait for theirs.
    running: HashMap<u32, usize>,
    done: usize,
    latency: u64,
}

/// Plays until the packets to be measured have ended. Panics without a core, context, slot or packet.
pub fn simulate(engine: &Engine, load: &Load<'_>) -> Timing {
    let least = engine.cores.min(engine.contexts).min(engine.slots).min(load.traces.len());
    assert!(least > 0, "an engine without a core, context or slot, or no packet: {engine:?}");
    let mut simulation = Simulation {
        engine,
        load,
        cores: (0..engine.cores).map(|_| Core::new(engine)).collect(),
        shared: Shared::default(),
        tickets: Tickets::new(engine.order),
        flights: Vec::new(),
        queue: VecDeque::new(),
        came: 0,
        lost: 0,
        filling: None,
        draining: None,
        finished: VecDeque::new(),
        may_leave: false,
        last_core: engine.cores - 1,
        running: HashMap::new(),
        done: 0,
        latency: 0,
    };
    simulation.play()
}

/// What is counted from the beginning.
#[derive(Clone, Copy, Default)]
struct Counted {
    now: u64,
    done: usize,
    latency: u64,
    issued: u64,
    value_port: u64,
    map_engine: u64,
}

impl Simulation<'_> {
    fn play(&mut self) -> Timing {
        let mut before = None;
        let mut now = 0;
        loop {
            if before.is_none() && self.done >= self.load.warm {
                before = Some(self.counted(now));
            }
            if let Some(before) = before.filter(|_| self.done >= self.load.warm + self.load.measured) {
                return self.timing(&before, &self.counted(now));
            }
            self.cycle(now);
            now += 1;
        }
    }

    fn counted(&self, now: u64) -> Counted {
        Counted {
            now,
            done: self.done,
            latency: self.latency,
            issued: self.cores.iter().map(|core| core.issued).sum(),
            value_port: self.shared.value_port.done,
            map_engine: self.shared.map_engine.done + self.shared.seeker.done,
        }
    }

    fn timing(&self, before: &Counted, after: &Counted) -> Timing {
        let cycles = after.now - before.now;
        let share = |done: u64, of: u64| done as f64 / of.max(1) as f64;
        let packets = (after.done - before.done) as u64;
        Timing {
            packets,
            cycles,
            latency: share(after.latency - before.latency, packets),
            issue: share(after.issued - before.issued, cycles * self.cores.len() as u64),
            value_port: share(after.value_port - before.value_port, cycles),
            map_engine: share(after.map_engine - before.map_engine, cycles),
            lost: self.lost,
            came: self.came,
        }
    }

    fn cycle(&mut self, now: u64) {
        let (engine, traces) = (self.engine, self.load.traces);
        self.arrive(now);
        for core in 0..self.cores.len() {
            for packet in self.cores[core].ended(now, traces) {
                self.end(now, packet);
            }
        }
        self.choose_to_drain();
        self.choose_to_fill(now);
        // Units that all cores share take them in turns.
        let cores = self.cores.len();
        for core in (0..cores).map(|n| (n + now as usize) % cores) {
            let wanted = self.wanted(now, core);
            self.cores[core].issue(now, engine, traces, &mut self.shared, wanted);
            self.cores[core].clear_row(now);
        }
        self.drain(now);
        self.fill(now);
    }

    /// Packets come.
    fn arrive(&mut self, now: u64) {
        let traces = self.load.traces.len() as u64;
        match self.load.arrivals {
            Arrivals::BackToBack if self.queue.is_empty() => {
                self.queue.push_back(((self.came % traces) as usize, now));
                self.came += 1;
            }
            Arrivals::BackToBack => {}
            Arrivals::Every { period, queue } => {
                while u128::from(self.came) * u128::from(period) <= u128::from(now) * 1000 {
                    match self.queue.len() < queue {
                        true => self.queue.push_back(((self.came % traces) as usize, now)),
                        false => self.lost += 1,
                    }
                    self.came += 1;
                }
            }
        }
    }

    fn trace(&self, packet: usize) -> &Trace {
        &self.load.traces[self.flights[packet].trace]
    }

    /// A packet's program has ended.
    fn end(&mut self, now: u64, packet: usize) {
        let Flight { core, .. } = self.flights[packet];
        let (flow, rows) = (self.trace(packet).flow, self.trace(packet).rows_out);
        self.cores[core].work -= 1;
        *self.running.entry(flow).or_default() -= 1;
        self.shared.turns.leaves(now + self.engine.passes_on, flow, packet);
        if rows == 0 {
            self.leave(now + self.engine.verdict, packet);
        } else {
            self.finished.push_back(packet);
            self.may_leave = true;
        }
    }

    /// A packet is gone at the cycle `at`.
    fn leave(&mut self, at: u64, packet: usize) {
        self.tickets.give_back(self.trace(packet).flow, packet);
        self.may_leave = true;
        let Flight { core, came, .. } = self.flights[packet];
        self.cores[core].slots -= 1;
        self.latency += at + self.engine.warp - came;
        self.done += 1;
    }

    fn choose_to_drain(&mut self) {
        if self.draining.is_some() || !self.may_leave {
            return;
        }
        let may = |&packet: &usize| self.tickets.is_first(self.trace(packet).flow, packet);
        if let Some(at) = self.finished.iter().position(may) {
            let packet = self.finished[at];
            self.finished.remove(at);
            self.draining = Some(Moving { packet, rows: self.trace(packet).rows_out });
        } else {
            self.may_leave = false;
        }
    }

    fn choose_to_fill(&mut self, now: u64) {
        let Some((trace, came)) = self.queue.front().copied().filter(|_| self.filling.is_none()) else { return };
        let Trace { flow, serial, rows_in, .. } = self.load.traces[trace];
        if serial && self.running.get(&flow).is_some_and(|running| *running > 0) {
            return;
        }
        let cores = self.cores.len();
        let mut next = (1..=cores).map(|n| (self.last_core + n) % cores);
        let has_slot = |core: &usize| self.cores[*core].slots < self.engine.slots;
        let core = match self.engine.dispatch {
            Dispatch::RoundRobin => next.next().filter(has_slot),
            Dispatch::LeastWork => next.filter(has_slot).min_by_key(|core| self.cores[*core].work),
        };
        let Some(core) = core else { return };
        self.queue.pop_front();
        self.last_core = core;
        self.cores[core].slots += 1;
        self.cores[core].work += 1;
        let packet = self.flights.len();
        self.tickets.take(flow, packet);
        *self.running.entry(flow).or_default() += 1;
        if self.load.traces[trace].has_section() {
            self.shared.turns.comes(flow, packet);
        }
        let came = if self.load.arrivals == Arrivals::BackToBack { now } else { came };
        self.flights.push(Flight { trace, core, came });
        self.filling = Some(Moving { packet, rows: rows_in });
    }

    /// Rows that this cycle is reserved for.
    fn wanted(&self, now: u64, core: usize) -> Wanted {
        let reserve = self.engine.reserve;
        if reserve == 0 || !now.is_multiple_of(reserve) {
            return Wanted::default();
        }
        let here = |moving: Option<Moving>| moving.is_some_and(|moving| self.flights[moving.packet].core == core);
        Wanted { read: here(self.draining), write: here(self.filling) || self.cores[core].clears() }
    }

    fn drain(&mut self, now: u64) {
        let Some(mut moving) = self.draining else { return };
        let core = self.flights[moving.packet].core;
        if !self.cores[core].read_row(now, self.engine) {
            return;
        }
        moving.rows -= 1;
        self.draining = Some(moving).filter(|moving| moving.rows > 0);
        if moving.rows == 0 {
            self.leave(now + 1 + self.engine.leave, moving.packet);
        }
    }

    fn fill(&mut self, now: u64) {
        let Some(mut moving) = self.filling else { return };
        let Flight { core, trace, .. } = self.flights[moving.packet];
        if !self.cores[core].write_row(now) {
            return;
        }
        moving.rows -= 1;
        self.filling = Some(moving).filter(|moving| moving.rows > 0);
        if moving.rows == 0 {
            self.loaded(now, core, moving.packet, trace);
        }
    }

    /// All rows of a packet are there.
    fn loaded(&mut self, now: u64, core: usize, packet: usize, trace: usize) {
        let engine = self.engine;
        let from = now + engine.start;
        match self.load.traces[trace].start {
            Start::Plain => self.cores[core].loaded(from, packet, trace),
            Start::Verdict => self.end(now + engine.settle, packet),
            Start::Resume { cycles, search, .. } => {
                let cycles = u64::from(cycles);
                let made = self.shared.extractor.begin(now, cycles) + cycles;
                let answer = search.map_or(0, |search| {
                    let found = self.shared.first_half.given(made + engine.warp_key, &engine.maps, search);
                    self.shared.search(found, engine, search) + engine.warp_answer
                });
                self.cores[core].loaded(from.max(made + engine.warp_words).max(answer), packet, trace);
            }
        }
    }
}
