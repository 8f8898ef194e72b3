//! The configuration of the NIC: every row that packets are judged by, and who may write it.
//!
//! Rows are kept decoded, because packets read them far more often than the host does.
//! A written row keeps the bits of its layout and loses the padding, as in the RTL.

use sluice_formats::address::{Access, control};
use sluice_formats::limits::{MAX_FRAME_BYTES, VLAN_ROWS, WAYS};
use sluice_formats::rows::{
    EntryRow, GenerationRow, LimitRow, OverlayRow, PortPolicyRow, QuantumRow, RateRow, VlanRow,
};
use sluice_formats::{Node, Row, Status, Table, Target};

/// Which generation a module's packets are stamped with, and how many of each are under way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Generation {
    /// Generation of arriving packets, 0 or 1.
    pub current: u8,
    /// Packets of each generation between the stamp and the last table.
    pub in_flight: [u32; 2],
}

/// State of one module's rate limiter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RateState {
    /// Theoretical arrival time in 2^-16 ticks, of ticks that never wrap; 0 is full.
    pub tat: u128,
}

/// Every configuration row of one NIC, and the state that rows of the stamp node hold.
#[derive(Clone, Debug)]
pub struct Tables {
    target: Target,
    control: [u32; control::ROWS as usize],
    vlan: Vec<VlanRow>,
    policy: Vec<PortPolicyRow>,
    rate: Vec<RateRow>,
    rate_state: Vec<RateState>,
    generation: Vec<Generation>,
    ways: Vec<EntryRow>,
    overlay: Vec<OverlayRow>,
    limit: Vec<u16>,
    quantum: Vec<u16>,
}

impl Tables {
    /// The tables after reset: every row zero, so nothing is mapped and every queue is closed.
    pub fn new(target: Target) -> Self {
        let (modules, ports) = (target.modules as usize, target.ports as usize);
        Self {
            target,
            control: Default::default(),
            vlan: vec![VlanRow::default(); ports * VLAN_ROWS as usize],
            policy: vec![PortPolicyRow::default(); ports],
            rate: vec![RateRow::default(); modules],
            rate_state: vec![RateState::default(); modules],
            generation: vec![Generation::default(); modules],
            ways: vec![EntryRow::default(); (WAYS * target.sets) as usize],
            overlay: vec![OverlayRow::default(); 2 * modules],
            limit: vec![0; target.destinations() as usize * modules],
            quantum: vec![0; modules],
        }
    }

    /// The resources the tables are for.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// Writes one row. Counters and identity are not here, but are known to be read only.
    ///
    /// A wrong address is told before a read-only table, that before a wrong length.
    pub fn write(&mut self, node: Node, table: Table, index: u32, words: &[u32]) -> Status {
        if let Err(status) = check_address(&self.target, node, table, index) {
            return status;
        }
        if table.access() != Access::ReadWrite {
            return Status::ReadOnly;
        }
        if words.len() != table.words() {
            return Status::BadLength;
        }
        let i = index as usize;
        match (node, table) {
            (_, Table::Control) => self.control[i] = words[0],
            (Node::Port(p), Table::Vlan) => self.vlan[usize::from(p) * VLAN_ROWS as usize + i] = decode(words),
            (Node::Port(p), Table::PortPolicy) => self.policy[usize::from(p)] = decode(words),
            (_, Table::Rate) => {
                self.rate[i] = decode(words);
                self.rate_state[i] = RateState::default();
            }
            (_, Table::Generation) => return self.commit(i, (words[0] & 1) as u8),
            (_, Table::Way0 | Table::Way1 | Table::Way2 | Table::Way3) => {
                let at = self.way_index(u32::from(table.number()), index);
                self.ways[at] = decode(words);
            }
            (_, Table::Overlay) => self.overlay[i] = decode(words),
            (_, Table::Limit) => self.limit[i] = decode::<LimitRow>(words).cells,
            (_, Table::Quantum) => self.quantum[i] = decode::<QuantumRow>(words).bytes,
            _ => return Status::BadAddress,
        }
        Status::Ok
    }

    /// Reads one configuration row back. Counters and identity answer `BadAddress` here: the
    /// device holds them.
    pub fn read(&self, node: Node, table: Table, index: u32) -> Result<Vec<u32>, Status> {
        check_address(&self.target, node, table, index)?;
        let i = index as usize;
        Ok(match (node, table) {
            (_, Table::Control) => vec![self.control[i]],
            (Node::Port(p), Table::Vlan) => encode(&self.vlan[usize::from(p) * VLAN_ROWS as usize + i]),
            (Node::Port(p), Table::PortPolicy) => encode(&self.policy[usize::from(p)]),
            (_, Table::Rate) => encode(&self.rate[i]),
            (_, Table::Generation) => {
                let g = &self.generation[i];
                encode(&GenerationRow {
                    current: g.current == 1,
                    in_flight_0: g.in_flight[0].min(255) as u8,
                    in_flight_1: g.in_flight[1].min(255) as u8,
                })
            }
            (_, Table::Way0 | Table::Way1 | Table::Way2 | Table::Way3) => {
                encode(&self.ways[self.way_index(u32::from(table.number()), index)])
            }
            (_, Table::Overlay) => encode(&self.overlay[i]),
            (_, Table::Limit) => encode(&LimitRow { cells: self.limit[i] }),
            (_, Table::Quantum) => encode(&QuantumRow { bytes: self.quantum[i] }),
            _ => return Err(Status::BadAddress),
        })
    }

    /// The commit: `busy` while packets of the generation that would become current are under way.
    fn commit(&mut self, module: usize, generation: u8) -> Status {
        let g = &mut self.generation[module];
        if g.current != generation {
            if g.in_flight[usize::from(generation)] != 0 {
                return Status::Busy;
            }
            g.current = generation;
        }
        Status::Ok
    }

    fn way_index(&self, way: u32, set: u32) -> usize {
        (way * self.target.sets + set % self.target.sets) as usize
    }

    /// Whether the target has a module. One that it does not have owns nothing.
    pub fn module_exists(&self, module: u8) -> bool {
        u32::from(module) < self.target.modules
    }

    /// A register of `control::*`.
    pub fn control(&self, index: u32) -> u32 {
        self.control.get(index as usize).copied().unwrap_or(0)
    }

    /// VLAN row of a port. The port exists, the VLAN ID has 12 bits.
    pub fn vlan(&self, port: u8, vid: u16) -> &VlanRow {
        &self.vlan[usize::from(port) * VLAN_ROWS as usize + usize::from(vid & 0xfff)]
    }

    /// Policy of a port that exists.
    pub fn policy(&self, port: u8) -> &PortPolicyRow {
        &self.policy[usize::from(port)]
    }

    /// Rate row of a module that exists.
    pub fn rate(&self, module: u8) -> &RateRow {
        &self.rate[usize::from(module)]
    }

    /// Rate state of a module that exists.
    pub fn rate_state_mut(&mut self, module: u8) -> &mut RateState {
        &mut self.rate_state[usize::from(module)]
    }

    /// Generations of a module that exists.
    pub fn generation(&self, module: u8) -> &Generation {
        &self.generation[usize::from(module)]
    }

    /// Generations of a module that exists, to count packets in and out.
    pub fn generation_mut(&mut self, module: u8) -> &mut Generation {
        &mut self.generation[usize::from(module)]
    }

    /// Overlay of a module that exists in generation 0 or 1.
    pub fn overlay(&self, module: u8, generation: u8) -> &OverlayRow {
        &self.overlay[2 * usize::from(module) + usize::from(generation & 1)]
    }

    /// Entry of a way below `WAYS`; sets wrap.
    pub fn entry(&self, way: u32, set: u32) -> &EntryRow {
        &self.ways[self.way_index(way, set)]
    }

    /// Cells that a queue that exists may hold.
    pub fn limit(&self, queue: usize) -> u32 {
        u32::from(self.limit[queue])
    }

    /// Bytes a module that exists gains a turn; a written 0 counts as 1.
    pub fn quantum(&self, module: u8) -> u32 {
        u32::from(self.quantum[usize::from(module)]).max(1)
    }

    /// Shortest and longest frame a port takes.
    pub fn frame_bounds(&self, port: u8) -> (u32, u32) {
        let policy = self.policy(port);
        (u32::from(policy.min_frame).max(14), u32::from(policy.max_frame).min(MAX_FRAME_BYTES))
    }
}

/// Whether the row exists. Bit 23 of a counter's index selects its snapshot.
pub fn check_address(target: &Target, node: Node, table: Table, index: u32) -> Result<(), Status> {
    let snapshot_bit =
        if table.access() == Access::Counter { 1 << sluice_formats::address::SNAPSHOT_INDEX_BIT } else { 0 };
    let node_exists = !matches!(node, Node::Port(port) if u32::from(port) >= target.ports);
    if !node_exists || !table.is_of(node) || index & !snapshot_bit >= table.rows(target) {
        return Err(Status::BadAddress);
    }
    Ok(())
}

fn decode<R: Row + Default>(words: &[u32]) -> R {
    let mut words = words.to_vec();
    let padding = words.len() as u32 * 32 - R::width();
    if let Some(last) = words.last_mut() {
        *last &= u32::MAX >> padding;
    }
    // Length and padding are right here, and those are all that `unpack` refuses.
    R::unpack(&words).unwrap_or_default()
}

fn encode<R: Row>(row: &R) -> Vec<u32> {
    // Decoded rows hold only values that fit.
    row.pack().unwrap_or_else(|_| vec![0; R::words()])
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluice_formats::target::{DEFAULT, TINY};

    #[test]
    fn every_row_reads_back_as_written_without_its_padding() {
        let mut tables = Tables::new(TINY);
        for node in Node::all(&TINY) {
            for table in Table::ALL.into_iter().filter(|t| t.is_of(node) && t.access() == Access::ReadWrite) {
                for index in [0, table.rows(&TINY) - 1] {
                    let ones = vec![u32::MAX; table.words()];
                    assert_eq!(tables.write(node, table, index, &ones), Status::Ok, "{node:?} {table:?}");
                    let back = tables.read(node, table, index).unwrap();
                    assert_eq!(back.len(), table.words());
                    assert_eq!(tables.write(node, table, index, &back), Status::Ok);
                    assert_eq!(tables.read(node, table, index).unwrap(), back, "{table:?}");
                    assert!(back.iter().any(|w| *w != 0));
                }
            }
        }
    }

    #[test]
    fn wrong_addresses_lengths_and_read_only_tables_are_refused() {
        let mut tables = Tables::new(TINY);
        assert_eq!(tables.write(Node::Port(4), Table::Vlan, 0, &[0]), Status::BadAddress);
        assert_eq!(tables.write(Node::Match, Table::Vlan, 0, &[0]), Status::BadAddress);
        assert_eq!(tables.write(Node::Match, Table::Way0, 16, &[0; 6]), Status::BadAddress);
        assert_eq!(tables.write(Node::Match, Table::Way0, 15, &[0; 5]), Status::BadLength);
        assert_eq!(tables.write(Node::Egress, Table::QueuePackets, 0, &[0, 0]), Status::ReadOnly);
        assert_eq!(tables.write(Node::System, Table::Info, 0, &[0, 0]), Status::ReadOnly);
        assert_eq!(tables.read(Node::Match, Table::Way0, 16), Err(Status::BadAddress));
    }

    #[test]
    fn a_commit_is_busy_while_the_generation_to_come_is_in_flight() {
        let mut tables = Tables::new(DEFAULT);
        tables.generation_mut(3).in_flight = [2, 1];
        assert_eq!(tables.write(Node::Stamp, Table::Generation, 3, &[0]), Status::Ok);
        assert_eq!(tables.write(Node::Stamp, Table::Generation, 3, &[1]), Status::Busy);
        assert_eq!(tables.read(Node::Stamp, Table::Generation, 3).unwrap(), [2 << 1 | 1 << 9]);
        tables.generation_mut(3).in_flight[1] = 0;
        // Fields other than `current` are read only: what is written there is nothing.
        assert_eq!(tables.write(Node::Stamp, Table::Generation, 3, &[u32::MAX]), Status::Ok);
        assert_eq!(tables.read(Node::Stamp, Table::Generation, 3).unwrap(), [1 | 2 << 1]);
    }

    #[test]
    fn writing_a_rate_fills_its_bucket() {
        let mut tables = Tables::new(TINY);
        tables.rate_state_mut(1).tat = 99;
        assert_eq!(tables.write(Node::Stamp, Table::Rate, 1, &[1, 1]), Status::Ok);
        assert_eq!(tables.rate_state_mut(1).tat, 0);
    }
}
