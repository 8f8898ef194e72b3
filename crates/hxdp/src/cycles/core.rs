//! One core: contexts that issue bundles in turn, and ports of the packet memory.

use super::{Engine, Issue, Trace};
use std::collections::VecDeque;

/// A context.
#[derive(Clone, Copy, Debug, Default)]
struct Context {
    /// What it executes, if it is not free.
    packet: Option<Running>,
}

/// A packet in a context.
#[derive(Clone, Copy, Debug)]
struct Running {
    packet: usize,
    trace: usize,
    /// Rows of stack that must be cleared before it begins.
    to_clear: u32,
    /// Next bundle; behind the last one when the packet ends.
    at: usize,
    /// First cycle in which that bundle can issue, or the packet ends.
    ready: u64,
    /// The bundle takes the result of its first issue.
    second: bool,
}

/// A unit that begins one thing, or one in several cycles.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unit {
    free: u64,
    /// Things that it did.
    pub done: u64,
}

impl Unit {
    /// When it begins with what arrives then.
    fn begin(&mut self, arrives: u64, every: u64) -> u64 {
        let begins = arrives.max(self.free);
        self.free = begins + every;
        self.done += 1;
        begins
    }
}

/// What units said to a bundle.
#[derive(Clone, Copy, Debug, Default)]
struct Asked {
    /// When the last answer is there, of those that are waited for.
    answered: Option<u64>,
    /// When the last thing was begun: nobody posts into a unit that is busy.
    taken: u64,
}

/// Units that all cores share.
#[derive(Clone, Copy, Debug, Default)]
pub struct Shared {
    /// Loads, stores and atomics of map values.
    pub value_port: Unit,
    /// Searches and changes of maps.
    pub map_engine: Unit,
}

/// What waits for the memory of a core.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// A row to be read.
    pub read: bool,
    /// A row to be written.
    pub write: bool,
}

/// A core.
#[derive(Debug)]
pub struct Core {
    contexts: Vec<Context>,
    /// Who issued last.
    last: usize,
    /// Contexts that are not free, those of them that have issued their last bundle, and rows of stack to be cleared.
    busy: usize,
    ending: usize,
    to_clear: u32,
    /// Packets that wait for a context, with their traces.
    waiting: VecDeque<(usize, usize)>,
    /// Slots of packet memory that are taken.
    pub slots: usize,
    /// Packets that are not finished.
    pub work: usize,
    /// First cycles in which the divider, the issue, and the memory for rows are free.
    divider: u64,
    issue: u64,
    reads: u64,
    writes: u64,
    helper: Unit,
    /// Cycles in which something issued, or a bundle before took the issue for longer.
    pub issued: u64,
}

impl Core {
    /// Without packets.
    pub fn new(engine: &Engine) -> Self {
        Self {
            contexts: vec![Context::default(); engine.contexts],
            last: engine.contexts - 1,
            busy: 0,
            ending: 0,
            to_clear: 0,
            waiting: VecDeque::new(),
            slots: 0,
            work: 0,
            divider: 0,
            issue: 0,
            reads: 0,
            writes: 0,
            helper: Unit::default(),
            issued: 0,
        }
    }

    /// A packet is in the memory.
    pub fn loaded(&mut self, packet: usize, trace: usize) {
        self.waiting.push_back((packet, trace));
    }

    /// Packets that end in this cycle; their contexts are free.
    pub fn ended(&mut self, now: u64, traces: &[Trace]) -> Vec<usize> {
        let mut ended = Vec::new();
        if self.ending == 0 {
            return ended;
        }
        for context in &mut self.contexts {
            let over = |r: &mut Running| r.at == traces[r.trace].issues.len() && r.to_clear == 0 && r.ready <= now;
            ended.extend(context.packet.take_if(over).map(|running| running.packet));
        }
        self.ending -= ended.len();
        self.busy -= ended.len();
        ended
    }

    /// Free contexts take packets that wait.
    pub fn begin(&mut self, now: u64, engine: &Engine, traces: &[Trace]) {
        if self.waiting.is_empty() || self.busy == self.contexts.len() {
            return;
        }
        for context in self.contexts.iter_mut().filter(|context| context.packet.is_none()) {
            let Some((packet, trace)) = self.waiting.pop_front() else { break };
            let ready = now + engine.start;
            let to_clear = engine.stack_rows;
            context.packet = Some(Running { packet, trace, to_clear, at: 0, ready, second: false });
            self.busy += 1;
            self.ending += usize::from(traces[trace].issues.is_empty());
            self.to_clear += to_clear;
        }
    }

    /// Whether a stack is being cleared.
    pub fn clears(&self) -> bool {
        self.to_clear > 0
    }

    /// Issues a bundle, if one can. `wanted` are rows that this cycle is reserved for.
    pub fn issue(&mut self, now: u64, engine: &Engine, traces: &[Trace], shared: &mut Shared, wanted: Wanted) {
        if now < self.issue {
            self.issued += 1;
            return;
        }
        let contexts = self.contexts.len();
        for place in (1..=contexts).map(|n| (self.last + n) % contexts) {
            let Some(running) = self.contexts[place].packet else { continue };
            let Some(issue) = traces[running.trace].issues.get(running.at) else { continue };
            if running.ready > now || running.to_clear > 0 || !self.can(now, engine, issue, running.second, wanted) {
                continue;
            }
            let last = running.at + 1 == traces[running.trace].issues.len();
            let running = self.issued_by(now, engine, running, (issue, last), shared);
            self.ending += usize::from(last && !running.second);
            self.contexts[place].packet = Some(running);
            self.last = place;
            self.issued += 1;
            return;
        }
    }

    fn can(&self, now: u64, engine: &Engine, issue: &Issue, second: bool, wanted: Wanted) -> bool {
        let (loads, stores) = if second { (0, 0) } else { accesses(issue) };
        let read = loads > 0 || (engine.memory.shared && stores > 0);
        let write = stores > 0 || (engine.memory.shared && loads > 0);
        let divides = issue.divides > 0 && !second;
        !(read && wanted.read || write && wanted.write || divides && now < self.divider)
    }

    /// What becomes of a context that issues this bundle, the packet's last or not.
    fn issued_by(
        &mut self,
        now: u64,
        engine: &Engine,
        running: Running,
        (issue, last): (&Issue, bool),
        shared: &mut Shared,
    ) -> Running {
        let next = Running { at: running.at + 1, second: false, ..running };
        if running.second {
            let after = if last { engine.exit } else { engine.result };
            return Running { ready: now + after, ..next };
        }
        let (loads, stores) = accesses(issue);
        let memory = engine.memory;
        let cycles = memory.cycles(loads, stores);
        self.issue = now + cycles;
        let both = memory.shared.then_some(loads + stores);
        if both.unwrap_or(loads) >= memory.reads {
            self.reads = now + cycles;
        }
        if both.is_some_and(|both| both >= memory.reads) || (both.is_none() && stores >= memory.writes) {
            self.writes = now + cycles;
        }
        let divides = u64::from(issue.divides) * engine.divider;
        if divides > 0 {
            self.divider = now + divides;
        }
        let asked = self.ask(now, engine, issue, shared);
        match asked.answered {
            Some(answered) if engine.reissue => return Running { ready: answered, second: true, ..running },
            Some(answered) => return Running { ready: answered + engine.result, ..next },
            None => {}
        }
        let after = if last { engine.exit } else { interval(engine, issue) };
        Running { ready: (now + after + cycles - 1).max(asked.taken), ..next }
    }

    /// Asks the units that a bundle needs.
    fn ask(&mut self, now: u64, engine: &Engine, issue: &Issue, shared: &mut Shared) -> Asked {
        let mut arrives = now + engine.launch;
        let mut asked = Asked::default();
        let mut ask = |unit: &mut Unit, number: u8, (latency, every): (u64, u64), waits: bool| {
            for _ in 0..number {
                let begins = unit.begin(arrives, every);
                arrives += 1;
                asked.taken = asked.taken.max(begins);
                asked.answered = if waits { asked.answered.max(Some(begins + latency)) } else { asked.answered };
            }
        };
        let value_port = (engine.value_port, engine.value_every);
        ask(&mut shared.value_port, issue.values, value_port, true);
        ask(&mut shared.value_port, issue.posted, value_port, !engine.posted);
        ask(&mut shared.map_engine, issue.lookups, (engine.map_engine, engine.map_every), true);
        let quick = if engine.quick { 0 } else { issue.quick };
        ask(&mut self.helper, issue.helpers + quick, (engine.helper, 1), true);
        asked
    }

    /// Takes the read port for a row, if it is free.
    pub fn read_row(&mut self, now: u64, engine: &Engine) -> bool {
        let free = now >= self.reads;
        if free && engine.memory.shared {
            self.writes = now + 1;
        }
        free
    }

    /// Takes the write port for a row, if it is free.
    pub fn write_row(&mut self, now: u64) -> bool {
        let free = now >= self.writes;
        if free {
            self.writes = now + 1;
        }
        free
    }

    /// Clears a row of a stack, if the write port is free.
    pub fn clear_row(&mut self, now: u64, engine: &Engine) {
        if self.to_clear == 0 {
            return;
        }
        let context = self.contexts.iter_mut().filter_map(|context| context.packet.as_mut()).find(|r| r.to_clear > 0);
        if let Some(running) = context.filter(|_| now >= self.writes) {
            running.to_clear -= 1;
            self.to_clear -= 1;
            running.ready = now + 1 + engine.start;
            self.writes = now + 1;
        }
    }
}

/// Loads and stores of a bundle. The map engine reads a key in one row.
fn accesses(issue: &Issue) -> (u8, u8) {
    (issue.loads + issue.lookups, issue.stores)
}

/// From issue to issue of a bundle that waits for nothing.
fn interval(engine: &Engine, issue: &Issue) -> u64 {
    let mut cycles = engine.alu;
    let mut at_least = |has: bool, least: u64| cycles = if has { cycles.max(least) } else { cycles };
    at_least(issue.loads > 0, engine.load);
    at_least(issue.stores + issue.posted > 0, engine.store);
    at_least(issue.multiplies > 0 || issue.quick > 0, engine.multiply);
    let more = u64::from(issue.divides.saturating_sub(1)) * engine.divider;
    at_least(issue.divides > 0, engine.divide + more);
    cycles
}
