//! One core: contexts whose bundles are picked in turn, and ports of the packet memory.

use super::calendar::Calendar;
use super::late::{Cycle, Late};
use super::search::{FirstHalf, OfMap, Search};
use super::turns::Turns;
use super::{Engine, Issue, Trace};
use std::collections::{HashMap, VecDeque};

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
    /// The bundle's first pass has launched what it takes.
    second: bool,
    /// Passes without a bundle that come next.
    passes: u64,
    /// It has come to its flow's section, which is another packet's.
    held: bool,
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
    pub fn begin(&mut self, arrives: u64, every: u64) -> u64 {
        let begins = arrives.max(self.free);
        self.free = begins + every;
        self.done += 1;
        begins
    }
}

/// Units that all cores share.
#[derive(Clone, Debug, Default)]
pub struct Shared {
    /// Loads, stores and atomics of map values.
    pub value_port: Calendar,
    /// Second half of the map engine: who has found his key first goes first.
    pub map_engine: Calendar,
    /// Until when operations on a map are under way.
    pub of_maps: HashMap<u64, OfMap>,
    /// Its first half.
    pub first_half: FirstHalf,
    /// Steps of the warp engine that make registers and keys.
    pub extractor: Unit,
    /// What looks beside it.
    pub seeker: Calendar,
    /// Which packet's a flow's section is.
    pub turns: Turns,
}

impl Shared {
    /// The second half of an operation whose key is there then: the first cycle in which who waits for it is picked.
    pub fn search(&mut self, found: u64, engine: &Engine, search: Search) -> u64 {
        let back = engine.maps.back(search);
        let (beside, alone) = self.of_maps.entry(search.map).or_default().before(found, search.only_looks);
        let aside = search.only_looks && self.seeker.first(beside, back).0 <= self.map_engine.first(alone, back).0;
        let found = if aside { beside } else { alone };
        let (unit, answer) = match aside {
            true => (&mut self.seeker, engine.seek_answer),
            false => (&mut self.map_engine, engine.map_answer),
        };
        let begins = unit.begin(found, back);
        self.first_half.taken = begins;
        self.of_maps.entry(search.map).or_default().until(begins + back, search.only_looks, aside);
        let locked = engine.maps.locked(search);
        if locked > 0 {
            self.value_port.take(begins + back - locked, locked);
        }
        begins + back + answer
    }
}

/// What a bundle that launches something waits for: until when, and whether the map engine has it.
#[derive(Clone, Copy, Debug)]
enum Launched {
    /// A unit is busy: the context is picked again.
    Busy,
    /// Nothing.
    Nothing,
    /// First cycle of the next pick, of a second pass or of the next bundle.
    Until(u64),
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
    /// Packets that wait for a context, with their traces, and when they may have one.
    waiting: VecDeque<(usize, usize, u64)>,
    /// Slots of packet memory that are taken.
    pub slots: usize,
    /// Packets that are not finished.
    pub work: usize,
    /// First cycles in which the issue, and the memory for rows are free.
    issue: u64,
    reads: u64,
    writes: u64,
    /// Multiplier and divider, and helper.
    muldiv: Unit,
    helper: Unit,
    late: Late,
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
            issue: 0,
            reads: 0,
            writes: 0,
            muldiv: Unit::default(),
            helper: Unit::default(),
            late: Late::default(),
            issued: 0,
        }
    }

    /// A packet is in the memory.
    pub fn loaded(&mut self, from: u64, packet: usize, trace: usize) {
        self.waiting.push_back((packet, trace, from));
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

    /// A free context takes a packet that waits, and gives its place; the packet's first bundle is picked with it.
    fn begin(&mut self, now: u64, engine: &Engine, traces: &[Trace]) -> Option<usize> {
        let (packet, trace, _) = self.waiting.front().copied().filter(|(.., from)| *from <= now)?;
        let place = self.contexts.iter().position(|context| context.packet.is_none())?;
        self.waiting.pop_front();
        let running = Running {
            packet,
            trace,
            to_clear: engine.stack_rows,
            at: 0,
            ready: now,
            second: false,
            passes: 0,
            held: false,
        };
        self.contexts[place].packet = Some(running);
        self.busy += 1;
        self.ending += usize::from(traces[trace].issues.is_empty());
        self.to_clear += engine.stack_rows;
        Some(place)
    }

    /// Whether a stack is being cleared.
    pub fn clears(&self) -> bool {
        self.to_clear > 0
    }

    /// Writes a late result, and picks a bundle, if there is one. `wanted` are rows that this cycle is reserved for.
    pub fn issue(&mut self, now: u64, engine: &Engine, traces: &[Trace], shared: &mut Shared, wanted: Wanted) {
        match self.late.cycle(now, engine.late_port, engine.late_patience) {
            Cycle::Hold => return,
            Cycle::Written(context) => {
                if let Some(running) = &mut self.contexts[context].packet {
                    running.ready = now + 1;
                }
            }
            Cycle::Nothing => {}
        }
        if now < self.issue {
            self.issued += 1;
            return;
        }
        let contexts = self.contexts.len();
        let begun = self.begin(now, engine, traces);
        for place in begun.into_iter().chain((1..=contexts).map(|n| (self.last + n) % contexts)) {
            let Some(running) = self.contexts[place].packet else { continue };
            let Some(issue) = traces[running.trace].issues.get(running.at) else { continue };
            if running.ready > now || running.to_clear > 0 || !self.can(now, engine, issue, running.second, wanted) {
                continue;
            }
            let trace = &traces[running.trace];
            let mine = !issue.enters || shared.turns.is_first(now, trace.flow, running.packet);
            if running.held && !mine {
                continue;
            }
            self.issued += 1;
            if begun != Some(place) {
                self.last = place;
            }
            // It is seen at the memory stage, and picked again when its turn has come.
            if !mine {
                self.contexts[place].packet = Some(Running { held: true, ready: now + engine.interval, ..running });
                return;
            }
            if issue.leaves {
                // The row tells that a cycle before it is done.
                shared.turns.leaves(now + engine.interval - 1 + engine.passes_on, trace.flow, running.packet);
            }
            let running = Running { held: false, ..running };
            let last = running.at + 1 == trace.issues.len();
            let before = running.at;
            let running = self.picked(now, engine, running, place, (issue, last), shared);
            self.ending += usize::from(last && running.at > before);
            self.contexts[place].packet = Some(running);
            return;
        }
    }

    fn can(&self, now: u64, engine: &Engine, issue: &Issue, second: bool, wanted: Wanted) -> bool {
        let (loads, stores) = if second { (0, 0) } else { accesses(issue) };
        let read = loads > 0 || (engine.memory.shared && stores > 0);
        let write = stores > 0 || (engine.memory.shared && loads > 0);
        !(read && wanted.read || write && wanted.write) && now >= self.issue
    }

    /// What becomes of a context whose bundle is picked, the packet's last or not.
    fn picked(
        &mut self,
        now: u64,
        engine: &Engine,
        running: Running,
        place: usize,
        (issue, last): (&Issue, bool),
        shared: &mut Shared,
    ) -> Running {
        if running.passes > 0 {
            return Running { passes: running.passes - 1, ready: now + engine.interval, ..running };
        }
        let restores = if issue.exit && !last { engine.restores } else { 0 };
        let after = if last { engine.exit } else { engine.interval };
        let next = Running { at: running.at + 1, second: false, passes: restores, ready: now + after, ..running };
        let at_memory = now + engine.interval;
        if running.second {
            self.lane_writes(at_memory, issue);
            return next;
        }
        let launched = self.launch(at_memory, engine, issue, shared);
        if matches!(launched, Launched::Busy) {
            return Running { ready: at_memory, ..running };
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
        let more = cycles - 1;
        match launched {
            Launched::Until(at) if issue.twice || !engine.late || (issue.ends_late && !last) => {
                Running { second: true, ready: at, ..running }
            }
            Launched::Until(at) => {
                self.lane_writes(at_memory, issue);
                if !(issue.late || issue.ends_late) {
                    return Running { ready: at, ..next };
                }
                let more = if issue.ends_late { engine.late_end } else { engine.late_write };
                self.late.comes(at + more - 1, place);
                Running { ready: u64::MAX, ..next }
            }
            _ => {
                self.lane_writes(at_memory, issue);
                Running { ready: next.ready + more, ..next }
            }
        }
    }

    fn lane_writes(&mut self, at: u64, issue: &Issue) {
        if issue.last_lane || (issue.twice && issue.results > 1) {
            self.late.lane_writes(at);
        }
    }

    /// Asks the units that a bundle needs, at its memory stage.
    fn launch(&mut self, at: u64, engine: &Engine, issue: &Issue, shared: &mut Shared) -> Launched {
        shared.value_port.forget(at);
        shared.map_engine.forget(at);
        shared.seeker.forget(at);
        let values = u64::from(issue.at_values());
        let muldiv = self.muldiv_cycles(engine, issue);
        let busy = (muldiv > 0 && self.muldiv.free > at) || (issue.helpers + issue.calls > 0 && self.helper.free > at);
        if busy {
            return Launched::Busy;
        }
        let mut until = None;
        for _ in 0..values {
            let begins = shared.value_port.begin(at, engine.value_every);
            until = until.max(Some(begins + engine.value_port));
        }
        if engine.posted && values == u64::from(issue.posted) {
            until = None;
        }
        if muldiv > 0 {
            let begins = self.muldiv.begin(at, self.muldiv_held(engine, issue));
            until = until.max(Some(begins + muldiv));
        }
        let helper = u64::from(issue.helpers) * engine.helper + u64::from(issue.calls) * engine.call;
        if helper > 0 {
            until = until.max(Some(self.helper.begin(at, helper) + helper));
        }
        if let Some(search) = issue.search {
            let found = shared.first_half.found(at + 1, &engine.maps, search);
            until = until.max(Some(shared.search(found, engine, search)));
        }
        until.map_or(Launched::Nothing, Launched::Until)
    }

    fn muldiv_cycles(&self, engine: &Engine, issue: &Issue) -> u64 {
        u64::from(issue.multiplies) * engine.multiply
            + u64::from(issue.divides) * engine.divide
            + u64::from(issue.half_divides) * engine.divide_half
    }

    /// Cycles in which nobody else's operation begins.
    fn muldiv_held(&self, engine: &Engine, issue: &Issue) -> u64 {
        let divides = u64::from(issue.divides) * engine.divide + u64::from(issue.half_divides) * engine.divide_half;
        u64::from(issue.multiplies) + divides.saturating_sub(engine.muldiv_behind)
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
    pub fn clear_row(&mut self, now: u64) {
        if self.to_clear == 0 {
            return;
        }
        let context = self.contexts.iter_mut().filter_map(|context| context.packet.as_mut()).find(|r| r.to_clear > 0);
        if let Some(running) = context.filter(|_| now >= self.writes) {
            running.to_clear -= 1;
            self.to_clear -= 1;
            running.ready = now + 1;
            self.writes = now + 1;
        }
    }
}

/// Loads and stores of a bundle. A lookup in an array reads its key.
fn accesses(issue: &Issue) -> (u8, u8) {
    (issue.loads + issue.elements.min(1), issue.stores)
}
