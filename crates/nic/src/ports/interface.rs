//! An interface of the machine or a TAP device as source and sink. Its queues may be lent to several workers.

use super::{LinkState, PortError, Sink, SocketKind, Source, Watch};
use crate::dataplane::Bell;
use sluice_ports::{BusyPoll, Options, Port, Wanted};
use std::os::fd::AsFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Frames that a driver takes each time when its thread is ours.
const BUSY_FRAMES: u32 = 64;

struct Inner {
    /// One a queue; frames are sent through the interface's first one.
    ports: Vec<Port>,
    /// The interface's first queue is among them: it tells changes, for all queues see the same.
    tells: bool,
    /// The queue that is asked first.
    turn: usize,
    /// Frames lost on the way in when it was last asked.
    missed: u64,
    watch: Watch,
}

/// A handle on an interface, to receive and to send.
#[derive(Clone)]
pub(super) struct Interface(Arc<Mutex<Inner>>);

impl Interface {
    /// Opens an interface with these sockets and this busy polling in microseconds, or a TAP device.
    pub fn open(name: &str, how: Option<(SocketKind, Option<u32>)>) -> Result<Self, PortError> {
        let kind = match how.map(|(kind, _)| kind) {
            None => Wanted::Tap,
            Some(SocketKind::Auto) => Wanted::Auto,
            Some(SocketKind::Xdp) => Wanted::Xdp,
            Some(SocketKind::XdpGeneric) => Wanted::XdpGeneric,
            Some(SocketKind::Packet) => Wanted::Packet,
        };
        let busy_poll = how.and_then(|(_, microseconds)| microseconds);
        let busy_poll = busy_poll.map(|microseconds| BusyPoll { microseconds, frames: BUSY_FRAMES });
        let ports = sluice_ports::open(name, &Options { kind, busy_poll, ..Options::default() })?;
        let described = ports.first().map(Port::described).unwrap_or_default();
        let watch = Watch::new(name, described);
        Ok(Self(Arc::new(Mutex::new(Inner { ports, tells: true, turn: 0, missed: 0, watch }))))
    }

    /// Takes every queue but the first one out and deals them to the workers, the first of which has the first queue: a handle for each
    /// other worker that has got some.
    pub fn lend(&self, first: usize, workers: usize) -> Vec<(usize, Self)> {
        let inner = &mut *self.inner();
        let mut of: Vec<Vec<Port>> = (0..workers).map(|_| Vec::new()).collect();
        for (queue, port) in inner.ports.drain(..).enumerate() {
            of[(first + queue) % workers].push(port);
        }
        inner.ports = std::mem::take(&mut of[first % workers]);
        inner.turn = 0;
        let lent = of.into_iter().enumerate().filter(|(_, ports)| !ports.is_empty());
        let handle = |ports| Inner { ports, tells: false, turn: 0, missed: 0, watch: inner.watch.clone() };
        lent.map(|(worker, ports)| (worker, Self(Arc::new(Mutex::new(handle(ports)))))).collect()
    }

    /// Takes back queues that were lent.
    pub fn take_back(&self, lent: &Self) {
        let mut from = lent.inner();
        let inner = &mut *self.inner();
        inner.missed += from.missed;
        inner.ports.append(&mut from.ports);
    }

    /// A worker has both ends of what it was given of an interface, so nobody waits here.
    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is known of the interface, for whoever tells it.
    pub fn watch(&self) -> Watch {
        self.inner().watch.clone()
    }
}

/// Waits until one of the interfaces has frames or the bell rings, for `limit` at most.
pub(super) fn wait(interfaces: &[(usize, Interface)], limit: Duration, bell: Option<&Bell>) {
    let open: Vec<_> = interfaces.iter().map(|(_, interface)| interface.inner()).collect();
    let fds: Vec<_> =
        open.iter().flat_map(|inner| inner.ports.iter().filter_map(Port::as_fd)).chain(bell.map(Bell::as_fd)).collect();
    // One that has gone says so at once and again: the next look closes it.
    let waited = sluice_ports::wait(&fds, limit);
    if fds.is_empty() || waited.is_err() {
        std::thread::sleep(limit);
    }
}

fn state(state: sluice_ports::LinkState) -> LinkState {
    match state {
        sluice_ports::LinkState::Up => LinkState::Up,
        sluice_ports::LinkState::Down => LinkState::Down,
        sluice_ports::LinkState::Gone => LinkState::Gone,
    }
}

impl Source for Interface {
    fn receive(&mut self, most: usize, take: &mut dyn FnMut(&[u8])) -> Result<Option<usize>, PortError> {
        let inner = &mut *self.inner();
        let (queues, mut taken) = (inner.ports.len(), 0);
        for _ in 0..queues {
            inner.turn = (inner.turn + 1) % queues;
            taken += inner.ports[inner.turn].receive(most - taken, &mut |bytes, _| take(bytes))?;
            if taken == most {
                break;
            }
        }
        Ok(Some(taken))
    }

    fn missed(&mut self) -> u64 {
        let inner = &mut *self.inner();
        let lost = |port: &mut Port| {
            let drops = port.drops();
            drops.receive_ring_full + drops.fill_ring_empty + drops.receive_oversize + drops.receive_other
        };
        let missed: u64 = inner.ports.iter_mut().map(lost).sum();
        missed - std::mem::replace(&mut inner.missed, missed)
    }
}

impl Sink for Interface {
    fn room(&mut self) -> usize {
        self.inner().ports[0].room()
    }

    fn send(&mut self, parts: &[&[u8]]) -> Result<bool, PortError> {
        Ok(self.inner().ports[0].send(parts)?)
    }

    fn flush(&mut self) -> Result<(), PortError> {
        Ok(self.inner().ports[0].flush()?)
    }

    fn look(&mut self) {
        let inner = &mut *self.inner();
        for (queue, port) in inner.ports.iter_mut().enumerate() {
            // All queues see the same: the first one tells it.
            while let Some(seen) = port.look() {
                if queue == 0 && inner.tells {
                    inner.watch.change(state(seen));
                }
            }
        }
    }

    fn finish(self: Box<Self>) -> Result<u64, PortError> {
        let inner = &mut *self.inner();
        let mut drops = std::collections::BTreeMap::<&'static str, u64>::new();
        for port in &mut inner.ports {
            port.flush()?;
            for (reason, count) in port.drops().by_reason() {
                *drops.entry(reason).or_default() += count;
            }
        }
        inner.watch.lost(drops.into_iter().filter(|(_, count)| *count > 0).collect());
        Ok(0)
    }
}
