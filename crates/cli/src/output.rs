//! Standard output. A reader that goes away (`| head`) ends the program quietly.

use crate::failure::Failure;
use crate::printable;
use crate::run::interrupt;
use sluice_packet::capture::AwaitedOutput;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::os::fd::AsFd;

/// Where results go. Errors, progress and hints go to standard error.
pub struct Output {
    inner: BufWriter<Box<dyn Write>>,
    /// Whether anything was written.
    used: bool,
}

impl Output {
    /// Standard output.
    pub fn stdout() -> Self {
        Self { inner: BufWriter::new(standard()), used: false }
    }

    /// Standard error, for a report beside results that a program reads.
    pub fn stderr() -> Self {
        Self { inner: BufWriter::new(Box::new(io::stderr())), used: false }
    }

    /// A line.
    pub fn line(&mut self, text: impl AsRef<str>) -> Result<(), Failure> {
        self.text(text.as_ref())?;
        self.text("\n")
    }

    /// Text; control characters of names and excerpts are escaped.
    pub fn text(&mut self, text: &str) -> Result<(), Failure> {
        self.used = true;
        self.inner.write_all(printable::text(text).as_bytes()).or_else(gone)
    }

    /// A JSON document of its own.
    pub fn json(&mut self, value: &serde_json::Value) -> Result<(), Failure> {
        self.used = true;
        self.inner.write_all(printable::json(&format!("{value:#}\n")).as_bytes()).or_else(gone)
    }

    /// Why a command failed, as the one document of a command that has written none.
    pub fn refusal(&mut self, document: &serde_json::Value) -> Result<(), Failure> {
        if !self.used {
            self.json(document)?;
        }
        self.flush()
    }

    /// Writes what is still buffered.
    pub fn flush(&mut self) -> Result<(), Failure> {
        self.inner.flush().or_else(gone)
    }
}

/// Standard output for a stream of bytes; a signal ends the wait for a reader that takes nothing.
pub fn standard() -> Box<dyn Write> {
    match io::stdout().as_fd().try_clone_to_owned() {
        Ok(handle) => Box::new(AwaitedOutput::of(File::from(handle), interrupt::asked)),
        Err(_) => Box::new(io::stdout()),
    }
}

fn gone(error: io::Error) -> Result<(), Failure> {
    match error.kind() {
        // A terminal that hung up takes no report, nor does a reader that the same Ctrl-C ended: the exit code says it.
        _ if interrupt::asked() => Ok(()),
        io::ErrorKind::BrokenPipe => std::process::exit(0),
        _ => Err(Failure::input("E0501", format!("standard output cannot be written: {error}"))),
    }
}
