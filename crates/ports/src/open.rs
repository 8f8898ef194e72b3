//! Opening an interface: kinds are tried in order, and each refusal keeps its reason.

use crate::error::{PortError, Refused};
use crate::interface::{self, Interface};
use crate::options::{Options, Wanted};
use crate::packet::{ReceiveRing, SendRing, Tried};
use crate::port::{Port, PortKind, Socket};
use crate::sys::device;
use crate::tap::{self, Tap};
use crate::xdp::{Queue, QueueOptions};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// For how long a queue is waited for that a closed socket still has, when an interface is opened first.
const PATIENCE: Duration = Duration::from_millis(500);

/// Most slots of a ring.
const MAX_SLOTS: u32 = 1 << 16;

/// What the ports of one interface have in common.
#[derive(Debug)]
pub(crate) struct Shared {
    name: String,
    options: Options,
    kind: PortKind,
    queues: u32,
    refused: Vec<Refused>,
    /// None once a port has seen that the interface is gone.
    interface: Mutex<Option<Interface>>,
}

impl Shared {
    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn kind(&self) -> PortKind {
        self.kind
    }

    pub fn queues(&self) -> u32 {
        self.queues
    }

    pub fn refused(&self) -> &[Refused] {
        &self.refused
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Interface>> {
        self.interface.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn notes(&self) -> Vec<String> {
        self.lock().as_ref().map_or_else(Vec::new, |interface| interface.notes.clone())
    }

    /// A port's interface has gone: its claim and program go, if they are of one that is not there any more.
    pub fn leave(&self) {
        let mut interface = self.lock();
        if interface.as_ref().is_some_and(|i| device::index(&self.name).ok() != Some(i.index)) {
            *interface = None;
        }
    }
}

/// Kinds in the order in which they are tried.
fn candidates(wanted: Wanted) -> &'static [PortKind] {
    use PortKind::{PacketRing, Tap, XdpCopy, XdpGeneric, XdpZeroCopy};
    match wanted {
        Wanted::Auto => &[XdpZeroCopy, XdpCopy, XdpGeneric, PacketRing],
        Wanted::Xdp => &[XdpZeroCopy, XdpCopy, XdpGeneric],
        Wanted::XdpGeneric => &[XdpGeneric],
        Wanted::Packet => &[PacketRing],
        Wanted::Tap => &[Tap],
    }
}

/// Queues that an interface receives from.
fn queues_of(name: &str) -> u32 {
    device::channels(name).map_or(1, |channels| channels.receiving().max(1))
}

/// Opens an interface, one port a queue.
pub fn open(name: &str, options: &Options) -> Result<Vec<Port>, PortError> {
    if !options.slots.is_power_of_two() || options.slots > MAX_SLOTS {
        let what = "slots of a ring: a power of two up to 65,536 is needed";
        return Err(PortError::Interface {
            name: name.to_owned(),
            what,
            error: std::io::ErrorKind::InvalidInput.into(),
        });
    }
    if options.kind == Wanted::Tap {
        return open_tap(name, options);
    }
    let mut interface = Interface::claim(name, options)?;
    let mut refused = Vec::new();
    for &kind in candidates(options.kind) {
        match open_kind(name, kind, options, &mut interface) {
            Ok(sockets) => return Ok(ports(name, kind, options, refused, interface, sockets)),
            Err((what, error)) => refused.push(Refused { kind, why: format!("{what}: {error}") }),
        }
    }
    // Of a device that is ours without any capability, when nobody else is at its end.
    if options.kind == Wanted::Auto && device::driver(name).is_ok_and(|driver| driver == "tun") {
        drop(interface);
        return open_tap(name, options);
    }
    Err(PortError::NoKind { name: name.to_owned(), refused })
}

fn ports(
    name: &str,
    kind: PortKind,
    options: &Options,
    refused: Vec<Refused>,
    interface: Interface,
    sockets: Vec<Socket>,
) -> Vec<Port> {
    let (index, longest) = (interface.index, interface.longest);
    let shared = Arc::new(Shared {
        name: name.to_owned(),
        options: options.clone(),
        kind,
        queues: sockets.len() as u32,
        refused,
        interface: Mutex::new(Some(interface)),
    });
    let port = |(queue, socket)| Port::new(Arc::clone(&shared), queue, socket, index, longest);
    (0..).zip(sockets).map(port).collect()
}

fn open_tap(name: &str, options: &Options) -> Result<Vec<Port>, PortError> {
    let failed = |(what, error)| PortError::Interface { name: name.to_owned(), what, error };
    let queues = options.queues.unwrap_or(1).max(1);
    let opened: Vec<_> =
        (0..queues).map(|_| tap::open_queue(name, queues > 1)).collect::<Tried<_>>().map_err(failed)?;
    let interface = Interface::claim(name, options)?;
    if let Err(error) = device::set_up(name) {
        // Whoever may not set it up may still use it when it is.
        let is_up = device::flags(name).is_ok_and(|flags| flags & libc::IFF_UP != 0);
        if !is_up {
            return Err(failed(("setting it up (needs CAP_NET_ADMIN)", error)));
        }
    }
    let longest = interface.longest;
    let sockets = opened.into_iter().map(|queue| Socket::Tap(Box::new(Tap::new(queue, longest)))).collect();
    Ok(ports(name, PortKind::Tap, options, Vec::new(), interface, sockets))
}

/// All sockets of an interface, of one kind.
fn open_kind(name: &str, kind: PortKind, options: &Options, interface: &mut Interface) -> Tried<Vec<Socket>> {
    let mut there = queues_of(name);
    if let (Some(wanted), Some(_)) = (options.queues, kind.xdp())
        && wanted != there
    {
        interface.set_queues(name, wanted)?;
        there = wanted;
    }
    // AF_PACKET shares the flows out itself.
    let queues = if kind == PortKind::PacketRing { options.queues.unwrap_or(there) } else { there };
    let insist = options.kind == Wanted::XdpGeneric;
    interface.prepare(name, kind, queues, insist)?;
    (0..queues).map(|queue| open_socket(kind, options, interface, queue, queues, PATIENCE)).collect()
}

fn open_socket(
    kind: PortKind,
    options: &Options,
    interface: &mut Interface,
    queue: u32,
    queues: u32,
    patience: Duration,
) -> Tried<Socket> {
    let (index, longest) = (interface.index, interface.longest);
    let Some((_, bind)) = kind.xdp() else {
        let receive = ReceiveRing::open(index, options.slots, longest)?;
        if queues > 1 {
            interface.group = Some(receive.join(interface.group)?);
        }
        return Ok(Socket::Packet(Box::new((receive, SendRing::open(index, options.slots, longest)?))));
    };
    let steering = interface.steering.as_ref().ok_or_else(|| ("the program", std::io::ErrorKind::NotFound.into()))?;
    let opened = Queue::open(QueueOptions {
        interface: index,
        queue,
        bind,
        longest,
        slots: options.slots,
        busy_poll: options.busy_poll.map(|b| (b.microseconds, b.frames)),
        tags: steering.reads_tags().is_ok(),
        partial: interface.partial,
        patience,
    })?;
    steering.give(queue, opened.socket()).map_err(|e| ("giving a queue to its socket", e))?;
    Ok(Socket::Xdp(Box::new(opened)))
}

/// Opens the socket of one queue again, of an interface that is back; with its index and longest frame.
pub(crate) fn again(shared: &Shared, queue: u32) -> Result<(Socket, u32, usize), PortError> {
    let failed = |(what, error)| PortError::Interface { name: shared.name.clone(), what, error };
    let (name, kind) = (shared.name.as_str(), shared.kind);
    let tap = (kind == PortKind::Tap).then(|| tap::open_queue(name, shared.queues > 1)).transpose().map_err(failed)?;
    let mut slot = shared.lock();
    let there = device::index(name).ok();
    if slot.as_ref().is_none_or(|interface| Some(interface.index) != there) {
        // The old one's claim, program and settings go first.
        *slot = None;
        let mut interface = Interface::claim(name, &shared.options)?;
        if kind.xdp().is_some() && queues_of(name) != shared.queues {
            interface.set_queues(name, shared.queues).map_err(failed)?;
        }
        interface.prepare(name, kind, shared.queues, true).map_err(failed)?;
        *slot = Some(interface);
    }
    let interface = slot.as_mut().expect("was put in place above");
    if tap.is_some() {
        // Made again it is down. Who may not set it up waits until somebody does.
        let _ = device::set_up(name);
    }
    interface.longest = interface::longest(name).unwrap_or(interface.longest);
    let socket = match tap {
        Some(fd) => Socket::Tap(Box::new(Tap::new(fd, interface.longest))),
        None => open_socket(kind, &shared.options, interface, queue, shared.queues, Duration::ZERO).map_err(failed)?,
    };
    Ok((socket, interface.index, interface.longest))
}
