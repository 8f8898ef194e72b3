//! The model of an engine that dispatches messages, where it follows a device: what the device's trace tells is compared with what the
//! model says.

use crate::engine::Packet;
use crate::engines::Sent;
use sluice_formats::l7::rows::{L7ForgetTraceRow, L7RingTraceRow, L7TraceRow};

/// What became of a packet, and the queue of its message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decided {
    /// What became of it.
    pub sent: Sent,
    /// Of one that leaves as a message's packet.
    pub queue: Option<u8>,
}

/// An engine behind the last host queue that follows a device. Events are given in the order of their cycles; an error says what both sides
/// have.
pub trait Followed {
    /// A copy has left the last host queue.
    fn came(&mut self, packet: &Packet);

    /// The engine has decided about a packet that came.
    fn decided(&mut self, row: &L7TraceRow, tick: u64) -> Result<Decided, String>;

    /// Something has happened at a ring.
    fn ring_event(&mut self, row: &L7RingTraceRow, tick: u64) -> Result<(), String>;

    /// An entry of the message table is given back.
    fn forgot(&mut self, row: &L7ForgetTraceRow, tick: u64) -> Result<(), String>;

    /// The host has written to its memory.
    fn host_wrote(&mut self, address: u64, bytes: &[u8]);

    /// The device has written to host memory.
    fn wrote(&mut self, address: u64, bytes: &[u8]) -> Result<(), String>;
}
