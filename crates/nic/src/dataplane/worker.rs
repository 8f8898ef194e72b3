//! What a worker does on interfaces and captures, round by round.

use super::core::{Arrived, Core};
use super::lanes::Wall;
use super::out::Out;
use crate::ports::{Bindings, LiveCounts, PortError, Sink};
use sluice_device::{Capabilities, MAX_OFFER_BYTES, Packet};
use sluice_formats::Reason;
use sluice_formats::limits::TAG_BYTES;
use std::borrow::Cow;
use std::time::{Duration, Instant};

/// Frames taken from one source before the next one is asked: more than come while a round of packets runs. So a ring does not fill
/// for what one tenant sends, and what is too much is dropped from his lane, where it costs least.
const BATCH: usize = 1024;
/// Longest pause when nothing comes, and longest time between two looks at what the host wants.
pub(super) const PAUSE: Duration = Duration::from_millis(1);
/// Longest time for which the thread asks again before it sleeps.
const SPIN: Duration = Duration::from_micros(20);

/// For how long the thread asks again when nothing came: not at all while frames come apart, and up to [`SPIN`] where the last one came
/// within that time, so that frames that come faster than a thread falls asleep and wakes up do not pay for it.
#[derive(Debug, Default)]
pub(super) struct Idle {
    /// Since when nothing has come.
    since: Option<Instant>,
    spin: Duration,
}

impl Idle {
    /// Something came at this time.
    pub fn end(&mut self, now: Instant) {
        let Some(since) = self.since.take() else { return };
        self.spin = if now - since <= SPIN { SPIN } else { self.spin / 2 };
    }

    /// Whether to sleep, where nothing has come.
    pub fn sleeps(&mut self, now: Instant) -> bool {
        now - *self.since.get_or_insert(now) >= self.spin
    }
}

/// Time of a run, in the device's ticks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Since {
    pub begun: Instant,
    first_tick: u64,
    tick_ps: u64,
}

impl Since {
    /// A run begins at this tick of the device.
    pub fn now(capabilities: &Capabilities, first_tick: u64) -> Self {
        Self { begun: Instant::now(), first_tick, tick_ps: capabilities.tick_ps }
    }

    fn tick(&self, now: Instant) -> u64 {
        self.first_tick + ((now - self.begun).as_nanos() * 1000 / u128::from(self.tick_ps)) as u64
    }
}

/// A worker's ends.
pub(super) struct Worker<'a> {
    pub bindings: &'a mut Bindings,
    ended: Vec<bool>,
    ports: u32,
    since: Since,
    looked: Option<Instant>,
}

impl<'a> Worker<'a> {
    /// Of these ends, in a run that has begun.
    pub fn new(bindings: &'a mut Bindings, ports: u32, since: Since) -> Self {
        let ended = bindings.sources.iter().map(Option::is_none).collect();
        Self { bindings, ended, ports, since, looked: None }
    }

    /// Whether nothing will ever come.
    pub fn has_ended(&self) -> bool {
        self.ended.iter().all(|ended| *ended)
    }

    /// Takes what has come, runs packets, sends. Whether anything has happened or can at once.
    pub fn round(&mut self, core: &mut Core, counts: &mut LiveCounts, now: Instant) -> Result<bool, PortError> {
        if self.looked.is_none_or(|looked| now - looked >= PAUSE) {
            self.looked = Some(now);
            self.bindings.look();
        }
        core.elapse(self.since.tick(now));
        let Bindings { sources, sinks, .. } = &mut *self.bindings;
        let mut links = Links { sinks, ports: self.ports, counts, used: 0, room: [None; 8], failed: None };
        let mut taken = 0;
        for (port, source) in sources.iter_mut().enumerate() {
            let Some(source) = source.as_mut().filter(|_| !self.ended[port]) else { continue };
            let mut most = BATCH;
            if source.is_patient() {
                most = most.min(core.room_to_arrive());
                if core.has_work() || most == 0 {
                    continue;
                }
            }
            let mut take = |bytes: &[u8]| match bytes.len() {
                0 => {}
                length if length > MAX_OFFER_BYTES => links.counts.oversize += 1,
                _ => {
                    links.counts.received += 1;
                    let arrived = Arrived { port: port as u8, bytes: Cow::Borrowed(bytes), bad: false };
                    core.arrive(arrived, &mut links);
                }
            };
            match source.receive(most, &mut take)? {
                Some(frames) => taken += frames,
                None => self.ended[port] = true,
            }
        }
        taken += core.collect(&mut links);
        core.go_on(&mut links);
        let most = core.room_to_run();
        core.serve(&mut Wall(self.since.begun), most, &mut links);
        let sent = links.used != 0;
        links.flush()?;
        Ok(taken > 0 || sent || core.has_work())
    }

    /// Frames that were lost before they were taken.
    pub fn missed(&mut self) -> u64 {
        self.bindings.sources.iter_mut().flatten().map(|source| source.missed()).sum()
    }
}

/// Gives copies to interfaces and captures; what is dropped is counted by the NIC, and nothing else is kept of it.
struct Links<'a> {
    sinks: &'a mut [Option<Box<dyn Sink>>],
    ports: u32,
    counts: &'a mut LiveCounts,
    /// Sinks that were given something since they were flushed.
    used: u8,
    /// Frames that each takes, as far as it was asked.
    room: [Option<usize>; 8],
    failed: Option<PortError>,
}

impl Links<'_> {
    fn sink(&mut self, destination: u8) -> Option<&mut Box<dyn Sink>> {
        self.sinks.get_mut(usize::from(destination))?.as_mut()
    }

    /// Asks how many frames a destination takes; one that takes none is told to send what it has, so that it does.
    fn ask_room(&mut self, destination: u8) -> usize {
        let Some(sink) = self.sink(destination) else { return usize::MAX };
        let mut room = sink.room();
        let mut failed = None;
        if room == 0 {
            failed = sink.flush().err();
            room = sink.room();
        }
        self.failed = self.failed.take().or(failed);
        self.room[usize::from(destination & 7)] = Some(room);
        room
    }

    /// Sends what was given.
    fn flush(mut self) -> Result<(), PortError> {
        let mut used = self.used;
        while used != 0 {
            let destination = used.trailing_zeros() as u8;
            used &= used - 1;
            self.sink(destination).map_or(Ok(()), |sink| sink.flush())?;
        }
        self.failed.map_or(Ok(()), Err)
    }
}

impl Out for Links<'_> {
    #[inline]
    fn room(&mut self, destination: u8) -> usize {
        if let Some(room) = self.room[usize::from(destination & 7)].filter(|room| *room > 0) {
            return room;
        }
        self.ask_room(destination)
    }

    fn left(&mut self, packet: &mut Packet, destination: u8, _: u64) {
        let at_port = u32::from(destination) < self.ports;
        let Some(sink) = self.sink(destination) else { return };
        let mut tag = [0; TAG_BYTES];
        let sent = match at_port {
            true => sink.send(&packet.frame.port_parts(&mut tag, packet.tci)),
            false => sink.send(&[packet.frame.bytes()]),
        };
        self.used |= 1 << destination;
        if let Some(room) = &mut self.room[usize::from(destination & 7)] {
            *room = room.saturating_sub(1);
        }
        match sent {
            Ok(true) => self.counts.sent += 1,
            Ok(false) => self.counts.refused += 1,
            Err(error) => self.failed = self.failed.take().or(Some(error)),
        }
    }

    fn consumed(&mut self, _: &Packet, _: u8, _: u64) {}

    fn dropped(&mut self, _: &Packet, _: Reason, _: Option<u8>, _: u64) {}

    fn refused(&mut self, _: u32, _: u8, _: Reason, _: u64) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_thread_asks_again_only_where_frames_come_faster_than_it_sleeps() {
        let (mut idle, begin) = (Idle::default(), Instant::now());
        let at = |microseconds| begin + Duration::from_micros(microseconds);
        assert!(idle.sleeps(at(0)), "at first nothing is known");
        idle.end(at(10));
        assert!(!idle.sleeps(at(10)) && !idle.sleeps(at(29)) && idle.sleeps(at(30)));
        idle.end(at(1_000));
        assert!(!idle.sleeps(at(1_000)) && idle.sleeps(at(1_010)), "half as long after a long pause");
        for round in 1..30 {
            idle.end(at(10_000 * round));
            idle.sleeps(at(10_000 * round));
        }
        assert!(idle.sleeps(at(290_000)), "not at all after many");
    }
}
