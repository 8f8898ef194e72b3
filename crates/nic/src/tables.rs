//! The configuration of the NIC: every row that packets are judged by, and who may write it.
//!
//! Rows are kept decoded, because packets read them far more often than the host does; those of
//! engines are the engines'.
//! A written row keeps the bits of its layout and loses the padding, as in the RTL.

use crate::share::Bucket;
use sluice_device::headers::FlowSecret;
use sluice_device::{Engines, Stamped};
use sluice_formats::address::{Access, SLICE_INDEX_BIT, SLICE_WORDS, SNAPSHOT_INDEX_BIT, control};
use sluice_formats::limits::{MAX_FRAME_BYTES, MIN_FRAME_BYTES, SYSTEM_MODULE, VLAN_ROWS};
use sluice_formats::rows::{ExcessRow, GenerationRow, LimitRow, PortPolicyRow, QuantumRow, RateRow, VidsRow, VlanRow};
use sluice_formats::{Node, Row, Status, Table, Target};

/// Which generation a module's packets are stamped with, and how many of each are under way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Generation {
    /// Generation of arriving packets, 0 or 1.
    pub current: u8,
    /// Packets of each generation between the stamp and the last table. Packets of all modules
    /// count for the system module, whose tables they meet too. Where workers have tables each, a packet may go out at another one than it
    /// came in at: then it is the sum that counts, modulo 2^32.
    pub in_flight: [u32; 2],
}

/// State of one module's rate limiter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RateState {
    /// Theoretical arrival time in 2^-16 ticks, of ticks that never wrap; 0 is full.
    pub tat: u128,
}

/// Every configuration row of one NIC, and the state that rows of the stamp node hold.
#[derive(Debug)]
pub struct Tables {
    target: Target,
    /// Bytes of the shortest frame that ports take, unless their policy says more.
    shortest: u32,
    control: [u32; control::ROWS as usize],
    vlan: Vec<VlanRow>,
    policy: Vec<PortPolicyRow>,
    share: Vec<Bucket>,
    excess: Vec<u16>,
    rate: Vec<RateRow>,
    rate_state: Vec<RateState>,
    generation: Vec<Generation>,
    limit: Vec<LimitRow>,
    quantum: Vec<u16>,
    vids: Vec<VidsRow>,
    engines: Engines,
}

impl Tables {
    /// Tables of ports that take frames from this length on, as those around an engine alone.
    pub fn taking(mut self, shortest: u32) -> Self {
        self.engines.ports_take(shortest);
        Self { shortest, ..self }
    }

    /// The tables after reset: every row zero, so nothing is mapped and every queue is closed.
    pub fn new(target: Target, engines: Engines) -> Self {
        let (modules, ports) = (target.modules as usize, target.ports as usize);
        Self {
            target,
            shortest: MIN_FRAME_BYTES,
            control: std::array::from_fn(|i| {
                i.checked_sub(control::FLOW_SECRET as usize).map_or(0, |word| control::FLOW_SECRET_AT_RESET[word])
            }),
            vlan: vec![VlanRow::default(); ports * VLAN_ROWS as usize],
            policy: vec![PortPolicyRow::default(); ports],
            share: vec![Bucket::default(); ports * modules],
            excess: vec![0; ports],
            rate: vec![RateRow::default(); modules],
            rate_state: vec![RateState::default(); modules],
            generation: vec![Generation::default(); modules],
            limit: vec![LimitRow::default(); target.destinations() as usize * modules],
            quantum: vec![0; modules],
            vids: vec![VidsRow::default(); modules],
            engines,
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
        if !table.access().is_written() {
            return Status::ReadOnly;
        }
        if words.len() != table.words() {
            return Status::BadLength;
        }
        // Ports have numbers; nodes of which there is one are 0.
        let (port, i) = (usize::from(node.index()), index as usize);
        match table {
            _ if node.engine().is_some() => return self.engines.write(node, table, index, words),
            Table::Control => {
                let takes_snapshot = index == control::EPOCH && self.control[i] != words[0];
                self.control[i] = words[0];
                if takes_snapshot {
                    self.engines.snapshot();
                }
            }
            Table::Vlan => self.vlan[port * VLAN_ROWS as usize + i] = Row::of_words(words),
            Table::PortPolicy => self.policy[port] = Row::of_words(words),
            Table::Share => *self.share_mut(node.index(), i as u8) = Bucket::new(Row::of_words(words)),
            Table::Excess => self.excess[port] = ExcessRow::of_words(words).beats,
            Table::Rate => {
                self.rate[i] = Row::of_words(words);
                self.rate_state[i] = RateState::default();
            }
            Table::Generation => return self.commit(i, (words[0] & 1) as u8),
            Table::Limit => self.limit[i] = Row::of_words(words),
            Table::Quantum => self.quantum[i] = QuantumRow::of_words(words).bytes,
            Table::Vids => self.vids[i] = Row::of_words(words),
            _ => return Status::BadAddress,
        }
        Status::Ok
    }

    /// Reads one configuration row back, of an engine the slice that the index says, or one of
    /// its counters. Other counters and identity answer `BadAddress` here: the device holds them.
    pub fn read(&self, node: Node, table: Table, index: u32) -> Result<Vec<u32>, Status> {
        check_address(&self.target, node, table, index)?;
        // Ports have numbers; nodes of which there is one are 0.
        let (port, i) = (usize::from(node.index()), index as usize);
        Ok(match table {
            _ if node.engine().is_some() => self.engines.read(node, table, index)?,
            Table::Control => vec![self.control[i]],
            Table::Vlan => encode(&self.vlan[port * VLAN_ROWS as usize + i]),
            Table::PortPolicy => encode(&self.policy[port]),
            Table::Share => encode(&self.share[port * self.target.modules as usize + i].row),
            Table::Excess => encode(&ExcessRow { beats: self.excess[port] }),
            Table::Rate => encode(&self.rate[i]),
            Table::Generation => {
                let g = &self.generation[i];
                encode(&GenerationRow {
                    current: g.current == 1,
                    in_flight_0: g.in_flight[0].min(255) as u8,
                    in_flight_1: g.in_flight[1].min(255) as u8,
                })
            }
            Table::Limit => encode(&self.limit[i]),
            Table::Quantum => encode(&QuantumRow { bytes: self.quantum[i] }),
            Table::Vids => encode(&self.vids[i]),
            _ => return Err(Status::BadAddress),
        })
    }

    /// A whole row of configuration; the index has no slice.
    pub fn row(&self, node: Node, table: Table, index: u32) -> Result<Vec<u32>, Status> {
        if index >> SLICE_INDEX_BIT != 0 {
            return Err(Status::BadAddress);
        }
        let mut words = Vec::with_capacity(table.words());
        for slice in 0..table.words().div_ceil(SLICE_WORDS) as u32 {
            words.extend(self.read(node, table, index | slice << SLICE_INDEX_BIT)?);
        }
        Ok(words)
    }

    /// The commit: `busy` while packets of the generation that would become current are under way.
    fn commit(&mut self, module: usize, generation: u8) -> Status {
        let g = &mut self.generation[module];
        if g.current != generation {
            if g.in_flight[usize::from(generation)] != 0 {
                return Status::Busy;
            }
            g.current = generation;
            self.engines.commit(module as u8, generation);
        }
        Status::Ok
    }

    /// No packet of a generation is under way at any worker: what this one has counted in and others out is settled.
    pub fn settle(&mut self, module: u8, generation: u8) {
        if let Some(found) = self.generation.get_mut(usize::from(module)) {
            found.in_flight[usize::from(generation & 1)] = 0;
        }
    }

    /// A packet of a module that exists is stamped: it counts as under way for its module and for the
    /// system module, once where both are one.
    pub fn enter(&mut self, module: u8) -> Stamped {
        let (generation, system_generation) = (self.generation(module).current, self.generation(SYSTEM_MODULE).current);
        let stamped = Stamped { generation, system_generation };
        self.count_in(module, stamped);
        stamped
    }

    /// The same with generations that are given.
    pub fn count_in(&mut self, module: u8, stamped: Stamped) {
        self.under_way(module, stamped, |count| *count = count.wrapping_add(1));
    }

    /// A stamped packet has met its last table.
    pub fn leave(&mut self, module: u8, stamped: Stamped) {
        self.under_way(module, stamped, |count| *count = count.wrapping_sub(1));
    }

    /// It has left the engines in line, and goes to one behind a queue: the system module's generation is not read any more.
    pub fn leave_line(&mut self, module: u8, stamped: Stamped) {
        self.of_system(module, stamped, |count| *count = count.wrapping_sub(1));
    }

    /// It has left that one too, or was dropped at its queue.
    pub fn leave_behind(&mut self, module: u8, stamped: Stamped) {
        self.of_module(module, stamped, |count| *count = count.wrapping_sub(1));
    }

    fn under_way(&mut self, module: u8, stamped: Stamped, change: impl Fn(&mut u32)) {
        self.of_module(module, stamped, &change);
        self.of_system(module, stamped, &change);
    }

    fn of_module(&mut self, module: u8, stamped: Stamped, change: impl Fn(&mut u32)) {
        change(&mut self.generation[usize::from(module)].in_flight[usize::from(stamped.generation & 1)]);
    }

    /// A packet of the system module itself counts once.
    fn of_system(&mut self, module: u8, stamped: Stamped, change: impl Fn(&mut u32)) {
        if module != SYSTEM_MODULE {
            let system = &mut self.generation[usize::from(SYSTEM_MODULE)];
            change(&mut system.in_flight[usize::from(stamped.system_generation & 1)]);
        }
    }

    /// The engines.
    pub fn engines(&self) -> &Engines {
        &self.engines
    }

    /// The engines, to run packets and for the host.
    pub fn engines_mut(&mut self) -> &mut Engines {
        &mut self.engines
    }

    /// Whether the target has a module. One that it does not have owns nothing.
    pub fn module_exists(&self, module: u8) -> bool {
        u32::from(module) < self.target.modules
    }

    /// The secret of the flow hash.
    pub fn flow_secret(&self) -> FlowSecret {
        std::array::from_fn(|word| self.control[control::FLOW_SECRET as usize + word])
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

    /// Share of a module at a port that both exist.
    pub fn share_mut(&mut self, port: u8, module: u8) -> &mut Bucket {
        &mut self.share[usize::from(port) * self.target.modules as usize + usize::from(module)]
    }

    /// Cost beats that a port's FIFO may hold with a packet beyond its module's share.
    pub fn excess(&self, port: u8) -> u32 {
        u32::from(self.excess[usize::from(port)])
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

    /// Limit of a module's two queues at a destination, which exist.
    pub fn limit(&self, queue: usize) -> LimitRow {
        self.limit[queue]
    }

    /// Bytes a module that exists gains a turn; a written 0 counts as 1.
    pub fn quantum(&self, module: u8) -> u32 {
        u32::from(self.quantum[usize::from(module)]).max(1)
    }

    /// Whether frames of a module that exists may leave in VLANs that nobody owns.
    pub fn any_vids(&self, module: u8) -> bool {
        self.vids[usize::from(module)].any
    }

    /// Shortest and longest frame a port takes.
    pub fn frame_bounds(&self, port: u8) -> (u32, u32) {
        let policy = self.policy(port);
        let least = Some(u32::from(policy.min_frame)).filter(|least| *least > MIN_FRAME_BYTES);
        (least.unwrap_or(self.shortest), u32::from(policy.max_frame).min(MAX_FRAME_BYTES))
    }
}

/// Whether the row, and the slice of it, exists. Bit 23 of a counter's index selects its snapshot.
pub fn check_address(target: &Target, node: Node, table: Table, index: u32) -> Result<(), Status> {
    let is_counter = table.access() == Access::Counter;
    let row = if is_counter { index & !(1 << SNAPSHOT_INDEX_BIT) } else { index };
    // Rows that one read answers with have no slices: their numbers may be larger.
    let slice = if table.words() > SLICE_WORDS { row >> SLICE_INDEX_BIT } else { 0 };
    let row = row - (slice << SLICE_INDEX_BIT);
    if node.is_on(target)
        && table.is_of(node)
        && row < table.rows(target)
        && slice as usize * SLICE_WORDS < table.words()
    {
        Ok(())
    } else {
        Err(Status::BadAddress)
    }
}

fn encode<R: Row>(row: &R) -> Vec<u32> {
    // Decoded rows hold only values that fit.
    row.pack().unwrap_or_else(|_| vec![0; R::words()])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engines;
    use sluice_formats::target::{DEFAULT, TINY};
    use sluice_formats::xdp::target::Target as XdpTarget;

    fn new(target: Target) -> Tables {
        Tables::new(target, engines::all(&target))
    }

    #[test]
    fn every_row_reads_back_as_written_without_its_padding() {
        let mut tables = new(TINY);
        for node in Node::all(&TINY) {
            for table in Table::ALL.into_iter().filter(|t| t.is_of(node) && t.access() == Access::ReadWrite) {
                // Of 64 rules a module has those of the target.
                let spare = if table == Table::XdpWarpHits { 64 - XdpTarget::by_name(TINY.name).warp_rules } else { 0 };
                for index in [0, table.rows(&TINY) - 1 - spare as u32] {
                    let ones = vec![u32::MAX; table.words()];
                    assert_eq!(tables.write(node, table, index, &ones), Status::Ok, "{node:?} {table:?}");
                    let back = tables.row(node, table, index).unwrap();
                    assert_eq!(back.len(), table.words());
                    assert_eq!(tables.write(node, table, index, &back), Status::Ok);
                    assert_eq!(tables.row(node, table, index).unwrap(), back, "{table:?}");
                    // Zeroing a page leaves nothing to read.
                    assert_eq!(back.iter().any(|w| *w != 0), table != Table::ZeroPage, "{table:?}");
                }
            }
        }
    }

    #[test]
    fn wrong_addresses_lengths_and_read_only_tables_are_refused() {
        let mut tables = new(TINY);
        assert_eq!(tables.write(Node::Port(4), Table::Vlan, 0, &[0]), Status::BadAddress);
        assert_eq!(tables.write(Node::Parser, Table::Vlan, 0, &[0]), Status::BadAddress);
        let (stage, words) = (Node::Stage(1), Table::Exact(0).words());
        let sets = TINY.rmt.sets() as u32;
        assert_eq!(tables.write(stage, Table::Exact(0), sets, &vec![0; words]), Status::BadAddress);
        assert_eq!(tables.write(stage, Table::Exact(0), sets - 1, &vec![0; words - 1]), Status::BadLength);
        assert_eq!(tables.write(Node::Stage(3), Table::Key, 0, &vec![0; Table::Key.words()]), Status::BadAddress);
        assert_eq!(tables.write(Node::Egress, Table::QueuePackets, 0, &[0, 0]), Status::ReadOnly);
        assert_eq!(tables.write(Node::Deparser, Table::Events, 0, &[0, 0]), Status::ReadOnly);
        assert_eq!(tables.write(Node::System, Table::Info, 0, &[0, 0]), Status::ReadOnly);
        assert_eq!(tables.read(stage, Table::Exact(0), sets), Err(Status::BadAddress));
    }

    #[test]
    fn long_rows_are_read_in_slices_that_they_have() {
        let mut tables = new(TINY);
        let (node, table) = (Node::Stage(1), Table::Action);
        let row: Vec<u32> = (1..=table.words() as u32).collect();
        assert_eq!(tables.write(node, table, 3, &row), Status::Ok);
        let slices = table.words().div_ceil(SLICE_WORDS) as u32;
        let slice = |s: u32| tables.read(node, table, 3 | s << SLICE_INDEX_BIT);
        assert_eq!(slice(1).unwrap(), row[8..16]);
        assert_eq!(slice(slices), Err(Status::BadAddress));
        assert_eq!(tables.read(Node::Egress, Table::Quantum, 1 << SLICE_INDEX_BIT), Err(Status::BadAddress));
        assert_eq!(tables.row(node, table, 3).unwrap().len(), row.len());
    }

    #[test]
    fn a_commit_is_busy_while_the_generation_to_come_is_in_flight() {
        let mut tables = new(DEFAULT);
        let of = |generation| Stamped { generation, system_generation: 0 };
        for generation in [0, 1, 0] {
            tables.count_in(3, of(generation));
        }
        assert_eq!(tables.write(Node::Stamp, Table::Generation, 3, &[0]), Status::Ok);
        assert_eq!(tables.write(Node::Stamp, Table::Generation, 3, &[1]), Status::Busy);
        assert_eq!(tables.read(Node::Stamp, Table::Generation, 3).unwrap(), [2 << 1 | 1 << 9]);
        tables.leave(3, of(1));
        // Fields other than `current` are read only: what is written there is nothing.
        assert_eq!(tables.write(Node::Stamp, Table::Generation, 3, &[u32::MAX]), Status::Ok);
        assert_eq!(tables.read(Node::Stamp, Table::Generation, 3).unwrap(), [1 | 2 << 1]);
    }

    #[test]
    fn packets_of_every_module_are_in_flight_for_the_system_module_and_its_own_count_once() {
        let mut tables = new(TINY);
        assert_eq!(tables.write(Node::Stamp, Table::Generation, 0, &[1]), Status::Ok);
        let tenants = tables.enter(3);
        assert_eq!(tenants, Stamped { generation: 0, system_generation: 1 });
        let own = tables.enter(0);
        assert_eq!((tables.generation(3).in_flight, tables.generation(0).in_flight), ([1, 0], [0, 2]));
        assert_eq!(tables.write(Node::Stamp, Table::Generation, 0, &[0]), Status::Ok);
        assert_eq!(tables.write(Node::Stamp, Table::Generation, 0, &[1]), Status::Busy);
        tables.leave(0, own);
        tables.leave(3, tenants);
        assert_eq!((tables.generation(3).in_flight, tables.generation(0).in_flight), ([0, 0], [0, 0]));
    }

    #[test]
    fn writing_a_rate_fills_its_bucket() {
        let mut tables = new(TINY);
        tables.rate_state_mut(1).tat = 99;
        assert_eq!(tables.write(Node::Stamp, Table::Rate, 1, &[1, 1]), Status::Ok);
        assert_eq!(tables.rate_state_mut(1).tat, 0);
    }
}
