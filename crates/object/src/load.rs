//! A `Load`: absolute writes in an order that is safe for packets in flight.

use crate::destination::{Destination, Destinations};
use crate::error::{ObjectError, bad};
use crate::xdp::Xdp;
use serde::{Deserialize, Serialize};
use sluice_formats::{Node, Table};
use std::collections::BTreeMap;

/// One step of a load.
///
/// Writes between two other steps touch different rows and may be under way together, in
/// any order; every other step begins when all before it are done, and is done before any
/// after it begins.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
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
    /// Put an XDP program into a generation of the module that no packet uses, or take it and
    /// the maps that nobody keeps away.
    Program {
        /// Module.
        module: u8,
        /// Generation, 0 or 1.
        generation: u8,
        /// The program; none takes the one that is there away.
        program: Option<Box<PlacedXdp>>,
    },
}

/// An XDP program as a device takes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlacedXdp {
    /// Programs and maps.
    pub xdp: Xdp,
    /// Maps that are not made anew, by position, with the position that each has in the program
    /// of the other generation.
    pub kept: BTreeMap<u32, u32>,
    /// Where `XDP_PASS` goes.
    pub pass: Destination,
    /// Where the program may send.
    pub granted: Destinations,
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

impl PlacedXdp {
    /// Refuses what no program may be; whose it is does not matter here.
    pub fn check(&self) -> Result<(), ObjectError> {
        self.xdp.check()?;
        match self.kept.keys().find(|map| !self.xdp.keeps(**map as usize)) {
            Some(map) => Err(bad("kept", format!("map {map}"), "maps that ask to be kept")),
            None => Ok(()),
        }
    }
}
