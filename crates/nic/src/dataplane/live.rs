//! The data plane on live interfaces: the loop of its worker.

use super::DataPlane;
use super::core::Arrived;
use super::lanes::Wall;
use super::out::Out;
use crate::ports::{Bindings, LiveCounts, PortError, Sink};
use sluice_device::{Device, Event, MAX_OFFER_BYTES, Packet};
use sluice_formats::Reason;
use sluice_formats::limits::TAG_BYTES;
use std::borrow::Cow;
use std::time::{Duration, Instant};

/// Frames taken from one source before the next one is asked: more than come while a round of packets runs. So a ring does not fill
/// for what one tenant sends, and what is too much is dropped from his lane, where it costs least.
const BATCH: usize = 1024;
/// Longest pause when nothing comes, and longest time between two looks at what the host wants.
const PAUSE: Duration = Duration::from_millis(1);
/// Longest time for which the thread asks again before it sleeps.
const SPIN: Duration = Duration::from_micros(20);

/// For how long the thread asks again when nothing came: not at all while frames come apart, and up to [`SPIN`] where the last one came
/// within that time, so that frames that come faster than a thread falls asleep and wakes up do not pay for it.
#[derive(Debug, Default)]
struct Idle {
    /// Since when nothing has come.
    since: Option<Instant>,
    spin: Duration,
}

impl Idle {
    /// Something came at this time.
    fn end(&mut self, now: Instant) {
        let Some(since) = self.since.take() else { return };
        self.spin = if now - since <= SPIN { SPIN } else { self.spin / 2 };
    }

    /// Whether to sleep, where nothing has come.
    fn sleeps(&mut self, now: Instant) -> bool {
        now - *self.since.get_or_insert(now) >= self.spin
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

impl DataPlane {
    /// Moves packets until `stop` says so, or every source has ended and nothing is inside. `stop` is asked every millisecond or so; it may
    /// use the device meanwhile.
    pub fn run_live(
        &mut self,
        bindings: &mut Bindings,
        mut stop: impl FnMut(&mut dyn Device, &LiveCounts) -> bool,
    ) -> Result<LiveCounts, PortError> {
        let mut counts = LiveCounts::default();
        let (begun, first_tick) = (Instant::now(), self.core.now);
        let (tick_ps, ports) = (self.capabilities.tick_ps, self.capabilities.target.ports);
        let mut ended: Vec<bool> = bindings.sources.iter().map(Option::is_none).collect();
        let (mut looked, mut idle) = (None::<Instant>, Idle::default());
        loop {
            let now = Instant::now();
            if looked.is_none_or(|looked| now - looked >= PAUSE) {
                looked = Some(now);
                if stop(self, &counts) {
                    break;
                }
                bindings.sinks.iter_mut().flatten().for_each(|sink| sink.look());
            }
            let ticks = ((now - begun).as_nanos() * 1000 / u128::from(tick_ps)) as u64;
            self.core.elapse(first_tick + ticks);
            let Self { core, events, .. } = self;
            let more = core.step_loads(|op, result| events.push_back(Event::OpDone { op, result }));
            let Bindings { sources, sinks, .. } = &mut *bindings;
            let mut links = Links { sinks, ports, counts: &mut counts, used: 0, room: [None; 8], failed: None };
            let mut taken = 0;
            for (port, source) in sources.iter_mut().enumerate() {
                let Some(source) = source.as_mut().filter(|_| !ended[port]) else { continue };
                let mut take = |bytes: &[u8]| match bytes.len() {
                    0 => {}
                    length if length > MAX_OFFER_BYTES => links.counts.oversize += 1,
                    _ => {
                        links.counts.received += 1;
                        let arrived = Arrived { port: port as u8, bytes: Cow::Borrowed(bytes), bad: false };
                        core.arrive(arrived, &mut links);
                    }
                };
                match source.receive(BATCH, &mut take)? {
                    Some(frames) => taken += frames,
                    None => ended[port] = true,
                }
            }
            core.go_on(&mut links);
            core.serve(&mut Wall(begun), &mut links);
            let sent = links.used != 0;
            links.flush()?;
            if taken > 0 || sent || more || core.has_work() {
                idle.end(now);
                continue;
            }
            if ended.iter().all(|ended| *ended) && core.is_idle() {
                break;
            }
            if idle.sleeps(now) {
                bindings.wait(PAUSE);
            }
        }
        counts.missed = bindings.sources.iter_mut().flatten().map(|source| source.missed()).sum();
        Ok(counts)
    }
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
