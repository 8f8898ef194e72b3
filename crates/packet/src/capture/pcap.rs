//! Classic pcap: file header and records.

use std::io::Read;

use pcap_file::pcap::{PcapParser, RawPcapPacket};
use pcap_file::{DataLink, Endianness, TsResolution};

use super::Packet;
use super::error::CaptureProblem;
use super::reader::check_link_type;
use super::source::{ByteOrder, Source};

const FILE_HEADER: usize = 24;
const RECORD_HEADER: usize = 16;

/// What the file header says.
#[derive(Debug)]
pub(super) struct Pcap {
    parser: PcapParser,
    order: ByteOrder,
    /// Bytes of frame check sequence at the end of each packet.
    fcs: u32,
}

impl Pcap {
    pub fn open<R: Read>(source: &mut Source<R>) -> Result<Pcap, CaptureProblem> {
        let header = source.peek(FILE_HEADER)?;
        let cut = CaptureProblem::CutShort {
            what: "the file header",
            needed: FILE_HEADER as u64,
            found: header.len() as u64,
        };
        let Ok((_, parser)) = PcapParser::new(header) else {
            // The magic number was seen, so only length can be wrong.
            return Err(cut);
        };
        source.consume(FILE_HEADER);
        let header = parser.header();
        if header.version_major != 2 {
            return Err(CaptureProblem::Version {
                format: "pcap",
                major: header.version_major,
                minor: header.version_minor,
                expected: "2.4",
            });
        }
        // Bits 28 to 31 are the FCS length in 16-bit words, valid if bit 26 is set.
        let word = u32::from(header.datalink);
        let fcs = if word & 1 << 26 != 0 { (word >> 28) * 2 } else { 0 };
        check_link_type(DataLink::from(word & 0xffff))?;
        let order = match header.endianness {
            Endianness::Big => ByteOrder::Big,
            Endianness::Little => ByteOrder::Little,
        };
        Ok(Pcap { parser, order, fcs })
    }

    /// Reads the next record into `packet`; false at the end of the file.
    pub fn next<R: Read>(&self, source: &mut Source<R>, packet: &mut Packet) -> Result<bool, CaptureProblem> {
        let header = source.peek(RECORD_HEADER)?;
        if header.is_empty() {
            return Ok(false);
        }
        let cut = |what, needed: usize, found: usize| CaptureProblem::CutShort {
            what,
            needed: needed as u64,
            found: found as u64,
        };
        if header.len() < RECORD_HEADER {
            return Err(cut("a record header", RECORD_HEADER, header.len()));
        }
        let captured = self.order.u32(header, 8);
        CaptureProblem::check_lengths(captured, self.order.u32(header, 12))?;
        let needed = RECORD_HEADER + captured as usize;
        let record = source.peek(needed)?;
        let Ok((_, raw)) = self.parser.next_raw_packet(record) else {
            return Err(cut("a packet", needed, record.len()));
        };
        packet.stamp = self.stamp(&raw)?;
        packet.interface = 0;
        packet.wire_len = raw.orig_len;
        packet.bytes.clear();
        packet.bytes.extend_from_slice(&raw.data);
        packet.strip_fcs(self.fcs);
        source.consume(needed);
        Ok(true)
    }

    fn stamp(&self, raw: &RawPcapPacket<'_>) -> Result<u64, CaptureProblem> {
        let (parts, unit, expected) = match self.parser.header().ts_resolution {
            TsResolution::MicroSecond => (1_000_000, 1_000, "below 1000000 microseconds"),
            TsResolution::NanoSecond => (1_000_000_000, 1, "below 1000000000 nanoseconds"),
        };
        if raw.ts_frac >= parts {
            return Err(CaptureProblem::Stamp {
                found: format!("{} s and {} parts", raw.ts_sec, raw.ts_frac),
                expected,
            });
        }
        Ok(u64::from(raw.ts_sec) * 1_000_000_000 + u64::from(raw.ts_frac) * unit)
    }
}
