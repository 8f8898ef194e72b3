//! Captures as sources and sinks.

use super::{Input, PortError, Received, Sink, Source};
use sluice_packet::capture::{CaptureReader, CaptureWriter, Packet, ReadOptions};
use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

/// Plays a capture.
#[derive(Debug)]
pub struct CaptureSource {
    reader: CaptureReader<File>,
}

impl CaptureSource {
    /// Opens a pcap or pcapng file.
    pub fn open(path: &Path) -> Result<Self, PortError> {
        Ok(Self { reader: CaptureReader::open(path, ReadOptions::default())? })
    }

    /// Bytes read of how many, where the file has a size: for progress.
    pub fn progress(&self) -> (u64, Option<u64>) {
        (self.reader.offset(), self.reader.size())
    }
}

impl Source for CaptureSource {
    fn next(&mut self) -> Result<Input, PortError> {
        let mut packet = Packet::default();
        if !self.reader.read(&mut packet)? {
            return Ok(Input::End);
        }
        Ok(Input::Packet(Received { bytes: packet.bytes, stamp_ns: packet.stamp }))
    }
}

/// Writes a capture.
pub struct CaptureSink {
    writer: CaptureWriter<BufWriter<File>>,
}

impl CaptureSink {
    /// Creates a file in the format of its extension; `interface` is the port's name in it.
    pub fn create(path: &Path, interface: &str) -> Result<Self, PortError> {
        Ok(Self { writer: CaptureWriter::create(path, &[interface])? })
    }
}

impl Sink for CaptureSink {
    fn send(&mut self, bytes: &[u8], stamp_ns: u64) -> Result<bool, PortError> {
        self.writer.write(&Packet::new(stamp_ns, bytes.to_vec()))?;
        Ok(true)
    }

    fn finish(self: Box<Self>) -> Result<(), PortError> {
        Ok(self.writer.finish()?)
    }
}
