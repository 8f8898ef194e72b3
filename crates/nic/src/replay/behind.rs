//! Packets behind the last host queue, where an engine dispatches them.

use super::compare::{Mismatch, check, mismatch};
use super::{Packet, Replay, unknown};
use crate::tables::Tables;
use sluice_device::{Decided, Followed, Sent, engine as device};
use sluice_formats::l7::rows::{L7ForgetTraceRow, L7RingTraceRow, L7TraceRow};

/// Where a packet is that an engine behind the last host queue has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Behind {
    /// It has left the queue.
    Waits,
    /// Its last beat has left as one of a message for this queue, and it is told later that it is decided.
    Left(Option<u8>),
    /// It is decided and leaves so.
    Leaves(Option<u8>),
}

impl Behind {
    /// It is not told yet what becomes of it.
    pub(super) fn is_undecided(self) -> bool {
        matches!(self, Self::Waits | Self::Left(_))
    }

    /// Its last beat leaves as one of a message for this queue; an error says where the model has it.
    pub(super) fn left(before: Option<Self>, queue: Option<u8>) -> Result<Option<Self>, String> {
        match before {
            Some(Self::Waits) => Ok(Some(Self::Left(queue))),
            Some(Self::Leaves(decided)) if decided == queue => Ok(None),
            other => Err(format!("{other:?}")),
        }
    }
}

impl Replay {
    /// A packet has left the last host queue.
    pub(super) fn came_behind(&mut self, id: u32) -> Result<(), Mismatch> {
        let packet = self.packets.get_mut(&id).ok_or_else(|| unknown(id, "leave"))?;
        packet.behind = Some(Behind::Waits);
        Self::followed(&mut self.tables, id)?.came(&packet.inside);
        Ok(())
    }

    fn followed(tables: &mut Tables, id: u32) -> Result<&mut dyn Followed, Mismatch> {
        let none = || mismatch(id, "l7", "no engine behind the queues".to_owned(), "one".to_owned());
        tables.engines_mut().followed().ok_or_else(none)
    }

    /// The engine behind the last host queue has decided about a packet at this tick.
    pub fn dispatched(&mut self, row: &L7TraceRow, tick: u64) -> Result<(), Mismatch> {
        let at = "l7";
        let waits = |packet: &&mut Packet| packet.behind.is_some_and(Behind::is_undecided);
        let packet = self.packets.get_mut(&row.id).filter(waits).ok_or_else(|| unknown(row.id, at))?;
        let device::Packet { module, stamped, .. } = packet.inside;
        let decided = Self::followed(&mut self.tables, row.id)?.decided(row, tick);
        let told = |model| mismatch(row.id, at, model, format!("{row:?}"));
        let Decided { sent, queue } = decided.map_err(told)?;
        self.tables.leave_behind(module, stamped);
        let before = packet.behind.take();
        match (sent, before) {
            (Sent::Delivered, Some(Behind::Left(left))) => {
                check(left == queue, row.id, at, || (format!("queue {queue:?}"), format!("left with {left:?}")))?;
            }
            (Sent::Delivered, _) => {
                packet.behind = Some(Behind::Leaves(queue));
                return Ok(());
            }
            (Sent::Dropped(_) | Sent::Consumed(_), Some(Behind::Left(_))) => {
                return Err(mismatch(row.id, at, format!("{sent:?}"), "left".to_owned()));
            }
            (Sent::Dropped(_) | Sent::Consumed(_), _) => {}
        }
        packet.unseen -= 1;
        self.forget_if_done(row.id);
        Ok(())
    }

    /// Something has happened at a ring.
    pub fn ring_event(&mut self, row: &L7RingTraceRow, tick: u64) -> Result<(), Mismatch> {
        let result = self.tables.engines_mut().followed().map_or(Ok(()), |engine| engine.ring_event(row, tick));
        result.map_err(|model| Mismatch { packet: None, at: "ring", model, device: format!("{row:?}") })
    }

    /// An entry of the message table is given back.
    pub fn forgot(&mut self, row: &L7ForgetTraceRow, tick: u64) -> Result<(), Mismatch> {
        let result = self.tables.engines_mut().followed().map_or(Ok(()), |engine| engine.forgot(row, tick));
        result.map_err(|model| Mismatch { packet: None, at: "message table", model, device: format!("{row:?}") })
    }

    /// The host has written to its memory.
    pub fn host_wrote(&mut self, address: u64, bytes: &[u8]) {
        if let Some(engine) = self.tables.engines_mut().followed() {
            engine.host_wrote(address, bytes);
        }
    }

    /// The device has written to host memory.
    pub fn wrote(&mut self, address: u64, bytes: &[u8]) -> Result<(), Mismatch> {
        let result = self.tables.engines_mut().followed().map_or(Ok(()), |engine| engine.wrote(address, bytes));
        let device = || format!("{} bytes at {address:#x}: {bytes:02x?}", bytes.len());
        result.map_err(|model| Mismatch { packet: None, at: "host memory", model, device: device() })
    }
}
