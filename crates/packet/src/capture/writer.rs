//! Writing captures with nanosecond stamps.

use std::borrow::Cow;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::Duration;

use pcap_file::pcap::{PcapHeader, PcapPacket, PcapWriter};
use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketBlock;
use pcap_file::pcapng::blocks::interface_description::{InterfaceDescriptionBlock, InterfaceDescriptionOption};
use pcap_file::{DataLink, Endianness, PcapError, TsResolution};

use super::error::{CaptureError, CaptureProblem};
use super::output::OutputFile;
use super::{Format, Packet};
use crate::layers::MAX_PACKET_BYTES;

/// Writes a capture. [`CaptureWriter::finish`] reports what could not be written at the end.
pub struct CaptureWriter<W: Write> {
    inner: Inner<W>,
    file: String,
    interfaces: usize,
    packets: u64,
}

enum Inner<W: Write> {
    Pcap(PcapWriter<W>),
    PcapNg(PcapNgWriter<W>),
}

impl CaptureWriter<BufWriter<OutputFile>> {
    /// Opens a file in the format of its extension, with interfaces of these names; what was in it goes when the run
    /// begins.
    pub fn create(path: &Path, interfaces: &[&str]) -> Result<Self, CaptureError> {
        let format = Format::from_path(path)?;
        let file = path.display().to_string();
        check_interfaces(&file, format, interfaces)?;
        let created = OutputFile::open(path);
        let created = created.map_err(|e| CaptureError::of_file(&file, CaptureProblem::Io(e)))?;
        CaptureWriter::new(&file, BufWriter::new(created), format, interfaces)
    }
}

/// Refuses interfaces that a format cannot hold, before anything is created.
pub fn check_interfaces(file: &str, format: Format, interfaces: &[&str]) -> Result<(), CaptureError> {
    if format != Format::Pcap || interfaces.len() <= 1 {
        return Ok(());
    }
    let (found, allowed) = (interfaces.len() as u64, "one".to_string());
    let problem = CaptureProblem::DoesNotFit { what: "the number of interfaces", found, allowed };
    Err(CaptureError::of_file(file, problem))
}

impl<W: Write> CaptureWriter<W> {
    /// Writes to `writer`; `file` names it in errors.
    ///
    /// A pcap file has one interface: more are refused. The numbers are little-endian on
    /// every machine, so that the same packets give the same file.
    pub fn new(file: &str, writer: W, format: Format, interfaces: &[&str]) -> Result<Self, CaptureError> {
        check_interfaces(file, format, interfaces)?;
        let inner = match format {
            Format::Pcap => open_pcap(writer),
            Format::PcapNg => open_pcapng(writer, interfaces),
        };
        Ok(CaptureWriter {
            inner: inner.map_err(|problem| CaptureError::of_file(file, problem))?,
            file: file.to_string(),
            interfaces: interfaces.len().max(1),
            packets: 0,
        })
    }

    /// Appends a packet.
    pub fn write(&mut self, packet: &Packet) -> Result<(), CaptureError> {
        self.write_one(packet).map_err(|problem| CaptureError {
            packet: Some(self.packets + 1),
            ..CaptureError::of_file(&self.file, problem)
        })?;
        self.packets += 1;
        Ok(())
    }

    fn write_one(&mut self, packet: &Packet) -> Result<(), CaptureProblem> {
        let captured = u32::try_from(packet.bytes.len()).unwrap_or(u32::MAX);
        CaptureProblem::check_lengths(captured, packet.wire_len)?;
        if packet.interface as usize >= self.interfaces {
            return Err(CaptureProblem::UnknownInterface { found: packet.interface, count: self.interfaces });
        }
        let timestamp = Duration::from_nanos(packet.stamp);
        match &mut self.inner {
            Inner::Pcap(writer) => {
                if timestamp.as_secs() > u64::from(u32::MAX) {
                    return Err(CaptureProblem::DoesNotFit {
                        what: "the stamp in seconds",
                        found: timestamp.as_secs(),
                        allowed: format!("at most {}", u32::MAX),
                    });
                }
                let record = PcapPacket::new(timestamp, packet.wire_len, &packet.bytes);
                writer.write_packet(&record).map_err(problem)?;
            }
            Inner::PcapNg(writer) => {
                let block = EnhancedPacketBlock {
                    interface_id: packet.interface,
                    timestamp,
                    original_len: packet.wire_len,
                    data: Cow::Borrowed(&packet.bytes),
                    options: Vec::new(),
                };
                writer.write_pcapng_block(block).map_err(problem)?;
            }
        }
        Ok(())
    }

    /// Packets written so far.
    pub fn packets(&self) -> u64 {
        self.packets
    }

    /// Writes what is still buffered.
    pub fn finish(self) -> Result<(), CaptureError> {
        self.into_inner().map(drop)
    }

    /// As [`CaptureWriter::finish`], and returns the writer.
    pub fn into_inner(self) -> Result<W, CaptureError> {
        let mut writer = match self.inner {
            Inner::Pcap(writer) => writer.into_writer(),
            Inner::PcapNg(writer) => writer.into_inner(),
        };
        let flushed = writer.flush();
        flushed.map_err(|e| CaptureError::of_file(&self.file, CaptureProblem::Io(e)))?;
        Ok(writer)
    }
}

fn open_pcap<W: Write>(writer: W) -> Result<Inner<W>, CaptureProblem> {
    let header = PcapHeader {
        snaplen: MAX_PACKET_BYTES as u32,
        datalink: DataLink::ETHERNET,
        ts_resolution: TsResolution::NanoSecond,
        endianness: Endianness::Little,
        ..PcapHeader::default()
    };
    let writer = PcapWriter::with_header(writer, header).map_err(problem)?;
    Ok(Inner::Pcap(writer))
}

fn open_pcapng<W: Write>(writer: W, interfaces: &[&str]) -> Result<Inner<W>, CaptureProblem> {
    let mut writer = PcapNgWriter::with_endianness(writer, Endianness::Little).map_err(problem)?;
    let unnamed = [""];
    let names = if interfaces.is_empty() { &unnamed[..] } else { interfaces };
    for name in names {
        let mut block = InterfaceDescriptionBlock::new(DataLink::ETHERNET, MAX_PACKET_BYTES as u32);
        if !name.is_empty() {
            let name = name.to_string();
            block.options.push(InterfaceDescriptionOption::IfName(name.into()));
        }
        block.options.push(InterfaceDescriptionOption::IfTsResol(9));
        writer.write_pcapng_block(block).map_err(problem)?;
    }
    Ok(Inner::PcapNg(writer))
}

fn problem(error: PcapError) -> CaptureProblem {
    match error {
        PcapError::IoError(error) => CaptureProblem::Io(error),
        // Everything that the library checks was checked before.
        other => CaptureProblem::Io(std::io::Error::other(other)),
    }
}
