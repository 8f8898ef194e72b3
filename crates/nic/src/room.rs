//! Room of the egress queues and their shared buffer: who is admitted, who is tail dropped.
//!
//! A module has two queues at a destination, high and low. Their cells are counted together, their packets alone.

use crate::tables::Tables;
use sluice_formats::limits::HIGH_QUEUE;
use sluice_formats::rows::LimitRow;
use sluice_formats::{Reason, Target};

/// Which of a module's two queues at a destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Urgency {
    /// Served when the other has nothing.
    Low,
    /// Served first.
    High,
}

impl Urgency {
    /// Of a packet with this `egress.queue`.
    pub const fn of(egress_queue: u8) -> Self {
        if egress_queue >= HIGH_QUEUE { Self::High } else { Self::Low }
    }
}

/// A packet as far as its room matters.
#[derive(Clone, Copy, Debug)]
pub struct Asked {
    /// Its module.
    pub module: u8,
    /// Its queue at each destination.
    pub urgency: Urgency,
    /// Cells of its frame.
    pub cells: u32,
}

/// Cells and packet slots in use.
#[derive(Clone, Debug)]
pub struct Room {
    modules: usize,
    queue_packets: u32,
    used_cells: Vec<u32>,
    /// By urgency.
    packets: Vec<[u32; 2]>,
    /// Below zero while a device that frees cell by cell is ahead of us, who free packet by packet.
    free_cells: i64,
}

impl Room {
    /// Empty queues.
    pub fn new(target: &Target) -> Self {
        let queues = (target.destinations() * target.modules) as usize;
        Self {
            modules: target.modules as usize,
            queue_packets: target.queue_packets,
            used_cells: vec![0; queues],
            packets: vec![[0; 2]; queues],
            free_cells: i64::from(target.cells),
        }
    }

    /// Number of a module's two queues at a destination.
    pub fn queue(&self, destination: u8, module: u8) -> usize {
        usize::from(destination) * self.modules + usize::from(module)
    }

    /// Whether a copy finds room in its queue within this limit, and the packet in the buffer when it is not `stored`
    /// there yet.
    pub fn judge(&self, queue: usize, limit: LimitRow, asked: Asked, stored: bool) -> Result<(), Reason> {
        let reserve = if asked.urgency == Urgency::High { 0 } else { u32::from(limit.reserve) };
        if self.used_cells[queue] + asked.cells + reserve > u32::from(limit.cells) {
            Err(Reason::TailLimit)
        } else if self.packets[queue][asked.urgency as usize] >= self.queue_packets {
            Err(Reason::TailPackets)
        } else if !stored && self.free_cells < i64::from(asked.cells) {
            Err(Reason::TailBuffer)
        } else {
            Ok(())
        }
    }

    /// Takes the room of an admitted copy; the first one also takes the buffer's.
    pub fn take(&mut self, queue: usize, asked: Asked, stored: bool) {
        self.used_cells[queue] += asked.cells;
        self.packets[queue][asked.urgency as usize] += 1;
        if !stored {
            self.free_cells -= i64::from(asked.cells);
        }
    }

    /// Gives the room of a copy back; the last one also gives back the buffer's.
    pub fn give_back(&mut self, queue: usize, asked: Asked, last: bool) {
        self.used_cells[queue] -= asked.cells;
        self.packets[queue][asked.urgency as usize] -= 1;
        if last {
            self.give_back_buffer(asked.cells);
        }
    }

    /// Gives back the buffer's room of a packet that no copy needs any more.
    pub fn give_back_buffer(&mut self, cells: u32) {
        self.free_cells += i64::from(cells);
    }

    /// Decides for every destination of a packet, lowest first, and takes the room of those
    /// admitted. What `judged` gets: destination, queue, and the reason of a drop. Of the destinations those of `foreign` are
    /// denied ([`crate::forward::foreign`]).
    pub fn admit(
        &mut self,
        tables: &Tables,
        (destinations, foreign): (u8, u8),
        asked: Asked,
        mut judged: impl FnMut(u8, usize, Result<(), Reason>),
    ) {
        let mut stored = false;
        for destination in (0..8).filter(|d| destinations >> d & 1 == 1) {
            let queue = self.queue(destination, asked.module);
            let result = match foreign >> destination & 1 {
                0 => self.judge(queue, tables.limit(queue), asked, stored),
                _ => Err(Reason::ForeignVlan),
            };
            if result.is_ok() {
                self.take(queue, asked, stored);
                stored = true;
            }
            judged(destination, queue, result);
        }
    }

    /// Cells of both queues in use.
    pub fn used_cells(&self, queue: usize) -> u32 {
        self.used_cells[queue]
    }

    /// Packets in one of the two queues.
    pub fn packets(&self, queue: usize, urgency: Urgency) -> u32 {
        self.packets[queue][urgency as usize]
    }

    /// Cells of the buffer that are free.
    pub fn free_cells(&self) -> i64 {
        self.free_cells
    }

    /// Packets of one module over all its queues.
    pub fn packets_of(&self, module: u8) -> u64 {
        self.packets.iter().skip(usize::from(module)).step_by(self.modules).flatten().map(|p| u64::from(*p)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluice_formats::target::TINY;
    use sluice_formats::{Node, Table};

    fn asked(urgency: Urgency, cells: u32) -> Asked {
        Asked { module: 1, urgency, cells }
    }

    fn admitted(room: &mut Room, tables: &Tables, destinations: u8, cells: u32) -> Vec<(u8, Result<(), Reason>)> {
        let mut seen = Vec::new();
        room.admit(tables, (destinations, 0), asked(Urgency::Low, cells), |d, _, r| seen.push((d, r)));
        seen
    }

    fn tables_with_limits(limits: &[u32]) -> Tables {
        let mut tables = Tables::new(TINY, crate::engines::all(&TINY));
        for (d, cells) in limits.iter().enumerate() {
            tables.write(Node::Egress, Table::Limit, d as u32 * TINY.modules + 1, &[*cells]);
        }
        tables
    }

    #[test]
    fn a_queue_at_its_cell_limit_drops_only_its_own_copy() {
        let tables = tables_with_limits(&[3, 8]);
        let mut room = Room::new(&TINY);
        assert_eq!(admitted(&mut room, &tables, 0b11, 2), [(0, Ok(())), (1, Ok(()))]);
        assert_eq!(admitted(&mut room, &tables, 0b11, 2), [(0, Err(Reason::TailLimit)), (1, Ok(()))]);
        assert_eq!(admitted(&mut room, &tables, 0b01, 1), [(0, Ok(()))]);
        assert_eq!(room.free_cells(), i64::from(TINY.cells) - 5);
    }

    #[test]
    fn a_queue_holds_no_more_packets_than_it_has_slots() {
        let tables = tables_with_limits(&[1000]);
        let mut room = Room::new(&TINY);
        for _ in 0..TINY.queue_packets {
            assert_eq!(admitted(&mut room, &tables, 1, 1), [(0, Ok(()))]);
        }
        assert_eq!(admitted(&mut room, &tables, 1, 1), [(0, Err(Reason::TailPackets))]);
        room.give_back(1, asked(Urgency::Low, 1), true);
        assert_eq!(admitted(&mut room, &tables, 1, 1), [(0, Ok(()))]);
    }

    /// What becomes of a packet for destination 0.
    fn at_0(room: &mut Room, tables: &Tables, urgency: Urgency, cells: u32) -> Result<(), Reason> {
        let mut result = Ok(());
        room.admit(tables, (1, 0), asked(urgency, cells), |_, _, r| result = r);
        result
    }

    #[test]
    fn the_two_queues_share_their_cells_and_have_slots_each() {
        let tables = tables_with_limits(&[1000]);
        let mut room = Room::new(&TINY);
        for urgency in [Urgency::Low, Urgency::High] {
            for _ in 0..TINY.queue_packets {
                assert_eq!(at_0(&mut room, &tables, urgency, 1), Ok(()));
            }
            assert_eq!(at_0(&mut room, &tables, urgency, 1), Err(Reason::TailPackets));
        }
        assert_eq!(room.packets_of(1), 2 * u64::from(TINY.queue_packets));
        room.give_back(1, asked(Urgency::High, 1), true);
        assert_eq!(at_0(&mut room, &tables, Urgency::Low, 1), Err(Reason::TailPackets));
        assert_eq!(at_0(&mut room, &tables, Urgency::High, 1000), Err(Reason::TailLimit), "low packets count too");
        assert_eq!(at_0(&mut room, &tables, Urgency::High, 1), Ok(()));
    }

    #[test]
    fn low_packets_leave_the_reserve_free_and_high_ones_use_it() {
        let mut tables = tables_with_limits(&[10]);
        tables.write(Node::Egress, Table::Limit, 1, &[10 | 3 << 16]);
        let mut room = Room::new(&TINY);
        assert_eq!(at_0(&mut room, &tables, Urgency::Low, 8), Err(Reason::TailLimit));
        assert_eq!(at_0(&mut room, &tables, Urgency::Low, 7), Ok(()));
        assert_eq!(at_0(&mut room, &tables, Urgency::Low, 1), Err(Reason::TailLimit));
        assert_eq!(at_0(&mut room, &tables, Urgency::High, 4), Err(Reason::TailLimit));
        assert_eq!(at_0(&mut room, &tables, Urgency::High, 3), Ok(()));
        room.give_back(1, asked(Urgency::Low, 7), true);
        assert_eq!(at_0(&mut room, &tables, Urgency::Low, 5), Err(Reason::TailLimit), "high packets count too");
        assert_eq!(at_0(&mut room, &tables, Urgency::Low, 4), Ok(()));
        // A reserve above the limit closes the low queue only.
        tables.write(Node::Egress, Table::Limit, 1, &[10 | 0xffff << 16]);
        assert_eq!(at_0(&mut room, &tables, Urgency::Low, 1), Err(Reason::TailLimit));
        assert_eq!(at_0(&mut room, &tables, Urgency::High, 3), Ok(()));
    }

    #[test]
    fn a_full_buffer_drops_what_is_not_stored_and_a_stored_packet_needs_no_more_cells() {
        let tables = tables_with_limits(&[1024, 2000, 2000]);
        let mut room = Room::new(&TINY);
        for cells in [600, 424] {
            assert_eq!(admitted(&mut room, &tables, 0b11, cells).len(), 2);
        }
        assert_eq!(room.free_cells(), 0);
        assert_eq!(admitted(&mut room, &tables, 0b100, 1), [(2, Err(Reason::TailBuffer))]);
        room.give_back(1, asked(Urgency::Low, 600), false);
        assert_eq!(room.free_cells(), 0);
        room.give_back(TINY.modules as usize + 1, asked(Urgency::Low, 600), true);
        assert_eq!(room.free_cells(), 600);
        assert_eq!(
            admitted(&mut room, &tables, 0b111, 601),
            [(0, Err(Reason::TailLimit)), (1, Err(Reason::TailBuffer)), (2, Err(Reason::TailBuffer))]
        );
    }
}
