//! An interface that may be deleted or set down while the NIC runs, and is taken up again when it is back.

use super::af_packet::interface_state;
use super::{Input, LinkState, PacketSocket, PortError, Sink, Source, Tap, Watch};
use std::cell::RefCell;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// From a change of the interface to its being seen.
const WATCH: Duration = Duration::from_millis(100);

/// How an interface is opened.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    Packet,
    Tap,
}

enum Socket {
    Packet(PacketSocket),
    Tap(Tap),
}

impl Socket {
    fn open(kind: Kind, name: &str) -> Result<Self, PortError> {
        Ok(match kind {
            Kind::Packet => Self::Packet(PacketSocket::open(name)?),
            Kind::Tap => Self::Tap(Tap::open(name)?),
        })
    }

    fn source(&mut self) -> &mut dyn Source {
        match self {
            Self::Packet(socket) => socket,
            Self::Tap(tap) => tap,
        }
    }

    fn sink(&mut self) -> &mut dyn Sink {
        match self {
            Self::Packet(socket) => socket,
            Self::Tap(tap) => tap,
        }
    }
}

struct Inner {
    name: String,
    kind: Kind,
    /// None from the interface's end until it is opened again.
    socket: Option<Socket>,
    index: Option<u32>,
    looked: Instant,
    /// Packets that sockets missed which are closed.
    missed: u64,
    watch: Watch,
}

/// A handle on an interface, to receive and to send.
#[derive(Clone)]
pub(super) struct Link(Rc<RefCell<Inner>>);

impl Link {
    pub fn open(kind: Kind, name: &str) -> Result<Self, PortError> {
        let socket = Some(Socket::open(kind, name)?);
        let (_, index) = interface_state(name);
        let now = Instant::now();
        // The first look is at once: the interface may be down already.
        let looked = now.checked_sub(WATCH).unwrap_or(now);
        let (name, watch) = (name.to_owned(), Watch::new(name));
        Ok(Self(Rc::new(RefCell::new(Inner { name, kind, socket, index, looked, missed: 0, watch }))))
    }

    /// What is known of the interface, for whoever tells it.
    pub fn watch(&self) -> Watch {
        self.0.borrow().watch.clone()
    }
}

impl Inner {
    /// Looks at the interface, but not too often.
    fn look(&mut self) {
        if self.looked.elapsed() < WATCH {
            return;
        }
        self.looked = Instant::now();
        let (mut state, index) = interface_state(&self.name);
        if index.is_none() || index != self.index {
            // Deleted, and perhaps made again since: the socket is that of the old one.
            self.close();
        }
        if self.socket.is_none() && index.is_some() {
            match Socket::open(self.kind, &self.name) {
                Ok(socket) => (self.socket, self.index) = (Some(socket), index),
                // It went away again, or somebody else holds it for now.
                Err(_) => state = LinkState::Gone,
            }
        }
        self.watch.change(state);
    }

    fn close(&mut self) {
        if let Some(mut socket) = self.socket.take() {
            self.missed += socket.source().missed();
        }
        self.index = None;
        // Also where it is back already, its end is told.
        self.watch.change(LinkState::Gone);
    }
}

/// Answers of the system that say that an interface is down or has gone.
fn is_outage(error: &PortError) -> bool {
    const OUTAGE: [i32; 5] = [libc::ENETDOWN, libc::ENXIO, libc::ENODEV, libc::EBADFD, libc::EIO];
    matches!(error, PortError::Interface { error, .. } if error.raw_os_error().is_some_and(|e| OUTAGE.contains(&e)))
}

impl Source for Link {
    fn next(&mut self) -> Result<Input, PortError> {
        let mut inner = self.0.borrow_mut();
        let Some(socket) = &mut inner.socket else { return Ok(Input::Later) };
        match socket.source().next() {
            Err(error) if is_outage(&error) => Ok(Input::Later),
            result => result,
        }
    }

    fn missed(&mut self) -> u64 {
        let mut inner = self.0.borrow_mut();
        let open = inner.socket.as_mut().map_or(0, |socket| socket.source().missed());
        std::mem::take(&mut inner.missed) + open
    }
}

impl Sink for Link {
    fn send(&mut self, bytes: &[u8], stamp_ns: u64) -> Result<bool, PortError> {
        let mut inner = self.0.borrow_mut();
        let Some(socket) = &mut inner.socket else { return Ok(false) };
        match socket.sink().send(bytes, stamp_ns) {
            Err(error) if is_outage(&error) => Ok(false),
            result => result,
        }
    }

    fn look(&mut self) {
        self.0.borrow_mut().look();
    }
}
