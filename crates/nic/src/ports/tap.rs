//! TAP devices.

use super::af_packet::now_ns;
use super::{Input, PortError, Received, Sink, Source};
use std::io;
use std::sync::Arc;
use tun_rs::{DeviceBuilder, Layer, SyncDevice};

const BUFFER_BYTES: usize = 65_536;

/// A TAP device, made when it is not there; it goes away with the process.
#[derive(Clone)]
pub struct Tap {
    device: Arc<SyncDevice>,
    name: String,
    buffer: Vec<u8>,
}

impl Tap {
    /// Opens the device and brings it up. Frames longer than its MTU cannot be sent to it.
    pub fn open(name: &str) -> Result<Self, PortError> {
        let failed = |what: &'static str| {
            let name = name.to_owned();
            move |error: io::Error| PortError::Interface { name, what, error }
        };
        let builder = DeviceBuilder::new().name(name).layer(Layer::L2).enable(true);
        let device = builder.build_sync().map_err(failed("TAP (needs CAP_NET_ADMIN and /dev/net/tun)"))?;
        device.set_nonblocking(true).map_err(failed("TAP without waiting"))?;
        Ok(Self { device: Arc::new(device), name: name.to_owned(), buffer: vec![0; BUFFER_BYTES] })
    }

    fn failed(&self, what: &'static str, error: io::Error) -> PortError {
        PortError::Interface { name: self.name.clone(), what, error }
    }
}

impl Source for Tap {
    fn next(&mut self) -> Result<Input, PortError> {
        match self.device.recv(&mut self.buffer) {
            Ok(length) => Ok(Input::Packet(Received { bytes: self.buffer[..length].to_vec(), stamp_ns: now_ns() })),
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => Ok(Input::Later),
            Err(e) => Err(self.failed("receive", e)),
        }
    }
}

impl Sink for Tap {
    fn send(&mut self, bytes: &[u8], _stamp_ns: u64) -> Result<bool, PortError> {
        match self.device.send(bytes) {
            Ok(_) => Ok(true),
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => Ok(false),
            // Down, or too short or long for it: the frame is lost, the device goes on.
            Err(e) if matches!(e.raw_os_error(), Some(libc::EIO | libc::EINVAL | libc::EMSGSIZE)) => Ok(false),
            Err(e) => Err(self.failed("send", e)),
        }
    }
}
