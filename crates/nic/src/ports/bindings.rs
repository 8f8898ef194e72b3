//! What ports and host queues are bound to, and opening it.

use super::copy::Copied;
use super::{CaptureSink, CaptureSource, PortError, Sink, Source, Watch};
use sluice_object::Destination;
use sluice_packet::capture::Stop;
use std::path::{Path, PathBuf};

/// Where a port's packets come from and go to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PortBinding {
    /// Capture that is played into the port.
    pub input: Option<PathBuf>,
    /// Capture that gets what leaves through the port.
    pub output: Option<PathBuf>,
    /// Network interface of the machine, both ways.
    pub iface: Option<String>,
    /// TAP device, both ways; made when it does not exist.
    pub tap: Option<String>,
}

/// Where a host queue's packets go.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostBinding {
    /// Capture that gets them.
    pub output: Option<PathBuf>,
    /// TAP device that gets them; made when it does not exist.
    pub tap: Option<String>,
}

/// Open sources by port and sinks by destination, ports first.
#[derive(Default)]
pub struct Bindings {
    /// Where each port's packets come from.
    pub sources: Vec<Option<Box<dyn Source>>>,
    /// Where each destination's packets go; without one they are counted and forgotten.
    pub sinks: Vec<Option<Box<dyn Sink>>>,
    /// The interfaces of the machine among them.
    pub watches: Vec<Watch>,
    /// By destination: its capture, where it has one.
    captures: Vec<(Destination, Option<PathBuf>)>,
}

/// A capture that was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// Port or host queue.
    pub from: Destination,
    /// File.
    pub path: PathBuf,
    /// Packets in it.
    pub packets: u64,
}

struct Live {
    source: Box<dyn Source>,
    sink: Box<dyn Sink>,
    watch: Watch,
}

impl Bindings {
    /// Opens everything, by port and by host queue. Captures that are written are created; beside an interface they get
    /// a copy of what leaves. Pipes are read in threads of their own, until `stop` says so.
    pub fn open(ports: &[PortBinding], hosts: &[HostBinding], stop: Stop) -> Result<Self, PortError> {
        let mut bindings = Self::default();
        for (number, port) in (0..).zip(ports) {
            let live = match (&port.iface, &port.tap) {
                (Some(name), _) => Some(open_interface(name)?),
                (None, Some(name)) => Some(open_tap(name)?),
                (None, None) => None,
            };
            let (mut source, mut sink) = (None, None);
            if let Some(live) = live {
                (source, sink) = (Some(live.source), Some(live.sink));
                bindings.watches.push(live.watch);
            }
            if let Some(path) = &port.input {
                source = CaptureSource::open(path, stop)?.map(|capture| Box::new(capture) as _);
            }
            bindings.sources.push(source);
            bindings.bind(Destination::Port(number), sink, port.output.as_deref())?;
        }
        for (number, host) in (0..).zip(hosts) {
            let mut sink = None;
            if let Some(tap) = &host.tap {
                let live = open_tap(tap)?;
                bindings.watches.push(live.watch);
                sink = Some(live.sink);
            }
            bindings.bind(Destination::Host(number), sink, host.output.as_deref())?;
        }
        Ok(bindings)
    }

    fn bind(&mut self, to: Destination, live: Option<Box<dyn Sink>>, path: Option<&Path>) -> Result<(), PortError> {
        let capture = path.map(|path| CaptureSink::create(path, &to.to_string())).transpose()?;
        self.sinks.push(match (live, capture) {
            (Some(interface), Some(copy)) => Some(Box::new(Copied { interface, copy })),
            (None, Some(capture)) => Some(Box::new(capture)),
            (live, None) => live,
        });
        self.captures.push((to, path.map(Path::to_owned)));
        Ok(())
    }

    /// Finishes every sink; the first failure is told, the others are finished all the same.
    pub fn finish(self) -> Result<Vec<Written>, PortError> {
        let finished = |sink: Option<Box<dyn Sink>>| sink.map_or(Ok(0), |sink| sink.finish());
        let results: Vec<_> = self.sinks.into_iter().map(finished).collect();
        let packets = results.into_iter().collect::<Result<Vec<_>, _>>()?;
        let captures = self.captures.into_iter().zip(packets);
        Ok(captures.filter_map(|((from, path), packets)| Some(Written { from, path: path?, packets })).collect())
    }
}

#[cfg(all(feature = "live", target_os = "linux"))]
fn open_interface(name: &str) -> Result<Live, PortError> {
    open_live(super::link::Kind::Packet, name)
}

#[cfg(all(feature = "live", target_os = "linux"))]
fn open_tap(name: &str) -> Result<Live, PortError> {
    open_live(super::link::Kind::Tap, name)
}

#[cfg(all(feature = "live", target_os = "linux"))]
fn open_live(kind: super::link::Kind, name: &str) -> Result<Live, PortError> {
    let link = super::link::Link::open(kind, name)?;
    Ok(Live { source: Box::new(link.clone()), watch: link.watch(), sink: Box::new(link) })
}

#[cfg(not(all(feature = "live", target_os = "linux")))]
fn open_interface(name: &str) -> Result<Live, PortError> {
    Err(PortError::NotBuilt { name: name.to_owned() })
}

#[cfg(not(all(feature = "live", target_os = "linux")))]
fn open_tap(name: &str) -> Result<Live, PortError> {
    Err(PortError::NotBuilt { name: name.to_owned() })
}
