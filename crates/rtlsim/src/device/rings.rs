//! The host's rings of a simulated NIC: rows over the configuration ring, and the memory behind its DMA port.

use crate::device::config_driver::RowWrite;
use crate::device::{RtlNic, Tapped};
use sluice_device::{Device, DeviceError, RingDriver, RingHost};
use sluice_formats::{Node, Table};

impl RingHost for RtlNic {
    fn ring_driver(&mut self) -> &mut RingDriver {
        self.rings_mut()
    }

    /// Whoever follows is told before the row is sent: what it leads to may come before the answer.
    fn write_row(&mut self, table: Table, index: u32, words: &[u32]) -> Result<(), DeviceError> {
        let write = RowWrite { node: Node::L7, table, index, words: words.to_vec() };
        self.tap_push(Tapped::Asked(write.clone()));
        Self::write_row(self, write.node, table, index, write.words)
    }

    fn row(&mut self, table: Table, index: u32) -> Result<Vec<u32>, DeviceError> {
        self.read_row(Node::L7, table, index)
    }

    fn write_memory(&mut self, address: u64, bytes: &[u8]) -> Result<(), DeviceError> {
        self.tap_push(Tapped::Memory(address, bytes.to_vec()));
        self.instance_mut().memory_write(address, bytes);
        Ok(())
    }

    fn read_memory(&mut self, address: u64, count: usize) -> Result<Vec<u8>, DeviceError> {
        Ok(self.instance_mut().memory_read(address, count))
    }
}
