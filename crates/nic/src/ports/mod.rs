//! What ports and host queues are bound to: captures, interfaces of the machine, TAP devices.

mod bindings;
mod capture;
mod copy;
#[cfg(all(feature = "live", target_os = "linux"))]
mod interface;
mod live;
mod watch;

pub use bindings::{Bindings, HostBinding, PortBinding, SocketKind, Written};
pub use capture::{CaptureSink, CaptureSource};
pub use live::{LiveCounts, run_live};
pub use watch::{LinkReport, LinkState, Watch};

use sluice_packet::capture::CaptureError;

/// Where a port's packets come from.
pub trait Source: Send {
    /// Gives up to `most` frames that are there now to `take`, without FCS, tags in place. Never waits. How many; none where there will never be more.
    fn receive(&mut self, most: usize, take: &mut dyn FnMut(&[u8])) -> Result<Option<usize>, PortError>;

    /// Whether what is not taken now is there later.
    fn is_patient(&self) -> bool {
        false
    }

    /// Packets since the last call that came and found no room before they were taken.
    fn missed(&mut self) -> u64 {
        0
    }
}

/// Where a destination's packets go.
pub trait Sink: Send {
    /// Frames that it takes now.
    fn room(&mut self) -> usize {
        usize::MAX
    }

    /// Sends a frame, of which `parts` are the pieces, at the next [`Sink::flush`] at the latest; false when an interface has no room for it
    /// now. Never waits.
    fn send(&mut self, parts: &[&[u8]]) -> Result<bool, PortError>;

    /// Sends what was given so far.
    fn flush(&mut self) -> Result<(), PortError> {
        Ok(())
    }

    /// Called at least every pause of the loop: an interface looks whether it is still there.
    fn look(&mut self) {}

    /// Writes what is still buffered; packets that a capture has of it.
    fn finish(self: Box<Self>) -> Result<u64, PortError> {
        Ok(0)
    }
}

/// A binding that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PortError {
    /// A capture.
    #[error(transparent)]
    Capture(Box<CaptureError>),
    /// An interface or TAP device.
    #[cfg(all(feature = "live", target_os = "linux"))]
    #[error(transparent)]
    Interface(#[from] sluice_ports::PortError),
    /// The device between the ports.
    #[error(transparent)]
    Device(#[from] sluice_device::DeviceError),
    /// The threads of workers.
    #[error("no thread for a worker: {0}")]
    Thread(std::io::Error),
    /// This build has no live interfaces.
    #[error("interface `{name}`: this build has no live interfaces; build on Linux with feature `live`")]
    NotBuilt {
        /// Its name.
        name: String,
    },
}

impl PortError {
    /// Code for `sluice explain`.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Capture(error) => error.code(),
            Self::Device(error) => error.code(),
            #[cfg(all(feature = "live", target_os = "linux"))]
            Self::Interface(error) => error.code(),
            Self::Thread(_) => "E0307",
            Self::NotBuilt { .. } => "E0308",
        }
    }
}

impl From<CaptureError> for PortError {
    fn from(error: CaptureError) -> Self {
        Self::Capture(Box::new(error))
    }
}
