//! Reading captures of either format.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use pcap_file::DataLink;

use super::awaited::{Awaited, Stop};
use super::error::{CaptureError, CaptureProblem};
use super::pcap::Pcap;
use super::pcapng::{PcapNg, SECTION};
use super::source::{ByteOrder, Source};
use super::{Format, Packet};

/// What is accepted in a capture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadOptions {
    /// Accept packets that were captured only in part, and count them. Otherwise the first
    /// one is an error: what a device would do with the rest is not known.
    pub allow_truncated: bool,
}

/// One interface of a capture.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Interface {
    /// Its name; empty where the file has none.
    pub name: String,
}

/// Reads a capture packet by packet: an iterator that ends after the first error.
#[derive(Debug)]
pub struct CaptureReader<R> {
    source: Source<R>,
    file: String,
    size: Option<u64>,
    format: FormatState,
    options: ReadOptions,
    packets: u64,
    truncated: u64,
    failed: bool,
}

#[derive(Debug)]
enum FormatState {
    Pcap(Pcap),
    PcapNg(PcapNg),
}

impl CaptureReader<File> {
    /// Opens a file of either format; its beginning decides, not its name.
    pub fn open(path: &Path, options: ReadOptions) -> Result<Self, CaptureError> {
        let file = path.display().to_string();
        let io = |error| CaptureError::of_file(&file, CaptureProblem::Io(error));
        let reader = File::open(path).map_err(io)?;
        let metadata = reader.metadata().map_err(io)?;
        let mut capture = CaptureReader::new(&file, reader, options)?;
        // A pipe has no size that would say how far reading has come.
        capture.size = metadata.is_file().then_some(metadata.len());
        Ok(capture)
    }
}

impl CaptureReader<Awaited> {
    /// Opens a file of which pipes and terminals are waited for until `stop` says so: then opening and reading end
    /// with an error that `was_stopped`.
    pub fn open_until(path: &Path, options: ReadOptions, stop: Stop) -> Result<Self, CaptureError> {
        let file = path.display().to_string();
        let io = |error| CaptureError::of_file(&file, CaptureProblem::Io(error));
        let (reader, metadata) = Awaited::open(path, stop).map_err(io)?;
        let mut capture = CaptureReader::new(&file, reader, options)?;
        capture.size = metadata.is_file().then_some(metadata.len());
        Ok(capture)
    }
}

impl<R: Read> CaptureReader<R> {
    /// Reads from `reader`; `file` names it in errors.
    pub fn new(file: &str, reader: R, options: ReadOptions) -> Result<Self, CaptureError> {
        let mut source = Source::new(reader);
        let format = open(&mut source)
            .map_err(|problem| CaptureError { offset: Some(0), ..CaptureError::of_file(file, problem) })?;
        Ok(CaptureReader {
            source,
            file: file.to_string(),
            size: None,
            format,
            options,
            packets: 0,
            truncated: 0,
            failed: false,
        })
    }

    /// Reads the next packet into `packet`, whose memory is used again; false at the end.
    ///
    /// After an error, and after the end, there is nothing more.
    pub fn read(&mut self, packet: &mut Packet) -> Result<bool, CaptureError> {
        if self.failed {
            return Ok(false);
        }
        let result = self.read_one(packet);
        self.failed = !matches!(result, Ok(true));
        result.map_err(|problem| CaptureError {
            file: self.file.clone(),
            packet: Some(self.packets + 1),
            offset: Some(self.source.offset()),
            problem,
        })
    }

    fn read_one(&mut self, packet: &mut Packet) -> Result<bool, CaptureProblem> {
        let found = match &mut self.format {
            FormatState::Pcap(pcap) => pcap.next(&mut self.source, packet)?,
            FormatState::PcapNg(pcapng) => pcapng.next(&mut self.source, packet)?,
        };
        if !found {
            return Ok(false);
        }
        if packet.is_truncated() {
            if !self.options.allow_truncated {
                return Err(CaptureProblem::Truncated { captured: packet.bytes.len() as u32, wire: packet.wire_len });
            }
            self.truncated += 1;
        }
        self.packets += 1;
        Ok(true)
    }

    /// The file's format.
    pub fn format(&self) -> Format {
        match self.format {
            FormatState::Pcap(_) => Format::Pcap,
            FormatState::PcapNg(_) => Format::PcapNg,
        }
    }

    /// Interfaces that were described so far. Of a pcap file, none is described.
    pub fn interfaces(&self) -> &[Interface] {
        match &self.format {
            FormatState::Pcap(_) => &[],
            FormatState::PcapNg(pcapng) => &pcapng.interfaces,
        }
    }

    /// Packets read so far.
    pub fn packets(&self) -> u64 {
        self.packets
    }

    /// Truncated packets among them.
    pub fn truncated(&self) -> u64 {
        self.truncated
    }

    /// Bytes of the file read so far.
    pub fn offset(&self) -> u64 {
        self.source.offset()
    }

    /// Size of the file, where it is known.
    pub fn size(&self) -> Option<u64> {
        self.size
    }
}

impl<R: Read> Iterator for CaptureReader<R> {
    type Item = Result<Packet, CaptureError>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut packet = Packet::default();
        match self.read(&mut packet) {
            Ok(true) => Some(Ok(packet)),
            Ok(false) => None,
            Err(error) => Some(Err(error)),
        }
    }
}

fn open<R: Read>(source: &mut Source<R>) -> Result<FormatState, CaptureProblem> {
    let start = source.peek(4)?;
    let magic = ByteOrder::Big.u32(start, 0);
    match magic {
        SECTION => Ok(FormatState::PcapNg(PcapNg::new())),
        0xa1b2_c3d4 | 0xd4c3_b2a1 | 0xa1b2_3c4d | 0x4d3c_b2a1 => Ok(FormatState::Pcap(Pcap::open(source)?)),
        _ => Err(CaptureProblem::Magic {
            found: match start {
                [] => "nothing: it is empty".to_string(),
                bytes => bytes.iter().map(|b| format!("{b:02x}")).collect(),
            },
            hint: match start {
                [0x1f, 0x8b, ..] => " (it is compressed with gzip: decompress it first)",
                [0x28, 0xb5, 0x2f, 0xfd] => " (it is compressed with zstd: decompress it first)",
                [0x04, 0x22, 0x4d, 0x18] => " (it is compressed with lz4: decompress it first)",
                _ => "",
            },
        }),
    }
}

/// Only Ethernet passes.
pub(super) fn check_link_type(link: DataLink) -> Result<(), CaptureProblem> {
    if link == DataLink::ETHERNET {
        return Ok(());
    }
    let found = match link {
        DataLink::Unknown(number) => format!("{number} (unknown)"),
        known => format!("{} ({known:?})", u32::from(known)),
    };
    Err(CaptureProblem::LinkType { found })
}
