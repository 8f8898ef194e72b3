//! Executes loads, reads and snapshots over the configuration ring.
//!
//! Like `Requester` it does no input or output: `next_message` gives what to send, `receive`
//! takes what came. Loads run one after the other, those of different engines beside each other; reads and snapshots run beside them.
//!
//! How the waiting steps of a load are met with what the hardware offers:
//! - `WaitDrained` reads the module's generation row until its in-flight count is 0.
//! - `Commit` writes the generation row, and asks again while the answer is busy.
//! - `WaitQueuesEmpty` takes a snapshot of the module's counters until nothing of it is in
//!   flight: offered + copies = forwarded + delivered + dropped. That also waits for packets
//!   that have not reached a queue yet, and so would never end while the module's VLANs still
//!   bring packets; a load unmaps them first.

use crate::device::requester::{Answer, Place, Request, RequestError, RequestId, Requester};
use crate::device::snapshot_read::{Scope, SnapshotCounters, SnapshotRead};
use sluice_device::{DeviceError, Footprint, OpId, StepError};
use sluice_formats::row::Row;
use sluice_formats::rows::GenerationRow;
use sluice_formats::{EngineId, Node, Status, Table, Target};
use sluice_object::{Install, Load, Step};
use std::collections::{HashMap, HashSet, VecDeque};

/// Ticks between two looks at something that is waited for.
const LOOK_AGAIN: u64 = 64;

/// What the driver tells its owner.
#[derive(Clone, Debug, PartialEq)]
pub enum Done {
    /// A write or commit of a load is about to be sent: from now on it may take effect.
    Announced(RowWrite),
    /// It has been acknowledged: from now on it has.
    Applied(RowWrite),
    /// A load has come to a program of an engine.
    Installed {
        /// Module.
        module: u8,
        /// Generation.
        generation: u8,
        /// The program; none takes the one that is there away.
        install: Option<Install>,
    },
    /// A load has ended.
    Load {
        /// Which.
        op: OpId,
        /// How.
        result: Result<(), DeviceError>,
    },
    /// A read has ended, or a write that belongs to no load.
    Read {
        /// Which.
        id: RequestId,
        /// The row, or why not.
        answer: Answer,
    },
    /// A snapshot has ended.
    Snapshot(Result<SnapshotCounters, String>),
}

/// A row and what a load makes of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowWrite {
    /// Node.
    pub node: Node,
    /// Table.
    pub table: Table,
    /// Index.
    pub index: u32,
    /// Words.
    pub words: Vec<u32>,
}

impl From<&Request> for RowWrite {
    fn from(request: &Request) -> Self {
        let Request { node, table, index, data, .. } = request;
        Self { node: *node, table: *table, index: *index, words: data.clone() }
    }
}

/// A load that runs, or waits for one before it.
struct Running {
    op: OpId,
    footprint: Footprint,
    load: Load,
    /// Next step to begin.
    step: usize,
    /// Writes under way, with their step.
    writes: HashMap<RequestId, (usize, Request)>,
    /// Their rows: what is sent again must not come after a later write of the same row.
    rows: HashSet<Place>,
    /// What the step before `step` waits for, if it does.
    wait: Option<Wait>,
    failed: Option<(usize, String)>,
    /// Steps before this one have been announced.
    announced: usize,
}

enum Wait {
    Drained(RequestId, u8),
    Commit(RequestId, Request),
    QueuesEmpty,
    /// Begin the step again at this tick.
    Until(u64),
}

/// Who asked for a snapshot.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Asker {
    Owner,
    Load,
}

/// Executes loads, reads and snapshots.
pub struct ConfigDriver {
    engines: Vec<EngineId>,
    requester: Requester,
    /// In the order in which they came.
    loads: Vec<Running>,
    snapshots: VecDeque<(Asker, Scope)>,
    snapshot: Option<(Asker, SnapshotRead)>,
    epoch: u32,
    done: VecDeque<Done>,
}

impl ConfigDriver {
    /// A driver for a NIC with these engines, whose snapshot epoch is 0, as after its reset.
    pub fn new(target: Target, engines: Vec<EngineId>) -> Self {
        Self {
            engines,
            requester: Requester::new(target),
            loads: Vec::new(),
            snapshots: VecDeque::new(),
            snapshot: None,
            epoch: 0,
            done: VecDeque::new(),
        }
    }

    /// Queues a load, which the caller has checked for version and target.
    pub fn submit(&mut self, op: OpId, load: Load) {
        self.loads.push(Running {
            op,
            footprint: Footprint::of(&load),
            load,
            step: 0,
            writes: HashMap::new(),
            rows: HashSet::new(),
            wait: None,
            failed: None,
            announced: 0,
        });
    }

    /// Queues a read.
    pub fn read(&mut self, node: Node, table: Table, index: u32) -> RequestId {
        self.requester.ask(Request::read(node, table, index))
    }

    /// Queues a write that belongs to no load; it ends as a read does.
    pub fn write(&mut self, node: Node, table: Table, index: u32, words: Vec<u32>) -> RequestId {
        self.requester.ask(Request::write(node, table, index, words))
    }

    /// Queues a snapshot of all counters.
    pub fn snapshot(&mut self) {
        self.snapshots.push_back((Asker::Owner, Scope::All));
    }

    /// Whether a load runs or waits.
    pub fn has_loads(&self) -> bool {
        !self.loads.is_empty()
    }

    /// The step of the first running load that begins next, once it has begun.
    pub fn step(&self) -> Option<usize> {
        self.loads.first().filter(|first| first.has_begun()).map(|first| first.step)
    }

    /// The load that runs and its step, for messages.
    pub fn position(&self) -> Option<String> {
        self.loads.first().map(|r| format!("load `{}`, step {}", r.load.label, r.step))
    }

    /// Whether nothing waits or is under way.
    pub fn is_idle(&self) -> bool {
        !self.has_loads() && self.snapshot.is_none() && self.snapshots.is_empty() && self.requester.is_idle()
    }

    /// Requests below, for reports.
    pub fn requester(&self) -> &Requester {
        &self.requester
    }

    /// What ended.
    pub fn take_done(&mut self) -> Option<Done> {
        self.done.pop_front()
    }

    /// Next tick at which `next_message` may have something without an answer coming first.
    pub fn wake(&self) -> Option<u64> {
        let waits = self.loads.iter().filter_map(|running| match running.wait {
            Some(Wait::Until(tick)) => Some(tick),
            _ => None,
        });
        [waits.min(), self.requester.deadline()].into_iter().flatten().min()
    }

    /// The next message to put on the ring at tick `now`.
    pub fn next_message(&mut self, now: u64) -> Option<Vec<u32>> {
        self.start_snapshot();
        self.proceed(now);
        let message = self.requester.next_message(now);
        // Requests that were given up end here.
        self.collect(now);
        message
    }

    /// Takes words that came from the ring at tick `now`.
    pub fn receive(&mut self, words: &[u32], now: u64) {
        self.requester.receive(words, now);
        self.collect(now);
    }

    fn start_snapshot(&mut self) {
        if self.snapshot.is_some() {
            return;
        }
        if let Some((asker, scope)) = self.snapshots.pop_front() {
            self.epoch = self.epoch.wrapping_add(1);
            let mut read = SnapshotRead::new(*self.requester.target(), self.engines.clone(), scope, self.epoch);
            read.start(|request| self.requester.ask(request));
            self.snapshot = Some((asker, read));
        }
    }

    fn collect(&mut self, now: u64) {
        while let Some((id, answer)) = self.requester.take_done() {
            if self.snapshot.as_ref().is_some_and(|(_, s)| s.awaits(id)) {
                self.snapshot_answer(id, answer, now);
            } else if !self.load_answer(id, &answer, now) {
                self.done.push_back(Done::Read { id, answer });
            }
        }
    }

    fn snapshot_answer(&mut self, id: RequestId, answer: Answer, now: u64) {
        let Some((asker, read)) = self.snapshot.as_mut() else { return };
        let asker = *asker;
        let ended = match answer {
            Ok(words) => read.answer(id, &words, |request| self.requester.ask(request)),
            Err(error) => Some(Err(error.to_string())),
        };
        let Some(result) = ended else { return };
        self.snapshot = None;
        match asker {
            Asker::Owner => self.done.push_back(Done::Snapshot(result)),
            Asker::Load => self.queues_looked_at(result, now),
        }
    }

    fn queues_looked_at(&mut self, result: Result<SnapshotCounters, String>, now: u64) {
        // A load that waits for queues runs alone.
        let Some(running) = self.loads.iter_mut().find(|r| matches!(r.wait, Some(Wait::QueuesEmpty))) else { return };
        match result {
            Ok(counters) if counters.modules.values().all(|m| m.in_flight == 0) => {
                running.wait = None;
                running.step += 1;
            }
            Ok(_) => running.wait = Some(Wait::Until(now + LOOK_AGAIN)),
            Err(what) => running.fail(running.step, what),
        }
    }

    /// Takes an answer if it belongs to a running load.
    fn load_answer(&mut self, id: RequestId, answer: &Answer, now: u64) -> bool {
        let Some(running) = self.loads.iter_mut().find(|running| running.awaits(id)) else { return false };
        if let Some((step, request)) = running.writes.remove(&id) {
            if let Err(RequestError::Refused { status: Status::Busy, .. }) = answer {
                let again = self.requester.ask(request.clone());
                running.writes.insert(again, (step, request));
                return true;
            }
            running.rows.remove(&request.place());
            match answer {
                Ok(_) => self.done.push_back(Done::Applied((&request).into())),
                Err(error) => running.fail(step, error.to_string()),
            }
            return true;
        }
        match &running.wait {
            Some(Wait::Drained(expected, generation)) if *expected == id => {
                match answer.as_ref().map_err(ToString::to_string).and_then(|words| in_flight(words, *generation)) {
                    Ok(0) => running.next_step(),
                    Ok(_) => running.wait = Some(Wait::Until(now + LOOK_AGAIN)),
                    Err(what) => running.fail(running.step, what),
                }
                true
            }
            Some(Wait::Commit(expected, request)) if *expected == id => {
                match answer {
                    Ok(_) => {
                        self.done.push_back(Done::Applied(request.into()));
                        running.next_step();
                    }
                    Err(RequestError::Refused { status: Status::Busy, .. }) => {
                        running.wait = Some(Wait::Until(now + LOOK_AGAIN));
                    }
                    Err(error) => running.fail(running.step, error.to_string()),
                }
                true
            }
            _ => false,
        }
    }

    /// Begins steps of all loads that may run, until each waits.
    fn proceed(&mut self, now: u64) {
        let mut number = 0;
        while number < self.loads.len() {
            let (earlier, rest) = self.loads.split_at(number);
            let may_run = rest.first().is_some_and(|own| earlier.iter().all(|e| own.footprint.is_beside(&e.footprint)));
            if may_run && self.proceed_with(number, now) {
                self.finish(number);
            } else {
                number += 1;
            }
        }
    }

    /// Begins steps of a load until one waits; whether it has ended.
    fn proceed_with(&mut self, number: usize, now: u64) -> bool {
        let running = &mut self.loads[number];
        while running.may_begin(now) {
            let Some(step) = running.load.steps.get(running.step) else {
                // The last writes must be acknowledged first.
                return running.writes.is_empty();
            };
            match begin(step) {
                Begin::Write(request) => {
                    if !running.rows.insert(request.place()) {
                        return false;
                    }
                    running.announce(&request, &mut self.done);
                    let id = self.requester.ask(request.clone());
                    running.writes.insert(id, (running.step, request));
                    running.step += 1;
                }
                _ if !running.writes.is_empty() => return false,
                Begin::Barrier => running.step += 1,
                Begin::Install(module, generation, install) => {
                    running.step += 1;
                    self.done.push_back(Done::Installed { module, generation, install });
                }
                Begin::Drained(request, generation) => {
                    running.wait = Some(Wait::Drained(self.requester.ask(request), generation));
                }
                Begin::Commit(request) => {
                    running.announce(&request, &mut self.done);
                    running.wait = Some(Wait::Commit(self.requester.ask(request.clone()), request));
                }
                Begin::QueuesEmpty(module) => {
                    running.wait = Some(Wait::QueuesEmpty);
                    self.snapshots.push_back((Asker::Load, Scope::Module(module)));
                    self.start_snapshot();
                    return false;
                }
            }
        }
        running.failed.is_some() && running.writes.is_empty()
    }

    fn finish(&mut self, number: usize) {
        let running = self.loads.remove(number);
        let label = running.load.label;
        let result = running
            .failed
            .map_or(Ok(()), |(step, what)| Err(DeviceError::Step { label, step, error: StepError::Ring(what) }));
        self.done.push_back(Done::Load { op: running.op, result });
    }
}

impl Running {
    fn has_begun(&self) -> bool {
        self.step > 0 || self.wait.is_some() || self.announced > 0
    }

    /// Whether an answer is to one of its requests.
    fn awaits(&self, id: RequestId) -> bool {
        let waited = match &self.wait {
            Some(Wait::Drained(expected, _) | Wait::Commit(expected, _)) => *expected == id,
            _ => false,
        };
        waited || self.writes.contains_key(&id)
    }

    fn fail(&mut self, step: usize, what: String) {
        self.wait = None;
        self.failed.get_or_insert((step, what));
    }

    /// Once a step, however often it is asked.
    fn announce(&mut self, request: &Request, done: &mut VecDeque<Done>) {
        if self.announced <= self.step {
            self.announced = self.step + 1;
            done.push_back(Done::Announced(request.into()));
        }
    }

    fn next_step(&mut self) {
        self.wait = None;
        self.step += 1;
    }

    fn may_begin(&mut self, now: u64) -> bool {
        if matches!(self.wait, Some(Wait::Until(tick)) if tick <= now) {
            self.wait = None;
        }
        // More writes than this would only wait in the requester's queue.
        self.wait.is_none() && self.failed.is_none() && self.writes.len() < crate::device::requester::WINDOW
    }
}

enum Begin {
    Write(Request),
    Barrier,
    Drained(Request, u8),
    Commit(Request),
    QueuesEmpty(u8),
    Install(u8, u8, Option<Install>),
}

fn begin(step: &Step) -> Begin {
    match step {
        Step::Write { node, table, index, words } => Begin::Write(Request::write(*node, *table, *index, words.clone())),
        Step::Barrier => Begin::Barrier,
        Step::WaitDrained { module, generation } => {
            Begin::Drained(Request::read(Node::Stamp, Table::Generation, (*module).into()), *generation)
        }
        Step::Commit { module, generation } => {
            let words = vec![u32::from(*generation & 1)];
            Begin::Commit(Request::write(Node::Stamp, Table::Generation, (*module).into(), words))
        }
        Step::WaitQueuesEmpty { module } => Begin::QueuesEmpty(*module),
        // Its rows are steps of their own: what it says beside them is the host's, and whoever follows the device.
        Step::Install { module, generation, install, .. } => Begin::Install(*module, *generation, install.clone()),
    }
}

fn in_flight(words: &[u32], generation: u8) -> Result<u8, String> {
    let row = GenerationRow::unpack(words).map_err(|e| e.to_string())?;
    Ok(if generation == 0 { row.in_flight_0 } else { row.in_flight_1 })
}
