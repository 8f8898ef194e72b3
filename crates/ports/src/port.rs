//! A port: one queue of one interface.

use crate::drops::PortDrops;
use crate::error::{PortError, Refused};
use crate::interface;
use crate::open::{self, Shared};
use crate::packet::{ReceiveRing, SendRing};
use crate::sys::socket;
use crate::tap::{self, Tap};
use crate::xdp;
use std::fmt;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// From a change of the interface to its being seen.
const LOOK: Duration = Duration::from_millis(100);
/// An Ethernet header.
const SHORTEST: usize = 14;
/// Frames that a TAP device takes now: it has no ring, and refuses none while it is up.
const TAP_ROOM: usize = 1024;

/// What a received frame has beside its bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Meta {
    /// When the kernel saw it, in nanoseconds since 1970; 0 where it does not say.
    pub stamp_ns: u64,
}

/// What a port is made of, the best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PortKind {
    /// AF_XDP; the driver receives into our memory and sends from it.
    XdpZeroCopy,
    /// AF_XDP; the program runs in the driver, frames are copied.
    XdpCopy,
    /// AF_XDP; the program runs behind the driver, on the kernel's packets.
    XdpGeneric,
    /// AF_PACKET with mapped rings.
    PacketRing,
    /// A TAP device.
    Tap,
}

impl fmt::Display for PortKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::XdpZeroCopy => "AF_XDP zero-copy",
            Self::XdpCopy => "AF_XDP native",
            Self::XdpGeneric => "AF_XDP generic",
            Self::PacketRing => "AF_PACKET rings",
            Self::Tap => "TAP",
        })
    }
}

/// What an interface is to the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkState {
    /// There, and set up.
    Up,
    /// There, and set down.
    Down,
    /// Not there.
    Gone,
}

#[derive(Debug)]
pub(crate) enum Socket {
    // Large, and there are few.
    Xdp(Box<xdp::Queue>),
    Packet(Box<(ReceiveRing, SendRing)>),
    Tap(Box<Tap>),
}

impl Socket {
    fn fd(&self) -> &OwnedFd {
        match self {
            Self::Xdp(queue) => queue.socket(),
            Self::Packet(rings) => rings.0.socket(),
            Self::Tap(tap) => tap.socket(),
        }
    }
}

/// One queue of one interface, or of a TAP device. It belongs to one thread at a time.
#[derive(Debug)]
pub struct Port {
    /// None from the interface's end until it is opened again. It is closed before the interface is put back as it was.
    socket: Option<Socket>,
    shared: Arc<Shared>,
    queue: u32,
    /// Of the interface that the socket is of.
    index: Option<u32>,
    longest: usize,
    state: LinkState,
    looked: Instant,
    /// Of sockets that are closed, and of no socket.
    drops: PortDrops,
    /// What a TAP device had missed when it was opened.
    missed: u64,
}

/// Answers of the system that say that an interface is down or has gone.
fn is_outage(error: &io::Error) -> bool {
    const OUTAGE: [i32; 5] = [libc::ENETDOWN, libc::ENXIO, libc::ENODEV, libc::EBADFD, libc::EIO];
    error.raw_os_error().is_some_and(|e| OUTAGE.contains(&e))
}

impl Port {
    pub(crate) fn new(shared: Arc<Shared>, queue: u32, socket: Socket, index: u32, longest: usize) -> Self {
        let (state, _) = interface::state(shared.name());
        let now = Instant::now();
        let missed = if shared.kind() == PortKind::Tap { tap::missed(shared.name()) } else { 0 };
        let (socket, index, drops) = (Some(socket), Some(index), PortDrops::default());
        // The first look is at once: something may have changed meanwhile.
        let looked = now.checked_sub(LOOK).unwrap_or(now);
        Self { shared, queue, socket, index, longest, state, looked, drops, missed }
    }

    /// The interface's name.
    pub fn name(&self) -> &str {
        self.shared.name()
    }

    /// Which of the interface's queues it is, from 0.
    pub fn queue(&self) -> u32 {
        self.queue
    }

    /// What it is made of.
    pub fn kind(&self) -> PortKind {
        self.shared.kind()
    }

    /// Why it is of no better kind.
    pub fn refused(&self) -> &[Refused] {
        self.shared.refused()
    }

    /// What was done to the interface, and what is to be known of it: one text each.
    pub fn notes(&self) -> Vec<String> {
        self.shared.notes()
    }

    /// A line for people: kind, queue, refusals, notes.
    pub fn described(&self) -> String {
        let mut line =
            format!("{}: {}, queue {} of {}", self.name(), self.kind(), self.queue + 1, self.shared.queues());
        let mut refused = self.refused();
        while let Some(first) = refused.first() {
            // Often all of AF_XDP has one reason.
            let same = refused.iter().take_while(|r| r.why == first.why).count();
            let kinds: Vec<String> = refused[..same].iter().map(|r| r.kind.to_string()).collect();
            line += &format!("; not {}: {}", kinds.join(", "), first.why);
            refused = &refused[same..];
        }
        for note in self.notes() {
            line += &format!("; {note}");
        }
        line
    }

    /// Bytes of the longest frame that it takes and gives: the interface's MTU, the header and two tags.
    pub fn longest(&self) -> usize {
        self.longest
    }

    /// What the interface was at the last look.
    pub fn state(&self) -> LinkState {
        self.state
    }

    /// Gives up to `most` frames that are there now to `take`, each valid during the call: tags in place, checksums complete.
    /// Never waits. How many were given.
    pub fn receive(&mut self, most: usize, take: &mut impl FnMut(&[u8], &Meta)) -> Result<usize, PortError> {
        let result = match &mut self.socket {
            None => return Ok(0),
            Some(Socket::Xdp(queue)) => queue.receive(most, take),
            Some(Socket::Packet(rings)) => Ok(rings.0.receive(most, take)),
            Some(Socket::Tap(tap)) => tap.receive(most, take),
        };
        match result {
            Err(error) if is_outage(&error) => Ok(0),
            result => result.map_err(|error| self.failed("receive", error)),
        }
    }

    /// Copies a frame, of which `parts` (at most eight) are the pieces, to be sent at the next [`Self::flush`] at the latest.
    /// False where it is lost: no room, too long or short, the interface is away; [`Self::drops`] says which.
    pub fn send(&mut self, parts: &[&[u8]]) -> Result<bool, PortError> {
        let length: usize = parts.iter().map(|part| part.len()).sum();
        if length < SHORTEST {
            self.drops.send_short += 1;
            return Ok(false);
        }
        if length > self.longest || parts.len() >= socket::MAX_PARTS {
            self.drops.send_oversize += 1;
            return Ok(false);
        }
        if self.state != LinkState::Up {
            self.drops.send_away += 1;
            return Ok(false);
        }
        let result = match &mut self.socket {
            None => {
                self.drops.send_away += 1;
                return Ok(false);
            }
            Some(Socket::Xdp(queue)) => queue.send(parts, length),
            Some(Socket::Packet(rings)) => Ok(rings.1.send(parts, length)),
            Some(Socket::Tap(tap)) => tap.send(parts),
        };
        match result {
            Ok(true) => Ok(true),
            Ok(false) => {
                self.drops.send_ring_full += 1;
                Ok(false)
            }
            Err(error) if is_outage(&error) => {
                self.drops.send_away += 1;
                Ok(false)
            }
            Err(error) => Err(self.failed("send", error)),
        }
    }

    /// Frames that [`Self::send`] takes now, at least; more where frames are short.
    pub fn room(&mut self) -> usize {
        if self.state != LinkState::Up {
            return 0;
        }
        match &mut self.socket {
            None => 0,
            Some(Socket::Xdp(queue)) => queue.room(),
            Some(Socket::Packet(rings)) => rings.1.room(),
            Some(Socket::Tap(_)) => TAP_ROOM,
        }
    }

    /// Has the kernel send what was given: one system call at most (AF_XDP before Linux 6.17: one for 32 frames). To be called
    /// also when nothing was given since: what the kernel could not take is tried again; nothing waiting costs no call.
    pub fn flush(&mut self) -> Result<(), PortError> {
        let result = match &mut self.socket {
            None | Some(Socket::Tap(_)) => return Ok(()),
            Some(Socket::Xdp(queue)) => queue.flush(),
            Some(Socket::Packet(rings)) => rings.1.flush(),
        };
        match result {
            Err(error) if is_outage(&error) => Ok(()),
            result => result.map_err(|error| self.failed("send", error)),
        }
    }

    fn failed(&self, what: &'static str, error: io::Error) -> PortError {
        PortError::Interface { name: self.name().to_owned(), what, error }
    }

    /// What poll(2) waits for; none while the interface is away. An error there says that it has gone: see
    /// [`Self::look_now`].
    pub fn as_fd(&self) -> Option<BorrowedFd<'_>> {
        self.socket.as_ref().map(|socket| socket.fd().as_fd())
    }

    /// Looks whether the interface is still there, at most every 100 ms, and opens one again that is back. Its state, where it
    /// has changed; of one that went and came between two looks first its end.
    pub fn look(&mut self) -> Option<LinkState> {
        if self.looked.elapsed() < LOOK { None } else { self.look_now() }
    }

    /// The same, at once.
    pub fn look_now(&mut self) -> Option<LinkState> {
        self.looked = Instant::now();
        let (mut state, index) = interface::state(self.name());
        if self.socket.is_some() && index != self.index {
            // Deleted, and perhaps made again since: the socket is that of the old one.
            self.close();
            return self.change(LinkState::Gone);
        }
        if self.socket.is_some() && interface::longest(self.name()).is_some_and(|longest| longest != self.longest) {
            // Its MTU was changed: chunks and slots are for the old one.
            self.close();
        }
        if self.socket.is_none() && index.is_some() {
            match open::again(&self.shared, self.queue) {
                Ok((socket, index, longest)) => {
                    (self.socket, self.index, self.longest) = (Some(socket), Some(index), longest);
                }
                // It went away again, or somebody else holds it for now.
                Err(_) => state = LinkState::Gone,
            }
        }
        self.change(state)
    }

    fn change(&mut self, state: LinkState) -> Option<LinkState> {
        let before = std::mem::replace(&mut self.state, state);
        (before != state).then_some(state)
    }

    fn close(&mut self) {
        self.count_drops();
        if let Some(socket) = self.socket.take() {
            match socket {
                Socket::Xdp(queue) => self.drops.add(&queue.drops),
                Socket::Packet(rings) => {
                    self.drops.add(&rings.0.drops);
                    self.drops.add(&rings.1.drops);
                }
                Socket::Tap(tap) => self.drops.add(&tap.drops),
            }
        }
        self.index = None;
        self.shared.leave();
    }

    fn count_drops(&mut self) {
        match &mut self.socket {
            Some(Socket::Xdp(queue)) => queue.count_drops(),
            Some(Socket::Packet(rings)) => rings.0.count_drops(),
            Some(Socket::Tap(tap)) if self.queue == 0 => {
                let missed = tap::missed(self.shared.name());
                tap.drops.receive_ring_full += missed.saturating_sub(self.missed);
                self.missed = missed;
            }
            _ => {}
        }
    }

    /// Frames lost here since it was opened, by reason. Asks the kernel: not for each batch.
    pub fn drops(&mut self) -> PortDrops {
        self.count_drops();
        let mut drops = self.drops;
        match &self.socket {
            Some(Socket::Xdp(queue)) => drops.add(&queue.drops),
            Some(Socket::Packet(rings)) => {
                drops.add(&rings.0.drops);
                drops.add(&rings.1.drops);
            }
            Some(Socket::Tap(tap)) => drops.add(&tap.drops),
            None => {}
        }
        drops
    }
}

/// Waits until one of the descriptors has something to read, for `limit` at most; whether one has.
pub fn wait(fds: &[BorrowedFd<'_>], limit: Duration) -> io::Result<bool> {
    let milliseconds = i32::try_from(limit.as_micros().div_ceil(1000)).unwrap_or(i32::MAX);
    match socket::wait(fds, milliseconds) {
        Err(e) if e.kind() == io::ErrorKind::Interrupted => Ok(false),
        result => result.map(|n| n > 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_may_be_given_to_another_thread() {
        fn is_send<T: Send>() {}
        is_send::<Port>();
    }
}
