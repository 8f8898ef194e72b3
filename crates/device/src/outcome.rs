//! Packets in, what became of them, and what else a device reports.

use crate::error::DeviceError;
use sluice_formats::Reason;

/// Identifies an operation until its `OpDone`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OpId(pub u64);

/// A packet that arrives on a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    /// Port, from 0.
    pub port: u8,
    /// Frame without FCS.
    pub bytes: Vec<u8>,
    /// Earliest tick of its first beat; packets of a port start in the order offered, each
    /// at this tick or as soon as the one before it has arrived.
    pub at: u64,
    /// The MAC marks it bad.
    pub bad: bool,
}

/// What became of one packet or copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Left through a port.
    Forwarded {
        /// Port.
        port: u8,
    },
    /// Reached a host queue.
    Delivered {
        /// Host queue.
        queue: u8,
    },
    /// Went into a buffer of a ring, and is written there.
    Consumed {
        /// Ring.
        ring: u8,
    },
    /// Dropped.
    Dropped {
        /// Why.
        reason: Reason,
        /// Destination of the copy for tail drops.
        destination: Option<u8>,
    },
}

/// One outcome; a multicast packet has several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Packet ID: port in bits 31:28, number of the frame on its port below, from 0.
    pub id: u32,
    /// Verdict.
    pub verdict: Verdict,
    /// Module that served the packet.
    pub module: u8,
    /// Its tenant, where the packet got as far as having one in its sideband.
    pub tenant: Option<u16>,
    /// Generation stamped; None for packets dropped at ingress.
    pub generation: Option<u8>,
    /// Tick at which it entered the pipeline and got its generation; None for packets dropped at ingress.
    pub stamp: Option<u64>,
    /// Bytes as they left; empty for drops and for what is in a buffer.
    pub bytes: Vec<u8>,
    /// Queue that the program asked for, behind dispatch that of its message; 0 for drops.
    pub queue: u8,
    /// Tag of this copy in the program's multicast group; 0 without a group.
    pub tag: u16,
    /// Tick of the first beat in, where the device has cycles.
    pub first_in: Option<u64>,
    /// Tick of the first beat out.
    pub first_out: Option<u64>,
    /// Tick of the last beat out, or of the drop.
    pub last_out: Option<u64>,
}

/// What `poll` reports.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// Something became of a packet.
    Outcome(Outcome),
    /// An operation ended.
    OpDone {
        /// Which.
        op: OpId,
        /// How.
        result: Result<(), DeviceError>,
    },
}
