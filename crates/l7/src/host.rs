//! The receive side of a NIC's model with the host's memory: rings and their counters, what is written where, what is given up when.
//!
//! Host memory answers at once, and all descriptors that are posted have been fetched.

use crate::engine::{Engine, Fate};
use crate::receive::{Arrived, Delivery, Ended, Member, Receive, Ring, Whose};
use sluice_device::{HostMemory, RingDriver};
use sluice_formats::l7::codes::{L7RingEvent, L7Status};
use sluice_formats::l7::rows::{L7CompletionRow, L7DescriptorRow, L7DoorbellRow, L7RingRow, L7RingStateRow};
use sluice_formats::l7::target::{COMPLETION_BYTES, DESCRIPTOR_BYTES, EXPIRY_TICK_CYCLES, LEAST_RING_LOG, Target};
use sluice_formats::row::{bytes_of_words, words_of_bytes};
use sluice_formats::{Reason, Row, Status, Table};

/// Counters of a ring.
const EVENTS: usize = 4;
/// Bits of ring addresses that count as 0.
const LOW_BITS: u64 = 63;

/// Rings, buffers and completions of an engine.
#[derive(Debug)]
pub struct Host {
    /// The host's memory.
    pub memory: HostMemory,
    /// The host's driver.
    pub driver: RingDriver,
    pub(crate) receive: Receive,
    /// Rows as they are read.
    rows: Vec<L7RingRow>,
    bells: Vec<L7DoorbellRow>,
    /// Completions that were written, by ring.
    completed: Vec<u64>,
    counts: Vec<u64>,
    frozen: Vec<u64>,
    /// No message is given up before this tick.
    next_expiry: Option<u64>,
}

impl Host {
    /// Of a target after reset.
    pub fn new(target: &Target) -> Self {
        let (rings, counts) = (target.rings, vec![0; EVENTS * target.rings]);
        Self {
            memory: HostMemory::default(),
            driver: RingDriver::new(rings),
            receive: Receive::default(),
            rows: vec![L7RingRow::default(); rings],
            bells: vec![L7DoorbellRow::default(); rings],
            completed: vec![0; rings],
            frozen: counts.clone(),
            counts,
            next_expiry: None,
        }
    }

    /// Writes a row of its tables.
    pub fn write(&mut self, table: Table, index: usize, words: &[u32]) -> Status {
        if index >= self.rows.len() {
            return Status::BadAddress;
        }
        match table {
            Table::L7Ring => self.write_ring(index, &L7RingRow::of_words(words)),
            Table::L7Doorbell => {
                self.bells[index] = L7DoorbellRow::of_words(words);
                self.look_at_bell(index as u8);
                Status::Ok
            }
            _ => Status::BadAddress,
        }
    }

    fn write_ring(&mut self, index: usize, row: &L7RingRow) -> Status {
        let number = index as u8;
        if !row.valid || row.log_size < LEAST_RING_LOG {
            // Who has a buffer keeps it, and where his completion goes.
            self.rows[index].valid = false;
            if let Some(ring) = self.receive.rings.get_mut(&number) {
                ring.row.valid = false;
            }
            return Status::Ok;
        }
        if self.rows[index].valid || self.receive.in_flight(number) != 0 {
            return Status::Busy;
        }
        let at = |address: u64| address & !LOW_BITS;
        let row = L7RingRow { descriptors: at(row.descriptors), completions: at(row.completions), ..*row };
        self.rows[index] = row;
        self.bells[index] = L7DoorbellRow::default();
        self.completed[index] = 0;
        self.receive.rings.insert(number, Ring { row, ..Ring::default() });
        Status::Ok
    }

    /// Fetches what has been posted.
    fn look_at_bell(&mut self, number: u8) {
        let L7DoorbellRow { posted, seen } = self.bells[usize::from(number)];
        let Some(ring) = self.receive.rings.get_mut(&number) else { return };
        ring.seen = seen.into();
        let wanted = usize::from(posted.wrapping_sub(ring.taken as u16));
        ring.posted.truncate(wanted);
        while ring.posted.len() < wanted {
            let place = (ring.taken + ring.posted.len() as u64) % (1 << ring.row.log_size);
            let bytes = self.memory.read(ring.row.descriptors + place * DESCRIPTOR_BYTES as u64, DESCRIPTOR_BYTES);
            ring.posted.push_back(L7DescriptorRow::of_words(&words_of_bytes(&bytes)));
        }
    }

    /// All words of a row, or a counter, by its index without the bit of the snapshot.
    pub fn read(&self, table: Table, index: usize, snapshot: bool) -> Option<Vec<u32>> {
        match table {
            Table::L7Ring => self.rows.get(index)?.pack().ok(),
            Table::L7Doorbell => self.bells.get(index)?.pack().ok(),
            Table::L7RingState => {
                let completed = *self.completed.get(index)? as u16;
                let row = match self.receive.rings.get(&(index as u8)) {
                    None => L7RingStateRow::default(),
                    Some(ring) => {
                        let taken = ring.taken as u16;
                        L7RingStateRow { fetched: taken.wrapping_add(ring.posted.len() as u16), taken, completed }
                    }
                };
                row.pack().ok()
            }
            Table::L7Rings => {
                let count = *if snapshot { &self.frozen } else { &self.counts }.get(index)?;
                Some(vec![count as u32, (count >> 32) as u32])
            }
            _ => None,
        }
    }

    /// Takes a snapshot of the counters.
    pub fn snapshot(&mut self) {
        self.frozen.clone_from(&self.counts);
    }

    /// Counts an event of a ring.
    pub(crate) fn count(&mut self, ring: u8, event: L7RingEvent) {
        self.counts[usize::from(ring) * EVENTS + usize::from(event.code())] += 1;
    }

    /// A device that is followed has written a completion.
    pub(crate) fn completed(&mut self, ring: u8) {
        self.completed[usize::from(ring)] += 1;
    }

    /// A packet's decision is known; it is written and done with.
    pub fn take(&mut self, engine: &mut Engine, arrived: &Arrived, frame: &[u8], now: u64) -> Delivery {
        let (delivery, effects) = self.receive.take(arrived, frame, true, now);
        if let Some((ring, _)) = effects.started {
            self.count(ring, L7RingEvent::Started);
        }
        if let Some((member @ (Member::Begins(_) | Member::Alone), ticket)) = arrived.member {
            if let (Delivery::Dropped(Reason::L7NoDescriptor), Fate::Queue(ring)) = (delivery, arrived.outcome.fate) {
                self.count(ring, L7RingEvent::NoDescriptor);
            }
            if let Member::Begins(place) = member {
                engine.table.hold(place, matches!(delivery, Delivery::Consumed(_)));
                let due = now + u64::from(ticket.expiry) * EXPIRY_TICK_CYCLES + 1;
                self.next_expiry = Some(self.next_expiry.map_or(due, |next| next.min(due)));
            }
        }
        if let Some(place) = effects.forgets {
            engine.table.forget(place);
        }
        let mut ended = effects.ended;
        let mut of = match arrived.member {
            Some((Member::Later(place), _)) => Some(place),
            _ => None,
        };
        if let Some(write) = effects.write {
            self.memory.write(write.address, &write.bytes);
            ended = self.receive.written(write.whose);
            if let Whose::Entry(place) = write.whose {
                of = Some(place);
            }
        }
        if let Some(ended) = ended {
            if let Some(place) = of {
                engine.table.hold(place, false);
            }
            self.complete(ended);
        }
        delivery
    }

    /// Writes the completion of a message.
    fn complete(&mut self, ended: Ended) {
        let Some(ring) = self.receive.rings.get(&ended.ring) else { return };
        let (row, completed) = (ring.row, &mut self.completed[usize::from(ended.ring)]);
        let (number, log_size) = (*completed, row.log_size);
        *completed += 1;
        let completion = L7CompletionRow { phase: number >> log_size & 1 == 0, ..ended.completion };
        let words = completion.pack().expect("its fields are those of packets");
        let place = number % (1 << log_size) * COMPLETION_BYTES as u64;
        self.memory.write(row.completions + place, &bytes_of_words(&words));
        let is_whole = completion.status == L7Status::Whole.code();
        self.count(ended.ring, if is_whole { L7RingEvent::Whole } else { L7RingEvent::Expired });
    }

    /// Gives up messages whose packets have not come for too long.
    pub fn elapse(&mut self, engine: &mut Engine, now: u64) {
        if self.next_expiry.is_none_or(|next| now < next) {
            return;
        }
        let (due, next) = self.receive.overdue(now);
        self.next_expiry = next;
        for place in due {
            let Some((ended, _, _)) = self.receive.expire(place) else { continue };
            engine.table.hold(place, false);
            engine.table.forget(place);
            if let Some(ended) = ended {
                self.complete(ended);
            }
        }
    }

    /// The tick at which a message may be given up.
    pub fn next_event(&self) -> Option<u64> {
        self.next_expiry
    }
}
