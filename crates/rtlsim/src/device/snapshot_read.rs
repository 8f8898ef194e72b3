//! Reads all counters of one instant over the configuration ring.
//!
//! Writing the epoch freezes every counter of the NIC in one cycle; the reads that follow see
//! the frozen values, however long they take.

use crate::device::requester::{Place, Request, RequestId};
use sluice_device::ModuleCounters;
use sluice_formats::address::{SNAPSHOT_INDEX_BIT, control, info};
use sluice_formats::l7::L7Event;
use sluice_formats::{EngineId, Node, Reason, Table, Target};
use std::collections::{BTreeMap, HashMap};

/// What to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Every module that was ever offered a packet.
    All,
    /// One module.
    Module(u8),
}

/// Result of a snapshot.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SnapshotCounters {
    /// The epoch written.
    pub epoch: u32,
    /// Counters by module.
    pub modules: BTreeMap<u8, ModuleCounters>,
    /// Times the watchdog fired; live.
    pub wedges: u64,
}

enum Phase {
    Epoch,
    Offered,
    Rest,
}

/// A snapshot on its way.
pub struct SnapshotRead {
    target: Target,
    engines: Vec<EngineId>,
    scope: Scope,
    epoch: u32,
    phase: Phase,
    pending: HashMap<RequestId, Place>,
    values: HashMap<Place, u64>,
}

impl SnapshotRead {
    /// A snapshot of a NIC with these engines, that writes this epoch, which must differ from the one before.
    pub fn new(target: Target, engines: Vec<EngineId>, scope: Scope, epoch: u32) -> Self {
        Self { target, engines, scope, epoch, phase: Phase::Epoch, pending: HashMap::new(), values: HashMap::new() }
    }

    /// Its first requests; `ask` queues one.
    pub fn start(&mut self, mut ask: impl FnMut(Request) -> RequestId) {
        let place = (Node::System, Table::Control, control::EPOCH);
        let id = ask(Request::write(place.0, place.1, place.2, vec![self.epoch]));
        self.pending.insert(id, place);
    }

    /// Whether the answer belongs here.
    pub fn awaits(&self, id: RequestId) -> bool {
        self.pending.contains_key(&id)
    }

    /// Takes an answer; gives the counters when it was the last.
    pub fn answer(
        &mut self,
        id: RequestId,
        words: &[u32],
        mut ask: impl FnMut(Request) -> RequestId,
    ) -> Option<Result<SnapshotCounters, String>> {
        let place = self.pending.remove(&id)?;
        let value = words.iter().take(2).rev().fold(0u64, |v, &w| v << 32 | u64::from(w));
        self.values.insert(place, value);
        if !self.pending.is_empty() {
            return None;
        }
        let next = match (&self.phase, self.scope) {
            (Phase::Epoch, Scope::All) => {
                self.phase = Phase::Offered;
                self.offered_places()
            }
            (Phase::Epoch, Scope::Module(_)) | (Phase::Offered, _) => {
                self.phase = Phase::Rest;
                self.rest_places()
            }
            (Phase::Rest, _) => return Some(self.counters()),
        };
        for place in next {
            let snapshot = if place.1 == Table::Info { 0 } else { 1 << SNAPSHOT_INDEX_BIT };
            let id = ask(Request::read(place.0, place.1, place.2 | snapshot));
            self.pending.insert(id, place);
        }
        None
    }

    fn ports(&self) -> impl Iterator<Item = Node> + use<> {
        (0..self.target.ports as u8).map(Node::Port)
    }

    fn offered_places(&self) -> Vec<Place> {
        self.ports().flat_map(|p| (0..self.target.modules).map(move |m| (p, Table::PortPackets, m))).collect()
    }

    fn modules(&self) -> Vec<u8> {
        match self.scope {
            Scope::Module(module) => vec![module],
            Scope::All => {
                let seen = |m: &u32| self.ports().any(|p| self.at((p, Table::PortPackets, *m)) != 0);
                (0..self.target.modules).filter(seen).map(|m| m as u8).collect()
            }
        }
    }

    fn rest_places(&self) -> Vec<Place> {
        let mut places = vec![(Node::System, Table::Info, info::WEDGES)];
        for module in self.modules() {
            places.extend(self.places_of(module.into()).into_iter().filter(|p| !self.values.contains_key(p)));
        }
        places
    }

    fn places_of(&self, module: u32) -> Vec<Place> {
        let mut places = Vec::new();
        for port in self.ports() {
            places.push((port, Table::PortPackets, module));
            places.push((port, Table::PortBytes, module));
        }
        places.extend(self.copies_places(module));
        for destination in 0..self.target.destinations() {
            places.extend(self.left_places(destination, module));
        }
        places.extend(self.consumed_place(module));
        places.extend(Reason::ALL.into_iter().flat_map(|r| self.drop_places(module, r)));
        places
    }

    /// Where a module's packets and bytes that left through a destination are counted: behind the last one by the l7 engine, where
    /// there is one.
    fn left_places(&self, destination: u32, module: u32) -> [Place; 2] {
        if destination + 1 == self.target.destinations() && self.engines.contains(&EngineId::L7) {
            let left = 16 * module + L7Event::Left as u32;
            return [(Node::L7, Table::L7Drops, left), (Node::L7, Table::L7Bytes, 2 * module)];
        }
        let queue = destination * self.target.modules + module;
        [(Node::Egress, Table::QueuePackets, queue), (Node::Egress, Table::QueueBytes, queue)]
    }

    fn consumed_place(&self, module: u32) -> Option<Place> {
        let row = 16 * module + L7Event::Consumed as u32;
        self.engines.contains(&EngineId::L7).then_some((Node::L7, Table::L7Drops, row))
    }

    /// Every counter of one module's copies.
    fn copies_places(&self, module: u32) -> impl Iterator<Item = Place> + use<'_> {
        self.engines.iter().filter_map(move |engine| engine.copies(module)).map(|(t, row)| (t.node(), t, row))
    }

    /// Every counter of one module's drops for one reason.
    fn drop_places(&self, module: u32, reason: Reason) -> Vec<Place> {
        let table = reason.table();
        let mut places: Vec<Place> = match reason.engine() {
            Some(engine) if self.engines.contains(&engine) => vec![(table.node(), table, reason.row(module))],
            // What no engine sends anywhere, who stands around the XDP engine's own top counts.
            Some(_) if reason == Reason::NoDestination && self.engines.contains(&EngineId::XDP) => {
                vec![(table.node(), table, reason.row(module))]
            }
            Some(_) => Vec::new(),
            None if table == Table::PortDrops => self.ports().map(|p| (p, table, reason.row(module))).collect(),
            None => {
                let queue = |d| reason.row(d * self.target.modules + module);
                (0..self.target.destinations()).map(|d| (Node::Egress, table, queue(d))).collect()
            }
        };
        // The XDP engine counts it in its own table, under the same kind.
        if reason == Reason::NoDestination && self.engines.contains(&EngineId::XDP) {
            places.push((Node::Xdp, Table::XdpDrops, 8 * module + 7));
        }
        places
    }

    fn at(&self, place: Place) -> u64 {
        self.values.get(&place).copied().unwrap_or(0)
    }

    fn counters(&self) -> Result<SnapshotCounters, String> {
        let wedges = self.at((Node::System, Table::Info, info::WEDGES));
        let mut modules = BTreeMap::new();
        for module in self.modules() {
            modules.insert(module, self.module_counters(module.into())?);
        }
        Ok(SnapshotCounters { epoch: self.epoch, modules, wedges })
    }

    fn module_counters(&self, module: u32) -> Result<ModuleCounters, String> {
        let copies = self.copies_places(module).map(|place| self.at(place)).sum();
        let mut c = ModuleCounters { copies, ..ModuleCounters::default() };
        for port in self.ports() {
            c.offered += self.at((port, Table::PortPackets, module));
            c.offered_bytes += self.at((port, Table::PortBytes, module));
        }
        for destination in 0..self.target.destinations() {
            let [packets, bytes] = self.left_places(destination, module).map(|place| self.at(place));
            let is_port = destination < self.target.ports;
            let (p, b) = if is_port {
                (&mut c.forwarded, &mut c.forwarded_bytes)
            } else {
                (&mut c.delivered, &mut c.delivered_bytes)
            };
            (*p, *b) = (*p + packets, *b + bytes);
        }
        c.consumed = self.consumed_place(module).map_or(0, |place| self.at(place));
        for reason in Reason::ALL {
            let count: u64 = self.drop_places(module, reason).into_iter().map(|p| self.at(p)).sum();
            if count != 0 {
                c.dropped.insert(reason, count);
            }
        }
        let came = c.offered + c.copies;
        let went = c.forwarded + c.delivered + c.consumed + c.dropped.values().sum::<u64>();
        c.in_flight = came.checked_sub(went).ok_or_else(|| {
            format!("accounting of module {module} does not close: {came} offered and copied, {went} accounted for")
        })?;
        Ok(c)
    }
}
