//! Captures of what leaves the NIC.

use super::assign::OutputFile;
use crate::captures::{self, Writer};
use crate::failure::Failure;
use crate::files;
use sluice_device::{Outcome, Verdict};
use sluice_formats::Target;
use sluice_formats::limits::TICK_PS;
use sluice_object::Destination;
use sluice_packet::capture::Packet;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// One capture a destination; packets of other destinations are not kept.
#[derive(Default)]
pub struct Sinks {
    files: BTreeMap<Destination, Sink>,
    /// The first packet's stamp in nanoseconds, and the tick that it stands for.
    origin: (u64, u64),
}

struct Sink {
    path: PathBuf,
    writer: Writer,
}

/// Refuses outputs that would overwrite a file that is read, or each other, and two of one destination.
pub fn check_apart<'a>(outputs: &[OutputFile], read: impl IntoIterator<Item = &'a Path>) -> Result<(), Failure> {
    captures::check_standard(outputs.iter().map(|output| ("--out", output.file.as_path())))?;
    let read: Vec<files::Identity> =
        read.into_iter().filter(|file| !captures::is_standard(file)).map(files::identity).collect();
    let (mut taken, mut captures) = (BTreeMap::new(), BTreeMap::new());
    for OutputFile { from, file } in outputs {
        if let Some(first) = captures.insert(*from, file) {
            let what = format!("two captures of {from}: {} and {}", first.display(), file.display());
            return Err(Failure::input("E0502", format!("{what}; one is allowed")));
        }
        let identity = files::identity(file);
        let file = file.display();
        if read.contains(&identity) {
            return Err(Failure::input("E0502", format!("{file} is read, it cannot be the capture of {from} too")));
        }
        if let Some(first) = taken.insert(identity, from) {
            return Err(Failure::input("E0502", format!("{file} is to be the capture of {first} and of {from}")));
        }
    }
    Ok(())
}

impl Sinks {
    /// Creates the captures, which have passed [`check_apart`].
    pub fn create(outputs: &[OutputFile], target: &Target) -> Result<Self, Failure> {
        let mut sinks = Self::default();
        for OutputFile { from, .. } in outputs {
            if from.number(target).is_none() {
                let (ports, hosts) = (target.ports - 1, target.hosts - 1);
                let allowed = format!("port0 to port{ports} and host0 to host{hosts}");
                return Err(Failure::input("E0502", format!("{from} does not exist, the target has {allowed}")));
            }
        }
        for OutputFile { from, file } in outputs {
            let writer = captures::create(file, &[&from.to_string()])?;
            sinks.files.insert(*from, Sink { path: file.clone(), writer });
        }
        Ok(sinks)
    }

    /// From now on the tick `start` stands for `stamp`.
    pub fn start(&mut self, stamp: u64, start: u64) {
        self.origin = (stamp, start);
    }

    /// Keeps a packet that has left. Its stamp is the tick of its first beat out, or of its
    /// arrival where the device has no cycles.
    pub fn take(&mut self, outcome: Outcome) -> Result<(), Failure> {
        let from = match outcome.verdict {
            Verdict::Forwarded { port } => Destination::Port(port),
            Verdict::Delivered { queue } => Destination::Host(queue),
            Verdict::Consumed { .. } | Verdict::Dropped { .. } => return Ok(()),
        };
        let Some(sink) = self.files.get_mut(&from) else { return Ok(()) };
        let tick = outcome.first_out.or(outcome.stamp).unwrap_or(0);
        let (stamp, start) = self.origin;
        // Not by way of the stamp of tick 0: that may be before the capture's zero.
        let stamp = stamp.saturating_add(nanoseconds(tick.saturating_sub(start)));
        Ok(sink.writer.write(&Packet::new(stamp, outcome.bytes))?)
    }

    /// Ends the captures; their names with the packets in each.
    pub fn finish(self) -> Result<Vec<Written>, Failure> {
        let mut written = Vec::new();
        for (from, sink) in self.files {
            written.push(Written { from, path: sink.path, packets: sink.writer.packets() });
            sink.writer.finish()?;
        }
        Ok(written)
    }
}

fn nanoseconds(ticks: u64) -> u64 {
    (u128::from(ticks) * u128::from(TICK_PS) / 1000) as u64
}

/// A capture that was written.
#[derive(Debug)]
pub struct Written {
    /// Port or host queue.
    pub from: Destination,
    /// File.
    pub path: PathBuf,
    /// Packets in it.
    pub packets: u64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluice_formats::target::TINY;
    use sluice_packet::capture::read_all;

    /// The tick at which a NIC is up is above the first stamp of a capture that begins at 0.
    #[test]
    fn stamps_count_from_the_first_packets_also_where_that_is_below_the_nics_latency() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("out.pcapng");
        let from = Destination::Port(1);
        for first in [0, 100, 1_000_000] {
            let mut sinks = Sinks::create(&[OutputFile { from, file: file.clone() }], &TINY).unwrap();
            sinks.start(first, 15_000);
            let left = Outcome {
                id: 0,
                verdict: Verdict::Forwarded { port: 1 },
                module: 1,
                tenant: None,
                generation: None,
                stamp: None,
                bytes: vec![0; 60],
                queue: 0,
                tag: 0,
                first_in: Some(15_000),
                first_out: Some(15_010),
                last_out: Some(15_012),
            };
            sinks.take(left).unwrap();
            sinks.finish().unwrap();
            assert_eq!(read_all(&file).unwrap()[0].stamp, first + 40);
        }
    }
}
