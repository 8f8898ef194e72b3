//! Counters recounted from the trace: what a snapshot must have read, to the packet.

use crate::plugin::event::{RtlEvent, What};
use sluice_device::ModuleCounters;
use sluice_formats::l7::L7Event;
use sluice_formats::l7::rows::L7TraceRow;
use sluice_formats::{Reason, Target};
use std::collections::{BTreeMap, HashMap, VecDeque};

/// Frozen counts that are kept; a snapshot is read before so many others are taken.
const KEPT: usize = 8;

/// The counts at a change of the epoch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frozen {
    /// The epoch that began.
    pub epoch: u32,
    /// Tick at which it began.
    pub tick: u64,
    /// Counters by module, of all events before.
    pub modules: BTreeMap<u8, ModuleCounters>,
}

/// Counts events as the NIC's counters do.
pub struct Recount {
    target: Target,
    modules: BTreeMap<u8, ModuleCounters>,
    /// An engine stands behind the last host queue; lengths of the packets that are there.
    behind: Option<HashMap<u32, u64>>,
    frozen: VecDeque<Frozen>,
}

impl Recount {
    /// Counts of a NIC after its reset, with or without an engine behind its last host queue.
    pub fn new(target: Target, is_behind: bool) -> Self {
        let behind = is_behind.then(HashMap::new);
        Self { target, modules: BTreeMap::new(), behind, frozen: VecDeque::new() }
    }

    /// The counts so far.
    pub fn modules(&self) -> &BTreeMap<u8, ModuleCounters> {
        &self.modules
    }

    /// The counts at the beginning of an epoch.
    pub fn frozen(&self, epoch: u32) -> Option<&Frozen> {
        self.frozen.iter().find(|f| f.epoch == epoch)
    }

    /// Counts one event. An unknown reason is told.
    pub fn count(&mut self, event: &RtlEvent) -> Result<(), String> {
        match &event.what {
            What::Epoch(epoch) => {
                if self.frozen.len() == KEPT {
                    self.frozen.pop_front();
                }
                self.frozen.push_back(Frozen { epoch: *epoch, tick: event.tick, modules: self.modules.clone() });
            }
            What::Port(row) => {
                let module = self.module(row.module_id);
                module.offered += 1;
                module.offered_bytes += u64::from(row.length);
                module.in_flight += 1;
                if row.dropped {
                    drop_one(module, row.reason)?;
                }
            }
            What::Verdict(row) => {
                let module = self.module(row.module_id);
                let copies = u64::from(row.destinations.count_ones()).saturating_sub(1);
                if row.dropped {
                    drop_one(module, row.reason)?;
                } else {
                    module.copies += copies;
                    module.in_flight += copies;
                }
            }
            What::Queue(row) if row.dropped => drop_one(self.module(row.module_id), row.reason)?,
            What::Dispatched(row) if self.behind.is_some() => self.dispatched(row)?,
            What::Leave(row) => {
                let is_last = u32::from(row.destination) + 1 == self.target.destinations();
                if let Some(behind) = self.behind.as_mut().filter(|_| is_last) {
                    behind.insert(row.id, row.length.into());
                    return Ok(());
                }
                let is_port = u32::from(row.destination) < self.target.ports;
                let module = self.module(row.module_id);
                if is_port {
                    module.forwarded += 1;
                    module.forwarded_bytes += u64::from(row.length);
                } else {
                    module.delivered += 1;
                    module.delivered_bytes += u64::from(row.length);
                }
                leave(module)?;
            }
            _ => {}
        }
        Ok(())
    }

    /// A packet is done with behind the last host queue.
    fn dispatched(&mut self, row: &L7TraceRow) -> Result<(), String> {
        let length = self.behind.as_mut().and_then(|behind| behind.remove(&row.id));
        let length = length.ok_or("trace: a packet was dispatched that has not left its queue")?;
        let module = self.module(row.module_id);
        if row.dropped {
            let reason = L7Event::from_code(row.kind).and_then(L7Event::reason);
            let reason = reason.ok_or_else(|| format!("trace: unknown kind {} of a dispatched packet", row.kind))?;
            return drop_one(module, reason.code());
        }
        if row.consumed {
            module.consumed += 1;
        } else {
            module.delivered += 1;
            module.delivered_bytes += length;
        }
        leave(module)
    }

    fn module(&mut self, module: u8) -> &mut ModuleCounters {
        self.modules.entry(module).or_default()
    }
}

fn drop_one(module: &mut ModuleCounters, code: u8) -> Result<(), String> {
    let reason = Reason::from_code(code).ok_or_else(|| format!("trace: unknown drop reason {code}"))?;
    *module.dropped.entry(reason).or_default() += 1;
    leave(module)
}

fn leave(module: &mut ModuleCounters) -> Result<(), String> {
    module.in_flight = module.in_flight.checked_sub(1).ok_or("trace: more packets left than came")?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluice_formats::rows::{LeaveTraceRow, PortTraceRow, QueueTraceRow, VerdictTraceRow};
    use sluice_formats::target;

    fn event(tick: u64, what: What) -> RtlEvent {
        RtlEvent { tick, what }
    }

    #[test]
    fn a_multicast_packet_closes_the_equation_at_every_step() {
        let mut recount = Recount::new(target::TINY, false);
        let steps = [
            What::Port(PortTraceRow { module_id: 3, length: 64, ..PortTraceRow::default() }),
            What::Verdict(VerdictTraceRow { module_id: 3, destinations: 0x13, ..VerdictTraceRow::default() }),
            What::Queue(QueueTraceRow { module_id: 3, ..QueueTraceRow::default() }),
            What::Queue(QueueTraceRow { module_id: 3, dropped: true, reason: 16, ..QueueTraceRow::default() }),
            What::Epoch(1),
            What::Leave(LeaveTraceRow { module_id: 3, destination: 4, length: 60, ..LeaveTraceRow::default() }),
            What::Leave(LeaveTraceRow { module_id: 3, destination: 0, length: 60, ..LeaveTraceRow::default() }),
        ];
        for (tick, what) in steps.into_iter().enumerate() {
            recount.count(&event(tick as u64, what)).unwrap();
            assert!(recount.modules()[&3].closes());
        }
        let frozen = recount.frozen(1).unwrap();
        assert_eq!((frozen.tick, frozen.modules[&3].in_flight), (4, 2));
        let end = &recount.modules()[&3];
        assert_eq!((end.forwarded, end.delivered, end.copies, end.in_flight), (1, 1, 2, 0));
        assert_eq!(end.dropped[&Reason::TailLimit], 1);
    }

    #[test]
    fn a_packet_that_leaves_without_having_come_is_told() {
        let mut recount = Recount::new(target::TINY, false);
        assert!(recount.count(&event(0, What::Leave(LeaveTraceRow::default()))).is_err());
        let mut recount = Recount::new(target::TINY, true);
        assert!(recount.count(&event(0, What::Dispatched(L7TraceRow::default()))).is_err());
    }

    #[test]
    fn what_waits_behind_the_last_queue_is_in_flight_until_it_is_dispatched() {
        let mut recount = Recount::new(target::TINY, true);
        let host = LeaveTraceRow { module_id: 3, destination: 7, length: 60, ..LeaveTraceRow::default() };
        let decided = L7TraceRow { module_id: 3, message: true, ..L7TraceRow::default() };
        for id in 0..3 {
            let steps = [
                What::Port(PortTraceRow { id, module_id: 3, length: 64, ..PortTraceRow::default() }),
                What::Verdict(VerdictTraceRow { id, module_id: 3, destinations: 0x80, ..VerdictTraceRow::default() }),
                What::Queue(QueueTraceRow { id, module_id: 3, destination: 7, ..QueueTraceRow::default() }),
                What::Leave(LeaveTraceRow { id, ..host }),
            ];
            for (tick, what) in steps.into_iter().enumerate() {
                recount.count(&event(tick as u64, what)).unwrap();
                assert!(recount.modules()[&3].closes());
            }
        }
        assert_eq!(recount.modules()[&3].in_flight, 3);
        let ends = [
            L7TraceRow { id: 0, ..decided },
            L7TraceRow { id: 1, consumed: true, ..decided },
            L7TraceRow { id: 2, dropped: true, kind: L7Event::L7NoFirst as u8, ..decided },
        ];
        for row in ends {
            recount.count(&event(9, What::Dispatched(row))).unwrap();
            assert!(recount.modules()[&3].closes());
        }
        let end = &recount.modules()[&3];
        assert_eq!((end.delivered, end.delivered_bytes, end.consumed, end.in_flight), (1, 60, 1, 0));
        assert_eq!(end.dropped[&Reason::L7NoFirst], 1);
    }
}
