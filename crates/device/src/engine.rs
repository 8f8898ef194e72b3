//! What an engine of a model is: the seam of `docs/decisions/engine-seam.md` in Rust.

use crate::followed::Followed;
use crate::frame::Frame;
use crate::maps::Maps;
use crate::rings::Rings;
use sluice_formats::{EngineId, Node, Reason, Status, Table};
use sluice_object::Install;
use std::borrow::Cow;
use std::fmt;

/// The generations that a packet was stamped with, each 0 or 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamped {
    /// Its module's.
    pub generation: u8,
    /// The system module's.
    pub system_generation: u8,
}

/// A packet between its stamp and the end of the engines in line.
#[derive(Clone, Debug, Default)]
pub struct Packet {
    /// Packet ID: port in bits 31:28, number of the frame on its port below, from 0.
    pub id: u32,
    /// Port of arrival.
    pub port: u8,
    /// Module.
    pub module: u8,
    /// Tenant.
    pub tenant: u16,
    /// PCP, DEI and VLAN ID of the outer tag; 0 for untagged frames.
    pub tci: u16,
    /// Its generations.
    pub stamped: Stamped,
    /// Ticks when it had arrived at its port.
    pub arrival: u64,
    /// Ticks when it was stamped.
    pub stamp: u64,
    /// Tick of its first beat at its port.
    pub first_in: u64,
    /// Its rate limit lets it through.
    pub conform: bool,
    /// Its bytes, as engines see and leave them.
    pub frame: Frame,
    /// Where it goes, as far as engines have said.
    pub route: Route,
    /// Random numbers that an engine in hardware has drawn for its program, where a model follows one.
    pub given: Vec<u32>,
}

impl Packet {
    /// A frame has arrived, and this is its packet, whatever it was before: nothing is known of it but its bytes.
    #[inline]
    pub fn begin(&mut self, bytes: Cow<'_, [u8]>, tag_off: bool) {
        match bytes {
            Cow::Owned(bytes) => self.frame = Frame::new(bytes, tag_off),
            Cow::Borrowed(bytes) => self.frame.refill(bytes, tag_off),
        }
        let (frame, mut given) = (std::mem::take(&mut self.frame), std::mem::take(&mut self.given));
        given.clear();
        *self = Self { frame, given, ..Self::default() };
    }
}

/// Where a packet goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Route {
    /// Destinations as a mask, ports first; none is nowhere.
    pub destinations: u8,
    /// Queue that the program asked for.
    pub queue: u8,
    /// Tag of the copy to each destination.
    pub tags: [u16; 8],
}

impl Route {
    /// To these destinations, without queue and tags.
    pub fn to(destinations: u8) -> Self {
        Self { destinations, ..Self::default() }
    }
}

/// What an engine says of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The next engine has it; behind the last one it goes where its route says.
    Next,
    /// It ends here.
    Drop(Reason),
    /// This route in place of the one so far; the next engine has it.
    To(Route),
    /// The engine keeps it: [`Engine::late`] answers.
    Held,
    /// It is in a buffer of this ring. Only an engine behind a destination says so.
    Consumed(u8),
}

/// What an engine behind a destination has counted of a module, beside drops.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Behind {
    /// Packets that went on to the host.
    pub left: u64,
    /// Their bytes.
    pub left_bytes: u64,
    /// Packets that are in buffers of rings.
    pub consumed: u64,
}

/// Why an engine does not take a program.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct InstallError {
    /// The engine.
    pub engine: EngineId,
    /// What is wrong.
    pub what: String,
    /// Code for `sluice explain`, where the mistake has one.
    pub code: Option<&'static str>,
}

/// The model of an engine.
///
/// The NIC around it owns ports, stamps, queues and time. A packet is the engine's from [`Engine::run`] to its answer; its
/// generation's token is given back when the last engine has answered, so an engine that holds a packet holds the token.
/// Packets of different modules never meet in an engine but in its order.
pub trait Engine: fmt::Debug + Send {
    /// Which engine it is.
    fn id(&self) -> EngineId;

    /// Writes one whole row of the engine's nodes. Address, access and length were looked at.
    fn write(&mut self, node: Node, table: Table, index: u32, words: &[u32]) -> Status {
        let _ = (node, table, index, words);
        Status::BadAddress
    }

    /// Reads a row, or the slice of it or the counter's snapshot that the index says. The address was looked at.
    fn read(&self, node: Node, table: Table, index: u32) -> Result<Vec<u32>, Status>;

    /// Takes a snapshot of every counter.
    fn snapshot(&mut self);

    /// The ports around it take frames from this length on; those of a NIC do from `MIN_FRAME_BYTES` on.
    fn ports_take(&mut self, shortest: u32) {
        let _ = shortest;
    }

    /// Puts a program into a generation that no packet uses.
    fn install(&mut self, module: u8, generation: u8, install: &Install) -> Result<(), InstallError> {
        let (_, _) = (module, generation);
        let what = format!("the engine {} takes rows only, and this is a program of {}", self.id(), install.engine());
        Err(InstallError { engine: self.id(), what, code: None })
    }

    /// Takes a generation's program away, with what no other generation uses.
    fn remove(&mut self, module: u8, generation: u8) {
        let (_, _) = (module, generation);
    }

    /// New packets of a module are stamped with this generation from now on.
    fn commit(&mut self, module: u8, generation: u8) {
        let (_, _) = (module, generation);
    }

    /// A packet. It may change its bytes; what it drops it counts by [`Engine::count`], as everyone else.
    fn run(&mut self, packet: &mut Packet) -> Answer;

    /// Whether a packet of a module may run much longer than its program is long: whoever shares time among modules looks at the clock
    /// after each of its packets.
    fn may_run_long(&self, module: u8) -> bool {
        let _ = module;
        false
    }

    /// Whether a packet of a module may change what a later one of the module finds, other than counters and what the host is told:
    /// then one copy of the engine has to run them all.
    fn is_stateful(&self, module: u8) -> bool {
        let _ = module;
        false
    }

    /// The module whose packets may change a row that the host reads.
    fn changed_by(&self, node: Node, table: Table, index: u32) -> Option<u8> {
        let (_, _, _) = (node, table, index);
        None
    }

    /// Whether packets overtake each other here, and this is one of them. Whoever follows a device asks the engine about it
    /// only when the device has answered, so that programs meet what they share in the device's order.
    fn overtakes(&self, packet: &Packet) -> bool {
        let _ = packet;
        false
    }

    /// The next packet that it held and has an answer for by `now`; its answer is not `Held`.
    fn late(&mut self, now: u64) -> Option<(u32, Answer)> {
        let _ = now;
        None
    }

    /// Ends the hold of a packet at this tick, because the log of the device that is followed says so; its answer, or
    /// none if it may not have ended by then.
    fn release(&mut self, id: u32, now: u64) -> Option<Answer> {
        let (_, _) = (id, now);
        None
    }

    /// The tick of the next such answer, or of what [`Engine::elapse`] does next.
    fn next_event(&self) -> Option<u64> {
        None
    }

    /// Time has come to this tick: does what no packet causes.
    fn elapse(&mut self, now: u64) {
        let _ = now;
    }

    /// Counts a drop by a reason whose table is the engine's.
    fn count(&mut self, module: u8, reason: Reason);

    /// What was counted so.
    fn counted(&self, module: u8, reason: Reason) -> u64;

    /// Counts copies beyond the first, if it has a table for them. They are counted once, by the last engine that has.
    fn count_copies(&mut self, module: u8, copies: u64) -> bool {
        let (_, _) = (module, copies);
        false
    }

    /// What was counted so.
    fn copies(&self, module: u8) -> u64 {
        let _ = module;
        0
    }

    /// What it has counted of packets that came to it behind a destination.
    fn behind(&self, module: u8) -> Behind {
        let _ = module;
        Behind::default()
    }

    /// What the last packet that came to it behind a destination cost, where that is more than its beats: steps.
    fn cost(&self) -> u32 {
        0
    }

    /// A module's weight among those whose packets wait for it there.
    fn weight(&self, module: u8) -> u16 {
        let _ = module;
        1
    }

    /// The same engine where it follows a device, if it can.
    fn followed(&mut self) -> Option<&mut dyn Followed> {
        None
    }

    /// Host operations on its rings, if it has some.
    fn rings(&mut self) -> Option<&mut dyn Rings> {
        None
    }

    /// Host operations on its programs' maps, if it has some.
    fn maps(&mut self) -> Option<&mut dyn Maps> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_that_begins_has_nothing_of_the_one_before() {
        let mut used = Packet {
            id: 9,
            module: 3,
            tenant: 4,
            tci: 5,
            stamped: Stamped { generation: 1, system_generation: 1 },
            conform: true,
            frame: Frame::new(vec![7; 200], false),
            route: Route { destinations: 0xff, queue: 9, tags: [1; 8] },
            given: vec![1, 2],
            ..Packet::default()
        };
        for bytes in [Cow::Borrowed([8; 60].as_slice()), Cow::Owned(vec![8; 60])] {
            used.begin(bytes, false);
            assert_eq!(
                format!("{used:?}"),
                format!("{:?}", Packet { frame: Frame::new(vec![8; 60], false), ..Packet::default() })
            );
        }
    }
}
