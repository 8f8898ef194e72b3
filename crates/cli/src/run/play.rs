//! Plays arrivals through a device, replaces programs on the way, and keeps what comes out.

use super::cell_counts::CellCount;
use super::entry_counts::{self, EntryCount};
use super::host::Host;
use super::interrupt;
use super::pace::Clock;
use super::progress::Progress;
use super::rings::RunRing;
use super::sink::Sinks;
use super::source::{Arrival, Source};
use super::tally::Tally;
use crate::failure::Failure;
use crate::xdp::engine_counts;
use crate::xdp::leaf_counts::{self, LeafCount};
use sluice_device::{Counters, Device, DeviceError, EngineCounts, Event, Offer, OpId};
use sluice_frontends::P4Told;
use sluice_object::{Linker, Load, Object};
use sluice_packet::capture::Next;
use sluice_packet::capture::output;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Packets offered in one call.
const BATCH: usize = 256;
/// The same while a program is being replaced, so that its end is seen soon.
const SMALL_BATCH: usize = 8;
/// Events taken in one call.
const EVENTS: usize = 4096;

/// A program that takes the place of a tenant's running one.
#[derive(Clone)]
pub struct Change {
    /// Before the packet with this number, from 0.
    pub before: u64,
    /// Tenant ID.
    pub tenant: u16,
    /// The program.
    pub object: Object,
    /// Where it was read.
    pub file: PathBuf,
    /// The tenant may be given what he lacks for it.
    pub grow: bool,
    /// What is told of a P4 program.
    pub told: P4Told,
}

impl Change {
    /// The load that does it.
    pub fn link(&self, linker: &mut Linker) -> Result<Load, Failure> {
        let load = match self.grow {
            true => linker.grow(self.tenant, &self.object),
            false => linker.replace(self.tenant, &self.object),
        };
        let load = load.map_err(|error| error.sent_from(|to| self.told.sender(&self.object.name, to)));
        load.map_err(|error| Failure::from(error).of(&self.file))
    }
}

/// A replacement that was done.
#[derive(Clone, Debug)]
pub struct Changed {
    /// Label of the load.
    pub label: String,
    /// Number of the packet before which it was submitted.
    pub before: u64,
    /// Number of the packet before which it was seen to be done.
    pub done: u64,
    /// Ticks from its submission until it was seen to be done.
    pub ticks: u64,
}

/// What a run came to.
pub struct Played {
    /// Packets offered.
    pub offered: u64,
    /// Sums of the outcomes.
    pub tally: Tally,
    /// Counters after the last packet.
    pub counters: Counters,
    /// What an XDP engine in hardware has counted, by module.
    pub engine: BTreeMap<u8, EngineCounts>,
    /// Packets that a warp engine in hardware has counted.
    pub leaves: Vec<LeafCount>,
    /// Packets that met entries of P4 programs.
    pub entries: Vec<EntryCount>,
    /// Cells of counters that P4 programs index.
    pub cells: Vec<CellCount>,
    /// Wall time from the first packet to the last outcome.
    pub wall: Duration,
    /// Replacements.
    pub changes: Vec<Changed>,
    /// What the counters do not add up to, if they do not.
    pub open_account: Option<String>,
    /// Rings and what came of them.
    pub rings: Vec<RunRing>,
    /// It was ended by Ctrl-C.
    pub interrupted: bool,
    /// It was ended so soon that packets were left in flight, or before they began to arrive.
    pub left: bool,
    /// Kind of the device.
    pub device: &'static str,
}

/// One run on one device.
pub struct Play<'a> {
    /// The device, configured.
    pub device: &'a mut dyn Device,
    /// What the device holds.
    pub linker: &'a mut Linker,
    /// When packets arrive.
    pub clock: Clock,
    /// Most packets to offer.
    pub limit: u64,
    /// In the order of their packets.
    pub changes: Vec<Change>,
    /// Where packets go.
    pub sinks: &'a mut Sinks,
    /// Who is told how far it is.
    pub progress: &'a Progress,
    /// What else the host does with the device.
    pub host: &'a mut Host,
}

#[derive(Default)]
struct State {
    offered: u64,
    tally: Tally,
    under_way: Vec<(OpId, Changed, u64)>,
    changed: Vec<Changed>,
}

impl Play<'_> {
    /// Plays until the source ends, the limit is reached or Ctrl-C is pressed; then waits
    /// until nothing is in flight.
    pub fn run(mut self, source: &mut Source) -> Result<Played, Failure> {
        let mut state = State::default();
        let start = Instant::now();
        let replaced: Vec<u16> = self.changes.iter().map(|change| change.tenant).collect();
        // What a signal leaves where it is shows in the report as in flight.
        let is_left = match self.run_to_the_end(source, &mut state) {
            Ok(()) => false,
            Err(failure) if failure.is_stop() => true,
            Err(failure) => return Err(failure),
        };
        self.take_events(&mut state)?;
        match is_left {
            true => self.host.leave()?,
            false => self.host.finish(self.device)?,
        }
        let wall = start.elapsed();
        let counters = self.device.counters().map_err(failed)?;
        let engine = engine_counts::of_modules(self.device, counters.modules.keys().copied());
        let leaves = leaf_counts::of_tenants(self.device, self.linker);
        let entries = entry_counts::of_tenants(self.device, self.linker, &replaced);
        let open_account = match is_left {
            true => Tally::audit_left(&counters).err(),
            false => state.tally.audit(&counters, state.offered).err(),
        };
        Ok(Played {
            engine,
            leaves,
            entries,
            cells: Vec::new(),
            open_account,
            offered: state.offered,
            tally: state.tally,
            counters,
            wall,
            changes: state.changed,
            rings: self.host.rings.clone(),
            interrupted: interrupt::asked(),
            left: is_left,
            device: self.device.capabilities().kind,
        })
    }

    /// Plays, and lets everything come out.
    fn run_to_the_end(&mut self, source: &mut Source, state: &mut State) -> Result<(), Failure> {
        let mut changes = std::mem::take(&mut self.changes).into_iter().peekable();
        let (mut ended, mut fault) = (false, None);
        while !ended && !interrupt::asked() {
            while let Some(change) = changes.next_if(|c| c.before <= state.offered) {
                self.change(&change, state)?;
            }
            let until = changes.peek().map_or(self.limit, |c| c.before.min(self.limit));
            let batch = if state.under_way.is_empty() { BATCH } else { SMALL_BATCH };
            let batch = self.host.rings.iter().map(RunRing::most_packets).fold(batch, usize::min);
            let room = (until - state.offered).min(batch as u64) as usize;
            let mut batch = Vec::with_capacity(room);
            while batch.len() < room && !ended {
                match source.next() {
                    Ok(Next::Item(arrival)) => batch.push(self.offer(arrival)),
                    // What has come is played, so that the host sees it while the next packet is waited for.
                    Ok(Next::Later) if !batch.is_empty() => break,
                    Ok(Next::Later) => self.host.serve(self.device)?,
                    Ok(Next::End) => ended = true,
                    // Of a pipe: what came before is played and written, then the error is told.
                    Err(error) => (ended, fault) = (true, Some(error)),
                }
            }
            output::begin();
            ended |= state.offered + batch.len() as u64 == self.limit;
            self.play(batch, state)?;
            self.progress.at(state.offered);
        }
        if !interrupt::asked() && fault.is_none() {
            // At the very end, as 100%, the program is replaced and no packet sees it.
            for change in changes {
                if change.before > state.offered {
                    fault = Some(not_reached(change.before, state.offered));
                    break;
                }
                self.change(&change, state)?;
            }
        }
        self.device.quiesce().map_err(failed)?;
        self.take(state)?;
        fault.map_or(Ok(()), Err)
    }

    fn offer(&mut self, arrival: Arrival) -> Offer {
        let Arrival { port, packet } = arrival;
        let at = self.clock.arrival(port, packet.stamp, packet.bytes.len());
        Offer { port, bytes: packet.bytes, at, bad: false }
    }

    /// Offers a batch and lets time pass until its last packet begins to arrive.
    fn play(&mut self, batch: Vec<Offer>, state: &mut State) -> Result<(), Failure> {
        let last = batch.iter().map(|o| o.at).max().unwrap_or(0);
        state.offered += batch.len() as u64;
        self.device.offer_owned(batch).map_err(failed)?;
        self.device.advance(last.saturating_sub(self.device.now())).map_err(failed)?;
        self.take(state)
    }

    fn change(&mut self, change: &Change, state: &mut State) -> Result<(), Failure> {
        let load = change.link(self.linker)?;
        let op = self.device.submit(&load).map_err(failed)?;
        let changed = Changed { label: load.label, before: state.offered, done: 0, ticks: 0 };
        state.under_way.push((op, changed, self.device.now()));
        Ok(())
    }

    /// Takes what has happened, and lets the host do its part.
    fn take(&mut self, state: &mut State) -> Result<(), Failure> {
        self.take_events(state)?;
        self.host.serve(self.device)
    }

    fn take_events(&mut self, state: &mut State) -> Result<(), Failure> {
        loop {
            let events = self.device.poll(EVENTS);
            if events.is_empty() {
                return Ok(());
            }
            for event in events {
                match event {
                    Event::Outcome(outcome) => {
                        state.tally.add(&outcome);
                        self.sinks.take(outcome)?;
                    }
                    Event::OpDone { op, result } => {
                        result.map_err(failed)?;
                        let Some(at) = state.under_way.iter().position(|(o, ..)| *o == op) else { continue };
                        let (_, mut changed, since) = state.under_way.remove(at);
                        changed.ticks = self.device.now() - since;
                        changed.done = state.offered;
                        state.changed.push(changed);
                    }
                }
            }
        }
    }
}

/// A replacement behind the last packet. At the very end it is one that no packet sees.
pub fn not_reached(before: u64, played: u64) -> Failure {
    let what = format!("--replace: packet {before} is not reached, {played} are played");
    Failure::input("E0510", format!("{what}; expected 0 to {played}, the end"))
}

/// A device that failed while it ran: a difference in lockstep, a failed assertion, a wedge.
pub fn failed(error: DeviceError) -> Failure {
    match error {
        DeviceError::NoPort { .. } | DeviceError::FrameLength { .. } => Failure::input("E0508", error),
        DeviceError::Stopped => Failure::stopped(error),
        error if error.is_refusal() => Failure::input(error.code(), error),
        error => Failure::difference("E0505", error),
    }
}

#[cfg(test)]
#[path = "play_tests.rs"]
mod tests;
