//! Room of the egress queues and their shared buffer: who is admitted, who is tail dropped.

use crate::tables::Tables;
use sluice_formats::{Reason, Target};

/// Cells and packet slots in use.
#[derive(Clone, Debug)]
pub struct Room {
    modules: usize,
    queue_packets: u32,
    used_cells: Vec<u32>,
    packets: Vec<u32>,
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
            packets: vec![0; queues],
            free_cells: i64::from(target.cells),
        }
    }

    /// The queue of a module at a destination.
    pub fn queue(&self, destination: u8, module: u8) -> usize {
        usize::from(destination) * self.modules + usize::from(module)
    }

    /// Whether a copy of `cells` finds room in its queue of `limit` cells, and the packet in the
    /// buffer when it is not `stored` there yet.
    pub fn judge(&self, queue: usize, limit: u32, cells: u32, stored: bool) -> Result<(), Reason> {
        if self.used_cells[queue] + cells > limit {
            Err(Reason::TailLimit)
        } else if self.packets[queue] >= self.queue_packets {
            Err(Reason::TailPackets)
        } else if !stored && self.free_cells < i64::from(cells) {
            Err(Reason::TailBuffer)
        } else {
            Ok(())
        }
    }

    /// Takes the room of an admitted copy; the first one also takes the buffer's.
    pub fn take(&mut self, queue: usize, cells: u32, stored: bool) {
        self.used_cells[queue] += cells;
        self.packets[queue] += 1;
        if !stored {
            self.free_cells -= i64::from(cells);
        }
    }

    /// Gives the room of a copy back; the last one also gives back the buffer's.
    pub fn give_back(&mut self, queue: usize, cells: u32, last: bool) {
        self.used_cells[queue] -= cells;
        self.packets[queue] -= 1;
        if last {
            self.give_back_buffer(cells);
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
        module: u8,
        cells: u32,
        mut judged: impl FnMut(u8, usize, Result<(), Reason>),
    ) {
        let mut stored = false;
        for destination in (0..8).filter(|d| destinations >> d & 1 == 1) {
            let queue = self.queue(destination, module);
            let result = match foreign >> destination & 1 {
                0 => self.judge(queue, tables.limit(queue), cells, stored),
                _ => Err(Reason::ForeignVlan),
            };
            if result.is_ok() {
                self.take(queue, cells, stored);
                stored = true;
            }
            judged(destination, queue, result);
        }
    }

    /// Cells of a queue in use.
    pub fn used_cells(&self, queue: usize) -> u32 {
        self.used_cells[queue]
    }

    /// Packets in a queue.
    pub fn packets(&self, queue: usize) -> u32 {
        self.packets[queue]
    }

    /// Cells of the buffer that are free.
    pub fn free_cells(&self) -> i64 {
        self.free_cells
    }

    /// Packets of one module over all its queues.
    pub fn packets_of(&self, module: u8) -> u64 {
        self.packets.iter().skip(usize::from(module)).step_by(self.modules).map(|p| u64::from(*p)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluice_formats::target::TINY;
    use sluice_formats::{Node, Table};

    fn admitted(room: &mut Room, tables: &Tables, destinations: u8, cells: u32) -> Vec<(u8, Result<(), Reason>)> {
        let mut seen = Vec::new();
        room.admit(tables, (destinations, 0), 1, cells, |d, _, r| seen.push((d, r)));
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
        room.give_back(1, 1, true);
        assert_eq!(admitted(&mut room, &tables, 1, 1), [(0, Ok(()))]);
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
        room.give_back(1, 600, false);
        assert_eq!(room.free_cells(), 0);
        room.give_back(TINY.modules as usize + 1, 600, true);
        assert_eq!(room.free_cells(), 600);
        assert_eq!(
            admitted(&mut room, &tables, 0b111, 601),
            [(0, Err(Reason::TailLimit)), (1, Err(Reason::TailBuffer)), (2, Err(Reason::TailBuffer))]
        );
    }
}
