//! The host's rings of the l7 engine's own top: rows over the configuration ring, and the memory behind its DMA port.

use crate::l7::dispatch::Dispatcher;
use sluice_device::{DeviceError, RingDriver, RingHost};
use sluice_formats::Table;

impl RingHost for Dispatcher {
    fn ring_driver(&mut self) -> &mut RingDriver {
        self.rings_mut()
    }

    fn write_row(&mut self, table: Table, index: u32, words: &[u32]) -> Result<(), DeviceError> {
        let (rtl, rows) = self.parts_mut();
        rows.write_words(rtl, table, index, words.to_vec()).map_err(|e| DeviceError::Unavailable(e.to_string()))
    }

    fn row(&mut self, table: Table, index: u32) -> Result<Vec<u32>, DeviceError> {
        let (rtl, rows) = self.parts_mut();
        rows.read_words(rtl, table, index).map_err(|e| DeviceError::Unavailable(e.to_string()))
    }

    fn write_memory(&mut self, address: u64, bytes: &[u8]) -> Result<(), DeviceError> {
        self.parts_mut().0.memory_write(address, bytes);
        Ok(())
    }

    fn read_memory(&mut self, address: u64, count: usize) -> Result<Vec<u8>, DeviceError> {
        Ok(self.parts_mut().0.memory_read(address, count))
    }
}
