//! The engines of one NIC, and a packet's way through them: in line before the queues, and one behind a destination.

use crate::engine::{Answer, Behind, Engine, InstallError, Packet};
use crate::followed::Followed;
use crate::maps::Maps;
use crate::rings::Rings;
use sluice_formats::{EngineId, Node, Reason, Status, Table};
use sluice_object::Install;

/// Engines in the order in which a packet meets them.
#[derive(Debug)]
pub struct Engines {
    /// Those in line, before the queues.
    all: Vec<Box<dyn Engine>>,
    /// The one behind the last host queue.
    behind: Option<Box<dyn Engine>>,
}

/// How a packet's way through the engines ended, or was interrupted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passed {
    /// It goes to its route, which is not empty.
    Through,
    /// It ended.
    Dropped(Reason),
    /// An engine holds it: [`Engines::late`] tells when it goes on.
    Held,
}

/// What became of a packet behind the last host queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sent {
    /// It reaches the host.
    Delivered,
    /// It is in a buffer of this ring.
    Consumed(u8),
    /// It ended.
    Dropped(Reason),
}

/// A held packet whose engine has answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Late {
    /// The packet.
    pub id: u32,
    /// Place of the engine in the list.
    at: usize,
    answer: Answer,
}

impl Engines {
    /// These engines, all in line.
    pub fn new(all: Vec<Box<dyn Engine>>) -> Self {
        Self { all, behind: None }
    }

    /// With this one behind the last host queue.
    #[must_use]
    pub fn behind(self, engine: Box<dyn Engine>) -> Self {
        Self { behind: Some(engine), ..self }
    }

    /// Which there are.
    pub fn ids(&self) -> Vec<EngineId> {
        self.each().map(|e| e.id()).collect()
    }

    /// Whether there is one behind the last host queue.
    pub fn is_behind(&self) -> bool {
        self.behind.is_some()
    }

    fn each(&self) -> impl Iterator<Item = &Box<dyn Engine>> {
        self.all.iter().chain(&self.behind)
    }

    fn each_mut(&mut self) -> impl Iterator<Item = &mut Box<dyn Engine>> {
        self.all.iter_mut().chain(&mut self.behind)
    }

    fn of(&self, id: Option<EngineId>) -> Option<&dyn Engine> {
        let engine = self.each().find(|e| Some(e.id()) == id)?;
        Some(&**engine)
    }

    fn of_mut(&mut self, id: Option<EngineId>) -> Option<&mut Box<dyn Engine>> {
        self.each_mut().find(|e| Some(e.id()) == id)
    }

    /// A packet has left the last host queue. A drop is counted.
    pub fn dispatch(&mut self, packet: &mut Packet) -> Sent {
        let Some(engine) = &mut self.behind else { return Sent::Delivered };
        match engine.run(packet) {
            Answer::Drop(reason) => {
                engine.count(packet.module, reason);
                Sent::Dropped(reason)
            }
            Answer::Consumed(ring) => Sent::Consumed(ring),
            Answer::Next | Answer::To(_) | Answer::Held => Sent::Delivered,
        }
    }

    /// What the last packet that was dispatched has cost, where that is more than its beats: steps.
    pub fn cost(&self) -> u32 {
        self.behind.as_ref().map_or(0, |engine| engine.cost())
    }

    /// A module's weight among those whose packets wait for the engine behind the last host queue.
    pub fn weight(&self, module: u8) -> u16 {
        self.behind.as_ref().map_or(1, |engine| engine.weight(module))
    }

    /// The engine behind the last host queue, where it follows a device.
    pub fn followed(&mut self) -> Option<&mut dyn Followed> {
        self.behind.as_mut()?.followed()
    }

    /// Time has come to this tick.
    pub fn elapse(&mut self, now: u64) {
        if let Some(engine) = &mut self.behind {
            engine.elapse(now);
        }
    }

    /// The tick of what the engine behind the last host queue does next without a packet.
    pub fn next_behind(&self) -> Option<u64> {
        self.behind.as_ref()?.next_event()
    }

    /// What it has counted of a module; none where there is none.
    pub fn counted_behind(&self, module: u8) -> Option<Behind> {
        self.behind.as_ref().map(|engine| engine.behind(module))
    }

    /// Whether a packet of a module may run much longer than its programs are long.
    pub fn may_run_long(&self, module: u8) -> bool {
        self.all.iter().any(|engine| engine.may_run_long(module))
    }

    /// Whether a packet of a module may change what a later one finds in the engines in line.
    pub fn is_stateful(&self, module: u8) -> bool {
        self.all.iter().any(|engine| engine.is_stateful(module))
    }

    /// The module whose packets may change a row that the host reads.
    pub fn changed_by(&self, node: Node, table: Table, index: u32) -> Option<u8> {
        self.of(node.engine())?.changed_by(node, table, index)
    }

    /// Sends a packet through all engines, until one drops or holds it, and counts what became of it.
    #[inline]
    pub fn run(&mut self, packet: &mut Packet) -> Passed {
        let passed = self.decide(packet);
        self.settle(packet, passed);
        passed
    }

    /// The same without counting: [`Engines::settle`] does, at the instant at which a device counts.
    #[inline]
    pub fn decide(&mut self, packet: &mut Packet) -> Passed {
        self.decide_from(0, packet)
    }

    /// The same up to the engine in which the packet overtakes others: there it is held, until [`Engines::decide_rest`].
    pub fn decide_in_order(&mut self, packet: &mut Packet) -> Passed {
        for at in 0..self.all.len() {
            if self.all[at].overtakes(packet) {
                return Passed::Held;
            }
            if let Some(passed) = self.decide_at(at, packet) {
                return passed;
            }
        }
        Self::end(packet)
    }

    /// Whether it is held for that.
    pub fn overtakes(&self, packet: &Packet) -> bool {
        self.all.iter().any(|engine| engine.overtakes(packet))
    }

    /// What was left of it; none of a packet that overtakes nowhere.
    pub fn decide_rest(&mut self, packet: &mut Packet) -> Option<Passed> {
        let at = self.all.iter().position(|engine| engine.overtakes(packet))?;
        Some(self.decide_from(at, packet))
    }

    #[inline]
    fn decide_from(&mut self, first: usize, packet: &mut Packet) -> Passed {
        (first..self.all.len()).find_map(|at| self.decide_at(at, packet)).unwrap_or_else(|| Self::end(packet))
    }

    /// One engine's answer, where the packet does not go on.
    #[inline]
    fn decide_at(&mut self, at: usize, packet: &mut Packet) -> Option<Passed> {
        match self.all[at].run(packet) {
            Answer::Next => None,
            Answer::To(route) => {
                packet.route = route;
                None
            }
            Answer::Drop(reason) => Some(Passed::Dropped(reason)),
            Answer::Held => Some(Passed::Held),
            // In line there are no rings.
            Answer::Consumed(_) => None,
        }
    }

    fn end(packet: &Packet) -> Passed {
        if packet.route.destinations == 0 { Passed::Dropped(Reason::NoDestination) } else { Passed::Through }
    }

    /// Counts the drop or the copies of a packet that was decided.
    #[inline]
    pub fn settle(&mut self, packet: &Packet, passed: Passed) {
        match passed {
            Passed::Dropped(reason) => self.count(packet.module, reason),
            Passed::Through => {
                let copies = u64::from(packet.route.destinations.count_ones());
                if copies > 1 {
                    self.count_copies(packet.module, copies - 1);
                }
            }
            Passed::Held => {}
        }
    }

    /// Counts a drop in the engine whose reason it is.
    pub fn count(&mut self, module: u8, reason: Reason) {
        match self.of_mut(reason.table().engine()) {
            Some(owner) => owner.count(module, reason),
            // Where its engine is not there, the last one has found no destination.
            None if reason == Reason::NoDestination => {
                if let Some(last) = self.all.last_mut() {
                    last.count(module, reason);
                }
            }
            None => {}
        }
    }

    /// Counts copies beyond the first.
    pub fn count_copies(&mut self, module: u8, copies: u64) {
        self.all.iter_mut().rev().any(|e| e.count_copies(module, copies));
    }

    /// The next held packet that goes on by `now`.
    pub fn late(&mut self, now: u64) -> Option<Late> {
        let next =
            |(at, engine): (usize, &mut Box<dyn Engine>)| engine.late(now).map(|(id, answer)| Late { id, at, answer });
        self.all.iter_mut().enumerate().find_map(next)
    }

    /// A held packet that goes on now, because the log of the device that is followed says so.
    pub fn release(&mut self, id: u32, now: u64) -> Option<Late> {
        let answer =
            |(at, engine): (usize, &mut Box<dyn Engine>)| Some(Late { id, at, answer: engine.release(id, now)? });
        self.all.iter_mut().enumerate().find_map(answer)
    }

    /// Lets a held packet go on behind the engine that held it, and counts what became of it.
    pub fn go_on(&mut self, late: Late, packet: &mut Packet) -> Passed {
        let passed = match late.answer {
            Answer::Drop(reason) => Passed::Dropped(reason),
            Answer::To(route) => {
                packet.route = route;
                self.decide_from(late.at + 1, packet)
            }
            Answer::Next | Answer::Held | Answer::Consumed(_) => self.decide_from(late.at + 1, packet),
        };
        self.settle(packet, passed);
        passed
    }

    /// The tick at which the next held packet goes on.
    pub fn next_event(&self) -> Option<u64> {
        self.all.iter().filter_map(|e| e.next_event()).min()
    }

    /// Writes a row of the engine that has the node.
    pub fn write(&mut self, node: Node, table: Table, index: u32, words: &[u32]) -> Status {
        self.of_mut(node.engine()).map_or(Status::BadAddress, |e| e.write(node, table, index, words))
    }

    /// Reads one.
    pub fn read(&self, node: Node, table: Table, index: u32) -> Result<Vec<u32>, Status> {
        self.of(node.engine()).ok_or(Status::BadAddress)?.read(node, table, index)
    }

    /// The ports around them take frames from this length on.
    pub fn ports_take(&mut self, shortest: u32) {
        self.each_mut().for_each(|engine| engine.ports_take(shortest));
    }

    /// Takes a snapshot of every engine's counters.
    pub fn snapshot(&mut self) {
        self.each_mut().for_each(|e| e.snapshot());
    }

    /// New packets of a module are stamped with this generation from now on.
    pub fn commit(&mut self, module: u8, generation: u8) {
        self.each_mut().for_each(|e| e.commit(module, generation));
    }

    /// Puts a program into a generation of an engine, or takes it away.
    pub fn install(
        &mut self,
        engine: EngineId,
        module: u8,
        generation: u8,
        install: Option<&Install>,
    ) -> Result<(), InstallError> {
        let found = self.of_mut(Some(engine));
        let none = || InstallError { engine, what: format!("there is no engine {engine}"), code: None };
        let found = found.ok_or_else(none)?;
        match install {
            Some(install) => found.install(module, generation, install),
            None => {
                found.remove(module, generation);
                Ok(())
            }
        }
    }

    /// What was counted by a reason; none if the reason is no engine's here.
    pub fn counted(&self, module: u8, reason: Reason) -> Option<u64> {
        let last = || self.all.last().filter(|_| reason == Reason::NoDestination).map(|engine| &**engine);
        self.of(reason.table().engine()).or_else(last).map(|e| e.counted(module, reason))
    }

    /// Copies beyond the first.
    pub fn copies(&self, module: u8) -> u64 {
        self.all.iter().map(|e| e.copies(module)).sum()
    }

    /// Rings of the engine that has some.
    pub fn rings(&mut self) -> Option<&mut dyn Rings> {
        self.each_mut().find_map(|e| e.rings())
    }

    /// Maps of the engine that has some.
    pub fn maps(&mut self) -> Option<&mut dyn Maps> {
        self.all.iter_mut().find_map(|e| e.maps())
    }
}
