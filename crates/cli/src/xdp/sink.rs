//! The capture of what a program lets leave: by verdict, where the format has interfaces.

use crate::captures::{self, Writer};
use crate::failure::Failure;
use sluice_ebpf::Verdict;
use sluice_packet::capture::{Format, Packet};
use std::path::{Path, PathBuf};

const INTERFACES: [(Verdict, &str); 3] =
    [(Verdict::Pass, "pass"), (Verdict::Tx, "tx"), (Verdict::Redirect, "redirect")];

/// One capture; pcapng has an interface for each verdict.
pub struct Sink {
    path: PathBuf,
    writer: Writer,
    has_interfaces: bool,
}

impl Sink {
    /// Creates the file.
    pub fn create(path: &Path) -> Result<Self, Failure> {
        let has_interfaces = captures::format(path)? == Format::PcapNg;
        let names: Vec<&str> = INTERFACES.iter().map(|(_, name)| *name).collect();
        let writer = captures::create(path, if has_interfaces { &names } else { &names[..1] })?;
        Ok(Self { path: path.to_owned(), writer, has_interfaces })
    }

    /// Keeps a packet, unless its verdict loses it.
    pub fn take(&mut self, verdict: Verdict, stamp: u64, frame: &[u8]) -> Result<(), Failure> {
        let Some(interface) = INTERFACES.iter().position(|(v, _)| *v == verdict) else { return Ok(()) };
        let interface = if self.has_interfaces { interface as u32 } else { 0 };
        Ok(self.writer.write(&Packet { interface, ..Packet::new(stamp, frame.to_vec()) })?)
    }

    /// Ends the file; its name and packets.
    pub fn finish(self) -> Result<(PathBuf, u64), Failure> {
        let packets = self.writer.packets();
        self.writer.finish()?;
        Ok((self.path, packets))
    }
}
