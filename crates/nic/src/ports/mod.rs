//! What ports and host queues are bound to: captures, interfaces of the machine, TAP devices.

#[cfg(all(feature = "live", target_os = "linux"))]
#[allow(unsafe_code)] // System calls that no kept crate makes; each has its reason.
mod af_packet;
mod bindings;
mod capture;
#[cfg(all(feature = "live", target_os = "linux"))]
mod claim;
mod copy;
#[cfg(all(feature = "live", target_os = "linux"))]
mod link;
mod live;
#[cfg(all(feature = "live", target_os = "linux"))]
mod tap;
mod watch;

#[cfg(all(feature = "live", target_os = "linux"))]
pub use af_packet::PacketSocket;
pub use bindings::{Bindings, HostBinding, PortBinding, Written};
pub use capture::{CaptureSink, CaptureSource};
pub use live::{LiveCounts, run_live};
#[cfg(all(feature = "live", target_os = "linux"))]
pub use tap::Tap;
pub use watch::{LinkReport, LinkState, Watch};

use sluice_packet::capture::CaptureError;

/// A packet that a source gave.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Received {
    /// Frame without FCS, tags in place.
    pub bytes: Vec<u8>,
    /// Nanoseconds since 1970.
    pub stamp_ns: u64,
}

/// What a source has now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// A packet.
    Packet(Received),
    /// Nothing now; ask again.
    Later,
    /// Nothing ever again.
    End,
}

/// Where a port's packets come from.
pub trait Source {
    /// The next packet; never waits.
    fn next(&mut self) -> Result<Input, PortError>;

    /// Packets since the last call that came and found no room before they were taken.
    fn missed(&mut self) -> u64 {
        0
    }
}

/// Where a destination's packets go.
pub trait Sink {
    /// Sends a frame; false when an interface has no room for it now. Never waits.
    fn send(&mut self, bytes: &[u8], stamp_ns: u64) -> Result<bool, PortError>;

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
    #[error("interface `{name}`: {what}: {error}")]
    Interface {
        /// Its name.
        name: String,
        /// What was tried.
        what: &'static str,
        /// The system's answer.
        error: std::io::Error,
    },
    /// Another NIC has the interface, or another port of this one.
    #[error(
        "interface `{name}`: another sluice process has it, or another port of this one: each frame would be taken twice; an \
         interface belongs to one port of one NIC"
    )]
    Taken {
        /// Its name.
        name: String,
    },
    /// The device between the ports.
    #[error(transparent)]
    Device(#[from] sluice_device::DeviceError),
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
            Self::Interface { .. } | Self::NotBuilt { .. } => "E0308",
            Self::Taken { .. } => "E0313",
        }
    }
}

impl From<CaptureError> for PortError {
    fn from(error: CaptureError) -> Self {
        Self::Capture(Box::new(error))
    }
}
