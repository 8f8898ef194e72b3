//! Captures as sources and sinks.

use super::{PortError, Sink, Source};
use sluice_packet::capture::output::OutputFile;
use sluice_packet::capture::{
    Awaited, CaptureError, CaptureReader, CaptureWriter, Fed, Next, Packet, ReadOptions, Stop,
};
use std::io::BufWriter;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Plays a capture.
#[derive(Debug)]
pub struct CaptureSource {
    reader: Reader,
}

#[derive(Debug)]
enum Reader {
    /// A file always has its bytes.
    File(Box<CaptureReader<Awaited>>),
    /// Anything else may make its reader wait, and has a thread for it.
    Pipe(Fed<Packet, CaptureError>),
}

impl CaptureSource {
    /// Opens a pcap or pcapng file. What is wrong with a pipe is told by [`Source::next`].
    ///
    /// Pipes are waited for until `stop` says so; then the capture is at its end, or there is none.
    pub fn open(path: &Path, stop: Stop) -> Result<Option<Self>, PortError> {
        let open = move |path: &Path| match CaptureReader::open_until(path, ReadOptions::default(), stop) {
            Ok(reader) => Ok(Some(reader)),
            Err(error) if error.was_stopped() => Ok(None),
            Err(error) => Err(error),
        };
        if !std::fs::metadata(path).is_ok_and(|found| !found.is_file()) {
            return Ok(open(path)?.map(|reader| Self { reader: Reader::File(Box::new(reader)) }));
        }
        let pipe = path.to_owned();
        let fed = Fed::start(move |feeder| {
            let Some(mut reader) = open(&pipe)? else { return Ok(()) };
            while read(&mut reader)?.is_some_and(|packet| feeder.put(packet)) {}
            Ok(())
        });
        let fed = fed.map_err(|e| CaptureError::io(&path.display().to_string(), e))?;
        Ok(Some(Self { reader: Reader::Pipe(fed) }))
    }

    /// Whether it has to be asked again and again for what comes.
    pub fn is_pipe(&self) -> bool {
        matches!(self.reader, Reader::Pipe(_))
    }

    /// Bytes read of how many, where it is a file and has a size: for progress.
    pub fn progress(&self) -> (u64, Option<u64>) {
        match &self.reader {
            Reader::File(reader) => (reader.offset(), reader.size()),
            Reader::Pipe(_) => (0, None),
        }
    }
}

impl Source for CaptureSource {
    fn receive(&mut self, most: usize, take: &mut dyn FnMut(&[u8])) -> Result<Option<usize>, PortError> {
        let mut taken = 0;
        while taken < most {
            let next = match &mut self.reader {
                Reader::File(reader) => read(reader)?.map_or(Next::End, Next::Item),
                Reader::Pipe(fed) => fed.next(Duration::ZERO)?,
            };
            match next {
                Next::Item(packet) => take(&packet.bytes),
                Next::Later => break,
                Next::End if taken == 0 => return Ok(None),
                Next::End => break,
            }
            taken += 1;
        }
        Ok(Some(taken))
    }

    fn is_patient(&self) -> bool {
        true
    }
}

/// The next packet; none at the end, or when reading was told to stop.
fn read(reader: &mut CaptureReader<Awaited>) -> Result<Option<Packet>, CaptureError> {
    let mut packet = Packet::default();
    match reader.read(&mut packet) {
        Ok(more) => Ok(more.then_some(packet)),
        Err(error) if error.was_stopped() => Ok(None),
        Err(error) => Err(error),
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
    /// The stamp is the time of the call.
    fn send(&mut self, parts: &[&[u8]]) -> Result<bool, PortError> {
        let stamp = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |t| t.as_nanos() as u64);
        self.writer.write(&Packet::new(stamp, parts.concat()))?;
        Ok(true)
    }

    fn finish(self: Box<Self>) -> Result<u64, PortError> {
        let packets = self.writer.packets();
        self.writer.finish()?;
        Ok(packets)
    }
}

#[cfg(test)]
#[path = "capture_tests.rs"]
mod tests;
