//! Captures that commands read and write: files, pipes, and `-` for standard input and output.

use crate::failure::Failure;
use crate::files;
use crate::output;
use crate::run::interrupt;
use sluice_packet::capture::output::OutputFile;
use sluice_packet::capture::{
    Awaited, CaptureError, CaptureReader, CaptureWriter, Format, Packet, ReadOptions, check_interfaces,
};
use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::os::fd::AsFd;
use std::path::Path;

/// What stands for standard input or output in the place of a file.
const STANDARD: &str = "-";
/// Its name in errors.
const STANDARD_INPUT: &str = "standard input";

/// All packets of a capture, with their stamps.
pub fn frames(path: &Path) -> Result<Vec<(u64, Vec<u8>)>, Failure> {
    let (mut reader, mut packet) = (Capture::open(path)?, Packet::default());
    let mut frames = Vec::new();
    while reader.read(&mut packet)? {
        frames.push((packet.stamp, packet.bytes.clone()));
    }
    Ok(frames)
}

/// Whether a path stands for standard input or output.
pub fn is_standard(path: &Path) -> bool {
    path.as_os_str() == STANDARD
}

/// A capture that is read. A signal ends a read that waits for a pipe, and the capture with it.
pub struct Capture {
    /// None when the command was asked to end before the capture began.
    reader: Option<CaptureReader<Awaited>>,
}

impl Capture {
    /// Opens a file, a pipe, or standard input.
    pub fn open(path: &Path) -> Result<Self, Failure> {
        if is_standard(path) && io::stdin().is_terminal() {
            let what = "-: standard input is a terminal, expected a capture through a pipe";
            return Err(Failure::input("E0502", what).help("tcpdump -w - | sluice ... --in port0=-"));
        }
        let opened = if is_standard(path) {
            standard_input()
        } else {
            CaptureReader::open_until(path, ReadOptions::default(), interrupt::asked)
        };
        match opened {
            Ok(reader) => Ok(Self { reader: Some(reader) }),
            Err(error) if error.was_stopped() => Ok(Self { reader: None }),
            Err(error) => Err(error.into()),
        }
    }

    /// The next packet; false at the end, or when the command is to end.
    pub fn read(&mut self, packet: &mut Packet) -> Result<bool, Failure> {
        let Some(reader) = &mut self.reader else { return Ok(false) };
        match reader.read(packet) {
            // What a signal cut off is no fault of the capture.
            Err(error) if error.was_stopped() => Ok(false),
            other => Ok(other?),
        }
    }

    /// Name of an interface; empty where it has none.
    pub fn interface(&self, number: u32) -> &str {
        let interfaces = self.reader.as_ref().map_or(&[][..], |reader| reader.interfaces());
        interfaces.get(number as usize).map_or("", |interface| interface.name.as_str())
    }
}

/// A handle of its own: standard input may be a socket, which has no file to open.
fn standard_input() -> Result<CaptureReader<Awaited>, CaptureError> {
    let handle = io::stdin().as_fd().try_clone_to_owned().map_err(|e| CaptureError::io(STANDARD_INPUT, e))?;
    let stream = Awaited::of(File::from(handle), interrupt::asked);
    CaptureReader::new(STANDARD_INPUT, stream, ReadOptions::default())
}

/// Whether a path is read once only, and may make its reader wait.
pub fn is_pipe(path: &Path) -> bool {
    is_standard(path) || std::fs::metadata(path).is_ok_and(|m| !m.is_file())
}

/// A capture that is written.
pub type Writer = CaptureWriter<BufWriter<Box<dyn Write>>>;

/// The format that a capture is written in: that of its extension, pcapng on standard output.
pub fn format(path: &Path) -> Result<Format, Failure> {
    if is_standard(path) { Ok(Format::PcapNg) } else { Ok(Format::from_path(path)?) }
}

/// Refuses standard input or output that is wanted more than once, with the options that want it.
pub fn check_standard<'a>(files: impl IntoIterator<Item = (&'a str, &'a Path)>) -> Result<(), Failure> {
    let wanted: Vec<&str> = files.into_iter().filter(|(_, file)| is_standard(file)).map(|(option, _)| option).collect();
    if wanted.len() <= 1 {
        return Ok(());
    }
    let mut options = wanted.clone();
    options.dedup();
    let (options, times) = (options.join(" and "), wanted.len());
    Err(Failure::input("E0502", format!("{options}: - stands {times} times, a stream can be used once")))
}

/// Opens a capture in the format of its extension, or in pcapng on standard output; folders on its way are made. A
/// file that was there changes when the run begins.
pub fn create(path: &Path, interfaces: &[&str]) -> Result<Writer, Failure> {
    let format = format(path)?;
    if is_standard(path) {
        if io::stdout().is_terminal() {
            let what = "-: standard output is a terminal, expected a pipe or a file for a capture";
            return Err(Failure::input("E0502", what).help("sluice ... --out port0=- | tcpdump -r -"));
        }
        let stream = BufWriter::new(output::standard());
        return Ok(CaptureWriter::new("standard output", stream, format, interfaces)?);
    }
    let name = path.display().to_string();
    // A file that is there already is left as it is where its name asks for too much.
    check_interfaces(&name, format, interfaces)?;
    files::make_folder(path)?;
    let file = OutputFile::open_until(path, interrupt::asked).map_err(|e| CaptureError::io(&name, e))?;
    let file: Box<dyn Write> = Box::new(file);
    Ok(CaptureWriter::new(&name, BufWriter::new(file), format, interfaces)?)
}
