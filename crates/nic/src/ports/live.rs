//! The loop of a NIC on live interfaces: the device's time follows the clock.

use super::{Bindings, PortError};
use sluice_device::{Device, Event, MAX_OFFER_BYTES, Offer, Verdict};
use std::time::{Duration, Instant};

/// Packets taken from one source at a time, so that no port keeps the others waiting.
const BATCH: usize = 256;
/// A pause when nothing came: bounds the latency of the first packet, and the idle load.
const PAUSE: Duration = Duration::from_micros(100);

/// What the loop itself has seen; everything else is in the device's counters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LiveCounts {
    /// Packets taken from sources.
    pub received: u64,
    /// Packets given to sinks.
    pub sent: u64,
    /// Packets that an interface had no room for.
    pub refused: u64,
    /// Merged frames, longer than any port takes: turn the interface's offloads off.
    pub oversize: u64,
    /// Packets that came faster than they were taken: lost before the NIC.
    pub missed: u64,
}

impl LiveCounts {
    /// Adds those of another worker.
    pub fn add(&mut self, other: &Self) {
        self.received += other.received;
        self.sent += other.sent;
        self.refused += other.refused;
        self.oversize += other.oversize;
        self.missed += other.missed;
    }
}

/// Moves packets until `stop` says so, or every source has ended and the device is at rest.
/// `stop` is asked at least every pause; it may use the device meanwhile.
pub fn run_live(
    device: &mut dyn Device,
    bindings: &mut Bindings,
    mut stop: impl FnMut(&mut dyn Device, &LiveCounts) -> bool,
) -> Result<LiveCounts, PortError> {
    let mut counts = LiveCounts::default();
    let (begun, first_tick) = (Instant::now(), device.now());
    let (tick_ps, ports) = (device.capabilities().tick_ps, device.capabilities().target.ports as u8);
    let mut ended: Vec<bool> = bindings.sources.iter().map(Option::is_none).collect();
    let mut offers = Vec::new();
    while !stop(device, &counts) {
        bindings.sinks.iter_mut().flatten().for_each(|sink| sink.look());
        for (port, source) in bindings.sources.iter_mut().enumerate() {
            let Some(source) = source.as_mut().filter(|_| !ended[port]) else { continue };
            let mut take = |bytes: &[u8]| match bytes.len() {
                0 => {}
                length if length > MAX_OFFER_BYTES => counts.oversize += 1,
                _ => offers.push(Offer { port: port as u8, bytes: bytes.to_vec(), at: 0, bad: false }),
            };
            ended[port] = source.receive(BATCH, &mut take)?.is_none();
        }
        let idle = offers.is_empty();
        counts.received += offers.len() as u64;
        device.offer_owned(std::mem::take(&mut offers))?;
        let ticks = (begun.elapsed().as_nanos() * 1000 / u128::from(tick_ps)) as u64;
        let behind = (first_tick + ticks).saturating_sub(device.now());
        device.advance(behind)?;
        let at_end = idle && ended.iter().all(|e| *e);
        if at_end {
            device.quiesce()?;
        }
        let sent = deliver(device, bindings, ports, &mut counts)?;
        if at_end {
            break;
        }
        if idle && sent == 0 {
            bindings.wait(PAUSE, None);
        }
    }
    counts.missed = bindings.sources.iter_mut().flatten().map(|source| source.missed()).sum();
    Ok(counts)
}

/// Gives what came out to the sinks; how many events there were.
fn deliver(
    device: &mut dyn Device,
    bindings: &mut Bindings,
    ports: u8,
    counts: &mut LiveCounts,
) -> Result<usize, PortError> {
    let events = device.poll(usize::MAX);
    for event in &events {
        let Event::Outcome(outcome) = event else { continue };
        let destination = match outcome.verdict {
            Verdict::Forwarded { port } => port,
            Verdict::Delivered { queue } => ports + queue,
            Verdict::Consumed { .. } | Verdict::Dropped { .. } => continue,
        };
        if let Some(Some(sink)) = bindings.sinks.get_mut(usize::from(destination)) {
            let taken = sink.send(&[&outcome.bytes])?;
            *(if taken { &mut counts.sent } else { &mut counts.refused }) += 1;
        }
    }
    bindings.sinks.iter_mut().flatten().try_for_each(|sink| sink.flush())?;
    Ok(events.len())
}
