//! Packets that came out or were dropped, until the script has asked for them.

use super::ScriptFailure;
use sluice_device::{Outcome, Verdict};
use sluice_formats::{Reason, Target};
use sluice_packet::notation::{Pattern, print_packet};
use std::collections::{BTreeMap, VecDeque};

/// Packets of one port, module and destination, in the order in which they left: that in which they came, but for high ones.
type Stream = (u8, u8, u8);

/// A packet that came out.
#[derive(Debug)]
struct Packet {
    bytes: Vec<u8>,
    /// Queue that its program, or dispatch, chose.
    queue: u8,
}

/// What has happened and was not asked for yet.
#[derive(Debug, Default)]
pub(super) struct Seen {
    streams: BTreeMap<Stream, VecDeque<Packet>>,
    drops: Vec<(u8, Reason)>,
    pub sent: u64,
    received: u64,
    dropped: u64,
}

impl Seen {
    pub fn take(&mut self, outcomes: Vec<Outcome>, target: &Target) {
        for outcome in outcomes {
            let destination = match outcome.verdict {
                Verdict::Forwarded { port } => port,
                Verdict::Delivered { queue } => target.ports as u8 + queue,
                Verdict::Consumed { .. } => continue,
                Verdict::Dropped { reason, .. } => {
                    self.drops.push((outcome.module, reason));
                    self.dropped += 1;
                    continue;
                }
            };
            let stream = (destination, outcome.module, (outcome.id >> 28) as u8);
            self.streams.entry(stream).or_default().push_back(Packet { bytes: outcome.bytes, queue: outcome.queue });
            self.received += 1;
        }
    }

    /// Packets sent, come out and dropped.
    pub fn totals(&self) -> (u64, u64, u64) {
        (self.sent, self.received, self.dropped)
    }

    /// Takes `count` packets at a destination that match, each the next of its stream. `is_queue` says of a module's packet
    /// whether its queue is the one that is expected.
    pub fn expect(
        &mut self,
        destination: u8,
        name: &str,
        count: u64,
        is_queue: impl Fn(u8, u8) -> bool,
        pattern: &Pattern,
    ) -> Result<(), ScriptFailure> {
        for i in 0..count {
            let next = self.streams.iter_mut().find(|((d, module, _), packets)| {
                let is_it = |p: &Packet| is_queue(*module, p.queue) && pattern.matches(&p.bytes);
                *d == destination && packets.front().is_some_and(is_it)
            });
            match next {
                Some((_, packets)) => drop(packets.pop_front()),
                None => {
                    let expected = format!("packet {} of {count} at {name}: {pattern}", i + 1);
                    return Err(ScriptFailure::Expectation { expected, found: self.heads(destination, pattern) });
                }
            }
        }
        Ok(())
    }

    /// Takes `count` drops of this reason, of these modules.
    pub fn expect_drops(&mut self, count: u64, reason: Reason, of: impl Fn(u8) -> bool) -> Result<(), ScriptFailure> {
        let mut found = 0;
        self.drops.retain(|(module, r)| {
            let taken = found < count && *r == reason && of(*module);
            found += u64::from(taken);
            !taken
        });
        if found == count {
            return Ok(());
        }
        let others: Vec<String> =
            self.drops.iter().take(8).map(|(m, r)| format!("{} of module {m}", r.name())).collect();
        let others = if others.is_empty() { "no others".to_owned() } else { format!("others: {}", others.join(", ")) };
        Err(ScriptFailure::Expectation {
            expected: format!("{count} drops with reason {}", reason.name()),
            found: format!("{found}, {others}"),
        })
    }

    /// Everything that nobody asked for, with messages of which that is known, and forgets it.
    pub fn expect_none(&mut self, messages: Vec<String>) -> Result<(), ScriptFailure> {
        let mut left = Vec::new();
        for ((destination, module, port), packets) in std::mem::take(&mut self.streams) {
            if let Some(first) = packets.front() {
                let (count, first) = (packets.len(), print_packet(&first.bytes));
                left.push(format!(
                    "{count} at destination {destination} (module {module}, from port {port}), first {first}"
                ));
            }
        }
        let mut drops: BTreeMap<(u8, Reason), u64> = BTreeMap::new();
        for drop in std::mem::take(&mut self.drops) {
            *drops.entry(drop).or_default() += 1;
        }
        left.extend(drops.iter().map(|((m, reason), n)| format!("{n} dropped of module {m} ({})", reason.name())));
        left.extend(messages);
        if left.is_empty() {
            return Ok(());
        }
        Err(ScriptFailure::Expectation {
            expected: "no packet and no drop that was not asked for".to_owned(),
            found: left.join("; "),
        })
    }

    /// The next packet of each stream at a destination.
    fn heads(&self, destination: u8, pattern: &Pattern) -> String {
        let heads: Vec<&Packet> =
            self.streams.iter().filter(|((d, ..), _)| *d == destination).filter_map(|(_, p)| p.front()).collect();
        match heads.as_slice() {
            [] => "nothing".to_owned(),
            [one] => {
                let diff = sluice_packet::notation::diff(&pattern.bytes, &one.bytes);
                format!("queue {}, {}\n{diff}", one.queue, print_packet(&one.bytes))
            }
            many => many
                .iter()
                .map(|p| format!("queue {}, {}", p.queue, print_packet(&p.bytes)))
                .collect::<Vec<_>>()
                .join(" and "),
        }
    }
}
