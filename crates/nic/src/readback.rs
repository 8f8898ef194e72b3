//! What the host reads of a software NIC: rows, counters, identity.

use crate::bank::CounterBank;
use crate::tables::{Tables, check_address};
use sluice_device::{Capabilities, DeviceError, ReadError};
use sluice_formats::address::{Access, SNAPSHOT_INDEX_BIT, info};
use sluice_formats::limits::{FORMAT_VERSION, TICK_BITS};
use sluice_formats::{EngineId, Node, Status, Table};

/// What is read from, at this tick.
pub(crate) struct Readback<'a> {
    pub capabilities: &'a Capabilities,
    pub tables: &'a Tables,
    pub bank: &'a CounterBank,
    pub last_snapshot: &'a CounterBank,
    pub now: u64,
}

impl Readback<'_> {
    /// A row with all its words, or a counter.
    pub fn row(&self, node: Node, table: Table, index: u32) -> Result<Vec<u32>, DeviceError> {
        let words = |value: u64| vec![value as u32, (value >> 32) as u32];
        let address = check_address(&self.capabilities.target, node, table, index);
        let row = address.and_then(|()| match table.access() {
            Access::ReadWrite => self.tables.row(node, table, index),
            Access::WriteOnly => Err(Status::WriteOnly),
            _ if table.engine().is_some() => self.tables.read(node, table, index),
            Access::ReadOnly => Ok(words(self.info(index))),
            Access::Counter => {
                let bank = if index >> SNAPSHOT_INDEX_BIT & 1 == 1 { self.last_snapshot } else { self.bank };
                bank.value(node, table, index).map(words)
            }
        });
        row.map_err(|status| DeviceError::Read { node, table: table.name(), index, error: ReadError::Status(status) })
    }

    fn info(&self, index: u32) -> u64 {
        match index {
            info::VERSION => u64::from(FORMAT_VERSION),
            info::TARGET_HASH => u64::from(self.capabilities.target.hash()),
            info::TICKS => self.now & ((1 << TICK_BITS) - 1),
            info::ENGINES => EngineId::set(self.capabilities.engines.iter().copied()).into(),
            // No ring, so no lost messages; no clock, so no watchdog.
            _ => 0,
        }
    }
}
