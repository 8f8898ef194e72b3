//! The packet header vector: 24 containers and 16 metadata words.

use crate::target::DESTINATIONS;

/// Size classes in the order of container numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// `c2[0..7]`, 2 bytes.
    C2,
    /// `c4[0..7]`, 4 bytes.
    C4,
    /// `c6[0..7]`, 6 bytes.
    C6,
}

impl Class {
    /// All classes.
    pub const ALL: [Class; 3] = [Self::C2, Self::C4, Self::C6];

    /// Bytes of a container.
    pub fn bytes(self) -> usize {
        2 * (self as usize + 1)
    }

    /// Bits of a container.
    pub fn bits(self) -> u32 {
        8 * self.bytes() as u32
    }

    /// A container's bits, all ones.
    pub fn ones(self) -> u64 {
        (1 << self.bits()) - 1
    }
}

/// Containers of all classes.
pub const CONTAINERS: usize = 24;

/// Container number, 0 to 23: `c2[0..7]`, `c4[0..7]`, `c6[0..7]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Container(pub u8);

/// `c2[i]`.
pub const fn c2(i: u8) -> Container {
    Container(i)
}

/// `c4[i]`.
pub const fn c4(i: u8) -> Container {
    Container(8 + i)
}

/// `c6[i]`.
pub const fn c6(i: u8) -> Container {
    Container(16 + i)
}

impl Container {
    /// Container `i` of a class.
    pub fn of(class: Class, i: u8) -> Self {
        Self(8 * class as u8 + i)
    }

    /// Its class; containers above 23 count as the last class, the checker refuses them.
    pub fn class(self) -> Class {
        Class::ALL[usize::from(self.0 / 8).min(2)]
    }

    /// Its size in bytes.
    pub fn bytes(self) -> usize {
        self.class().bytes()
    }
}

/// Metadata words by name. The number is the word's place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Word {
    /// Port of arrival.
    IngressPort = 0,
    /// Bytes of the packet as parsed.
    Length = 1,
    /// Ticks of arrival, low word of three.
    Arrival = 2,
    /// Ticks of entering the pipeline, low word of two.
    Queueing = 5,
    /// Tenant.
    Tenant = 7,
    /// Bit 0: checksum wrong; bits 7:4: path; bit 8: [`PORT_NUMBERS`].
    Status = 8,
    /// Written by the system module.
    QueueDepth = 9,
    /// Written by the system module.
    LinkUse = 10,
    /// Destinations, queue, `except_ingress`, discard.
    Egress = 11,
    /// Multicast group, 0 for none.
    Group = 12,
    /// Validity of the headers.
    Headers = 13,
    /// Anything.
    Scratch0 = 14,
    /// Anything.
    Scratch1 = 15,
}

/// Bit of [`Word::Status`]: [`EGRESS_PORT`] is the number of a destination.
pub const PORT_NUMBERS: u16 = 1 << 8;
/// Bits of [`Word::Scratch1`] that are the number of a destination in programs that ask for it.
pub const EGRESS_PORT: u16 = 0x1ff;
/// [`EGRESS_PORT`] of a packet that is dropped.
pub const DROP_PORT: u16 = 0x1ff;
/// Bits of [`Word::Egress`] that are destinations, bit i for destination i.
pub const DESTINATION_BITS: u16 = (1 << DESTINATIONS) - 1;
/// Bit of [`Word::Egress`]: not to the port of arrival.
pub const EXCEPT_INGRESS: u16 = 1 << 11;
/// Bit of [`Word::Egress`]: drop the packet.
pub const DISCARD: u16 = 1 << 15;

/// Whether an action of a stage may write the word.
pub fn writable(word: usize, system_stage: bool) -> bool {
    match word {
        9 | 10 => system_stage,
        11..=15 => true,
        _ => false,
    }
}

/// Containers and metadata of one packet; all zero at first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Phv {
    /// Values of the containers, each within its width.
    pub containers: [u64; CONTAINERS],
    /// Metadata words.
    pub words: [u16; 16],
}

impl Phv {
    /// Value of a container.
    pub fn get(&self, c: Container) -> u64 {
        self.containers[usize::from(c.0)]
    }

    /// Sets a container, cut to its width.
    pub fn set(&mut self, c: Container, value: u64) {
        self.containers[usize::from(c.0)] = value & c.class().ones();
    }

    /// A metadata word.
    pub fn word(&self, w: Word) -> u16 {
        self.words[w as usize]
    }

    /// Sets a metadata word.
    pub fn set_word(&mut self, w: Word, value: u16) {
        self.words[w as usize] = value;
    }

    /// Byte `b` of a container, the first byte on the wire being 0.
    pub fn byte(&self, c: Container, b: usize) -> u8 {
        (self.get(c) >> (8 * (c.bytes() - 1 - b))) as u8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_byte_of_a_container_is_the_most_significant() {
        let mut phv = Phv::default();
        phv.set(c6(7), 0x0102_0304_0506);
        assert_eq!((phv.byte(c6(7), 0), phv.byte(c6(7), 5)), (1, 6));
    }

    #[test]
    fn a_container_holds_no_more_than_its_width() {
        let mut phv = Phv::default();
        phv.set(c2(0), 0x1_2345);
        assert_eq!(phv.get(c2(0)), 0x2345);
    }

    #[test]
    fn tenants_write_neither_hardware_words_nor_those_of_the_system_module() {
        assert_eq!((0..16).filter(|&w| writable(w, false)).collect::<Vec<_>>(), [11, 12, 13, 14, 15]);
        assert_eq!((0..16).filter(|&w| writable(w, true)).collect::<Vec<_>>(), [9, 10, 11, 12, 13, 14, 15]);
    }
}
