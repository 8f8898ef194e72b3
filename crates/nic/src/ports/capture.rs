//! Captures as sources and sinks.

use super::{Input, PortError, Received, Sink, Source};
use sluice_packet::capture::output::OutputFile;
use sluice_packet::capture::{Awaited, CaptureReader, CaptureWriter, Packet, ReadOptions, Stop};
use std::io::BufWriter;
use std::path::Path;

/// Plays a capture.
#[derive(Debug)]
pub struct CaptureSource {
    reader: CaptureReader<Awaited>,
}

impl CaptureSource {
    /// Opens a pcap or pcapng file.
    ///
    /// Pipes are waited for until `stop` says so; then the capture is at its end, or there is none.
    pub fn open(path: &Path, stop: Stop) -> Result<Option<Self>, PortError> {
        match CaptureReader::open_until(path, ReadOptions::default(), stop) {
            Ok(reader) => Ok(Some(Self { reader })),
            Err(error) if error.was_stopped() => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Bytes read of how many, where the file has a size: for progress.
    pub fn progress(&self) -> (u64, Option<u64>) {
        (self.reader.offset(), self.reader.size())
    }
}

impl Source for CaptureSource {
    fn next(&mut self) -> Result<Input, PortError> {
        let mut packet = Packet::default();
        match self.reader.read(&mut packet) {
            Ok(true) => Ok(Input::Packet(Received { bytes: packet.bytes, stamp_ns: packet.stamp })),
            Ok(false) => Ok(Input::End),
            Err(error) if error.was_stopped() => Ok(Input::End),
            Err(error) => Err(error.into()),
        }
    }
}

/// Writes a capture.
pub struct CaptureSink {
    writer: CaptureWriter<BufWriter<OutputFile>>,
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

    fn finish(self: Box<Self>) -> Result<u64, PortError> {
        let packets = self.writer.packets();
        self.writer.finish()?;
        Ok(packets)
    }
}
