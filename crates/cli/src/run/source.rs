//! Packets of captures, merged by their stamps.

use super::assign::Input;
use super::interrupt;
use crate::captures::{self, Capture as Reader};
use crate::failure::Failure;
use sluice_device::MAX_OFFER_BYTES;
use sluice_formats::Target;
use sluice_packet::capture::{Fed, Next, Packet};
use std::time::Duration;

/// A packet and the port it arrives on.
#[derive(Clone, Debug)]
pub struct Arrival {
    /// Port.
    pub port: u8,
    /// Packet.
    pub packet: Packet,
}

/// How long one look at captures that are waited for takes.
const LOOK: Duration = Duration::from_millis(2);

/// What a run plays.
pub enum Source {
    /// Captures that are read when their packets are due: files, and pipes that nothing else waits for.
    Read(Captures),
    /// Captures that a thread reads, while the host does something else.
    Fed(Waited),
}

/// Captures with a pipe among them, in a thread of their own.
pub struct Waited {
    arrivals: Fed<Arrival, Failure>,
    /// What has been looked at and not taken.
    next: Option<Next<Arrival>>,
}

/// Captures that are played together: the earliest stamp first, of equal stamps the capture
/// that was named first.
pub struct Captures {
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
        Captures::open(inputs, target).map(Self::Read)
    }

    /// Opens captures in a thread: [`Self::next`] never waits for them for long, and tells also what is wrong with them.
    pub fn feed(inputs: &[Input], target: &Target) -> Result<Self, Failure> {
        let (inputs, target) = (inputs.to_vec(), *target);
        let arrivals = Fed::start(move |feeder| {
            let mut captures = Captures::open(&inputs, &target)?;
            while captures.next()?.is_some_and(|arrival| feeder.put(arrival)) {}
            Ok(())
        });
        let arrivals = arrivals.map_err(|e| Failure::input("E0501", format!("captures: cannot be read: {e}")))?;
        Ok(Self::Fed(Waited { arrivals, next: None }))
    }

    /// The next packet.
    pub fn next(&mut self) -> Result<Next<Arrival>, Failure> {
        match self {
            Self::Read(captures) => Ok(captures.next()?.map_or(Next::End, Next::Item)),
            Self::Fed(waited) => match waited.next.take() {
                Some(next) => Ok(next),
                None => waited.arrivals.next(LOOK),
            },
        }
    }

    /// Stamp of the first packet, 0 where there is none; none when it has not come yet.
    pub fn first_stamp(&mut self) -> Result<Option<u64>, Failure> {
        match self {
            Self::Read(captures) => Ok(Some(captures.first_stamp())),
            Self::Fed(waited) => {
                let next = match waited.next.take() {
                    Some(next) => next,
                    None => waited.arrivals.next(LOOK)?,
                };
                let stamp = match &next {
                    Next::Item(arrival) => arrival.packet.stamp,
                    Next::Later => return Ok(None),
                    Next::End => 0,
                };
                waited.next = Some(next);
                Ok(Some(stamp))
            }
        }
    }

    /// That all captures can be read more than once, as `why` needs it.
    pub fn check_twice(inputs: &[Input], why: &str) -> Result<(), Failure> {
        let pipe = inputs.iter().find(|i| captures::is_pipe(&i.file));
        pipe.map_or(Ok(()), |input| {
            let file = input.file.display();
            Err(Failure::input("E0502", format!("{file}: a pipe is read once, {why} reads captures twice")))
        })
    }

    /// Packets of all captures together, at most `limit`, by reading them once; what is wrong with one is told.
    pub fn count(inputs: &[Input], target: &Target, limit: u64) -> Result<u64, Failure> {
        let mut captures = Captures::open(inputs, target)?;
        let mut packets = 0;
        while packets < limit && !interrupt::asked() && captures.next()?.is_some() {
            packets += 1;
        }
        Ok(packets)
    }
}

impl Captures {
    fn open(inputs: &[Input], target: &Target) -> Result<Self, Failure> {
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

    /// Stamp of the next packet; 0 where there is none.
    fn first_stamp(&self) -> u64 {
        self.captures.iter().filter_map(|c| Some(c.next.as_ref()?.stamp)).min().unwrap_or(0)
    }

    /// The next packet; none at the end of every capture.
    fn next(&mut self) -> Result<Option<Arrival>, Failure> {
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
        let port = (0..=u8::MAX).find(|port| name.strip_prefix("port") == Some(&port.to_string()));
        port.ok_or_else(|| {
            let file = self.input.file.display();
            let what = format!("{file}: interface {interface} is called `{name}`, expected port0, port1, ...");
            Failure::input("E0502", what).help(format!("say the port: --in port0={file}"))
        })
    }
}
