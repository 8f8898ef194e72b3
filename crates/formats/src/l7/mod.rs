//! Formats of the l7 engine: the header of messages, sizes, rows, tables. docs/design/l7.md says what they mean.

pub mod codes;
pub mod compare;
mod generated;
pub mod qnp;
pub mod rows;
pub mod target;

use crate::address::{Table, counter, nodes, read_row, row, tables};
use crate::engine::{EngineId, Folder};
use crate::reason::events;
use rows::{
    L7DoorbellRow, L7GroupRow, L7MatchRow, L7PortRow, L7QuotaRow, L7RingRow, L7RingStateRow, L7SecretRow, L7ShareRow,
    L7StartRow,
};
use target::Target as L7Target;

impl EngineId {
    /// Dispatches messages.
    pub const L7: EngineId = EngineId::new(2);
}

nodes! { Some(EngineId::L7);
    /// The l7 engine, on devices that have one.
    L7 "l7" = 2;
}

tables! { Some(EngineId::L7);
    L7 {
        /// Dropped packets and other events, by module * 16 + kind.
        L7Drops "l7_drops" = 0: counter(), |t| t.modules * 16, "drops and events, by module * 16 + kind";
        /// Match rows.
        L7Match "l7_match" = 1: row::<L7MatchRow>(), |t| L7Target::by_name(t.name).rows as u32, "`l7_match_row`, by row";
        /// Where message types begin.
        L7Start "l7_start" = 2: row::<L7StartRow>(), |t| L7Target::by_name(t.name).starts as u32, "`l7_start_row`";
        /// UDP ports.
        L7Port "l7_port" = 3: row::<L7PortRow>(), |t| L7Target::by_name(t.name).ports as u32, "`l7_port_row`; keys are there once";
        /// Groups of queues.
        L7Group "l7_group" = 4: row::<L7GroupRow>(), |t| L7Target::by_name(t.name).groups as u32, "`l7_group_row`, by group";
        /// What modules have of the staging buffer for themselves.
        L7Share "l7_share" = 5: row::<L7ShareRow>(), |t| t.modules, "`l7_share_row`, by module";
        /// Most messages of modules.
        L7Quota "l7_quota" = 6: row::<L7QuotaRow>(), |t| t.modules, "`l7_quota_row`, by module";
        /// Secrets of the message table.
        L7Secret "l7_secret" = 7: row::<L7SecretRow>(), |_| target::TABLE_HASHES as u32, "`l7_secret_row`, by hash";
        /// Rings.
        L7Ring "l7_ring" = 8: row::<L7RingRow>(), |t| L7Target::by_name(t.name).rings as u32, "`l7_ring_row`, by ring";
        /// Doorbells of rings.
        L7Doorbell "l7_doorbell" = 9: row::<L7DoorbellRow>(), |t| L7Target::by_name(t.name).rings as u32, "`l7_doorbell_row`, by ring";
        /// How far rings are.
        L7RingState "l7_ring_state" = 10: read_row::<L7RingStateRow>(), |t| L7Target::by_name(t.name).rings as u32, "`l7_ring_state_row`, by ring";
        /// Messages of rings.
        L7Rings "l7_rings" = 11: counter(), |t| 4 * L7Target::by_name(t.name).rings as u32, "messages, by ring * 4 + `l7_ring_event`";
        /// Bytes that left on the stream (0) or went into messages (1), by module * 2 + which.
        L7Bytes "l7_bytes" = 12: counter(), |t| t.modules * 2, "bytes, by module * 2 + 0 (left on the stream) or 1 (consumed)";
    }
}

events! { enum
    /// Drops and other events, by module.
    L7Event; EVENTS: Table::L7Drops, 48, 16;
    /// Truncated or unordered fields, or a header that contradicts itself.
    L7Malformed "l7_malformed" = 0, drop, "fields cut off or out of order, or a header that contradicts itself";
    /// IPv4 or UDP checksum.
    L7Checksum "l7_checksum" = 1, drop, "IPv4 or UDP checksum is wrong";
    /// A later packet came before its message's first.
    L7NoFirst "l7_no_first" = 2, drop, "came before its message's first packet";
    /// No entry of the message table was free.
    L7NoState "l7_no_state" = 3, drop, "no entry for its message was free";
    /// The queue had no descriptor.
    L7NoDescriptor "l7_no_descriptor" = 4, drop, "its queue had no descriptor";
    /// The packet had come before.
    L7Duplicate "l7_duplicate" = 5, drop, "had come before";
    /// The UDP port is an application's, the application ID is not.
    L7NoApp "l7_no_app" = 6, drop, "the UDP port is known, the application ID is not";
    /// The application's rules change.
    L7Updating "l7_updating" = 7, drop, "its application's rules were being changed";
    /// A rule says drop.
    L7Rule "l7_rule" = 8, drop, "a rule or a default says drop";
    /// A repeated first packet for which rules say something else than of the message.
    L7Conflict "l7_conflict" = 9, drop, "repeats a message ID, and rules say something else of it than of the message";
    /// Packets that left on the stream, as frames or with a queue.
    Left "left" = 13, count, "packets that left on the host's stream";
    /// Packets that went into a message's buffer.
    Consumed "consumed" = 14, count, "packets that went into a buffer of a ring";
    /// Matcher programs that came to a row of somebody else, or to no end.
    Faults "faults" = 15, count, "messages whose program came to a row of another module or to no end";
}

/// The folder in the registry.
pub(crate) static FOLDER: Folder = Folder {
    engine: Some(EngineId::L7),
    name: "l7",
    title: "l7 engine",
    prefix: "L7",
    everywhere: false,
    nodes: NODES,
    tables: TABLES,
    events: &[EVENTS],
    rows: rows::ROWS,
    codes: &[codes::L7Goal::LIST, codes::L7PortKind::LIST, codes::L7RingEvent::LIST, codes::L7Status::LIST],
    generated: || {
        vec![("rtl/gen/sluice_l7_rows_pkg.sv", generated::package()), ("docs/design/l7-rows.md", generated::page())]
    },
};
