//! Captures: pcap and pcapng files, read and written with nanosecond stamps.
//!
//! Reading streams: one packet is held at a time. Only Ethernet is accepted. Every file,
//! however malformed, gives packets and then possibly one error that says the file, the
//! packet and the byte; nothing panics.

mod awaited;
mod awaited_output;
mod error;
mod fed;
pub mod output;
mod pcap;
mod pcapng;
mod reader;
mod source;
mod stamp;
mod writer;

use std::path::Path;

pub use awaited::{Awaited, Stop};
pub use awaited_output::AwaitedOutput;
pub use error::{CaptureError, CaptureProblem};
pub use fed::{Fed, Feeder, Next};
pub use reader::{CaptureReader, Interface, ReadOptions};
pub use writer::{CaptureWriter, check_interfaces};

/// One packet of a capture.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Packet {
    /// Nanoseconds since 1970.
    pub stamp: u64,
    /// Interface of the capture, from 0. Always 0 in a pcap file.
    pub interface: u32,
    /// Bytes that were captured, without FCS.
    pub bytes: Vec<u8>,
    /// Bytes that the packet had on the wire, without FCS: more than `bytes` if truncated.
    pub wire_len: u32,
}

impl Packet {
    /// A whole packet of interface 0.
    pub fn new(stamp: u64, bytes: Vec<u8>) -> Packet {
        Packet { stamp, interface: 0, wire_len: bytes.len() as u32, bytes }
    }

    /// Whether the capture holds less than the wire did.
    pub fn is_truncated(&self) -> bool {
        (self.bytes.len() as u64) < u64::from(self.wire_len)
    }
}

/// Format of a capture file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Classic pcap.
    Pcap,
    /// pcapng.
    PcapNg,
}

impl Format {
    /// The format by the name's extension: `.pcap` or `.pcapng`.
    pub fn from_path(path: &Path) -> Result<Format, CaptureError> {
        match path.extension().and_then(|e| e.to_str()) {
            Some("pcap") => Ok(Format::Pcap),
            Some("pcapng") => Ok(Format::PcapNg),
            other => Err(CaptureError::of_file(
                &path.display().to_string(),
                CaptureProblem::Extension { found: other.unwrap_or("").to_string() },
            )),
        }
    }
}

/// Reads a whole capture, refusing truncated packets.
pub fn read_all(path: &Path) -> Result<Vec<Packet>, CaptureError> {
    CaptureReader::open(path, ReadOptions::default())?.collect()
}

/// Writes a whole capture with one interface, in the format of the extension.
pub fn write_all(path: &Path, packets: &[Packet]) -> Result<(), CaptureError> {
    let mut writer = CaptureWriter::create(path, &["port0"])?;
    for packet in packets {
        writer.write(packet)?;
    }
    writer.finish()
}
