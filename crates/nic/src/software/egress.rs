//! How the model's buffer is read: one copy for each destination at a time.

use super::options::Service;
use super::reader::Reader;
use crate::queues::{Chosen, Queues};
use crate::tables::Tables;
use sluice_device::Packet;
use sluice_formats::{Reason, Target};

/// A copy that has left its queue.
#[derive(Debug)]
pub(super) struct Left {
    pub packet: Box<Packet>,
    pub destination: u8,
    pub queue: usize,
    pub first_out: u64,
    pub last_out: u64,
}

#[derive(Debug)]
pub(super) struct Egress {
    target: Target,
    service: Service,
    pub queues: Queues,
    reader: Reader<Chosen>,
    /// Copies in queues, or being read.
    waiting: u32,
}

impl Egress {
    /// `late`: the destination that an engine stands behind.
    pub fn new(target: Target, service: Service, late: Option<u8>) -> Self {
        let reader = Reader::new(service, target.ports, target.hosts);
        Self { target, service, queues: Queues::new(target, late), reader, waiting: 0 }
    }

    /// Admits a packet to the queues of `destinations`; `dropped` gets each tail drop.
    pub fn admit(
        &mut self,
        tables: &Tables,
        packet: Box<Packet>,
        destinations: u8,
        dropped: impl FnMut(&Packet, u8, usize, Reason),
    ) {
        self.waiting += self.queues.admit(tables, packet, destinations, dropped).unwrap_or(0);
    }

    /// Destinations of which nothing is read and something is to be.
    fn free(&self) -> u8 {
        self.queues.ready() & !self.reader.busy()
    }

    /// Lets destinations of which nothing is read choose their next packets.
    pub fn start(&mut self, now: u64, tables: &Tables) {
        let mut free = self.free();
        if free == 0 {
            return;
        }
        self.reader.read_to(now);
        while free != 0 {
            let destination = free.trailing_zeros();
            free &= free - 1;
            let Some((chosen, length)) = self.queues.choose(destination as u8, tables) else { continue };
            let ticks = match self.service {
                Service::Shared => self.target.beats(length),
                Service::PerDestination { bytes_per_tick } => length.div_ceil(bytes_per_tick.max(1)).max(1),
            };
            self.reader.begin(destination as usize, chosen, ticks);
        }
    }

    /// Whether the last beat of a copy has been read by now.
    pub fn is_due(&self, now: u64) -> bool {
        self.reader.next_end().is_some_and(|end| end <= now)
    }

    /// Copies whose last beat has been read by now. `left` says what one for the engine behind its destination has cost there in steps.
    pub fn finish(&mut self, now: u64, mut left: impl FnMut(Left) -> u32) {
        self.reader.read_to(now);
        while let Some((destination, read)) = self.reader.take() {
            let destination = destination as u8;
            let Some((packet, queue)) = self.queues.release(destination, read.copy) else { continue };
            self.waiting -= 1;
            let (first_out, last_out) = (read.first, read.last);
            let steps = left(Left { packet, destination, queue, first_out, last_out });
            self.queues.charge_late(destination, read.copy.asked, steps);
        }
    }

    /// When the next copy has been read, or one may begin.
    pub fn next_event(&self, now: u64) -> Option<u64> {
        if self.waiting == 0 {
            return None;
        }
        if self.free() != 0 { Some(now + 1) } else { self.reader.next_end() }
    }

    /// Nothing is read, and only blocked destinations hold packets.
    pub fn is_idle(&self) -> bool {
        self.waiting == 0 || (self.reader.is_idle() && self.queues.ready() == 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engines;
    use sluice_device::{Frame, Route, Stamped};
    use sluice_formats::limits::MAX_FRAME_BYTES;
    use sluice_formats::target::DEFAULT;
    use sluice_formats::{Node, Table};

    fn packet(id: u32, module: u8, bytes: u32) -> Packet {
        Packet {
            id,
            port: 0,
            module,
            tenant: module.into(),
            tci: 0,
            stamped: Stamped::default(),
            arrival: 0,
            stamp: 0,
            first_in: 0,
            conform: true,
            frame: Frame::new(vec![0; bytes as usize], false),
            route: Route::default(),
            given: Vec::new(),
        }
    }

    /// A destination that had to wait for whole packets of the others got a packet in 1,009 ticks, and its queue ran full.
    #[test]
    fn a_destination_gets_its_beats_however_long_the_packets_of_the_others_are() {
        let target = DEFAULT;
        let mut tables = Tables::new(target, engines::all(&target));
        (0..target.destinations() * target.modules).for_each(|queue| {
            tables.write(Node::Egress, Table::Limit, queue, &[target.cells]);
        });
        // The packets have no tags, and nobody has untagged frames.
        (1..=2).for_each(|module| {
            tables.write(Node::Egress, Table::Vids, module, &[1]);
        });
        let mut egress = Egress::new(target, Service::Shared, None);
        let none = |_: &Packet, _, _, reason| panic!("{reason:?}");
        for id in 0..3 {
            egress.admit(&tables, packet(id, 2, MAX_FRAME_BYTES).into(), 0b1111_1110, none);
        }
        (3..13).for_each(|id| egress.admit(&tables, packet(id, 1, 65).into(), 1, none));
        let (mut short, mut all) = (Vec::new(), 0);
        let mut now = 0;
        while !egress.is_idle() {
            egress.finish(now, |left| {
                all += target.beats(left.packet.frame.bytes().len() as u32);
                assert!(left.first_out <= left.last_out && left.last_out < now);
                if left.destination == 0 {
                    short.push((left.packet.id, left.last_out));
                }
                0
            });
            egress.start(now, &tables);
            now = egress.next_event(now).unwrap_or(now + 1);
        }
        // A port has every fourth tick but one in sixteen, whatever the seven others read.
        assert_eq!(short.iter().map(|(id, _)| *id).collect::<Vec<_>>(), (3..13).collect::<Vec<u32>>());
        for (n, (_, last)) in (1..).zip(&short) {
            assert!(*last <= (2 * n * 64_u64).div_ceil(15) + 1, "packet {n}: {short:?}");
        }
        assert_eq!(u64::from(all) + 1, now, "a beat each tick");
    }
}
