//! Packets of captures, merged by their stamps.

use super::assign::Input;
use crate::captures::{self, Capture as Reader};
use crate::failure::Failure;
use sluice_device::MAX_OFFER_BYTES;
use sluice_formats::Target;
use sluice_packet::capture::Packet;

/// A packet and the port it arrives on.
#[derive(Clone, Debug)]
pub struct Arrival {
    /// Port.
    pub port: u8,
    /// Packet.
    pub packet: Packet,
}

/// Captures that are played together: the earliest stamp first, of equal stamps the capture
/// that was named first.
pub struct Source {
    captures: Vec<Capture>,
    ports: u32,
}

struct Capture {
    input: Input,
    reader: Reader,
    next: Option<Packet>,
    /// Packets read before `next`.
    read: u64,
}

impl Source {
    /// Opens captures.
    pub fn open(inputs: &[Input], target: &Target) -> Result<Self, Failure> {
        let mut source = Self { captures: Vec::new(), ports: target.ports };
        for input in inputs {
            if let Some(port) = input.port {
                source.check_port(port, &input.file.display().to_string())?;
            }
            let reader = Reader::open(&input.file)?;
            let mut capture = Capture { input: input.clone(), reader, next: None, read: 0 };
            capture.advance()?;
            source.captures.push(capture);
        }
        Ok(source)
    }

    /// That all captures can be read more than once, as `why` needs it.
    pub fn check_twice(inputs: &[Input], why: &str) -> Result<(), Failure> {
        let pipe = inputs.iter().find(|i| captures::is_pipe(&i.file));
        pipe.map_or(Ok(()), |input| {
            let file = input.file.display();
            Err(Failure::input("E0502", format!("{file}: a pipe is read once, {why} reads captures twice")))
        })
    }

    /// Packets of all captures together, by reading them once.
    pub fn count(inputs: &[Input]) -> Result<u64, Failure> {
        let mut packets = 0;
        for input in inputs {
            let mut reader = Reader::open(&input.file)?;
            let mut packet = Packet::default();
            while reader.read(&mut packet)? {
                packets += 1;
            }
        }
        Ok(packets)
    }

    /// Stamp of the next packet; 0 where there is none.
    pub fn first_stamp(&self) -> u64 {
        self.captures.iter().filter_map(|c| Some(c.next.as_ref()?.stamp)).min().unwrap_or(0)
    }

    /// The next packet; none at the end of every capture.
    pub fn next(&mut self) -> Result<Option<Arrival>, Failure> {
        let stamps = self.captures.iter().enumerate().filter_map(|(i, c)| Some((c.next.as_ref()?.stamp, i)));
        let Some((_, earliest)) = stamps.min() else { return Ok(None) };
        let capture = &mut self.captures[earliest];
        let packet = capture.advance()?.unwrap_or_default();
        if packet.bytes.is_empty() || packet.bytes.len() > MAX_OFFER_BYTES {
            let (file, number, found) = (capture.input.file.display(), capture.read, packet.bytes.len());
            let what =
                format!("{file}: packet {number}: a frame of {found} bytes, 1 to {MAX_OFFER_BYTES} are possible");
            return Err(Failure::input("E0508", what));
        }
        let port = match capture.input.port {
            Some(port) => port,
            None => {
                let port = capture.port_of(packet.interface)?;
                self.check_port(port, &self.captures[earliest].input.file.display().to_string())?;
                port
            }
        };
        Ok(Some(Arrival { port, packet }))
    }

    fn check_port(&self, port: u8, file: &str) -> Result<(), Failure> {
        if u32::from(port) < self.ports {
            return Ok(());
        }
        let what = format!("{file}: port{port} does not exist, the target has port0 to port{}", self.ports - 1);
        Err(Failure::input("E0502", what))
    }
}

impl Capture {
    /// Reads one packet ahead and returns the one before.
    fn advance(&mut self) -> Result<Option<Packet>, Failure> {
        let mut packet = Packet::default();
        let next = self.reader.read(&mut packet)?.then_some(packet);
        let before = std::mem::replace(&mut self.next, next);
        self.read += u64::from(before.is_some());
        Ok(before)
    }

    /// Port by the interface's name.
    fn port_of(&self, interface: u32) -> Result<u8, Failure> {
        let name = self.reader.interface(interface);
        let port = name.strip_prefix("port").and_then(|n| n.parse().ok());
        port.ok_or_else(|| {
            let file = self.input.file.display();
            let what = format!("{file}: interface {interface} is called `{name}`, expected port0, port1, ...");
            Failure::input("E0502", what).help(format!("say the port: --in port0={file}"))
        })
    }
}
