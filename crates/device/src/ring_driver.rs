//! The host's driver of rings, which every device with host memory shares.
//!
//! It knows no device: [`RingHost`] writes and reads rows and memory for it. It finds memory for rings and buffers itself, and uses again
//! what messages have left.

use crate::error::DeviceError;
use crate::rings::{LEAST_BUFFER, MOST_BUFFER, Message, RingError, RingList, Rings};
use sluice_formats::l7::codes::L7Status;
use sluice_formats::l7::rows::{L7CompletionRow, L7DescriptorRow, L7DoorbellRow, L7RingRow, L7RingStateRow};
use sluice_formats::l7::target::{COMPLETION_BYTES, DESCRIPTOR_BYTES, LEAST_RING_LOG, MOST_RING_LOG};
use sluice_formats::row::{bytes_of_words, words_of_bytes};
use sluice_formats::{Row, Table};
use sluice_object::RingMemory;
use std::collections::BTreeMap;

/// Where the host's memory for rings and buffers begins.
const FIRST_ADDRESS: u64 = 0x10_0000_0000;
/// Rings begin at multiples of this, and buffers too.
const ALIGNMENT: u64 = 64;

/// What a device does for the driver.
pub trait RingHost {
    /// The driver.
    fn ring_driver(&mut self) -> &mut RingDriver;

    /// Writes a row of the engine.
    fn write_row(&mut self, table: Table, index: u32, words: &[u32]) -> Result<(), DeviceError>;

    /// Reads one.
    fn row(&mut self, table: Table, index: u32) -> Result<Vec<u32>, DeviceError>;

    /// Writes to the host's memory.
    fn write_memory(&mut self, address: u64, bytes: &[u8]) -> Result<(), DeviceError>;

    /// Reads from it. What nobody wrote is zero.
    fn read_memory(&mut self, address: u64, count: usize) -> Result<Vec<u8>, DeviceError>;
}

#[derive(Clone, Copy, Debug)]
struct Buffer {
    address: u64,
    length: u32,
}

/// A ring that has memory.
#[derive(Debug)]
struct HostRing {
    module: u8,
    memory: RingMemory,
    /// Its row has been seen.
    open: bool,
    posted: u64,
    seen: u64,
    /// Posted and not taken, by cookie.
    buffers: BTreeMap<u32, Buffer>,
}

impl HostRing {
    fn size(&self) -> u64 {
        1 << self.memory.log_size
    }
}

/// The driver's state on one device.
#[derive(Debug)]
pub struct RingDriver {
    /// Rings that the device has.
    count: usize,
    rings: BTreeMap<u8, HostRing>,
    next: u64,
    /// Memory that is free again, by length.
    free: BTreeMap<u32, Vec<u64>>,
}

impl RingDriver {
    /// On a device with so many rings, after its reset.
    pub fn new(count: usize) -> Self {
        Self { count, rings: BTreeMap::new(), next: FIRST_ADDRESS, free: BTreeMap::new() }
    }

    fn allocate(&mut self, length: u32) -> u64 {
        if let Some(address) = self.free.get_mut(&length).and_then(Vec::pop) {
            return address;
        }
        let address = self.next;
        self.next += u64::from(length).next_multiple_of(ALIGNMENT);
        address
    }

    fn free(&mut self, address: u64, length: u32) {
        self.free.entry(length).or_default().push(address);
    }

    fn forget(&mut self, ring: u8) {
        let Some(old) = self.rings.remove(&ring) else { return };
        for buffer in old.buffers.values() {
            self.free(buffer.address, buffer.length);
        }
        let [descriptors, completions] = sizes(old.memory.log_size);
        self.free(old.memory.descriptors, descriptors);
        self.free(old.memory.completions, completions);
    }

    /// The module's ring.
    fn own(&mut self, module: u8, ring: u8) -> Result<&mut HostRing, RingError> {
        let has = self.rings.iter().filter(|(_, r)| r.module == module).map(|(number, _)| *number).collect();
        let own = self.rings.get_mut(&ring).filter(|r| r.module == module);
        own.ok_or(RingError::Foreign { ring, module, has: RingList(has) })
    }

    fn give_memory(
        &mut self,
        host: &mut impl RingHost,
        module: u8,
        ring: u8,
        log_size: u8,
    ) -> Result<RingMemory, DeviceError> {
        if usize::from(ring) >= self.count {
            return Err(RingError::Number { found: ring, max: self.count.saturating_sub(1) }.into());
        }
        let (least, most) = (LEAST_RING_LOG, MOST_RING_LOG);
        if !(least..=most).contains(&log_size) {
            return Err(RingError::Size { ring, found: log_size, least, most }.into());
        }
        if L7RingRow::of_words(&host.row(Table::L7Ring, ring.into())?).valid {
            return Err(RingError::InUse { ring, what: "its row stands" }.into());
        }
        let state = L7RingStateRow::of_words(&host.row(Table::L7RingState, ring.into())?);
        if state.taken != state.completed {
            return Err(RingError::InUse { ring, what: "messages that are on their way have buffers of it" }.into());
        }
        self.forget(ring);
        let [descriptors, completions] = sizes(log_size);
        let memory =
            RingMemory { log_size, descriptors: self.allocate(descriptors), completions: self.allocate(completions) };
        // What was there before is no completion of this ring.
        host.write_memory(memory.completions, &vec![0; completions as usize])?;
        let (open, buffers) = (false, BTreeMap::new());
        self.rings.insert(ring, HostRing { module, memory, open, posted: 0, seen: 0, buffers });
        Ok(memory)
    }

    /// That the row of the ring stands as it has to.
    fn check_open(&mut self, host: &mut impl RingHost, module: u8, ring: u8) -> Result<(), DeviceError> {
        let own = self.own(module, ring)?;
        if !own.open {
            own.open = L7RingRow::of_words(&host.row(Table::L7Ring, ring.into())?) == own.memory.row(module);
        }
        if own.open { Ok(()) } else { Err(RingError::Closed { ring, module }.into()) }
    }

    fn post(&mut self, host: &mut impl RingHost, module: u8, ring: u8, lengths: &[u32]) -> Result<(), DeviceError> {
        if let Some(found) = lengths.iter().copied().find(|length| !(LEAST_BUFFER..=MOST_BUFFER).contains(length)) {
            return Err(RingError::Length { ring, found }.into());
        }
        self.check_open(host, module, ring)?;
        let own = self.own(module, ring)?;
        // A descriptor's completion was taken: then its place is free.
        let (size, left) = (own.size(), own.size() - (own.posted - own.seen));
        if lengths.len() as u64 > left {
            return Err(RingError::Full { ring, asked: lengths.len(), left, size }.into());
        }
        for length in lengths {
            let address = self.allocate(*length);
            let own = self.own(module, ring)?;
            let cookie = own.posted as u32;
            own.buffers.insert(cookie, Buffer { address, length: *length });
            let place = own.memory.descriptors + own.posted % size * DESCRIPTOR_BYTES as u64;
            own.posted += 1;
            host.write_memory(
                place,
                &bytes_of_words(&words_of(&L7DescriptorRow { address, length: *length, cookie })),
            )?;
        }
        self.ring_the_bell(host, module, ring)
    }

    fn ring_the_bell(&mut self, host: &mut impl RingHost, module: u8, ring: u8) -> Result<(), DeviceError> {
        let own = self.own(module, ring)?;
        let row = L7DoorbellRow { posted: own.posted as u16, seen: own.seen as u16 };
        host.write_row(Table::L7Doorbell, ring.into(), &words_of(&row))
    }

    fn take(
        &mut self,
        host: &mut impl RingHost,
        module: u8,
        ring: u8,
        most: usize,
    ) -> Result<Vec<Message>, DeviceError> {
        let mut messages = Vec::new();
        while messages.len() < most {
            let own = self.own(module, ring)?;
            let number = own.seen;
            let place = own.memory.completions + number % own.size() * COMPLETION_BYTES as u64;
            let bytes = host.read_memory(place, COMPLETION_BYTES)?;
            let completion = L7CompletionRow::of_words(&words_of_bytes(&bytes));
            if completion.phase != (number >> own.memory.log_size & 1 == 0) {
                break;
            }
            let wrong = |what: String| RingError::Completion { ring, number, what };
            let Some(buffer) = own.buffers.get(&completion.cookie).copied() else {
                return Err(wrong(format!("no buffer was posted with cookie {}", completion.cookie)).into());
            };
            let unknown = || wrong(format!("status {}, 0 and 1 are known", completion.status));
            let status = L7Status::from_code(completion.status).ok_or_else(unknown)?;
            if completion.length > buffer.length {
                let (found, all) = (completion.length, buffer.length);
                return Err(wrong(format!("a message of {found} bytes in a buffer of {all}")).into());
            }
            own.buffers.remove(&completion.cookie);
            own.seen += 1;
            self.free(buffer.address, buffer.length);
            let bytes = host.read_memory(buffer.address, completion.length as usize)?;
            messages.push(Message { completion, status, bytes });
        }
        if !messages.is_empty() {
            self.ring_the_bell(host, module, ring)?;
        } else {
            // An empty ring is asked for too: by its module only.
            self.own(module, ring)?;
        }
        Ok(messages)
    }
}

/// Bytes of a ring's descriptors and of its completions.
fn sizes(log_size: u8) -> [u32; 2] {
    [DESCRIPTOR_BYTES, COMPLETION_BYTES].map(|bytes| (bytes as u32) << log_size)
}

fn words_of(row: &impl Row) -> Vec<u32> {
    row.pack().expect("each field holds what its type does")
}

/// Lets the driver work on its device.
fn driven<H: RingHost, T>(host: &mut H, work: impl FnOnce(&mut RingDriver, &mut H) -> T) -> T {
    let mut driver = std::mem::replace(host.ring_driver(), RingDriver::new(0));
    let done = work(&mut driver, host);
    *host.ring_driver() = driver;
    done
}

impl<H: RingHost> Rings for H {
    fn give_memory(&mut self, module: u8, ring: u8, log_size: u8) -> Result<RingMemory, DeviceError> {
        driven(self, |driver, host| driver.give_memory(host, module, ring, log_size))
    }

    fn post(&mut self, module: u8, ring: u8, lengths: &[u32]) -> Result<(), DeviceError> {
        driven(self, |driver, host| driver.post(host, module, ring, lengths))
    }

    fn take(&mut self, module: u8, ring: u8, most: usize) -> Result<Vec<Message>, DeviceError> {
        driven(self, |driver, host| driver.take(host, module, ring, most))
    }
}
