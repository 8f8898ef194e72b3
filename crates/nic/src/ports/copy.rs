//! A capture beside an interface: what leaves goes to both.

use super::{CaptureSink, PortError, Sink};

/// Sends to an interface and keeps a copy of every frame, also of those that the interface has no room for.
pub(super) struct Copied {
    pub interface: Box<dyn Sink>,
    pub copy: CaptureSink,
}

impl Sink for Copied {
    fn room(&mut self) -> usize {
        self.interface.room()
    }

    fn send(&mut self, parts: &[&[u8]]) -> Result<bool, PortError> {
        self.copy.send(parts)?;
        self.interface.send(parts)
    }

    fn flush(&mut self) -> Result<(), PortError> {
        self.interface.flush()
    }

    fn look(&mut self) {
        self.interface.look();
    }

    fn finish(self: Box<Self>) -> Result<u64, PortError> {
        self.interface.finish()?;
        Box::new(self.copy).finish()
    }
}
