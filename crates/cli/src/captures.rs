//! Captures that commands read and write: files, pipes, and `-` for standard input and output.

use crate::failure::Failure;
use crate::files;
use crate::run::interrupt;
use sluice_packet::capture::{CaptureError, CaptureReader, CaptureWriter, Format, Packet, ReadOptions};
use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

/// What stands for standard input or output in the place of a file.
const STANDARD: &str = "-";
/// How often a read that waits looks whether it is to end.
const LOOK: Duration = Duration::from_millis(50);
const CHUNK_BYTES: usize = 64 << 10;
/// Chunks that are read ahead.
const AHEAD: usize = 4;

/// Whether a path stands for standard input or output.
pub fn is_standard(path: &Path) -> bool {
    path.as_os_str() == STANDARD
}

/// A capture that is read. A signal ends a read that waits for a pipe, and the capture with it.
pub struct Capture {
    /// None when the command was asked to end before the capture began.
    reader: Option<CaptureReader<Box<dyn Read>>>,
}

impl Capture {
    /// Opens a file, a pipe, or standard input.
    pub fn open(path: &Path) -> Result<Self, Failure> {
        let name = if is_standard(path) { "standard input".to_owned() } else { path.display().to_string() };
        if is_standard(path) && io::stdin().is_terminal() {
            let what = "-: standard input is a terminal, expected a capture through a pipe";
            return Err(Failure::input("E0502", what).help("tcpdump -w - | sluice ... --in port0=-"));
        }
        let stream: Box<dyn Read> = if is_standard(path) || is_pipe(path) {
            Box::new(Waiting::open(path.to_owned()))
        } else {
            Box::new(File::open(path).map_err(|e| CaptureError::io(&name, e))?)
        };
        match CaptureReader::new(&name, stream, ReadOptions::default()) {
            Ok(reader) => Ok(Self { reader: Some(reader) }),
            Err(_) if interrupt::asked() => Ok(Self { reader: None }),
            Err(error) => Err(error.into()),
        }
    }

    /// The next packet; false at the end, or when the command is to end.
    pub fn read(&mut self, packet: &mut Packet) -> Result<bool, Failure> {
        let Some(reader) = &mut self.reader else { return Ok(false) };
        match reader.read(packet) {
            // What a signal cut off is no fault of the capture.
            Err(_) if interrupt::asked() => Ok(false),
            other => Ok(other?),
        }
    }

    /// Name of an interface; empty where it has none.
    pub fn interface(&self, number: u32) -> &str {
        let interfaces = self.reader.as_ref().map_or(&[][..], |reader| reader.interfaces());
        interfaces.get(number as usize).map_or("", |interface| interface.name.as_str())
    }
}

/// Whether a path is read once only, and may make its reader wait.
pub fn is_pipe(path: &Path) -> bool {
    is_standard(path) || std::fs::metadata(path).is_ok_and(|m| !m.is_file())
}

/// Bytes of a pipe, read by a thread of its own, which nobody waits for at the end.
struct Waiting {
    chunks: Receiver<io::Result<Vec<u8>>>,
    chunk: Vec<u8>,
    at: usize,
}

impl Waiting {
    fn open(path: PathBuf) -> Self {
        let (send, chunks) = sync_channel(AHEAD);
        std::thread::spawn(move || {
            // Opening a FIFO waits for its writer.
            let stream: io::Result<Box<dyn Read>> = match is_standard(&path) {
                true => Ok(Box::new(io::stdin())),
                false => File::open(&path).map(|file| Box::new(file) as Box<dyn Read>),
            };
            let mut stream = match stream {
                Ok(stream) => stream,
                Err(error) => return drop(send.send(Err(error))),
            };
            loop {
                let mut chunk = vec![0; CHUNK_BYTES];
                let read = match stream.read(&mut chunk) {
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                    Ok(length) => {
                        chunk.truncate(length);
                        Ok(chunk)
                    }
                    Err(error) => Err(error),
                };
                let last = !read.as_ref().is_ok_and(|chunk| !chunk.is_empty());
                if send.send(read).is_err() || last {
                    return;
                }
            }
        });
        Self { chunks, chunk: Vec::new(), at: 0 }
    }
}

impl Read for Waiting {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.at == self.chunk.len() {
            match self.chunks.recv_timeout(LOOK) {
                Ok(chunk) => (self.chunk, self.at) = (chunk?, 0),
                Err(RecvTimeoutError::Timeout) if !interrupt::asked() => continue,
                Err(_) => return Ok(0),
            }
            if self.chunk.is_empty() {
                return Ok(0);
            }
        }
        let length = buffer.len().min(self.chunk.len() - self.at);
        buffer[..length].copy_from_slice(&self.chunk[self.at..self.at + length]);
        self.at += length;
        Ok(length)
    }
}

/// A capture that is written.
pub type Writer = CaptureWriter<BufWriter<Box<dyn Write>>>;

/// The format that a capture is written in: that of its extension, pcapng on standard output.
pub fn format(path: &Path) -> Result<Format, Failure> {
    if is_standard(path) { Ok(Format::PcapNg) } else { Ok(Format::from_path(path)?) }
}

/// Refuses standard input or output that is wanted more than once.
pub fn check_standard<'a>(option: &str, files: impl IntoIterator<Item = &'a Path>) -> Result<(), Failure> {
    let wanted = files.into_iter().filter(|file| is_standard(file)).count();
    if wanted <= 1 {
        return Ok(());
    }
    Err(Failure::input("E0502", format!("{option}: - stands {wanted} times, a stream can be used once")))
}

/// Creates a capture in the format of its extension, or in pcapng on standard output; folders on its way are made.
pub fn create(path: &Path, interfaces: &[&str]) -> Result<Writer, Failure> {
    let format = format(path)?;
    if is_standard(path) {
        if io::stdout().is_terminal() {
            let what = "-: standard output is a terminal, expected a pipe or a file for a capture";
            return Err(Failure::input("E0502", what).help("sluice ... --out port0=- | tcpdump -r -"));
        }
        let stream: Box<dyn Write> = Box::new(io::stdout());
        return Ok(CaptureWriter::new("standard output", BufWriter::new(stream), format, interfaces)?);
    }
    files::make_folder(path)?;
    let name = path.display().to_string();
    let file: Box<dyn Write> = Box::new(File::create(path).map_err(|e| CaptureError::io(&name, e))?);
    Ok(CaptureWriter::new(&name, BufWriter::new(file), format, interfaces)?)
}
