//! `--packets`: what became of each packet, a JSON object a line.

use super::counts::destination;
use crate::captures::Capture;
use crate::failure::Failure;
use crate::files;
use crate::output::Output;
use crate::run::interrupt;
use serde_json::json;
use sluice_ebpf::vm::{Installed, Outcome};
use sluice_ebpf::{Image, Runtime, Verdict};
use sluice_packet::capture;
use sluice_packet::capture::output::OutputFile;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// Where the lines go.
pub enum PacketLog {
    /// Standard output.
    Standard,
    /// A file.
    File(PathBuf, BufWriter<OutputFile>),
}

/// A packet as it came in.
pub struct Arrived<'a> {
    /// Number among all packets of the run, from 0.
    pub number: u64,
    /// The capture that it is from.
    pub capture: &'a Path,
    /// Its stamp.
    pub time_ns: u64,
    /// Its bytes.
    pub length: usize,
}

impl PacketLog {
    /// Creates the file; `-` is standard output.
    pub fn create(path: &Path) -> Result<Self, Failure> {
        if path == Path::new("-") {
            return Ok(Self::Standard);
        }
        files::make_folder(path)?;
        let file = OutputFile::open_until(path, interrupt::asked).map_err(|e| Failure::file(path, "written", &e))?;
        Ok(Self::File(path.to_owned(), BufWriter::new(file)))
    }

    /// Writes a packet's line. Its last run was the last of `runtime`.
    pub fn take(
        &mut self,
        arrived: &Arrived<'_>,
        (image, program): (&Image, usize),
        (runtime, installed): (&Runtime, Installed),
        (outcome, length_after): (&Outcome, usize),
        out: &mut Output,
    ) -> Result<(), Failure> {
        let named = |number: u32| {
            let is = |index: &usize| runtime.program_number(installed, *index) == Some(number);
            (0..image.programs.len()).find(is).map_or("", |index| image.programs[index].name.as_str())
        };
        let name = image.programs[program].name.as_str();
        let mut path = vec![name];
        path.extend(runtime.tail_called().iter().map(|number| named(*number)));
        let to = (outcome.verdict == Verdict::Redirect).then(|| destination(outcome.redirect));
        let fault = outcome.fault.as_ref().map(|f| format!("{} at {}:{}", f.reason, f.program, f.pc));
        let line = json!({
            "packet": arrived.number, "capture": arrived.capture, "time_ns": arrived.time_ns, "program": name,
            "verdict": outcome.verdict.name(), "instructions": outcome.instructions, "path": path, "to": to,
            "fault": fault, "length": arrived.length, "length_after": length_after,
        });
        match self {
            Self::Standard => out.line(line.to_string()),
            Self::File(path, file) => writeln!(file, "{line}").map_err(|e| Failure::file(path, "written", &e)),
        }
    }

    /// Ends the file.
    pub fn finish(self) -> Result<(), Failure> {
        match self {
            Self::Standard => Ok(()),
            Self::File(path, mut file) => file.flush().map_err(|e| Failure::file(&path, "written", &e)),
        }
    }
}

/// Reads at most `most` packets of a capture into a batch: how many, and what is wrong with the one behind them.
pub(super) fn read_batch(reader: &mut Capture, batch: &mut [capture::Packet], most: u64) -> (usize, Option<Failure>) {
    let room = usize::try_from(most).unwrap_or(usize::MAX);
    for (read, packet) in batch.iter_mut().enumerate().take(room) {
        match reader.read(packet) {
            Ok(true) => {}
            Ok(false) => return (read, None),
            Err(error) => return (read, Some(error)),
        }
    }
    (batch.len().min(room), None)
}
