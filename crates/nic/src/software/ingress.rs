//! Ports of the software NIC: arrival in time, FIFOs, the fair merge.

use crate::drr::Drr;
use sluice_formats::{Reason, Target};
use std::collections::VecDeque;

/// Beats a port gains a turn of the merge: one frame of usual length.
const MERGE_QUANTUM_BEATS: u32 = 24;

/// A frame on its way to a port.
#[derive(Debug)]
pub(super) struct Arrival {
    pub bytes: Vec<u8>,
    pub at: u64,
    pub bad: bool,
}

#[derive(Debug)]
struct Port<S> {
    arrivals: VecDeque<Arrival>,
    /// The first arrival's first beat and the tick after its last, once it has been placed.
    placed: Option<(u64, u64)>,
    free_at: u64,
    fifo: VecDeque<(Size, S)>,
    stored: Size,
}

/// What a packet takes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Size {
    /// Beats of the FIFO.
    pub beats: u32,
    /// Beats of the pipeline, at most.
    pub cost: u32,
}

/// Ports that store packets `S`, each with what it takes.
#[derive(Debug)]
pub(super) struct Ports<S> {
    target: Target,
    ports: Vec<Port<S>>,
    merge: Drr,
    /// Ports with a stored packet.
    ready: u64,
}

impl<S> Ports<S> {
    pub fn new(target: Target) -> Self {
        let port = || Port {
            arrivals: VecDeque::new(),
            placed: None,
            free_at: 0,
            fifo: VecDeque::new(),
            stored: Size::default(),
        };
        Self {
            target,
            ports: (0..target.ports).map(|_| port()).collect(),
            merge: Drr::new(target.ports as usize),
            ready: 0,
        }
    }

    pub fn offer(&mut self, port: u8, arrival: Arrival) {
        let port = &mut self.ports[usize::from(port)];
        port.arrivals.push_back(arrival);
        place(port, &self.target);
    }

    /// The next frame of a port that has arrived whole by `now`, with the tick of its first beat.
    pub fn arrived(&mut self, port: u8, now: u64) -> Option<(u64, Arrival)> {
        let port = &mut self.ports[usize::from(port)];
        let (start, _) = port.placed.filter(|(_, end)| *end <= now)?;
        let arrival = port.arrivals.pop_front()?;
        port.placed = None;
        place(port, &self.target);
        Some((start, arrival))
    }

    /// Whether a packet has room in the port's FIFO of the target's size; beyond its share, only while the FIFO holds at most
    /// `excess` cost beats with it.
    pub fn room(&self, port: u8, size: Size, excess: Option<u32>) -> Result<(), Reason> {
        let port = &self.ports[usize::from(port)];
        if excess.is_some_and(|excess| port.stored.cost + size.cost > excess) {
            return Err(Reason::OverShare);
        }
        let fits = port.stored.beats + size.beats <= self.target.port_beats
            && port.fifo.len() < self.target.port_packets as usize;
        if fits { Ok(()) } else { Err(Reason::Overload) }
    }

    pub fn store(&mut self, port: u8, size: Size, packet: S) {
        self.ready |= 1 << port;
        let port = &mut self.ports[usize::from(port)];
        port.stored.beats += size.beats;
        port.stored.cost += size.cost;
        port.fifo.push_back((size, packet));
    }

    /// The packet that the merge takes next, with its beats.
    pub fn take(&mut self) -> Option<(u32, S)> {
        let index = self.merge.next(self.ready, |_| MERGE_QUANTUM_BEATS)?;
        let port = &mut self.ports[index];
        let (size, packet) = port.fifo.pop_front()?;
        port.stored.beats -= size.beats;
        port.stored.cost -= size.cost;
        let empty = port.fifo.is_empty();
        if empty {
            self.ready &= !(1 << index);
        }
        self.merge.charge(index, size.cost, empty);
        Some((size.beats, packet))
    }

    pub fn has_stored(&self) -> bool {
        self.ready != 0
    }

    pub fn stored(&self) -> impl Iterator<Item = &S> {
        self.ports.iter().flat_map(|p| p.fifo.iter().map(|(_, s)| s))
    }

    /// When the next frame will have arrived.
    pub fn next_event(&self) -> Option<u64> {
        self.ports.iter().filter_map(|p| p.placed.map(|(_, end)| end)).min()
    }
}

/// Gives the first arrival of a port its time: when it may come and the port is free.
fn place<S>(port: &mut Port<S>, target: &Target) {
    if port.placed.is_none()
        && let Some(arrival) = port.arrivals.front()
    {
        let start = arrival.at.max(port.free_at);
        let end = start.saturating_add(u64::from(target.beats(arrival.bytes.len() as u32)));
        (port.placed, port.free_at) = (Some((start, end)), end);
    }
}
