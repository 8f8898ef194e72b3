//! Configuration address map: nodes on the ring, their tables, who may write them.
//!
//! An index has the row in bits 15:0. A write carries the whole row in one message. Rows of the rmt pipeline are read
//! in slices of 8 words, the first of which is 8 times bits 22:16. Bit 23 of a counter reads its value at the last
//! snapshot.

use crate::rmt::target::{MODULE_PAGES, NODES, NUMBERS, PATHS, PATTERNS};
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
    /// The shared buffer, queues and schedulers.
    Egress,
    /// The XDP engine, on devices that have one.
    Xdp,
    /// The parser of the rmt pipeline.
    Parser,
    /// Groups, grants, deparser and events of the rmt pipeline.
    Deparser,
    /// A stage of the rmt pipeline.
    Stage(u8),
}

/// Number of the first port node.
pub const FIRST_PORT_NODE: u8 = 8;
/// Number of the first stage's node.
pub const FIRST_STAGE_NODE: u8 = 32;

impl Node {
    /// Number in messages.
    pub fn number(self) -> u8 {
        match self {
            Self::System => 0,
            Self::Stamp => 1,
            Self::Egress => 3,
            Self::Xdp => 4,
            Self::Parser => 5,
            Self::Deparser => 6,
            // Numbers that would not fit: no target has so many ports or stages.
            Self::Port(p) => FIRST_PORT_NODE.saturating_add(p),
            Self::Stage(s) => FIRST_STAGE_NODE.saturating_add(s),
        }
    }

    /// The node of this number on `target`.
    pub fn from_number(number: u8, target: &Target) -> Option<Self> {
        Self::all(target).into_iter().chain([Self::Xdp]).find(|n| n.number() == number)
    }

    /// Every node that all devices of `target` have: not the XDP engine's.
    pub fn all(target: &Target) -> Vec<Self> {
        let ports = (0..target.ports as u8).map(Self::Port);
        let stages = (0..target.rmt.stages as u8).map(Self::Stage);
        let ends = [Self::System, Self::Stamp, Self::Egress, Self::Parser, Self::Deparser];
        ends.into_iter().chain(ports).chain(stages).collect()
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
    /// First `SelectRow` by 2 * module + generation.
    First,
    /// Node `SelectRow` by 4 * (2 * module + generation) + node.
    Node,
    /// `PathRow` by 16 * (2 * module + generation) + path.
    Path,
    /// `StageOwnerRow`, index 0.
    StageOwner,
    /// `KeyRow` by 2 * module + generation.
    Key,
    /// `ExactRow` by set, way 0 to 3.
    Exact(u8),
    /// `TernaryRow` by entry.
    Ternary,
    /// `DataRow`.
    Data,
    /// `ActionRow` by action row.
    Action,
    /// `PageRow` by 64 * (2 * module + generation) + page of the module.
    Page,
    /// `StateWordRow` by word.
    StateWord,
    /// `ZeroPageRow` by page of the stage.
    ZeroPage,
    /// Packets that met an entry, by hits_base + number.
    Hits,
    /// State accesses that were not done, by module.
    StateRange,
    /// `PatternsRow` by 2 * module + generation.
    Patterns,
    /// `DeparseRow` by beats * (16 * (2 * module + generation) + row) + beat.
    Deparse,
    /// `GroupRow` by group.
    Group,
    /// `GrantedRow` by module.
    Granted,
    /// Drops and copies of the rmt pipeline by module * 16 + kind (`rmt::tables::Event`).
    Events,
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
    pub const ALL: [Table; 37] = [
        Self::Info,
        Self::Control,
        Self::Vlan,
        Self::PortPolicy,
        Self::PortPackets,
        Self::PortBytes,
        Self::PortDrops,
        Self::Rate,
        Self::Generation,
        Self::Limit,
        Self::Quantum,
        Self::QueueDrops,
        Self::QueuePackets,
        Self::QueueBytes,
        Self::XdpDrops,
        Self::First,
        Self::Node,
        Self::Path,
        Self::StageOwner,
        Self::Key,
        Self::Exact(0),
        Self::Exact(1),
        Self::Exact(2),
        Self::Exact(3),
        Self::Ternary,
        Self::Data,
        Self::Action,
        Self::Page,
        Self::StateWord,
        Self::ZeroPage,
        Self::Hits,
        Self::StateRange,
        Self::Patterns,
        Self::Deparse,
        Self::Group,
        Self::Granted,
        Self::Events,
    ];

    /// Number within its node.
    pub fn number(self) -> u8 {
        match self {
            Self::Info | Self::Vlan | Self::Rate | Self::Limit | Self::XdpDrops => 0,
            Self::First | Self::StageOwner | Self::Patterns => 0,
            Self::Control | Self::PortPolicy | Self::Generation | Self::Quantum => 1,
            Self::Node | Self::Key | Self::Deparse => 1,
            Self::PortPackets | Self::QueueDrops | Self::Path | Self::Group => 2,
            Self::PortBytes | Self::QueuePackets | Self::Granted => 3,
            Self::PortDrops | Self::QueueBytes | Self::Events => 4,
            Self::Exact(way) => 2 + way,
            Self::Ternary => 6,
            Self::Data => 7,
            Self::Action => 8,
            Self::Page => 9,
            Self::StateWord => 10,
            Self::ZeroPage => 11,
            Self::Hits => 12,
            Self::StateRange => 13,
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
            Self::First | Self::Node | Self::Path => node == Node::Parser,
            Self::Patterns | Self::Deparse | Self::Group | Self::Granted | Self::Events => node == Node::Deparser,
            Self::StageOwner
            | Self::Key
            | Self::Exact(_)
            | Self::Ternary
            | Self::Data
            | Self::Action
            | Self::Page
            | Self::StateWord
            | Self::ZeroPage
            | Self::Hits
            | Self::StateRange => matches!(node, Node::Stage(_)),
        }
    }

    /// Whether it is a table of the rmt pipeline: its rows are long, or counters.
    pub fn is_rmt(self) -> bool {
        [Node::Parser, Node::Deparser, Node::Stage(0)].into_iter().any(|n| self.is_of(n))
    }

    /// The table of this number behind `node`.
    pub fn from_number(node: Node, number: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|t| t.is_of(node) && t.number() == number)
    }

    /// Rows on `target`.
    pub fn rows(self, target: &Target) -> u32 {
        let queues = target.destinations() * target.modules;
        let banks = 2 * target.modules;
        let rmt = &target.rmt;
        match self {
            Self::Info => info::ROWS,
            Self::Control => control::ROWS,
            Self::Vlan => crate::limits::VLAN_ROWS,
            Self::PortPolicy | Self::StageOwner => 1,
            Self::PortPackets | Self::PortBytes | Self::Rate | Self::Generation | Self::Quantum => target.modules,
            Self::StateRange | Self::Granted => target.modules,
            Self::PortDrops | Self::XdpDrops => target.modules * 8,
            Self::Events => target.modules * 16,
            Self::Limit | Self::QueuePackets | Self::QueueBytes => queues,
            Self::QueueDrops => queues * 4,
            Self::First | Self::Key | Self::Patterns => banks,
            Self::Node => NODES as u32 * banks,
            Self::Path => PATHS as u32 * banks,
            Self::Exact(_) => rmt.sets() as u32,
            Self::Ternary => rmt.ternary as u32,
            Self::Data => (rmt.exact + rmt.ternary) as u32 + banks,
            Self::Action => rmt.actions as u32,
            Self::Page => MODULE_PAGES as u32 * banks,
            Self::StateWord => rmt.words as u32,
            Self::ZeroPage => rmt.pages() as u32,
            Self::Hits => NUMBERS as u32,
            Self::Deparse => (rmt.window_beats() * PATTERNS) as u32 * banks,
            Self::Group => rmt.groups as u32,
        }
    }

    /// Who may write it.
    pub fn access(self) -> Access {
        match self {
            Self::Info => Access::ReadOnly,
            Self::PortPackets
            | Self::PortBytes
            | Self::PortDrops
            | Self::QueueDrops
            | Self::QueuePackets
            | Self::QueueBytes
            | Self::XdpDrops
            | Self::Hits
            | Self::StateRange
            | Self::Events => Access::Counter,
            _ => Access::ReadWrite,
        }
    }

    /// 32-bit words of one row (`Info` rows and counters have two).
    pub fn words(self) -> usize {
        use crate::rmt::rows::*;
        use crate::row::Row;
        use crate::rows::*;
        match self {
            Self::Control => 1,
            Self::Vlan => VlanRow::words(),
            Self::PortPolicy => PortPolicyRow::words(),
            Self::Rate => RateRow::words(),
            Self::Generation => GenerationRow::words(),
            Self::Limit => LimitRow::words(),
            Self::Quantum => QuantumRow::words(),
            Self::First | Self::Node => SelectRow::words(),
            Self::Path => PathRow::words(),
            Self::StageOwner => StageOwnerRow::words(),
            Self::Key => KeyRow::words(),
            Self::Exact(_) => ExactRow::words(),
            Self::Ternary => TernaryRow::words(),
            Self::Data => DataRow::words(),
            Self::Action => ActionRow::words(),
            Self::Page => PageRow::words(),
            Self::StateWord => StateWordRow::words(),
            Self::ZeroPage => ZeroPageRow::words(),
            Self::Patterns => PatternsRow::words(),
            Self::Deparse => DeparseRow::words(),
            Self::Group => GroupRow::words(),
            Self::Granted => GrantedRow::words(),
            _ => 2,
        }
    }

    /// Name in docs, messages and SystemVerilog (`Table` + this, `TableRmt` + this for the rmt pipeline's, camel case).
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
            Self::Limit => "limit",
            Self::Quantum => "quantum",
            Self::QueueDrops => "queue_drops",
            Self::QueuePackets => "queue_packets",
            Self::QueueBytes => "queue_bytes",
            Self::XdpDrops => "xdp_drops",
            Self::First => "first",
            Self::Node => "node",
            Self::Path => "path",
            Self::StageOwner => "stage_owner",
            Self::Key => "key",
            Self::Exact(0) => "exact0",
            Self::Exact(1) => "exact1",
            Self::Exact(2) => "exact2",
            Self::Exact(_) => "exact3",
            Self::Ternary => "ternary",
            Self::Data => "data",
            Self::Action => "action",
            Self::Page => "page",
            Self::StateWord => "state_word",
            Self::ZeroPage => "zero_page",
            Self::Hits => "hits",
            Self::StateRange => "state_range",
            Self::Patterns => "patterns",
            Self::Deparse => "deparse",
            Self::Group => "group",
            Self::Granted => "granted",
            Self::Events => "events",
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
            Self::Limit => "`limit_row` by destination * modules + module",
            Self::Quantum => "`quantum_row` by module",
            Self::QueueDrops => "tail drops, by queue * 4 + kind",
            Self::QueuePackets => "packets that left, by queue",
            Self::QueueBytes => "bytes that left, by queue",
            Self::XdpDrops => "packets dropped by programs, by module * 8 + kind",
            Self::First | Self::Node => "`rmt_select_row`",
            Self::Path => "`rmt_path_row`",
            Self::StageOwner => "`rmt_stage_owner_row`",
            Self::Key => "`rmt_key_row`",
            Self::Exact(_) => "`rmt_exact_row` by set",
            Self::Ternary => "`rmt_ternary_row` by entry",
            Self::Data => "`rmt_data_row`",
            Self::Action => "`rmt_action_row` by action row",
            Self::Page => "`rmt_page_row`",
            Self::StateWord => "`rmt_state_word_row` by word",
            Self::ZeroPage => "`rmt_zero_page_row` by page",
            Self::Hits => "packets that met an entry, by hits_base + number",
            Self::StateRange => "state accesses that were not done, by module",
            Self::Patterns => "`rmt_patterns_row`",
            Self::Deparse => "`rmt_deparse_row`",
            Self::Group => "`rmt_group_row` by group",
            Self::Granted => "`rmt_granted_row` by module",
            Self::Events => "drops and copies, by module * 16 + kind",
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
        assert_eq!(Node::from_number(2, &target::DEFAULT), None);
        assert_eq!(Node::from_number(12, &target::DEFAULT), None);
        assert_eq!(Node::from_number(37, &target::DEFAULT), None);
    }

    #[test]
    fn every_row_fits_one_message_and_every_table_the_index() {
        use crate::limits::{MESSAGE_DATA_WORDS, MOST_ROW_WORDS};
        for table in Table::ALL {
            assert!(table.words() <= if table.is_rmt() { MOST_ROW_WORDS } else { MESSAGE_DATA_WORDS });
            for target in target::ALL {
                assert!(table.rows(&target) <= 1 << crate::rmt::tables::SLICE_INDEX_BIT);
            }
        }
    }
}
