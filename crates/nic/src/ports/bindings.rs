//! What ports and host queues are bound to, and opening it.

use super::copy::Copied;
use super::{CaptureSink, CaptureSource, PortError, Sink, Source, Watch};
use crate::dataplane::Bell;
use sluice_object::Destination;
use sluice_packet::capture::Stop;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Which sockets an interface is opened with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SocketKind {
    /// The best that is possible: AF_XDP with zero-copy, native, generic, then AF_PACKET.
    #[default]
    Auto,
    /// AF_XDP.
    Xdp,
    /// AF_XDP behind the driver alone.
    XdpGeneric,
    /// AF_PACKET with mapped rings.
    Packet,
}

/// Where a port's packets come from and go to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PortBinding {
    /// Capture that is played into the port.
    pub input: Option<PathBuf>,
    /// Capture that gets what leaves through the port.
    pub output: Option<PathBuf>,
    /// Network interface of the machine, both ways.
    pub iface: Option<String>,
    /// How the interface is opened.
    pub socket: SocketKind,
    /// Microseconds for which the thread drives the interface's driver itself where nothing has come: AF_XDP alone.
    pub busy_poll: Option<u32>,
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
    /// What may be waited for, by destination.
    #[cfg(all(feature = "live", target_os = "linux"))]
    interfaces: Vec<(usize, super::interface::Interface)>,
    /// Queues of interfaces whose first queue is another worker's.
    #[cfg(all(feature = "live", target_os = "linux"))]
    lent: Vec<(usize, super::interface::Interface)>,
    /// Some captures are pipes.
    pipes: bool,
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

/// Both ends of an interface.
type Ends = (Box<dyn Source>, Box<dyn Sink>);

/// A pipe is asked again after this time.
const AGAIN: Duration = Duration::from_micros(100);

impl Bindings {
    /// Opens everything, by port and by host queue. Captures that are written are created; beside an interface they get
    /// a copy of what leaves. Pipes are read in threads of their own, until `stop` says so.
    pub fn open(ports: &[PortBinding], hosts: &[HostBinding], stop: Stop) -> Result<Self, PortError> {
        let mut bindings = Self::default();
        for (number, port) in (0..).zip(ports) {
            let at = usize::from(number);
            let live = match (&port.iface, &port.tap) {
                (Some(name), _) => Some(bindings.open_live(at, name, Some((port.socket, port.busy_poll)))?),
                (None, Some(name)) => Some(bindings.open_live(at, name, None)?),
                (None, None) => None,
            };
            let (mut source, sink) = live.unzip();
            if let Some(path) = &port.input {
                let capture = CaptureSource::open(path, stop)?;
                bindings.pipes |= capture.as_ref().is_some_and(CaptureSource::is_pipe);
                source = capture.map(|capture| Box::new(capture) as _);
            }
            bindings.sources.push(source);
            bindings.bind(Destination::Port(number), sink, port.output.as_deref())?;
        }
        for (number, host) in (0..).zip(hosts) {
            let mut sink = None;
            if let Some(tap) = &host.tap {
                let at = ports.len() + usize::from(number);
                sink = Some(bindings.open_live(at, tap, None)?.1);
            }
            bindings.bind(Destination::Host(number), sink, host.output.as_deref())?;
        }
        Ok(bindings)
    }

    /// Opens an interface as it is said, or a TAP device, which is made where it is not there.
    #[cfg(all(feature = "live", target_os = "linux"))]
    fn open_live(&mut self, at: usize, name: &str, how: Option<(SocketKind, Option<u32>)>) -> Result<Ends, PortError> {
        let interface = super::interface::Interface::open(name, how)?;
        self.watches.push(interface.watch());
        self.interfaces.push((at, interface.clone()));
        Ok((Box::new(interface.clone()), Box::new(interface)))
    }

    #[cfg(not(all(feature = "live", target_os = "linux")))]
    fn open_live(&mut self, _: usize, name: &str, _: Option<(SocketKind, Option<u32>)>) -> Result<Ends, PortError> {
        Err(PortError::NotBuilt { name: name.to_owned() })
    }

    /// Waits until an interface has frames or the bell of its worker rings, for `limit` at most.
    pub(crate) fn wait(&self, limit: Duration, bell: Option<&Bell>) {
        let limit = if self.pipes { limit.min(AGAIN) } else { limit };
        #[cfg(all(feature = "live", target_os = "linux"))]
        if (!self.interfaces.is_empty() || bell.is_some()) && !self.pipes {
            return super::interface::wait(&self.interfaces, limit, bell);
        }
        let limit = if bell.is_some() { limit.min(AGAIN) } else { limit };
        std::thread::sleep(limit);
    }

    /// Gives each worker its ends: those whose port or destination modulo the workers is its number, and of an interface with several
    /// queues the first one, with the others for the workers that follow. They go back by [`Bindings::join`].
    pub(crate) fn split(&mut self, workers: usize) -> Vec<Self> {
        fn part<T>(all: &mut [Option<T>], of: impl Fn(usize) -> bool) -> Vec<Option<T>> {
            all.iter_mut().enumerate().map(|(at, end)| if of(at) { end.take() } else { None }).collect()
        }
        let of = |worker: usize| move |at: usize| at % workers == worker;
        let parts = (0..workers).map(|worker| Self {
            sources: part(&mut self.sources, of(worker)),
            sinks: part(&mut self.sinks, of(worker)),
            pipes: self.pipes,
            #[cfg(all(feature = "live", target_os = "linux"))]
            interfaces: self.interfaces.iter().filter(|(at, _)| of(worker)(*at)).cloned().collect(),
            ..Self::default()
        });
        #[allow(unused_mut, reason = "a build without live interfaces lends nothing")]
        let mut parts: Vec<Self> = parts.collect();
        #[cfg(all(feature = "live", target_os = "linux"))]
        for (at, interface) in self.interfaces.iter().filter(|(at, _)| *at < self.sources.len()) {
            for (worker, queues) in interface.lend(*at, workers) {
                let part = &mut parts[worker];
                part.sources[*at] = Some(Box::new(queues.clone()));
                part.interfaces.push((*at, queues.clone()));
                part.lent.push((*at, queues));
            }
        }
        parts
    }

    /// Looks whether interfaces are still there.
    pub(crate) fn look(&mut self) {
        self.sinks.iter_mut().flatten().for_each(|sink| sink.look());
        #[cfg(all(feature = "live", target_os = "linux"))]
        self.lent.iter_mut().for_each(|(_, queues)| queues.look());
    }

    /// Takes back what [`Bindings::split`] has given.
    pub(crate) fn join(&mut self, parts: Vec<Self>) {
        let workers = parts.len();
        for (worker, part) in parts.into_iter().enumerate() {
            #[cfg(all(feature = "live", target_os = "linux"))]
            for (at, queues) in &part.lent {
                let of = self.interfaces.iter().find(|(to, _)| to == at);
                of.into_iter().for_each(|(_, interface)| interface.take_back(queues));
            }
            let own = |(number, end): (usize, Option<Box<dyn Source>>)| end.filter(|_| number % workers == worker);
            let sources = part.sources.into_iter().enumerate().map(own);
            self.sources.iter_mut().zip(sources).for_each(|(end, back)| *end = end.take().or(back));
            self.sinks.iter_mut().zip(part.sinks).for_each(|(end, back)| *end = end.take().or(back));
        }
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
