//! What programs tell the host: records of ring buffers and perf events, read from shared memory.

use super::mapped::{Mapped, open_bpf_output, page_bytes};
use super::{KernelError, KernelMap};
use std::os::fd::{AsRawFd, OwnedFd};

/// Reads the records of one ring buffer.
pub struct RingReader {
    consumer: Mapped,
    producer: Mapped,
    bytes: usize,
}

/// Bits of a record's header word: still written to; given up.
const RING_BUSY: u32 = 1 << 31;
const RING_DISCARD: u32 = 1 << 30;

impl RingReader {
    /// A reader from the place where the last one stopped.
    pub fn new(map: &KernelMap) -> Result<Self, KernelError> {
        let (page, bytes) = (page_bytes(), map.spec().max_entries as usize);
        let refused = |e| KernelError::new(format!("mapping ring buffer `{}`", map.spec().name), e);
        let consumer = Mapped::new(map.fd(), 0, page, true).map_err(refused)?;
        // The kernel maps the data twice, so that no record is cut.
        let producer = Mapped::new(map.fd(), page, page + 2 * bytes, false).map_err(refused)?;
        Ok(Self { consumer, producer, bytes })
    }

    /// Records that were submitted since the last call.
    pub fn take(&mut self) -> Vec<Vec<u8>> {
        let mut out = Vec::new();
        let mut at = self.consumer.load(0);
        let data = page_bytes();
        while at < self.producer.load(0) {
            let offset = data + (at as usize & (self.bytes - 1));
            let header = self.producer.load(offset) as u32;
            if header & RING_BUSY != 0 {
                break;
            }
            let length = (header & !RING_DISCARD) as usize;
            if header & RING_DISCARD == 0 {
                out.push(self.producer.copy(offset + 8, length));
            }
            at += (length as u64 + 8).next_multiple_of(8);
            self.consumer.store(0, at);
        }
        out
    }
}

/// Reads the perf events of one processor's buffer.
pub struct PerfReader {
    _event: OwnedFd,
    shared: Mapped,
    bytes: usize,
    /// Events that found no room, as far as the kernel has told.
    pub lost: u64,
}

/// Pages of a perf event's buffer: a power of two.
const PERF_PAGES: usize = 64;
/// Offsets in its first page.
const DATA_HEAD: usize = 1024;
const DATA_TAIL: usize = 1032;

impl PerfReader {
    /// Opens a buffer for processor `cpu` and puts it into the perf event array.
    pub fn new(map: &KernelMap, cpu: u32) -> Result<Self, KernelError> {
        let refused = |what: &str, e| KernelError::new(format!("{what} of `{}`, processor {cpu}", map.spec().name), e);
        let event = open_bpf_output(cpu).map_err(|e| refused("perf event", e))?;
        let bytes = PERF_PAGES * page_bytes();
        let shared = Mapped::new(event.as_raw_fd(), 0, page_bytes() + bytes, true).map_err(|e| refused("buffer", e))?;
        map.update(&cpu.to_le_bytes(), &event.as_raw_fd().to_le_bytes(), 0).map_err(|e| refused("entry", e))?;
        Ok(Self { _event: event, shared, bytes, lost: 0 })
    }

    fn copy(&self, at: u64, bytes: usize) -> Vec<u8> {
        let start = at as usize & (self.bytes - 1);
        let first = bytes.min(self.bytes - start);
        let mut out = self.shared.copy(page_bytes() + start, first);
        out.extend(self.shared.copy(page_bytes(), bytes - first));
        out
    }

    /// Data of events since the last call. Behind each the kernel leaves up to 7 bytes that mean nothing.
    pub fn take(&mut self) -> Vec<Vec<u8>> {
        let mut out = Vec::new();
        let (head, mut at) = (self.shared.load(DATA_HEAD), self.shared.load(DATA_TAIL));
        while at < head {
            let header = self.copy(at, 8);
            let kind = u32::from_le_bytes([header[0], header[1], header[2], header[3]]);
            let length = usize::from(u16::from_le_bytes([header[6], header[7]]));
            if length < 8 {
                break;
            }
            let body = self.copy(at + 8, length - 8);
            match kind {
                2 if body.len() >= 16 => self.lost += u64::from_le_bytes(body[8..16].try_into().expect("8 bytes")),
                9 if body.len() >= 4 => {
                    let size = u32::from_le_bytes([body[0], body[1], body[2], body[3]]) as usize;
                    out.push(body[4..body.len().min(4 + size)].to_vec());
                }
                _ => {}
            }
            at += length as u64;
            self.shared.store(DATA_TAIL, at);
        }
        out
    }
}
