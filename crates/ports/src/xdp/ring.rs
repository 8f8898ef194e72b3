//! The four rings of an AF_XDP socket: two words that both sides see, and descriptors between them.
//!
//! Positions count up for ever and wrap at 2^32; a position's slot is its low bits. Each side owns the slots that the other
//! side's word gives to it, and hands them over by storing its own.

use crate::mapped::Mapping;
use crate::sys::Plain;
use std::marker::PhantomData;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// Where the parts of a ring are in its mapping.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    pub producer: usize,
    pub consumer: usize,
    pub flags: usize,
    pub descriptors: usize,
    /// Slots; a power of two.
    pub slots: u32,
}

impl Layout {
    /// Bytes of a mapping with this ring.
    pub fn bytes<T>(&self) -> usize {
        self.descriptors + self.slots as usize * size_of::<T>()
    }

    fn slot<T>(&self, position: u32) -> usize {
        self.descriptors + (position & (self.slots - 1)) as usize * size_of::<T>()
    }
}

/// The side that puts descriptors in.
#[derive(Debug)]
pub(crate) struct Producer<T> {
    map: Mapping,
    layout: Layout,
    /// Position of the next descriptor that is put in.
    ours: u32,
    /// What of that the other side was told.
    told: u32,
    /// The consumer's word when it was last read.
    theirs: u32,
    kind: PhantomData<T>,
}

impl<T: Plain> Producer<T> {
    pub fn new(map: Mapping, layout: Layout) -> Self {
        assert!(layout.slots.is_power_of_two() && layout.bytes::<T>() <= map.len());
        let ours = map.word(layout.producer).load(Relaxed);
        let theirs = map.word(layout.consumer).load(Acquire);
        Self { map, layout, ours, told: ours, theirs, kind: PhantomData }
    }

    /// Free slots, as far as was known.
    fn known_room(&self) -> u32 {
        self.layout.slots.saturating_sub(self.ours.wrapping_sub(self.theirs))
    }

    /// Free slots; the other side's word is read where fewer than `wanted` are known.
    pub fn room(&mut self, wanted: u32) -> u32 {
        if self.known_room() < wanted {
            self.theirs = self.map.word(self.layout.consumer).load(Acquire);
        }
        self.known_room()
    }

    /// Puts one in; the caller has asked for room. The other side sees it after [`Self::publish`].
    pub fn push(&mut self, descriptor: T) {
        debug_assert!(self.known_room() > 0);
        self.map.write(self.layout.slot::<T>(self.ours), descriptor);
        self.ours = self.ours.wrapping_add(1);
    }

    /// Gives what was put in to the other side; whether that was anything.
    pub fn publish(&mut self) -> bool {
        let any = self.told != self.ours;
        if any {
            self.map.word(self.layout.producer).store(self.ours, Release);
            self.told = self.ours;
        }
        any
    }

    /// Whether the other side has not taken all that it was given.
    pub fn is_waiting(&mut self) -> bool {
        self.theirs = self.map.word(self.layout.consumer).load(Acquire);
        self.theirs != self.told
    }

    /// Whether the kernel wants to be told of new descriptors.
    pub fn needs_wakeup(&self) -> bool {
        self.map.word(self.layout.flags).load(Relaxed) & libc::XDP_RING_NEED_WAKEUP != 0
    }
}

/// The side that takes descriptors out.
#[derive(Debug)]
pub(crate) struct Consumer<T> {
    map: Mapping,
    layout: Layout,
    /// Position of the next descriptor that is taken out.
    ours: u32,
    /// What of that the other side was told.
    told: u32,
    /// The producer's word when it was last read.
    theirs: u32,
    kind: PhantomData<T>,
}

impl<T: Plain> Consumer<T> {
    pub fn new(map: Mapping, layout: Layout) -> Self {
        assert!(layout.slots.is_power_of_two() && layout.bytes::<T>() <= map.len());
        let ours = map.word(layout.consumer).load(Relaxed);
        let theirs = map.word(layout.producer).load(Acquire);
        Self { map, layout, ours, told: ours, theirs, kind: PhantomData }
    }

    /// Takes one out. Its slot is ours until [`Self::release`].
    pub fn pop(&mut self) -> Option<T> {
        if self.ours == self.theirs {
            self.theirs = self.map.word(self.layout.producer).load(Acquire);
            if self.ours == self.theirs {
                return None;
            }
        }
        let descriptor = self.map.read(self.layout.slot::<T>(self.ours));
        self.ours = self.ours.wrapping_add(1);
        Some(descriptor)
    }

    /// Gives the slots of what was taken out back.
    pub fn release(&mut self) {
        if self.told != self.ours {
            self.map.word(self.layout.consumer).store(self.ours, Release);
            self.told = self.ours;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAYOUT: Layout = Layout { producer: 0, consumer: 64, flags: 128, descriptors: 192, slots: 8 };

    /// Both sides of one ring whose positions begin at `at`: the other side is played by hand.
    fn memory(at: u32) -> Mapping {
        let map = Mapping::anonymous(4096).unwrap();
        map.word(LAYOUT.producer).store(at, Relaxed);
        map.word(LAYOUT.consumer).store(at, Relaxed);
        map
    }

    #[test]
    fn a_producer_fills_all_slots_and_no_more_across_the_wrap() {
        for at in [0, 5, u32::MAX - 3] {
            let mut ring = Producer::<u64>::new(memory(at), LAYOUT);
            assert_eq!(ring.room(1), 8);
            (0..8).for_each(|n| ring.push(n));
            assert_eq!(ring.room(1), 0, "from {at}");
            assert_eq!(ring.map.word(LAYOUT.producer).load(Relaxed), at, "nothing is told before it is published");
            assert!(ring.publish() && !ring.publish());
            assert_eq!(ring.map.word(LAYOUT.producer).load(Relaxed), at.wrapping_add(8));
            assert!(ring.is_waiting());
            for n in 0..8 {
                let slot = LAYOUT.slot::<u64>(at.wrapping_add(n));
                assert_eq!(ring.map.read::<u64>(slot), u64::from(n), "from {at}");
            }
            ring.map.word(LAYOUT.consumer).store(at.wrapping_add(3), Relaxed);
            assert_eq!((ring.known_room(), ring.room(1)), (0, 3));
            ring.map.word(LAYOUT.consumer).store(at.wrapping_add(8), Relaxed);
            assert!(!ring.is_waiting());
        }
    }

    #[test]
    fn a_consumer_takes_what_was_told_in_order_and_gives_slots_back_at_once() {
        for at in [0, 6, u32::MAX - 1] {
            let mut map = memory(at);
            (0..8).for_each(|n| map.write(LAYOUT.slot::<u64>(at.wrapping_add(n)), 100 + u64::from(n)));
            let mut ring = Consumer::<u64>::new(map, LAYOUT);
            assert_eq!(ring.pop(), None);
            ring.map.word(LAYOUT.producer).store(at.wrapping_add(2), Relaxed);
            assert_eq!((ring.pop(), ring.pop(), ring.pop()), (Some(100), Some(101), None));
            assert_eq!(ring.map.word(LAYOUT.consumer).load(Relaxed), at, "slots are ours until they are released");
            ring.release();
            assert_eq!(ring.map.word(LAYOUT.consumer).load(Relaxed), at.wrapping_add(2));
            ring.map.word(LAYOUT.producer).store(at.wrapping_add(8), Relaxed);
            assert_eq!(std::iter::from_fn(|| ring.pop()).collect::<Vec<_>>(), [102, 103, 104, 105, 106, 107]);
        }
    }

    #[test]
    fn a_wakeup_is_wanted_when_the_flag_is_set() {
        let ring = Producer::<u64>::new(memory(0), LAYOUT);
        assert!(!ring.needs_wakeup());
        ring.map.word(LAYOUT.flags).store(libc::XDP_RING_NEED_WAKEUP, Relaxed);
        assert!(ring.needs_wakeup());
    }
}
