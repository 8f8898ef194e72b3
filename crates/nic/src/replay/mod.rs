//! The model in lockstep with a hardware trace.
//!
//! The trace tells what only the hardware knows (the order of the merge, both stamps, generations,
//! overload, room for what is beyond a share, tail drops); everything else is computed by the functions of [`crate::forward`]
//! and compared at once, so that the first difference names its packet. A packet runs through the
//! pipeline's fast model at its verdict: verdicts come in the order of the merge, in which packets
//! meet state and counters. Where programs run packets overtake each other: a program runs at its packet's verdict.
//!
//! Events are given in the order of their cycles, within one cycle leave rows last: a queue's
//! room is given back at the end of the cycle of its leave row. The buffer's cells come back
//! one by one while the last copy is read, and the last of them a cycle after its leave row:
//! within these bounds a shortage of the buffer is fed, queue limits are exact. A write is
//! given when the device has answered it with ok. The instant at which it took effect lies
//! between request and answer: give the request to [`Replay::announce_write`], and until the
//! answer both rows count for ports, limits and commits. Rows of the rmt pipeline and rates
//! have no such doubt: their loads never change what a generation does that packets see, and rates
//! are written while their module is idle. What packets see at once (entries of a running table,
//! state words) is for the caller to write while nothing is on its way.

mod behind;
mod compare;
mod shares;
mod writes;

pub use compare::Mismatch;

use crate::bank::CounterBank;
use crate::forward::{self, Accepted, Classified, Leaving};
use crate::room::{Asked, Room, Urgency};
use crate::tables::Tables;
use behind::Behind;
use compare::{check, describe_bytes, mismatch};
use shares::Shares;
use sluice_device::{Counters, Engines, Frame, Passed, Route, Stamped, engine as device, headers};
use sluice_formats::limits::{COPIES_AHEAD, SEQUENCE_MASK, SYSTEM_MODULE, TAG_BYTES, TICK_BITS, packet_id};
use sluice_formats::rows::{
    LeaveTraceRow, LimitRow, MergeTraceRow, PortTraceRow, QueueTraceRow, SidebandRow, VerdictTraceRow,
};
use sluice_formats::{Reason, Target};
use std::collections::{BTreeMap, HashMap, VecDeque};
use writes::PendingWrite;

/// A packet between its port and its last output.
#[derive(Debug)]
struct Packet {
    /// As the engines see it.
    inside: device::Packet,
    /// What the engines say of it, once the first of them has had it.
    passed: Option<Passed>,
    /// It has its verdict.
    decided: bool,
    /// Its place among the packets that were let through.
    number: u64,
    tag_off: bool,
    flow_hash: u32,
    /// Destinations that queue admission has not judged yet.
    unjudged: u8,
    /// Destinations at which it would leave as another tenant's.
    foreign: u8,
    /// The buffer holds it: at least one copy was admitted.
    stored: bool,
    /// Copies admitted whose last beat was not read yet.
    copies: u32,
    /// Copies admitted that have not been seen at the output yet.
    unseen: u32,
    /// It is behind the last host queue, and may have been decided there.
    behind: Option<Behind>,
}

/// The two queues of a module at a destination.
#[derive(Debug, Default)]
struct Queue {
    /// By urgency.
    waiting: [VecDeque<u32>; 2],
    /// Low copies that left before the first of the high ones, which was certainly waiting.
    passed: u32,
    left: VecDeque<u32>,
}

/// The model of one NIC, driven by a trace.
#[derive(Debug)]
pub struct Replay {
    target: Target,
    tables: Tables,
    /// The latest stamp, without its wrap.
    ticks: u64,
    /// The latest end of a frame at a port, likewise.
    arrival: u64,
    /// There are no ports: a packet arrives when it is stamped.
    arrives_with_stamp: bool,
    shares: Shares,
    bank: CounterBank,
    room: Room,
    packets: HashMap<u32, Packet>,
    next_sequence: Vec<u32>,
    /// Packets that wait at each port, with their cost.
    stored: Vec<VecDeque<(u32, u32)>>,
    /// Port and cost of the packet that has entered the pipeline last: the port may still be sending its beats.
    entered: Option<(u8, u32)>,
    pipeline: VecDeque<u32>,
    /// Packets that have met an engine that is not the last, and are not held.
    passing: VecDeque<u32>,
    /// Packets in an engine in which they overtake each other.
    overtaking: VecDeque<u32>,
    judging: VecDeque<u32>,
    /// Packets that were let through.
    through: u64,
    /// The latest of these of which a copy has left: those before it are stored.
    stored_up_to: u64,
    queues: Vec<Queue>,
    /// The destination that an engine stands behind.
    behind: Option<u8>,
    /// A packet's last copy left since the last admission was judged.
    cell_on_its_way: bool,
    announced: Vec<PendingWrite>,
    superseded: Vec<PendingWrite>,
}

impl Replay {
    /// A NIC after reset that has these engines.
    pub fn new(target: Target, engines: Engines) -> Self {
        let ports = target.ports as usize;
        let queues = (target.destinations() * target.modules) as usize;
        let behind = engines.is_behind().then(|| target.destinations() as u8 - 1);
        Self {
            target,
            tables: Tables::new(target, engines),
            ticks: 0,
            arrival: 0,
            arrives_with_stamp: false,
            shares: Shares::new(target),
            bank: CounterBank::new(target),
            room: Room::new(&target),
            packets: HashMap::new(),
            next_sequence: vec![0; ports],
            stored: vec![VecDeque::new(); ports],
            entered: None,
            pipeline: VecDeque::new(),
            passing: VecDeque::new(),
            overtaking: VecDeque::new(),
            judging: VecDeque::new(),
            through: 0,
            stored_up_to: 0,
            queues: (0..queues).map(|_| Queue::default()).collect(),
            behind,
            cell_on_its_way: false,
            announced: Vec::new(),
            superseded: Vec::new(),
        }
    }
    /// A NIC whose ports take frames from this length on.
    pub fn taking(self, shortest: u32) -> Self {
        Self { tables: self.tables.taking(shortest), ..self }
    }

    /// Packets arrive with their stamp: there are no ports before it.
    pub fn arriving_with_stamp(self, arrives_with_stamp: bool) -> Self {
        Self { arrives_with_stamp, ..self }
    }

    /// The model's tables.
    pub fn tables(&self) -> &Tables {
        &self.tables
    }

    /// A frame has ended on a port. Overload and room for what is beyond a share are fed, everything else computed.
    pub fn port(&mut self, row: &PortTraceRow, bytes: &[u8], bad: bool) -> Result<(), Mismatch> {
        let at = "port";
        let port = (row.id >> 28) as u8;
        check(u32::from(port) < self.target.ports, row.id, at, || ("an existing port", format!("port {port}")))?;
        let sequence = self.next_sequence[usize::from(port)];
        let expected = packet_id(port, sequence);
        check(row.id == expected, row.id, at, || (format!("id {expected:#010x}"), format!("id {:#010x}", row.id)))?;
        self.next_sequence[usize::from(port)] = (sequence + 1) & SEQUENCE_MASK;
        let length = u32::from(row.length);
        check(length as usize == bytes.len(), row.id, at, || {
            (format!("{} bytes", bytes.len()), format!("{length} bytes"))
        })?;

        let reason = row.dropped.then(|| Reason::from_code(row.reason));
        check(reason != Some(None), row.id, at, || ("a reason that exists", format!("reason {}", row.reason)))?;
        let device = (row.module_id, reason.flatten());
        let agrees = |c: &Classified| match (c.result, device.1) {
            (Ok(_), Some(Reason::Overload | Reason::OverShare)) | (Ok(_), None) => c.owner == device.0,
            (Err(model), Some(reason)) => c.owner == device.0 && model == reason,
            (Ok(_), Some(_)) | (Err(_), None) => false,
        };
        let model = forward::classify(port, bytes, bad, &self.tables);
        let classified = if agrees(&model) {
            model
        } else {
            self.classify_during_write(port, bytes, bad, agrees).ok_or_else(|| {
                let name = |r: Option<Reason>| r.map_or("stored", Reason::name);
                let model_text = format!("module {}, {}", model.owner, name(model.result.err()));
                mismatch(row.id, at, model_text, format!("module {}, {}", device.0, name(device.1)))
            })?
        };
        self.forget_superseded(port);

        // Frames end in the order of time, as packets are stamped.
        self.arrival += row.arrival.wrapping_sub(self.arrival) & ((1 << TICK_BITS) - 1);
        let cost = match classified.result {
            Ok(accepted) => self.judge_share(port, row, accepted, bytes.len(), device.1)?,
            Err(_) => 0,
        };
        self.bank.arrived(port, classified.owner, bytes.len());
        match (classified.result, device.1) {
            (Ok(accepted), None) => {
                let Accepted { module, tenant, tci, tag_off } = accepted;
                let inside = device::Packet {
                    id: row.id,
                    port,
                    module,
                    tenant,
                    tci,
                    stamped: Stamped::default(),
                    arrival: row.arrival,
                    stamp: 0,
                    first_in: 0,
                    conform: true,
                    frame: Frame::new(bytes.to_vec(), tag_off),
                    route: Route::default(),
                    given: Vec::new(),
                };
                let packet = Packet {
                    inside,
                    passed: None,
                    decided: false,
                    number: 0,
                    tag_off,
                    flow_hash: 0,
                    unjudged: 0,
                    foreign: 0,
                    stored: false,
                    copies: 0,
                    unseen: 0,
                    behind: None,
                };
                self.packets.insert(row.id, packet);
                self.stored[usize::from(port)].push_back((row.id, cost));
            }
            (_, reason) => {
                self.bank.dropped_at_port(port, classified.owner, reason.unwrap_or(Reason::Overload));
            }
        }
        Ok(())
    }

    /// Whether a good frame is beyond its share, as the device says. Beyond it, it is refused only where it has no room: what waits
    /// here has left the device's FIFO or is still in it. So may the packet that has entered last: it enters with its first beat, and
    /// counts in the FIFO until the last one has left. The one before it has left: packets enter whole, one after the other. Gives
    /// the frame's cost.
    fn judge_share(
        &mut self,
        port: u8,
        row: &PortTraceRow,
        accepted: Accepted,
        length: usize,
        device: Option<Reason>,
    ) -> Result<u32, Mismatch> {
        let at = "port";
        let bytes = length - if accepted.tag_off { TAG_BYTES } else { 0 };
        let asked = self.asked_shares(port, accepted.module);
        let place = (port, accepted.module);
        let cost = self.shares.judge(place, self.arrival, bytes as u32, row.beyond, asked.into_iter());
        let said = |beyond| if beyond { "beyond its share" } else { "within its share" };
        let differs = || mismatch(row.id, at, said(!row.beyond).to_owned(), said(row.beyond).to_owned());
        let cost = cost.ok_or_else(differs)?;
        if device == Some(Reason::OverShare) {
            let entering = self.entered.filter(|(from, _)| *from == port).map_or(0, |(_, cost)| cost);
            let waiting = entering + self.stored[usize::from(port)].iter().map(|(_, cost)| cost).sum::<u32>();
            let excess = self.least_excess(port);
            check(row.beyond && waiting + cost > excess, row.id, at, || {
                let model = format!("{waiting} cost beats stored, room for {excess}, and a packet of {cost}");
                (model, format!("{}, {}", said(row.beyond), Reason::OverShare.name()))
            })?;
        }
        Ok(cost)
    }

    /// An engine has drawn a random number for a packet's program.
    pub fn given(&mut self, id: u32, number: u32) {
        if let Some(packet) = self.packets.get_mut(&id) {
            packet.inside.given.push(number);
        }
    }

    /// A packet enters the pipeline. Order and stamps are fed, generations are ones that it may have.
    pub fn merge(&mut self, row: &MergeTraceRow) -> Result<(), Mismatch> {
        let at = "merge";
        let port = (row.id >> 28) as u8;
        let stored = self.stored.get_mut(usize::from(port)).and_then(VecDeque::pop_front);
        let head = stored.map(|(id, _)| id);
        check(head == Some(row.id), row.id, at, || (next_packet(head), format!("packet {:#010x}", row.id)))?;
        self.entered = stored.map(|(_, cost)| (port, cost));
        let packet = self.packets.get(&row.id).ok_or_else(|| unknown(row.id, at))?;
        let (module, arrival) = (packet.inside.module, packet.inside.arrival);
        check((row.module_id, row.arrival) == (module, arrival), row.id, at, || {
            let said = |module, arrival| format!("module {module}, arrived at {arrival}");
            (said(module, arrival), said(row.module_id, row.arrival))
        })?;
        let stamped = Stamped { generation: row.generation.into(), system_generation: row.system_generation.into() };
        for (module, generation) in [(module, stamped.generation), (SYSTEM_MODULE, stamped.system_generation)] {
            if self.tables.generation(module).current != generation {
                self.commit_under_way(row.id, module, generation)?;
            }
        }
        self.tables.count_in(module, stamped);
        // Stamps come in the order of time: the rounds between two are lost only if no packet at
        // all is stamped for a whole one.
        self.ticks += row.stamp.wrapping_sub(self.ticks) & ((1 << TICK_BITS) - 1);
        let packet = self.packets.get_mut(&row.id).ok_or_else(|| unknown(row.id, at))?;
        let inside = &mut packet.inside;
        (inside.stamped, inside.stamp) = (stamped, row.stamp);
        if self.arrives_with_stamp {
            inside.arrival = row.stamp;
        }
        let length = inside.frame.bytes().len() as u32;
        inside.conform = forward::conforms(&mut self.tables, module, self.ticks, length);
        self.pipeline.push_back(row.id);
        Ok(())
    }

    /// The next packet has met an engine that is not the last, and goes on. All engines decide now, in the order of the packets,
    /// up to one in which packets overtake each other; what they count is counted at the verdict.
    pub fn passed(&mut self, row: &VerdictTraceRow) -> Result<(), Mismatch> {
        let at = "engine";
        if self.packets.get(&row.id).is_some_and(|packet| packet.passed.is_some()) {
            return Ok(());
        }
        let head = self.pipeline.front().copied();
        check(head == Some(row.id), row.id, at, || (next_packet(head), format!("packet {:#010x}", row.id)))?;
        let passed = self.decide_next(at)?;
        match passed {
            Passed::Dropped(reason) if self.is_first_ones(reason) => {
                Err(mismatch(row.id, at, reason.name().to_owned(), "goes on".to_owned()))
            }
            _ => Ok(()),
        }
    }

    /// Whether a reason is one of the first engine's.
    fn is_first_ones(&self, reason: Reason) -> bool {
        reason.engine() == self.tables.engines().ids().first().copied()
    }

    /// Lets the engines decide about the next packet.
    fn decide_next(&mut self, at: &'static str) -> Result<Passed, Mismatch> {
        let id = self.pipeline.pop_front().unwrap_or_default();
        let packet = self.packets.get_mut(&id).ok_or_else(|| unknown(id, at))?;
        packet.flow_hash =
            headers::flow_hash(&headers::headers(packet.inside.frame.bytes()), self.tables.flow_secret());
        let engines = self.tables.engines_mut();
        let passed = engines.decide_in_order(&mut packet.inside);
        packet.passed = Some(passed);
        if passed != Passed::Held {
            self.passing.push_back(id);
        } else if engines.overtakes(&packet.inside) {
            self.overtaking.push_back(id);
        }
        Ok(passed)
    }

    /// Takes a packet out of an engine in which packets overtake each other, but none of its own flow. The end of the queue in front
    /// of it is no such packet's.
    fn overtakes(&mut self, row: &VerdictTraceRow, at: &'static str) -> Result<(), Mismatch> {
        let Some(place) = self.overtaking.iter().position(|id| *id == row.id) else { return Ok(()) };
        let of = |id: &u32| self.packets.get(id).map(|p| (p.inside.module, p.inside.stamped.generation, p.flow_hash));
        let before = self.overtaking.iter().take(place).find(|id| of(id) == of(&row.id)).copied();
        let fits = before.is_none() || is_queue_drop(row);
        check(fits, row.id, at, || (next_packet(before), format!("packet {:#010x}, of the same flow", row.id)))?;
        self.overtaking.remove(place);
        Ok(())
    }

    /// A packet has its verdict at this tick: the same reason and destinations, rate limit included. Packets overtake only those that
    /// an engine holds, and those of other flows where programs run.
    pub fn verdict(&mut self, row: &VerdictTraceRow, now: u64) -> Result<(), Mismatch> {
        let at = "verdict";
        // What the first engine drops meets none of those that went on.
        let by_first = row.dropped && Reason::from_code(row.reason).is_some_and(|reason| self.is_first_ones(reason));
        let drops_first = by_first && self.pipeline.front() == Some(&row.id);
        // Where the engine is a top of its own, those before it have not been told.
        while self.packets.get(&row.id).is_some_and(|packet| packet.passed.is_none()) && !self.pipeline.is_empty() {
            self.decide_next(at)?;
        }
        let mut passed = match self.packets.get(&row.id).and_then(|packet| packet.passed) {
            Some(Passed::Held) => Passed::Held,
            passed => {
                let head = if drops_first { self.passing.pop_back() } else { self.passing.pop_front() };
                check(head == Some(row.id), row.id, at, || (next_packet(head), format!("packet {:#010x}", row.id)))?;
                passed.ok_or_else(|| unknown(row.id, at))?
            }
        };
        self.overtakes(row, at)?;
        let packet = self.packets.get_mut(&row.id).ok_or_else(|| unknown(row.id, at))?;
        let engines = self.tables.engines_mut();
        if passed == Passed::Held {
            if engines.overtakes(&packet.inside) {
                // Whether the queue had room is the device's to tell.
                let ran = if is_queue_drop(row) { None } else { engines.decide_rest(&mut packet.inside) };
                passed = ran.unwrap_or(Passed::Dropped(Reason::XdpQueue));
                engines.settle(&packet.inside, passed);
            } else if let Some(late) = engines.release(row.id, now) {
                passed = engines.go_on(late, &mut packet.inside);
            }
        } else {
            engines.settle(&packet.inside, passed);
        }
        let device::Packet { module, stamped, .. } = packet.inside;
        packet.decided = true;
        let destinations = packet.inside.route.destinations;
        self.tables.leave_line(module, stamped);
        let goes_behind = self.behind.is_some_and(|last| passed == Passed::Through && destinations >> last & 1 == 1);
        if !goes_behind {
            self.tables.leave_behind(module, stamped);
        }
        let device = if row.dropped {
            format!(
                "module {}, {}",
                row.module_id,
                Reason::from_code(row.reason).map_or("unknown reason", Reason::name)
            )
        } else {
            format!("module {}, destinations {:#04x}", row.module_id, row.destinations)
        };
        let model_text = match passed {
            Passed::Through => format!("module {module}, destinations {destinations:#04x}"),
            Passed::Dropped(reason) => format!("module {module}, {}", reason.name()),
            Passed::Held => format!("module {module}, held"),
        };
        check(model_text == device, row.id, at, || (model_text.clone(), device))?;
        if passed != Passed::Through {
            self.packets.remove(&row.id);
            return Ok(());
        }
        self.through += 1;
        packet.number = self.through;
        packet.unjudged = destinations;
        let frame = &packet.inside.frame;
        let leaving = Leaving { module, tci: packet.inside.tci, tag_off: frame.tag_off() };
        packet.foreign = forward::foreign(&self.tables, destinations, leaving, frame.bytes());
        self.judging.push_back(row.id);
        Ok(())
    }

    /// A copy was queued or tail dropped. The drop is fed and must have been due: the model keeps
    /// the same occupancy, so neither an early drop nor a late admission passes.
    pub fn queue(&mut self, row: &QueueTraceRow) -> Result<(), Mismatch> {
        let at = "queue";
        let head = self.judging.front().copied();
        check(head == Some(row.id), row.id, at, || (next_packet(head), format!("packet {:#010x}", row.id)))?;
        let packet = self.packets.get(&row.id).ok_or_else(|| unknown(row.id, at))?;
        let module = packet.inside.module;
        let destination = packet.unjudged.trailing_zeros() as u8;
        check((row.module_id, row.destination) == (module, destination), row.id, at, || {
            (
                format!("module {module}, destination {destination}"),
                format!("module {}, destination {}", row.module_id, row.destination),
            )
        })?;
        let queue = self.room.queue(destination, module);
        let asked = self.asked(packet);
        let (cells, stored) = (asked.cells, packet.stored);
        let device = if row.dropped { Err(Reason::from_code(row.reason)) } else { Ok(()) };
        let limits = self.possible_limits(queue);
        let foreign = packet.foreign >> destination & 1 == 1;
        let judge = |limit| match foreign {
            true => Err(Reason::ForeignVlan),
            false => self.room.judge(queue, limit, asked, stored),
        };
        let due = |limit: &LimitRow| {
            let model = judge(*limit);
            model.map_err(Some) == device || self.buffer_may_differ(model, device, cells)
        };
        if !limits.iter().any(due) {
            let name = |r: Result<(), Reason>| r.map_or_else(Reason::name, |()| "admitted");
            let state = format!(
                "{} ({} cells on {} of {:?}, {} of {} packets in the {:?} queue, {} free in the buffer)",
                name(judge(limits[0])),
                cells,
                self.room.used_cells(queue),
                limits,
                self.room.packets(queue, asked.urgency),
                self.target.queue_packets,
                asked.urgency,
                self.room.free_cells()
            );
            let device = device.map_or_else(|r| r.map_or("unknown reason", Reason::name), |()| "admitted");
            return Err(mismatch(row.id, at, state, device.to_owned()));
        }
        self.cell_on_its_way = false;

        let packet = self.packets.get_mut(&row.id).ok_or_else(|| unknown(row.id, at))?;
        packet.unjudged &= packet.unjudged - 1;
        match device {
            Ok(()) => {
                self.room.take(queue, asked, packet.stored);
                packet.stored = true;
                packet.copies += 1;
                packet.unseen += 1;
                self.queues[queue].waiting[asked.urgency as usize].push_back(row.id);
            }
            Err(reason) => {
                self.bank.dropped_at_queue(queue, reason.unwrap_or(Reason::TailBuffer));
                if self.behind == Some(destination) {
                    self.tables.leave_behind(module, packet.inside.stamped);
                }
            }
        }
        if packet.unjudged == 0 {
            if packet.stored && packet.copies == 0 {
                // Its admitted copies have left while the others were judged and dropped.
                self.room.give_back_buffer(cells);
            }
            self.judging.pop_front();
            self.forget_if_done(row.id);
        }
        Ok(())
    }

    /// The last beat of a copy was read: its room is free from now on.
    pub fn leave(&mut self, row: &LeaveTraceRow) -> Result<(), Mismatch> {
        let at = "leave";
        let queue = self.queue_of(row.id, at, row.destination, row.module_id)?;
        let packet = self.packets.get(&row.id).ok_or_else(|| unknown(row.id, at))?;
        let (asked, number) = (self.asked(packet), packet.number);
        let waiting = &mut self.queues[queue].waiting[asked.urgency as usize];
        let head = waiting.pop_front();
        check(head == Some(row.id), row.id, at, || (next_packet(head), format!("packet {:#010x}", row.id)))?;
        match asked.urgency {
            Urgency::High => self.queues[queue].passed = 0,
            Urgency::Low => self.may_leave_first(queue, row.id, number)?,
        }
        self.stored_up_to = self.stored_up_to.max(number);
        let packet = self.packets.get_mut(&row.id).ok_or_else(|| unknown(row.id, at))?;
        let length = packet.inside.frame.bytes().len();
        check(usize::from(row.length) == length, row.id, at, || {
            (format!("{length} bytes"), format!("{} bytes", row.length))
        })?;
        packet.copies -= 1;
        // A copy that is still to be judged finds the packet in the buffer.
        let last = packet.copies == 0 && packet.unjudged == 0;
        self.cell_on_its_way |= last;
        self.room.give_back(queue, asked, last);
        self.bank.left(queue, length);
        if self.behind == Some(row.destination) {
            return self.came_behind(row.id);
        }
        self.queues[queue].left.push_back(row.id);
        Ok(())
    }

    /// Whether a low copy may leave while its module has high ones at the destination: not if the first of them came
    /// before it, nor once that is certainly in its queue, unless the low one was chosen before.
    fn may_leave_first(&mut self, queue: usize, id: u32, number: u64) -> Result<(), Mismatch> {
        let at = "leave";
        let Some(high) = self.queues[queue].waiting[Urgency::High as usize].front().copied() else { return Ok(()) };
        let came = self.packets.get(&high).ok_or_else(|| unknown(high, at))?.number;
        // A packet is in all its queues before a later one is in any.
        let is_there = came <= self.stored_up_to;
        let passed = &mut self.queues[queue].passed;
        *passed += u32::from(is_there);
        let late = number > came || *passed > COPIES_AHEAD + 1;
        check(!late, id, at, || {
            let first = format!("packet {high:#010x} of the high queue first, passed by {passed} low ones");
            (first, format!("packet {id:#010x}"))
        })
    }

    /// What a packet asks of each of its queues.
    fn asked(&self, packet: &Packet) -> Asked {
        let device::Packet { module, route, frame, .. } = &packet.inside;
        let cells = self.target.beats(frame.bytes().len() as u32);
        Asked { module: *module, urgency: Urgency::of(route.queue), cells }
    }

    /// A frame came out of a destination: the head of its queue, with equal bytes and sideband.
    ///
    /// Behind the last host queue packets may leave a cycle before they are told to be decided, and those of messages in the order of
    /// decisions: there `queue` is that of a message's packet.
    pub fn output(
        &mut self,
        destination: u8,
        bytes: &[u8],
        sideband: &SidebandRow,
        queue: Option<u8>,
    ) -> Result<(), Mismatch> {
        let (at, id) = ("output", sideband.id);
        let place = self.queue_of(id, at, destination, sideband.module_id)?;
        if self.behind != Some(destination) {
            let head = self.queues[place].left.pop_front();
            check(head == Some(id), id, at, || (next_packet(head), format!("packet {id:#010x}")))?;
        }
        let packet = self.packets.get_mut(&id).ok_or_else(|| unknown(id, at))?;
        if self.behind == Some(destination) {
            packet.behind = Behind::left(packet.behind, queue)
                .map_err(|model| mismatch(id, at, model, format!("left with queue {queue:?}")))?;
        }
        let device::Packet { tenant, module, tci, stamped, arrival, route, .. } = packet.inside;
        let model = SidebandRow {
            id,
            stamp: arrival,
            tenant,
            module_id: module,
            generation: stamped.generation == 1,
            length: packet.inside.frame.bytes().len() as u16,
            tci,
            tag_off: packet.tag_off,
            flow_hash: packet.flow_hash,
            destinations: route.destinations,
            egress_queue: route.queue,
            tag: route.tags[usize::from(destination & 7)],
        };
        check(model == *sideband, id, at, || (format!("{model:?}"), format!("{sideband:?}")))?;
        let frame = packet.inside.frame.clone();
        let expected =
            if u32::from(destination) < self.target.ports { frame.into_port(tci) } else { frame.into_host() };
        check(expected == bytes, id, at, || describe_bytes(&expected, bytes))?;
        // Who has left before he is told to be decided is done with then.
        if self.behind != Some(destination) || packet.behind.is_none() {
            packet.unseen -= 1;
        }
        self.forget_if_done(id);
        Ok(())
    }

    /// The counters that the device should have now. `tick` is only carried along.
    pub fn counters(&self, tick: u64) -> Counters {
        let mut in_flight = BTreeMap::new();
        for packet in self.packets.values() {
            // Before its verdict a packet is one; afterwards each of its copies is.
            let behind = u32::from(packet.behind.is_some_and(Behind::is_undecided));
            let copies = packet.copies + packet.unjudged.count_ones() + behind;
            *in_flight.entry(packet.inside.module).or_insert(0) += u64::from(copies + u32::from(!packet.decided));
        }
        Counters { tick, modules: self.bank.modules(&in_flight, self.tables.engines()), wedges: 0 }
    }

    /// One counter by its address.
    pub fn counter(
        &self,
        node: sluice_formats::Node,
        table: sluice_formats::Table,
        index: u32,
    ) -> Result<u64, sluice_formats::Status> {
        if table.engine().is_some() {
            let words = self.tables.read(node, table, index)?;
            return Ok(words.iter().rev().fold(0, |value, word| value << 32 | u64::from(*word)));
        }
        self.bank.value(node, table, index)
    }

    /// Packets that have not had all their events yet, oldest ID of each port first.
    pub fn outstanding(&self) -> Vec<u32> {
        let mut ids: Vec<u32> = self.packets.keys().copied().collect();
        ids.sort_unstable();
        ids
    }

    fn queue_of(&self, id: u32, at: &'static str, destination: u8, module: u8) -> Result<usize, Mismatch> {
        let exists = u32::from(destination) < self.target.destinations() && u32::from(module) < self.target.modules;
        check(exists, id, at, || ("an existing queue", format!("destination {destination}, module {module}")))?;
        Ok(self.room.queue(destination, module))
    }

    /// Whether model and device can differ because cells come back one by one.
    fn buffer_may_differ(&self, model: Result<(), Reason>, device: Result<(), Option<Reason>>, cells: u32) -> bool {
        match (model, device) {
            // The last cell of the packet that has just left was not back yet.
            (Ok(()), Err(Some(Reason::TailBuffer))) => {
                self.cell_on_its_way && self.room.free_cells() < i64::from(cells) + 1
            }
            // Cells of packets that are being read for the last time were back already.
            (Err(Reason::TailBuffer), Ok(())) => {
                self.room.free_cells() + i64::from(self.cells_being_read()) >= i64::from(cells)
            }
            _ => false,
        }
    }

    /// Cells that may be back although their packets have not left: of packets whose every copy
    /// is the next of its queue, all but the last cell.
    fn cells_being_read(&self) -> u32 {
        let mut heads: HashMap<u32, u32> = HashMap::new();
        for id in self.queues.iter().flat_map(|q| &q.waiting).filter_map(VecDeque::front) {
            *heads.entry(*id).or_default() += 1;
        }
        let read = |(id, copies): (u32, u32)| {
            let packet = self.packets.get(&id)?;
            let whole = packet.copies == copies && packet.unjudged == 0;
            whole.then(|| self.target.beats(packet.inside.frame.bytes().len() as u32) - 1)
        };
        heads.into_iter().filter_map(read).sum()
    }

    fn forget_if_done(&mut self, id: u32) {
        if self.packets.get(&id).is_some_and(|p| p.unjudged == 0 && p.unseen == 0) {
            self.packets.remove(&id);
        }
    }
}

/// Whether a packet was dropped because the queue in front of its program was full.
fn is_queue_drop(row: &VerdictTraceRow) -> bool {
    row.dropped && Reason::from_code(row.reason) == Some(Reason::XdpQueue)
}

fn next_packet(head: Option<u32>) -> String {
    head.map_or("no packet".to_owned(), |id| format!("packet {id:#010x}"))
}

fn unknown(id: u32, at: &'static str) -> Mismatch {
    mismatch(id, at, "no such packet".to_owned(), format!("packet {id:#010x}"))
}

#[cfg(test)]
mod tests;
