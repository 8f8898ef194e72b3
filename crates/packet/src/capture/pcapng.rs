//! pcapng: sections, interfaces and packet blocks.
//!
//! The blocks are read here and not by `pcap-file`, which takes every stamp for nanoseconds,
//! refuses the `if_tzone` option and leaves the padding in simple packets.

use std::io::Read;

use pcap_file::DataLink;

use super::Packet;
use super::error::CaptureProblem;
use super::reader::{Interface, check_link_type};
use super::source::{ByteOrder, Source};
use super::stamp::Clock;
use crate::layers::MAX_PACKET_BYTES;

/// Type of a section header block: the same in both byte orders.
pub(super) const SECTION: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
const OBSOLETE_PACKET: u32 = 2;
const SIMPLE_PACKET: u32 = 3;
const ENHANCED_PACKET: u32 = 6;

/// Largest block that is held: the largest packet and room for its options.
const MAX_BLOCK: u32 = MAX_PACKET_BYTES as u32 + 65_536;
/// Most interfaces of a file: a bound on memory.
const MAX_INTERFACES: usize = 4096;

/// What the sections and interfaces so far say.
#[derive(Debug)]
pub(super) struct PcapNg {
    order: ByteOrder,
    /// Interfaces of all sections.
    pub interfaces: Vec<Interface>,
    clocks: Vec<InterfaceInfo>,
    /// First interface of the present section.
    first: usize,
    last_stamp: u64,
}

#[derive(Clone, Copy, Debug)]
struct InterfaceInfo {
    link: DataLink,
    clock: Clock,
    snap_len: u32,
    fcs: u32,
}

impl PcapNg {
    pub fn new() -> PcapNg {
        PcapNg { order: ByteOrder::Little, interfaces: Vec::new(), clocks: Vec::new(), first: 0, last_stamp: 0 }
    }

    /// Reads up to the next packet and puts it into `packet`; false at the end of the file.
    pub fn next<R: Read>(&mut self, source: &mut Source<R>, packet: &mut Packet) -> Result<bool, CaptureProblem> {
        loop {
            let head = source.peek(12)?;
            if head.is_empty() {
                return Ok(false);
            }
            if head.len() < 12 {
                return Err(cut("a block header", 12, head.len() as u64));
            }
            let kind = self.order.u32(head, 0);
            if kind == SECTION {
                self.order = section_order(head)?;
            }
            let total = self.order.u32(head, 4);
            if total < 12 || !total.is_multiple_of(4) {
                let expected = "a multiple of 4, at least 12".to_string();
                return Err(block("the block length", total, expected));
            }
            match kind {
                SECTION | INTERFACE | OBSOLETE_PACKET | SIMPLE_PACKET | ENHANCED_PACKET => {}
                _ => {
                    self.skip_block(source, total)?;
                    continue;
                }
            }
            if total > MAX_BLOCK {
                return Err(block("the block length", total, format!("at most {MAX_BLOCK}")));
            }
            let bytes = source.peek(total as usize)?;
            if bytes.len() < total as usize {
                return Err(cut("a block", u64::from(total), bytes.len() as u64));
            }
            let (body, trailer) = bytes[8..].split_at(total as usize - 12);
            check_trailer(total, self.order.u32(trailer, 0))?;
            let found = match kind {
                SECTION => self.section(body)?,
                INTERFACE => self.interface(body)?,
                SIMPLE_PACKET => self.simple_packet(body, packet)?,
                _ => self.packet(body, kind, packet)?,
            };
            source.consume(total as usize);
            if found {
                return Ok(true);
            }
        }
    }

    fn skip_block<R: Read>(&self, source: &mut Source<R>, total: u32) -> Result<(), CaptureProblem> {
        let before_trailer = u64::from(total) - 4;
        let skipped = source.skip(before_trailer)?;
        let trailer = source.peek(4)?;
        if skipped < before_trailer || trailer.len() < 4 {
            let found = skipped + trailer.len() as u64;
            return Err(cut("a block", u64::from(total), found));
        }
        check_trailer(total, self.order.u32(trailer, 0))?;
        source.consume(4);
        Ok(())
    }

    fn section(&mut self, body: &[u8]) -> Result<bool, CaptureProblem> {
        if body.len() < 16 {
            let expected = "at least 28".to_string();
            return Err(block("the length of a section header", body.len() as u32 + 12, expected));
        }
        let (major, minor) = (self.order.u16(body, 4), self.order.u16(body, 6));
        if major != 1 {
            return Err(CaptureProblem::Version { format: "pcapng", major, minor, expected: "1.0" });
        }
        self.first = self.interfaces.len();
        Ok(false)
    }

    fn interface(&mut self, body: &[u8]) -> Result<bool, CaptureProblem> {
        if body.len() < 8 {
            let expected = "at least 20".to_string();
            return Err(block("the length of an interface block", body.len() as u32 + 12, expected));
        }
        if self.interfaces.len() == MAX_INTERFACES {
            let expected = format!("at most {MAX_INTERFACES}");
            return Err(block("the number of interfaces", MAX_INTERFACES as u32 + 1, expected));
        }
        let link = DataLink::from(u32::from(self.order.u16(body, 0)));
        let mut info = InterfaceInfo { link, clock: Clock::default(), snap_len: self.order.u32(body, 4), fcs: 0 };
        let mut name = String::new();
        self.options(&body[8..], |code, value| {
            let fixed = |what, expected: usize| {
                let wrong = block(what, value.len() as u32, format!("{expected} bytes"));
                if value.len() == expected { Ok(()) } else { Err(wrong) }
            };
            match code {
                2 => name = String::from_utf8_lossy(value).into_owned(),
                9 => {
                    fixed("the length of if_tsresol", 1)?;
                    info.clock.resolution = value[0];
                }
                13 => {
                    fixed("the length of if_fcslen", 1)?;
                    // In bits.
                    info.fcs = u32::from(value[0] / 8);
                }
                14 => {
                    fixed("the length of if_tsoffset", 8)?;
                    info.clock.offset = self.order.u64(value, 0) as i64;
                }
                _ => {}
            }
            Ok(())
        })?;
        self.interfaces.push(Interface { name });
        self.clocks.push(info);
        Ok(false)
    }

    /// Calls `each` with the code and value of every option.
    fn options(
        &self,
        mut bytes: &[u8],
        mut each: impl FnMut(u16, &[u8]) -> Result<(), CaptureProblem>,
    ) -> Result<(), CaptureProblem> {
        // The end-of-options mark may be left out where the block ends.
        while bytes.len() >= 4 {
            let code = self.order.u16(bytes, 0);
            let len = usize::from(self.order.u16(bytes, 2));
            if code == 0 {
                return Ok(());
            }
            let Some(value) = bytes.get(4..4 + len) else {
                let expected = format!("at most the {} bytes left", bytes.len() - 4);
                return Err(block("the length of an option", len as u32, expected));
            };
            each(code, value)?;
            bytes = bytes.get(4 + len.next_multiple_of(4)..).unwrap_or_default();
        }
        Ok(())
    }

    fn info(&self, number: u32) -> Result<InterfaceInfo, CaptureProblem> {
        let count = self.interfaces.len() - self.first;
        let info = self.clocks[self.first..].get(number as usize);
        let info = *info.ok_or(CaptureProblem::UnknownInterface { found: number, count })?;
        // An interface of another link type does no harm until a packet comes from it.
        check_link_type(info.link)?;
        Ok(info)
    }

    fn packet(&mut self, body: &[u8], kind: u32, packet: &mut Packet) -> Result<bool, CaptureProblem> {
        if body.len() < 20 {
            let expected = "at least 32".to_string();
            return Err(block("the length of a packet block", body.len() as u32 + 12, expected));
        }
        let order = self.order;
        let number = match kind {
            OBSOLETE_PACKET => u32::from(order.u16(body, 0)),
            _ => order.u32(body, 0),
        };
        let info = self.info(number)?;
        // Two 32-bit halves, high half first in either byte order.
        let ticks = u64::from(order.u32(body, 4)) << 32 | u64::from(order.u32(body, 8));
        let (captured, wire) = (order.u32(body, 12), order.u32(body, 16));
        CaptureProblem::check_lengths(captured, wire)?;
        let Some(data) = body[20..].get(..captured as usize) else {
            let expected = format!("at most the {} bytes of the block", body.len() - 20);
            return Err(block("the captured length", captured, expected));
        };
        self.last_stamp = info.clock.nanoseconds(ticks)?;
        self.fill(packet, data, wire, number, info);
        Ok(true)
    }

    fn simple_packet(&mut self, body: &[u8], packet: &mut Packet) -> Result<bool, CaptureProblem> {
        if body.len() < 4 {
            let expected = "at least 16".to_string();
            return Err(block("the length of a packet block", body.len() as u32 + 12, expected));
        }
        let info = self.info(0)?;
        let wire = self.order.u32(body, 0);
        let limit = if info.snap_len == 0 { u32::MAX } else { info.snap_len };
        let captured = wire.min(limit);
        CaptureProblem::check_lengths(captured, wire)?;
        let Some(data) = body[4..].get(..captured as usize) else {
            let expected = format!("at most the {} bytes of the block", body.len() - 4);
            return Err(block("the captured length", captured, expected));
        };
        self.fill(packet, data, wire, 0, info);
        Ok(true)
    }

    fn fill(&self, packet: &mut Packet, data: &[u8], wire: u32, number: u32, info: InterfaceInfo) {
        // A simple packet has no stamp: it gets the one of the packet before.
        packet.stamp = self.last_stamp;
        packet.interface = self.first as u32 + number;
        packet.wire_len = wire;
        packet.bytes.clear();
        packet.bytes.extend_from_slice(data);
        packet.strip_fcs(info.fcs);
    }
}

impl Packet {
    /// Removes a frame check sequence of `len` bytes, or what was captured of it.
    pub(super) fn strip_fcs(&mut self, len: u32) {
        self.wire_len = self.wire_len.saturating_sub(len);
        self.bytes.truncate(self.wire_len as usize);
    }
}

fn section_order(head: &[u8]) -> Result<ByteOrder, CaptureProblem> {
    match ByteOrder::Big.u32(head, 8) {
        0x1a2b_3c4d => Ok(ByteOrder::Big),
        0x4d3c_2b1a => Ok(ByteOrder::Little),
        magic => Err(CaptureProblem::Block {
            what: "the byte-order magic of a section",
            found: format!("{magic:#010x}"),
            expected: "0x1a2b3c4d or 0x4d3c2b1a".to_string(),
        }),
    }
}

fn check_trailer(total: u32, trailer: u32) -> Result<(), CaptureProblem> {
    if total == trailer {
        return Ok(());
    }
    let expected = format!("{total} as at its start");
    Err(block("the block length at the end of the block", trailer, expected))
}

fn cut(what: &'static str, needed: u64, found: u64) -> CaptureProblem {
    CaptureProblem::CutShort { what, needed, found }
}

fn block(what: &'static str, found: u32, expected: String) -> CaptureProblem {
    CaptureProblem::Block { what, found: found.to_string(), expected }
}
