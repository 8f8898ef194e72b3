//! What one execution holds beside registers and memory: a lock, ring-buffer records, counts.

use crate::address::{CONTEXT, RECORDS, Region};
use crate::{FaultReason, MapId};

/// Most tail calls in one execution, the kernel's `MAX_TAIL_CALL_CNT`.
pub const MAX_TAIL_CALLS: u32 = 33;
/// One past the last address of the record region.
const RECORDS_END: u32 = 0xa000_0000;

/// State of one execution that helpers keep between calls. Fresh for each packet.
#[derive(Clone, Debug, Default)]
pub struct Held {
    /// Address of the spin lock that is held.
    pub(crate) lock: Option<u64>,
    /// Tail calls done.
    pub(crate) tail_calls: u32,
    /// Index that the last redirect helper named, which the kernel remembers over a failed lookup.
    pub(crate) target: Option<u32>,
    /// Blocks of the record region, by rising address.
    blocks: Vec<Block>,
}

/// A piece of the record region.
#[derive(Clone, Debug)]
struct Block {
    address: u32,
    kind: Kind,
    data: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Reserved in this ring buffer at this position.
    Record(MapId, u64),
    /// A key that a callback looks at; programs only read it.
    Key,
}

impl Held {
    /// Bytes of a record or key, if one block holds all of them.
    pub fn read(&self, address: u64, bytes: usize) -> Option<&[u8]> {
        let block = &self.blocks[self.find(address)?];
        let at = (address - u64::from(block.address)) as usize;
        block.data.get(at..at.checked_add(bytes)?)
    }

    /// The same to write; never a key.
    pub fn write(&mut self, address: u64, bytes: usize) -> Option<&mut [u8]> {
        let index = self.find(address)?;
        let block = &mut self.blocks[index];
        if block.kind == Kind::Key {
            return None;
        }
        let at = (address - u64::from(block.address)) as usize;
        block.data.get_mut(at..at.checked_add(bytes)?)
    }

    /// Whether it holds nothing at all.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.lock.is_none() && self.blocks.is_empty()
    }

    /// What must not be held when the program ends (by exit or tail call).
    pub fn at_exit(&self) -> Result<(), FaultReason> {
        if self.lock.is_some() {
            return Err(FaultReason::Protocol("the program ended while it held a spin lock"));
        }
        if self.blocks.iter().any(|b| matches!(b.kind, Kind::Record(..))) {
            return Err(FaultReason::Protocol("the program ended while it held a reserved record"));
        }
        Ok(())
    }

    /// Makes a record of zeros; `None` when the region is full.
    pub(crate) fn reserve(&mut self, map: MapId, position: u64, bytes: u32) -> Option<u32> {
        self.place(Kind::Record(map, position), vec![0; bytes as usize])
    }

    /// Takes a record away from the program: its ring buffer, its position there, its bytes.
    pub(crate) fn release(&mut self, address: u64) -> Option<(MapId, u64, Vec<u8>)> {
        let index = self.blocks.iter().position(|b| u64::from(b.address) == address)?;
        match self.blocks[index].kind {
            Kind::Record(map, position) => Some((map, position, self.blocks.remove(index).data)),
            Kind::Key => None,
        }
    }

    /// Forgets everything, as after a fault; the records that were reserved still.
    pub(crate) fn abandon(&mut self) -> Vec<(MapId, u64)> {
        self.lock = None;
        let record = |b: Block| if let Kind::Record(map, position) = b.kind { Some((map, position)) } else { None };
        self.blocks.drain(..).filter_map(record).collect()
    }

    /// Shows a key to a callback.
    pub(crate) fn show_key(&mut self, key: &[u8]) -> Option<u32> {
        self.place(Kind::Key, key.to_vec())
    }

    /// Takes a shown key away again.
    pub(crate) fn hide_key(&mut self, address: u32) {
        self.blocks.retain(|b| b.address != address);
    }

    fn place(&mut self, kind: Kind, data: Vec<u8>) -> Option<u32> {
        // Sixteen bytes stay free behind each block, so that no two blocks touch.
        let room = |data: &[u8]| (data.len() as u64 + 16).next_multiple_of(16);
        let address = self.blocks.last().map_or(u64::from(RECORDS), |b| u64::from(b.address) + room(&b.data));
        if address + room(&data) > u64::from(RECORDS_END) {
            return None;
        }
        self.blocks.push(Block { address: address as u32, kind, data });
        Some(address as u32)
    }

    fn find(&self, address: u64) -> Option<usize> {
        if Region::of(address) != Region::Record {
            return None;
        }
        self.blocks.partition_point(|b| u64::from(b.address) <= address).checked_sub(1)
    }
}

/// Checks that an argument is the context.
pub(super) fn context(helper: &'static str, argument: u8, value: u64) -> Result<(), FaultReason> {
    if value == u64::from(CONTEXT) {
        Ok(())
    } else {
        Err(FaultReason::Argument { helper, argument, value, expected: "the context" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_apart_and_end_where_they_end() {
        let mut held = Held::default();
        let a = u64::from(held.reserve(MapId(1), 0, 8).unwrap());
        let b = u64::from(held.reserve(MapId(1), 0, 0).unwrap());
        assert_ne!(a, b);
        held.write(a, 8).unwrap().fill(7);
        assert_eq!(held.read(a, 8).unwrap(), [7; 8]);
        assert!(held.read(a, 9).is_none() && held.read(a + 8, 1).is_none() && held.read(b, 1).is_none());
        assert!(held.read(a - 1, 1).is_none() && held.read(u64::MAX, 1).is_none());
    }

    #[test]
    fn a_record_that_is_not_given_back_is_a_fault_at_the_end() {
        let mut held = Held::default();
        let a = u64::from(held.reserve(MapId(1), 0, 8).unwrap());
        assert!(held.at_exit().is_err());
        assert_eq!(held.release(a), Some((MapId(1), 0, vec![0; 8])));
        assert_eq!(held.release(a), None);
        assert!(held.at_exit().is_ok());
        held.lock = Some(1);
        assert!(held.at_exit().is_err());
    }

    #[test]
    fn keys_are_read_only_and_no_records() {
        let mut held = Held::default();
        let a = held.show_key(&[1, 2]).unwrap();
        assert_eq!(held.read(a.into(), 2).unwrap(), [1, 2]);
        assert!(held.write(a.into(), 1).is_none() && held.release(a.into()).is_none());
        assert!(held.at_exit().is_ok());
        held.hide_key(a);
        assert!(held.read(a.into(), 1).is_none());
    }

    #[test]
    fn the_region_is_bounded() {
        let mut held = Held::default();
        assert!(held.reserve(MapId(1), 0, 0x0fff_ff00).is_some());
        assert!(held.reserve(MapId(1), 0, 0x100).is_none());
    }
}
