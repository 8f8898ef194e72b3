//! Configuration address map: nodes on the ring, their tables, who may write them.

use crate::target::Target;

/// A node of the configuration ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Node {
    /// Identity, snapshot epoch, hold, watchdog.
    System,
    /// Ingress of one port: VLANs, policy, counters.
    Port(u8),
    /// Merge and stamp: rates, generations.
    Stamp,
    /// The match-action table.
    Match,
    /// The shared buffer, queues and schedulers.
    Egress,
    /// The XDP engine, on devices that have one.
    Xdp,
}

/// Number of the first port node.
pub const FIRST_PORT_NODE: u8 = 8;

impl Node {
    /// Number in messages.
    pub fn number(self) -> u8 {
        match self {
            Self::System => 0,
            Self::Stamp => 1,
            Self::Match => 2,
            Self::Egress => 3,
            Self::Xdp => 4,
            // Ports beyond 247 have no number of their own; no target has them.
            Self::Port(p) => FIRST_PORT_NODE.saturating_add(p),
        }
    }

    /// The node of this number on `target`.
    pub fn from_number(number: u8, target: &Target) -> Option<Self> {
        match number {
            0 => Some(Self::System),
            1 => Some(Self::Stamp),
            2 => Some(Self::Match),
            3 => Some(Self::Egress),
            4 => Some(Self::Xdp),
            n if n >= FIRST_PORT_NODE && u32::from(n - FIRST_PORT_NODE) < target.ports => {
                Some(Self::Port(n - FIRST_PORT_NODE))
            }
            _ => None,
        }
    }

    /// Every node that all devices of `target` have: not the XDP engine's.
    pub fn all(target: &Target) -> Vec<Self> {
        let ports = (0..target.ports as u8).map(Self::Port);
        [Self::System, Self::Stamp, Self::Match, Self::Egress].into_iter().chain(ports).collect()
    }
}

/// A table behind a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Table {
    /// Read-only identity and error counters; index: `info::*`.
    Info,
    /// Registers; index: `control::*`.
    Control,
    /// `VlanRow` by VLAN ID.
    Vlan,
    /// `PortPolicyRow`, index 0.
    PortPolicy,
    /// Packets offered to the port, by module.
    PortPackets,
    /// Bytes offered to the port as received, by module.
    PortBytes,
    /// Packets dropped at the port, by module * 8 + kind.
    PortDrops,
    /// `RateRow` by module.
    Rate,
    /// `GenerationRow` by module.
    Generation,
    /// `EntryRow` by set, way 0.
    Way0,
    /// `EntryRow` by set, way 1.
    Way1,
    /// `EntryRow` by set, way 2.
    Way2,
    /// `EntryRow` by set, way 3.
    Way3,
    /// `OverlayRow` by 2 * module + generation.
    Overlay,
    /// Packets dropped by rate and table, and copies made, by module * 8 + kind.
    ForwardEvents,
    /// `LimitRow` by queue (destination * modules + module).
    Limit,
    /// `QuantumRow` by module.
    Quantum,
    /// Copies dropped at a queue, by queue * 4 + kind.
    QueueDrops,
    /// Packets that left a queue, by queue.
    QueuePackets,
    /// Bytes that left a queue (without the tag taken off), by queue.
    QueueBytes,
    /// Packets dropped by XDP programs, by module * 8 + kind.
    XdpDrops,
}

/// Who may write a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Written and read back.
    ReadWrite,
    /// Read only; a write answers `read_only`.
    ReadOnly,
    /// A 48-bit counter; read only. Index bit 23 reads the value of the last snapshot.
    Counter,
}

/// Index bit that selects a counter's value at the last snapshot.
pub const SNAPSHOT_INDEX_BIT: u32 = 23;

/// Indices of `Table::Info`, each one or two words.
pub mod info {
    /// Format version.
    pub const VERSION: u32 = 0;
    /// Target hash.
    pub const TARGET_HASH: u32 = 1;
    /// Tick counter, 48 bits.
    pub const TICKS: u32 = 2;
    /// Messages discarded because checksum or shape was wrong.
    pub const BAD_MESSAGES: u32 = 3;
    /// Messages discarded because the next word never came.
    pub const TIMEOUTS: u32 = 4;
    /// Times the watchdog saw work and no progress.
    pub const WEDGES: u32 = 5;
    /// Rows in this table.
    pub const ROWS: u32 = 6;
}

/// Indices of `Table::Control`, each one word.
pub mod control {
    /// Snapshot epoch: writing another value takes a snapshot of every counter in one cycle.
    pub const EPOCH: u32 = 0;
    /// 1 stops the merge of the ports; packets wait in the port FIFOs.
    pub const HOLD: u32 = 1;
    /// Watchdog: cycles without progress while there is work; 0 is off.
    pub const WATCHDOG: u32 = 2;
    /// Rows in this table.
    pub const ROWS: u32 = 3;
}

impl Table {
    /// All tables in the order of the address map.
    pub const ALL: [Table; 21] = [
        Self::Info,
        Self::Control,
        Self::Vlan,
        Self::PortPolicy,
        Self::PortPackets,
        Self::PortBytes,
        Self::PortDrops,
        Self::Rate,
        Self::Generation,
        Self::Way0,
        Self::Way1,
        Self::Way2,
        Self::Way3,
        Self::Overlay,
        Self::ForwardEvents,
        Self::Limit,
        Self::Quantum,
        Self::QueueDrops,
        Self::QueuePackets,
        Self::QueueBytes,
        Self::XdpDrops,
    ];

    /// The table of one way.
    pub fn way(way: u32) -> Option<Self> {
        [Self::Way0, Self::Way1, Self::Way2, Self::Way3].get(way as usize).copied()
    }

    /// Number within its node.
    pub fn number(self) -> u8 {
        match self {
            Self::Info | Self::Vlan | Self::Rate | Self::Way0 | Self::Limit | Self::XdpDrops => 0,
            Self::Control | Self::PortPolicy | Self::Generation | Self::Way1 | Self::Quantum => 1,
            Self::PortPackets | Self::Way2 | Self::QueueDrops => 2,
            Self::PortBytes | Self::Way3 | Self::QueuePackets => 3,
            Self::PortDrops | Self::Overlay | Self::QueueBytes => 4,
            Self::ForwardEvents => 5,
        }
    }

    /// Whether `node` holds this table.
    pub fn is_of(self, node: Node) -> bool {
        match self {
            Self::Info | Self::Control => node == Node::System,
            Self::Vlan | Self::PortPolicy | Self::PortPackets | Self::PortBytes | Self::PortDrops => {
                matches!(node, Node::Port(_))
            }
            Self::Rate | Self::Generation => node == Node::Stamp,
            Self::Limit | Self::Quantum | Self::QueueDrops | Self::QueuePackets | Self::QueueBytes => {
                node == Node::Egress
            }
            Self::XdpDrops => node == Node::Xdp,
            _ => node == Node::Match,
        }
    }

    /// The table of this number behind `node`.
    pub fn from_number(node: Node, number: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|t| t.is_of(node) && t.number() == number)
    }

    /// Rows on `target`.
    pub fn rows(self, target: &Target) -> u32 {
        let queues = target.destinations() * target.modules;
        match self {
            Self::Info => info::ROWS,
            Self::Control => control::ROWS,
            Self::Vlan => crate::limits::VLAN_ROWS,
            Self::PortPolicy => 1,
            Self::PortPackets | Self::PortBytes | Self::Rate | Self::Generation | Self::Quantum => target.modules,
            Self::PortDrops | Self::ForwardEvents | Self::XdpDrops => target.modules * 8,
            Self::Way0 | Self::Way1 | Self::Way2 | Self::Way3 => target.sets,
            Self::Overlay => 2 * target.modules,
            Self::Limit | Self::QueuePackets | Self::QueueBytes => queues,
            Self::QueueDrops => queues * 4,
        }
    }

    /// Who may write it.
    pub fn access(self) -> Access {
        match self {
            Self::Info => Access::ReadOnly,
            Self::PortPackets
            | Self::PortBytes
            | Self::PortDrops
            | Self::ForwardEvents
            | Self::QueueDrops
            | Self::QueuePackets
            | Self::QueueBytes
            | Self::XdpDrops => Access::Counter,
            _ => Access::ReadWrite,
        }
    }

    /// 32-bit words of one row (`Info` rows have two).
    pub fn words(self) -> usize {
        use crate::row::Row;
        use crate::rows::*;
        match self {
            Self::Info => 2,
            Self::Control => 1,
            Self::Vlan => VlanRow::words(),
            Self::PortPolicy => PortPolicyRow::words(),
            Self::Rate => RateRow::words(),
            Self::Generation => GenerationRow::words(),
            Self::Way0 | Self::Way1 | Self::Way2 | Self::Way3 => EntryRow::words(),
            Self::Overlay => OverlayRow::words(),
            Self::Limit => LimitRow::words(),
            Self::Quantum => QuantumRow::words(),
            _ => 2,
        }
    }

    /// Name in docs, messages and SystemVerilog (`Table` + this, camel case).
    pub fn name(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Control => "control",
            Self::Vlan => "vlan",
            Self::PortPolicy => "port_policy",
            Self::PortPackets => "port_packets",
            Self::PortBytes => "port_bytes",
            Self::PortDrops => "port_drops",
            Self::Rate => "rate",
            Self::Generation => "generation",
            Self::Way0 => "way0",
            Self::Way1 => "way1",
            Self::Way2 => "way2",
            Self::Way3 => "way3",
            Self::Overlay => "overlay",
            Self::ForwardEvents => "forward_events",
            Self::Limit => "limit",
            Self::Quantum => "quantum",
            Self::QueueDrops => "queue_drops",
            Self::QueuePackets => "queue_packets",
            Self::QueueBytes => "queue_bytes",
            Self::XdpDrops => "xdp_drops",
        }
    }

    /// What a row is, for the generated docs.
    pub fn row_doc(self) -> &'static str {
        match self {
            Self::Info => "read-only identity and error counts",
            Self::Control => "register",
            Self::Vlan => "`vlan_row` by VLAN ID",
            Self::PortPolicy => "`port_policy_row`",
            Self::PortPackets => "packets offered, by module",
            Self::PortBytes => "bytes offered as received, by module",
            Self::PortDrops => "packets dropped, by module * 8 + kind",
            Self::Rate => "`rate_row` by module",
            Self::Generation => "`generation_row` by module",
            Self::Way0 | Self::Way1 | Self::Way2 | Self::Way3 => "`entry_row` by set",
            Self::Overlay => "`overlay_row` by 2 * module + generation",
            Self::ForwardEvents => "drops and copies, by module * 8 + kind",
            Self::Limit => "`limit_row` by destination * modules + module",
            Self::Quantum => "`quantum_row` by module",
            Self::QueueDrops => "tail drops, by queue * 4 + kind",
            Self::QueuePackets => "packets that left, by queue",
            Self::QueueBytes => "bytes that left, by queue",
            Self::XdpDrops => "packets dropped by programs, by module * 8 + kind",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target;

    #[test]
    fn every_table_is_found_again_by_its_number() {
        for target in target::ALL {
            for node in Node::all(&target).into_iter().chain([Node::Xdp]) {
                assert_eq!(Node::from_number(node.number(), &target), Some(node));
                for table in Table::ALL.into_iter().filter(|t| t.is_of(node)) {
                    assert_eq!(Table::from_number(node, table.number()), Some(table));
                }
            }
        }
        assert_eq!(Node::from_number(12, &target::DEFAULT), None);
    }

    #[test]
    fn every_row_fits_one_message() {
        for table in Table::ALL {
            assert!(table.words() <= crate::limits::MESSAGE_DATA_WORDS);
        }
    }
}
