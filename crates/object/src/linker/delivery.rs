//! What a tenant's queues at a destination take, whatever others do: the share there.
//!
//! docs/decisions/isolation.md, "Share at a destination", derives every number here.

use super::shares::{MAINTENANCE, WHOLE};
use super::tenants::Tenant;
use super::{LinkError, Linker};
use crate::destination::Destination;
use sluice_formats::Target;
use sluice_formats::limits::MAX_FRAME_BYTES;

/// Shortest packet that leaves, in bytes.
pub const SHORTEST: u64 = 14;
/// Copies that a destination has chosen before (rtl/nic/sluice_nic_queues.sv), and the one that is read.
pub const CHOSEN: u64 = 9;
/// Packets that a module is charged for too late.
pub const LATE: u64 = 3;

/// What a tenant may send to one destination, from all his ports together, so that each packet finds room in his low queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivery {
    target: &'static Target,
    /// Packets that the queue holds.
    pub packets: u32,
    /// Cells that the queue holds, those kept for the high one left out.
    pub cells: u32,
    /// Ticks by which a packet may come later to the queue than another of its length: what its port and the pipeline may hold it.
    pub held: u64,
    /// Bytes of the tenant's turn.
    pub quantum: u32,
    /// The other tenants there.
    pub others: u64,
    /// Bytes of their turns together.
    pub turns: u64,
    /// Beats of the longest packet that each of them may have there, together.
    pub overdrafts: u64,
    /// Beats of the longest of all.
    pub longest: u64,
}

/// Ticks that the pipeline holds a packet, at most, and the port before its FIFO: 64 of stages and realignment, and what may be in
/// front of it, at a beat a tick. That is `DataBeats` beats and, for each of its `Credits` packets, what a program adds at most
/// (rtl/rmt/sluice_rmt.sv).
pub fn pipeline(target: &Target) -> u64 {
    const LATENCY: u64 = 64;
    const DATA_BEATS: u64 = 512;
    const CREDITS: u64 = 128;
    const GROWTH: u32 = 64;
    LATENCY + DATA_BEATS + CREDITS * u64::from(target.beats(GROWTH))
}

/// Ticks that packets with an XDP program may keep others at the engine's output (rtl/xdp/sluice_xdp_out.sv), at most: `Held` beats.
fn behind_xdp(target: &Target) -> u64 {
    const HELD_BYTES: u32 = 16_384;
    (HELD_BYTES / target.bus_bytes).into()
}

impl Delivery {
    /// Ticks of a round of all turns in which the tenant sends packets of so many bytes, at most and over many rounds: a destination
    /// reads a beat in as many ticks as there are destinations, and the host may take one of `MAINTENANCE`. What a turn overdraws
    /// is taken from the next one.
    pub fn round(&self, length: u32) -> u64 {
        let own = (u64::from(self.quantum) * u64::from(self.target.beats(length))).div_ceil(length.into());
        self.ticks(self.turns.div_ceil(SHORTEST) + own) + self.others + 1
    }

    /// Ticks until the destination has begun to serve the tenant at its rate, at most.
    fn latency(&self, length: u32) -> u64 {
        // Debt from before costs turns of its own; what others overdraw they do once.
        let overdrawn = 1 + LATE;
        let round = self.round(length);
        round
            + (round * overdrawn * u64::from(length)).div_ceil(self.quantum.into())
            + self.ticks(overdrawn * self.overdrafts + CHOSEN * self.longest)
            + pipeline(self.target)
    }

    /// Packets of the tenant that find room together.
    pub fn room(&self, length: u32) -> u32 {
        self.packets.min(self.cells / self.target.beats(length))
    }

    /// Packets of so many bytes at most, as they leave, in 2^32 ticks that find room, when so many may come at once; 0 where that
    /// many do not.
    pub fn packets_per_round(&self, length: u32, at_once: u32) -> u64 {
        let (bytes, quantum) = (u64::from(length), u64::from(self.quantum));
        let room = self.room(length).saturating_sub(at_once);
        let served = u128::from(WHOLE) * u128::from(quantum) / (u128::from(bytes) * u128::from(self.round(length)));
        let fits = u128::from(WHOLE) * u128::from(room) / u128::from(self.held + self.latency(length));
        served.min(fits) as u64
    }

    /// The same in bits a second.
    pub fn bits_per_second(&self, length: u32, at_once: u32) -> u64 {
        let bits = u128::from(self.packets_per_round(length, at_once)) * u128::from(8 * length);
        let bus = u128::from(self.target.bits_per_second()) / u128::from(8 * self.target.bus_bytes);
        ((bits * bus) >> 32) as u64
    }

    /// Ticks from the end of a packet at its port until it has been read for the destination, at most, of packets that keep to
    /// [`Self::packets_per_round`].
    pub fn leaves_within(&self, length: u32, at_once: u32) -> u64 {
        let each = u64::from(length) * self.round(length);
        self.held + self.latency(length) + (u64::from(at_once) * each).div_ceil(self.quantum.into())
    }

    fn ticks(&self, beats: u64) -> u64 {
        (u64::from(self.target.destinations()) * beats * MAINTENANCE).div_ceil(MAINTENANCE - 1)
    }
}

impl Linker {
    /// What the tenant's queues at a destination take; none where he may not send.
    pub fn delivery(&self, id: u16, to: Destination) -> Result<Option<Delivery>, LinkError> {
        Ok(self.delivery_of(self.tenant(id)?, to))
    }

    pub(super) fn delivery_of(&self, tenant: &Tenant, to: Destination) -> Option<Delivery> {
        let row = tenant.spec.queues.get(&to).map(|_| tenant.spec.limit_row(Some(to)))?;
        let there = self.tenants.values().filter(|t| t.spec.id != tenant.spec.id);
        let frame = self.settings.ports.iter().map(|port| port.max_frame).max().unwrap_or(MAX_FRAME_BYTES as u16);
        let other = |t: &Tenant| {
            let cells = *t.spec.queues.get(&to)?;
            Some((u64::from(t.spec.quantum), self.longest(frame, self.growth(t)).min(cells.into()).into()))
        };
        let others: Vec<(u64, u64)> = there.filter_map(other).collect();
        let waits = self.ports_of(tenant.spec.id).map(|(_, shares)| shares.wait);
        Some(Delivery {
            target: self.target,
            packets: self.target.queue_packets,
            cells: u32::from(row.cells) - u32::from(row.reserve),
            held: waits.max().unwrap_or(0)
                + pipeline(self.target)
                + if self.has_xdp() { behind_xdp(self.target) } else { 0 },
            quantum: tenant.spec.quantum.into(),
            others: others.len() as u64,
            turns: others.iter().map(|(quantum, _)| quantum).sum(),
            overdrafts: others.iter().map(|(_, longest)| longest).sum(),
            longest: others.iter().map(|(_, longest)| *longest).max().unwrap_or(0),
        })
    }
}
