//! A `Load`: absolute writes in an order that is safe for packets in flight.

use crate::install::{Install, StepJson};
use serde::{Deserialize, Serialize};
use sluice_formats::{EngineId, Node, Table};

/// One step of a load.
///
/// Writes between two other steps touch different rows and may be under way together, in
/// any order; every other step begins when all before it are done, and is done before any
/// after it begins.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "StepJson", into = "StepJson")]
pub enum Step {
    /// Write one row.
    Write {
        /// Node that holds the table.
        node: Node,
        /// Table.
        table: Table,
        /// Row index.
        index: u32,
        /// All words of the row (`pack`).
        words: Vec<u32>,
    },
    /// Every write before is done before any after begins (copy, then delete).
    Barrier,
    /// Wait until no packet of this generation of the module is in flight.
    WaitDrained {
        /// Module.
        module: u8,
        /// Generation, 0 or 1.
        generation: u8,
    },
    /// Make `generation` the module's current one; asked again while the device answers busy.
    Commit {
        /// Module.
        module: u8,
        /// Generation, 0 or 1.
        generation: u8,
    },
    /// Wait until the module's queues are empty (before its limits go to another owner).
    ///
    /// Nothing of the module is in the device any more: its in flight of contract 4 is 0.
    /// That includes packets in the ports' FIFOs, which no generation counts yet and which
    /// the next owner of the module must not get.
    WaitQueuesEmpty {
        /// Module.
        module: u8,
    },
    /// Put a program of an engine into a generation of the module that no packet uses, or take it and what nobody
    /// keeps of it away.
    Install {
        /// Engine.
        engine: EngineId,
        /// Module.
        module: u8,
        /// Generation, 0 or 1.
        generation: u8,
        /// The program; none takes the one that is there away.
        install: Option<Install>,
    },
}

/// Absolute writes for one operation of one tenant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Load {
    /// Version of the formats the words are packed in.
    pub format_version: u32,
    /// Target the words are placed for.
    pub target_hash: u32,
    /// Tenant whose operation it is.
    pub tenant: u16,
    /// What it does, for people: "replace red".
    pub label: String,
    /// The steps.
    pub steps: Vec<Step>,
}
