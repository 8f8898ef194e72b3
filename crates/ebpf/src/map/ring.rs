//! Ring buffers: how much room there is, and the order in which records reach the host.
//!
//! As in the kernel a record takes 8 bytes of header and its data rounded up to 8, and the ring is
//! full one byte before its size. Records reach the host in the order of their reservation: one that
//! is still reserved holds back those behind it. The bytes of a reserved record are the program's.

use super::{MapId, MapSpace, Store};
use crate::Errno;
use std::collections::VecDeque;

/// Bytes in front of each record.
const HEADER: u64 = 8;
/// Longest record.
const MOST: u64 = u32::MAX as u64 / 4;

/// Selectors of `bpf_ringbuf_query`.
pub mod ring_query {
    /// Bytes that were produced and not consumed.
    pub const AVAILABLE: u64 = 0;
    /// Bytes of the ring.
    pub const SIZE: u64 = 1;
    /// Where the consumer is.
    pub const CONSUMER: u64 = 2;
    /// Where the producer is.
    pub const PRODUCER: u64 = 3;
}

#[derive(Debug)]
pub(super) struct Ring {
    size: u64,
    produced: u64,
    consumed: u64,
    /// Records the host has not got, by rising position.
    waiting: VecDeque<Record>,
}

#[derive(Debug)]
struct Record {
    at: u64,
    state: State,
}

#[derive(Debug)]
enum State {
    Reserved,
    Discarded,
    Ready(Vec<u8>),
}

impl Ring {
    pub fn new(size: u32) -> Self {
        Self { size: u64::from(size), produced: 0, consumed: 0, waiting: VecDeque::new() }
    }

    /// Position of the oldest record that is still reserved.
    fn pending(&self) -> u64 {
        self.waiting.front().map_or(self.produced, |record| record.at)
    }

    fn reserve(&mut self, bytes: u64) -> Option<u64> {
        let taken = (bytes.min(MOST + 1) + HEADER).next_multiple_of(8);
        if bytes > MOST || taken > self.size {
            return None;
        }
        let (at, end) = (self.produced, self.produced + taken);
        if end - self.consumed.min(self.pending()) > self.size - 1 {
            return None;
        }
        self.produced = end;
        self.waiting.push_back(Record { at, state: State::Reserved });
        Some(at)
    }

    fn commit(&mut self, at: u64, data: Option<Vec<u8>>, deliver: &mut dyn FnMut(Vec<u8>)) -> bool {
        let Ok(index) = self.waiting.binary_search_by_key(&at, |record| record.at) else { return false };
        if !matches!(self.waiting[index].state, State::Reserved) {
            return false;
        }
        self.waiting[index].state = data.map_or(State::Discarded, State::Ready);
        while let Some(record) = self.waiting.pop_front_if(|record| !matches!(record.state, State::Reserved)) {
            if let State::Ready(data) = record.state {
                deliver(data);
            }
        }
        true
    }
}

impl MapSpace {
    /// Whether the host takes ring-buffer records as soon as they are there (it does unless told
    /// otherwise). If not, rings fill up until [`MapSpace::ring_consume`], as they do in the kernel
    /// while nobody reads them.
    pub fn set_ring_consumer(&mut self, consumes: bool) {
        self.ring_consumer = consumes;
    }

    fn ring(&mut self, map: MapId) -> Option<&mut Ring> {
        match &mut self.get_mut(map)?.store {
            Store::Ring(ring) => Some(ring),
            _ => None,
        }
    }

    /// `bpf_ringbuf_reserve`: the record's position, which names it in [`MapSpace::ring_commit`];
    /// `None` when there is no room.
    pub fn ring_reserve(&mut self, map: MapId, bytes: u64) -> Option<u64> {
        self.ring(map)?.reserve(bytes)
    }

    /// `bpf_ringbuf_submit` with the record's bytes, or `bpf_ringbuf_discard` with none. `deliver` gets
    /// what reaches the host by it, in order. False when no such record is reserved.
    pub fn ring_commit(
        &mut self,
        map: MapId,
        position: u64,
        data: Option<Vec<u8>>,
        deliver: &mut dyn FnMut(Vec<u8>),
    ) -> bool {
        let done = self.ring(map).is_some_and(|ring| ring.commit(position, data, deliver));
        if self.ring_consumer {
            self.ring_consume(map);
        }
        done
    }

    /// `bpf_ringbuf_output`.
    pub fn ring_output(&mut self, map: MapId, data: &[u8], deliver: &mut dyn FnMut(Vec<u8>)) -> Result<(), Errno> {
        let position = self.ring_reserve(map, data.len() as u64).ok_or(Errno::AGAIN)?;
        self.ring_commit(map, position, Some(data.to_vec()), deliver);
        Ok(())
    }

    /// `bpf_ringbuf_query`; 0 for what it does not know.
    pub fn ring_query(&self, map: MapId, what: u64) -> u64 {
        let Some(Store::Ring(ring)) = self.get(map).map(|m| &m.store) else { return 0 };
        match what {
            ring_query::AVAILABLE => ring.produced - ring.consumed,
            ring_query::SIZE => ring.size,
            ring_query::CONSUMER => ring.consumed,
            ring_query::PRODUCER => ring.produced,
            _ => 0,
        }
    }

    /// The host has read everything that reached it.
    pub fn ring_consume(&mut self, map: MapId) {
        if let Some(ring) = self.ring(map) {
            ring.consumed = ring.pending();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commit(ring: &mut Ring, at: u64, data: Option<Vec<u8>>) -> Vec<Vec<u8>> {
        let mut got = Vec::new();
        assert!(ring.commit(at, data, &mut |record| got.push(record)));
        got
    }

    #[test]
    fn a_ring_is_full_one_byte_before_its_size() {
        let mut ring = Ring::new(4096);
        assert_eq!(ring.reserve(4088), None, "4096 bytes with its header");
        assert_eq!(ring.reserve(4081), None, "rounded up to 4096");
        assert_eq!(ring.reserve(4080), Some(0));
        assert_eq!(ring.reserve(0), None);
        commit(&mut ring, 0, None);
        assert_eq!(ring.reserve(0), None, "nobody has read it");
        ring.consumed = ring.pending();
        assert_eq!(ring.reserve(0), Some(4088));
        assert_eq!(ring.reserve(u64::MAX), None);
        assert_eq!(ring.reserve(MOST), None);
    }

    #[test]
    fn records_arrive_in_the_order_of_their_reservation() {
        let mut ring = Ring::new(4096);
        let at: Vec<u64> = (0..4).map(|_| ring.reserve(5).unwrap()).collect();
        assert_eq!(at, [0, 16, 32, 48]);
        assert!(commit(&mut ring, 16, Some(vec![1])).is_empty());
        assert!(commit(&mut ring, 32, None).is_empty());
        assert_eq!(commit(&mut ring, 0, Some(vec![0])), [vec![0], vec![1]]);
        assert_eq!(ring.pending(), 48);
        assert!(!ring.commit(16, None, &mut |_| unreachable!()), "twice");
        assert!(!ring.commit(50, None, &mut |_| unreachable!()), "no record");
        assert_eq!(commit(&mut ring, 48, Some(vec![3])), [vec![3]]);
    }
}
