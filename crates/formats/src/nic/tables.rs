//! Nodes and tables of every NIC.

use super::rows::*;
use crate::address::{counter, nodes, read_only, register, row, tables};
use crate::limits::VLAN_ROWS;
use crate::target::Target;

nodes! { None;
    /// Identity, snapshot epoch, hold, watchdog.
    System "system" = 0;
    /// Ingress of one port: VLANs, policy, counters.
    Port(port) "port" = 8, |t| t.ports;
    /// Merge and stamp: rates, generations.
    Stamp "stamp" = 1;
    /// The shared buffer, queues and schedulers.
    Egress "egress" = 3;
}

fn modules(target: &Target) -> u32 {
    target.modules
}

fn queues(target: &Target) -> u32 {
    target.destinations() * target.modules
}

tables! { None;
    System {
        /// Read-only identity and error counters; index: `info::*`.
        Info "info" = 0: read_only(), |_| info::ROWS, "read-only identity and error counts";
        /// Registers; index: `control::*`.
        Control "control" = 1: register(), |_| control::ROWS, "register";
    }
    Port {
        /// `VlanRow` by VLAN ID.
        Vlan "vlan" = 0: row::<VlanRow>(), |_| VLAN_ROWS, "`vlan_row` by VLAN ID";
        /// `PortPolicyRow`, index 0.
        PortPolicy "port_policy" = 1: row::<PortPolicyRow>(), |_| 1, "`port_policy_row`";
        /// Packets offered to the port, by module.
        PortPackets "port_packets" = 2: counter(), modules, "packets offered, by module";
        /// Bytes offered to the port as received, by module.
        PortBytes "port_bytes" = 3: counter(), modules, "bytes offered as received, by module";
        /// Packets dropped at the port, by module * 8 + kind.
        PortDrops "port_drops" = 4: counter(), |t| t.modules * 8, "packets dropped, by module * 8 + kind";
        /// `ShareRow` by module.
        Share "share" = 5: row::<ShareRow>(), modules, "`share_row` by module";
        /// `ExcessRow`, index 0.
        Excess "excess" = 6: row::<ExcessRow>(), |_| 1, "`excess_row`";
    }
    Stamp {
        /// `RateRow` by module.
        Rate "rate" = 0: row::<RateRow>(), modules, "`rate_row` by module";
        /// `GenerationRow` by module.
        Generation "generation" = 1: row::<GenerationRow>(), modules, "`generation_row` by module";
    }
    Egress {
        /// `LimitRow` by destination * modules + module, of both queues there.
        Limit "limit" = 0: row::<LimitRow>(), queues, "`limit_row` by destination * modules + module";
        /// `QuantumRow` by module.
        Quantum "quantum" = 1: row::<QuantumRow>(), modules, "`quantum_row` by module";
        /// Copies dropped at a queue, by queue * 4 + kind.
        QueueDrops "queue_drops" = 2: counter(), |t| queues(t) * 4, "tail drops, by queue * 4 + kind";
        /// Packets that left a queue, by queue.
        QueuePackets "queue_packets" = 3: counter(), queues, "packets that left, by queue";
        /// Bytes that left a queue (without the tag taken off), by queue.
        QueueBytes "queue_bytes" = 4: counter(), queues, "bytes that left, by queue";
        /// `VidsRow` by module.
        Vids "vids" = 5: row::<VidsRow>(), modules, "`vids_row` by module";
    }
}

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
    /// Engines that the device has, a bit each ([`EngineId::bit`](crate::EngineId::bit)).
    pub const ENGINES: u32 = 6;
    /// Rows in this table.
    pub const ROWS: u32 = 7;
}

/// Indices of `Table::Control`, each one word.
pub mod control {
    /// Snapshot epoch: writing another value takes a snapshot of every counter in one cycle.
    pub const EPOCH: u32 = 0;
    /// 1 stops the merge of the ports; packets wait in the port FIFOs.
    pub const HOLD: u32 = 1;
    /// Watchdog: cycles without progress while there is work; 0 is off.
    pub const WATCHDOG: u32 = 2;
    /// Secret of the flow hash, [`FLOW_SECRET_WORDS`] words, the lowest first. It is changed while no packet is there.
    pub const FLOW_SECRET: u32 = 3;
    /// Registers of it.
    pub const FLOW_SECRET_WORDS: u32 = 4;
    /// What it is after a reset, until the host writes it: some number, so that flows differ. Nobody need guess it.
    pub const FLOW_SECRET_AT_RESET: [u32; FLOW_SECRET_WORDS as usize] =
        [0x4528_21e6, 0x38d0_1377, 0x34e9_0c6c, 0x3f84_d5b5];
    /// Bits of the flow hash that are under the secret, the lowest ones; the others are of its CRC.
    pub const FLOW_SECRET_BITS: u32 = 4;
    /// Rows in this table.
    pub const ROWS: u32 = FLOW_SECRET + FLOW_SECRET_WORDS;
}
