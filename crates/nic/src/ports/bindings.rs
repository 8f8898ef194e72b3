//! Opening what a configuration binds ports and host queues to.

use super::{CaptureSink, CaptureSource, PortError, Sink, Source};
use crate::config::NicConfig;

/// Open sources by port and sinks by destination, ports first.
#[derive(Default)]
pub struct Bindings {
    /// Where each port's packets come from.
    pub sources: Vec<Option<Box<dyn Source>>>,
    /// Where each destination's packets go; without one they are counted and forgotten.
    pub sinks: Vec<Option<Box<dyn Sink>>>,
}

type Both = (Box<dyn Source>, Box<dyn Sink>);

impl Bindings {
    /// Opens everything that the file names. Captures that are written are created.
    pub fn open(config: &NicConfig) -> Result<Self, PortError> {
        let mut bindings = Self::default();
        for (number, port) in config.ports.iter().enumerate() {
            let live = match (&port.iface, &port.tap) {
                (Some(name), _) => Some(open_interface(name)?),
                (None, Some(name)) => Some(open_tap(name)?),
                (None, None) => None,
            };
            let (mut source, mut sink) = (None, None);
            if let Some(both) = live {
                (source, sink) = (Some(both.0), Some(both.1));
            }
            if let Some(path) = &port.input {
                source = Some(Box::new(CaptureSource::open(path)?));
            }
            if let Some(path) = &port.output {
                sink = Some(Box::new(CaptureSink::create(path, &format!("port{number}"))?));
            }
            bindings.sources.push(source);
            bindings.sinks.push(sink);
        }
        for (number, host) in config.hosts.iter().enumerate() {
            let name = format!("host{number}");
            let sink: Option<Box<dyn Sink>> = match (&host.tap, &host.output) {
                (Some(tap), _) => Some(open_tap(tap)?.1),
                (None, Some(path)) => Some(Box::new(CaptureSink::create(path, &name)?)),
                (None, None) => None,
            };
            bindings.sinks.push(sink);
        }
        Ok(bindings)
    }

    /// Finishes every sink; the first failure is told, the others are finished all the same.
    pub fn finish(self) -> Result<(), PortError> {
        let results: Vec<_> = self.sinks.into_iter().flatten().map(|sink| sink.finish()).collect();
        results.into_iter().collect()
    }
}

#[cfg(all(feature = "live", target_os = "linux"))]
fn open_interface(name: &str) -> Result<Both, PortError> {
    let socket = super::PacketSocket::open(name)?;
    let sender = socket.try_clone()?;
    Ok((Box::new(socket), Box::new(sender)))
}

#[cfg(all(feature = "live", target_os = "linux"))]
fn open_tap(name: &str) -> Result<Both, PortError> {
    let tap = super::Tap::open(name)?;
    Ok((Box::new(tap.clone()), Box::new(tap)))
}

#[cfg(not(all(feature = "live", target_os = "linux")))]
fn open_interface(name: &str) -> Result<Both, PortError> {
    Err(PortError::NotBuilt { name: name.to_owned() })
}

#[cfg(not(all(feature = "live", target_os = "linux")))]
fn open_tap(name: &str) -> Result<Both, PortError> {
    Err(PortError::NotBuilt { name: name.to_owned() })
}
