//! Host operations on the rings of message dispatch: docs/design/l7.md, "Receive".
//!
//! A ring is opened in two steps. [`Rings::give_memory`] gives it places for descriptors and completions in host memory; then a load
//! of the linker ([`sluice_object::Linker::open_ring`]) writes its row. Rings have the device's numbers, not the tenant's.

use crate::error::DeviceError;
use sluice_formats::l7::codes::L7Status;
use sluice_formats::l7::rows::L7CompletionRow;
use sluice_formats::{Status, Table};
use sluice_object::RingMemory;
use std::fmt;

/// Shortest buffer that can be posted: the headers of a message without any byte.
pub const LEAST_BUFFER: u32 = 42;
/// Longest: more than 64 packets of the longest frame.
pub const MOST_BUFFER: u32 = 1 << 20;

/// A message that has ended, or what is left of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Its completion, as the device wrote it.
    pub completion: L7CompletionRow,
    /// How it ended.
    pub status: L7Status,
    /// Its headers and its bytes; none of a message that is not whole.
    pub bytes: Vec<u8>,
}

/// What cannot be done with a ring.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RingError {
    /// The device does not have so many.
    #[error("ring {found} does not exist, the device has rings 0 to {max}")]
    Number {
        /// Found.
        found: u8,
        /// Highest.
        max: usize,
    },
    /// The module has been given no memory for it.
    #[error("ring {ring} is none of module {module}, which has {has}")]
    Foreign {
        /// The ring.
        ring: u8,
        /// The module.
        module: u8,
        /// Its rings.
        has: RingList,
    },
    /// A size that no ring has.
    #[error("ring {ring}: 2^{found} buffers, 2^{least} to 2^{most} are possible")]
    Size {
        /// The ring.
        ring: u8,
        /// Found.
        found: u8,
        /// Smallest.
        least: u8,
        /// Largest.
        most: u8,
    },
    /// It has messages or takes some.
    #[error("ring {ring} is in use: {what}")]
    InUse {
        /// The ring.
        ring: u8,
        /// What it does.
        what: &'static str,
    },
    /// No row says that it is there.
    #[error("ring {ring} of module {module} is not open: it has memory, and no row of the linker yet")]
    Closed {
        /// The ring.
        ring: u8,
        /// The module.
        module: u8,
    },
    /// More buffers than it has places for.
    #[error(
        "ring {ring}: {asked} buffers, it has room for {left} of {size}: completions that were not taken keep their places"
    )]
    Full {
        /// The ring.
        ring: u8,
        /// How many.
        asked: usize,
        /// How many have room.
        left: u64,
        /// How many it can have.
        size: u64,
    },
    /// A buffer that no message fits into, or that is too large.
    #[error("ring {ring}: a buffer of {found} bytes, {LEAST_BUFFER} to {MOST_BUFFER} are possible")]
    Length {
        /// The ring.
        ring: u8,
        /// Found.
        found: u32,
    },
    /// The device wrote a completion that cannot be.
    #[error("ring {ring}, completion {number}: {what}")]
    Completion {
        /// The ring.
        ring: u8,
        /// Number of the completion, from 0.
        number: u64,
        /// What is wrong with it.
        what: String,
    },
    /// A row of rings was answered with a status.
    #[error("{}: {} row {index}", .status.name(), .table.name())]
    Row {
        /// Table.
        table: Table,
        /// Row.
        index: u32,
        /// The answer.
        status: Status,
    },
}

/// Numbers of rings in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RingList(pub Vec<u8>);

impl fmt::Display for RingList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("none");
        }
        let numbers: Vec<String> = self.0.iter().map(u8::to_string).collect();
        f.write_str(&numbers.join(", "))
    }
}

impl RingError {
    /// Code for `sluice explain`.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Number { .. } | Self::Foreign { .. } => "E0876",
            Self::Full { .. } | Self::Length { .. } => "E0877",
            Self::Size { .. } | Self::InUse { .. } | Self::Closed { .. } => "E0878",
            Self::Completion { .. } | Self::Row { .. } => "E0307",
        }
    }

    /// Whether it was asked for what cannot be: nothing went wrong in the device.
    pub fn is_refusal(&self) -> bool {
        !matches!(self, Self::Completion { .. } | Self::Row { .. })
    }
}

/// The rings of all modules of one engine, with the host's memory.
pub trait Rings {
    /// Memory for a ring of 2^`log_size` descriptors and as many completions, for its row. What it had before is forgotten; a ring
    /// whose row stands, or whose messages have buffers, is refused.
    fn give_memory(&mut self, module: u8, ring: u8, log_size: u8) -> Result<RingMemory, DeviceError>;

    /// Posts buffers of these lengths to an open ring and rings its doorbell. Either all are posted or none.
    fn post(&mut self, module: u8, ring: u8, lengths: &[u32]) -> Result<(), DeviceError>;

    /// Takes messages that have ended, in the order of their completions, and rings the doorbell for them.
    fn take(&mut self, module: u8, ring: u8, most: usize) -> Result<Vec<Message>, DeviceError>;
}
