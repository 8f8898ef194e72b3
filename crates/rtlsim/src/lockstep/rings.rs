//! The host's rings of RTL and model in lockstep: both get what the host writes, and what the RTL writes is compared when it is told.

use crate::lockstep::{Comparison, Halt, Input};
use sluice_device::{Device, DeviceError, RingDriver, RingHost};
use sluice_formats::{Node, Table};

impl RingHost for Comparison {
    fn ring_driver(&mut self) -> &mut RingDriver {
        self.rings_mut()
    }

    fn write_row(&mut self, table: Table, index: u32, words: &[u32]) -> Result<(), DeviceError> {
        self.input(Input::RingRow(table, index, words.to_vec()), |rtl, _| {
            RingHost::write_row(rtl, table, index, words).map_err(Halt::from)
        })
    }

    fn row(&mut self, table: Table, index: u32) -> Result<Vec<u32>, DeviceError> {
        self.read_row(Node::L7, table, index)
    }

    fn write_memory(&mut self, address: u64, bytes: &[u8]) -> Result<(), DeviceError> {
        self.input(Input::Memory(address, bytes.to_vec()), |rtl, _| {
            RingHost::write_memory(rtl, address, bytes).map_err(Halt::from)
        })
    }

    fn read_memory(&mut self, address: u64, count: usize) -> Result<Vec<u8>, DeviceError> {
        RingHost::read_memory(self.rtl_mut(), address, count)
    }
}
