//! Judges every outcome of a run with replacements: lost, of both tables, out of order.

use super::programs::{entry_destination, entry_dmac, flow_frame, maker};
use sluice_device::{Outcome, Verdict};
use sluice_formats::{Reason, Target};
use std::collections::BTreeMap;

/// A tenant whose table never changes: all its packets go one way.
#[derive(Clone, Copy, Debug)]
pub struct Steady {
    pub module: u8,
    pub destination: u8,
    pub set_dmac: Option<[u8; 6]>,
    pub generation: u8,
}

/// Who a frame belongs to, by the order of the tenants; 0 is the one whose table is replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    pub tenant: u8,
    pub flow: u16,
}

/// Packets that one program served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Served {
    pub packets: u64,
    pub first_stamp: u64,
    pub last_stamp: u64,
}

/// What the judged packets have done wrong.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// Packets of the replaced tenant with an outcome that no program gives, or that the
    /// generation of their stamp does not give.
    pub mixtures: u64,
    /// Packets of the replaced tenant that were dropped; every program forwards all of them.
    pub own_drops: u64,
    /// Packets of other tenants with another outcome than always, drops included.
    pub others: u64,
    /// Packets without an outcome, or with two.
    pub lost_or_doubled: u64,
    /// Programs whose packets were stamped before the last packet of an older program, or after
    /// their successor was in place.
    pub went_back: u64,
    /// The first of them, in words.
    pub first: Option<String>,
}

impl Faults {
    pub fn none(&self) -> bool {
        *self == Self::default()
    }

    fn note(&mut self, what: impl FnOnce() -> String) {
        self.first.get_or_insert_with(what);
    }
}

/// Knows what was sent and what may become of it.
pub struct Witness {
    target: Target,
    /// VLAN by tenant.
    vlans: [u16; 3],
    /// Tenants 1 and 2.
    steady: [Steady; 2],
    own_module: u8,
    /// By port: frames in the order of their numbers; None once it has its outcome.
    sent: Vec<Vec<Option<Sent>>>,
    /// Frames as they left, by tenant and flow; made when first needed.
    frames: BTreeMap<(u8, u16), Vec<u8>>,
    /// Generation that packets of a program carry.
    generations: BTreeMap<u32, u8>,
    served: BTreeMap<u32, Served>,
    /// Tick before which the replacement by a program had ended.
    done: BTreeMap<u32, u64>,
    faults: Faults,
    packets: u64,
    /// Outcomes of the steady tenants, for a comparison between runs.
    steady_outcomes: Vec<(u32, Verdict, Option<u64>)>,
    first_stamp: u64,
    last_stamp: u64,
}

impl Witness {
    pub fn new(target: Target, vlans: [u16; 3], own_module: u8, steady: [Steady; 2]) -> Self {
        Self {
            target,
            vlans,
            steady,
            own_module,
            sent: vec![Vec::new(); target.ports as usize],
            frames: BTreeMap::new(),
            generations: BTreeMap::new(),
            served: BTreeMap::new(),
            done: BTreeMap::new(),
            faults: Faults::default(),
            packets: 0,
            steady_outcomes: Vec::new(),
            first_stamp: u64::MAX,
            last_stamp: 0,
        }
    }

    /// A frame is offered.
    pub fn sends(&mut self, port: u8, sent: Sent) {
        self.sent[usize::from(port)].push(Some(sent));
        self.packets += 1;
    }

    /// A program is about to be written for this generation.
    pub fn expects(&mut self, program: u32, generation: u8) {
        self.generations.insert(program, generation);
    }

    /// A replacement by `program` was done before tick `now`.
    pub fn replaced(&mut self, program: u32, now: u64) {
        self.done.insert(program, now);
    }

    /// Judges one outcome.
    pub fn sees(&mut self, outcome: &Outcome) {
        let (port, number) = ((outcome.id >> 28) as usize, (outcome.id & 0xfff_ffff) as usize);
        let sent = self.sent.get_mut(port).and_then(|s| s.get_mut(number)).and_then(Option::take);
        let Some(sent) = sent else {
            self.faults.lost_or_doubled += 1;
            return self.faults.note(|| format!("{:#010x}: not sent, or a second outcome", outcome.id));
        };
        if let Some(stamp) = outcome.stamp {
            self.first_stamp = self.first_stamp.min(stamp);
            self.last_stamp = self.last_stamp.max(stamp);
        }
        match sent.tenant {
            0 => self.judge_own(sent, outcome),
            n => self.judge_steady(self.steady[usize::from(n) - 1], sent, outcome),
        }
    }

    fn judge_own(&mut self, sent: Sent, outcome: &Outcome) {
        if let Verdict::Dropped { reason, .. } = outcome.verdict {
            self.faults.own_drops += 1;
            // Every program forwards every flow: a drop by the pipeline is an output of neither.
            let by_program = reason.event().is_some() && !matches!(reason, Reason::Rate | Reason::Reconfig);
            self.faults.mixtures += u64::from(by_program);
            return self.faults.note(|| describe(outcome, &format!("dropped, {}", reason.name())));
        }
        if let Err(what) = self.serve(sent, outcome) {
            self.faults.mixtures += 1;
            self.faults.note(|| describe(outcome, &what));
        }
    }

    /// The program that made the outcome, if all of it is one program's.
    fn serve(&mut self, sent: Sent, outcome: &Outcome) -> Result<(), String> {
        let dmac = outcome.bytes.get(..6).unwrap_or_default();
        let (program, flow) = maker(dmac).ok_or("no program writes its destination MAC")?;
        let flow = flow.ok_or(format!("the default action of program {program}: its entry was not there"))?;
        if flow != sent.flow {
            return Err(format!("the entry of flow {flow} of program {program} for flow {}", sent.flow));
        }
        let expected = entry_destination(program, flow, &self.target);
        let found = self.number(outcome.verdict);
        if found != Some(expected) {
            return Err(format!("the MAC of program {program}, but destination {found:?}, not {expected}"));
        }
        let generation = self.generations.get(&program).copied();
        if outcome.generation.is_none() || outcome.generation != generation {
            let stamped = outcome.generation;
            return Err(format!("the outcome of program {program} ({generation:?}) with generation {stamped:?}"));
        }
        if outcome.module != self.own_module {
            return Err(format!("module {}", outcome.module));
        }
        if outcome.bytes != self.expected_bytes(sent, expected, Some(entry_dmac(program, flow))) {
            return Err("other bytes than the frame's".into());
        }
        let stamp = outcome.stamp.ok_or("no stamp")?;
        let served = self.served.entry(program).or_insert(Served { packets: 0, first_stamp: stamp, last_stamp: stamp });
        served.packets += 1;
        served.first_stamp = served.first_stamp.min(stamp);
        served.last_stamp = served.last_stamp.max(stamp);
        Ok(())
    }

    fn judge_steady(&mut self, tenant: Steady, sent: Sent, outcome: &Outcome) {
        self.steady_outcomes.push((outcome.id, outcome.verdict, outcome.stamp));
        let right = self.number(outcome.verdict) == Some(tenant.destination)
            && outcome.module == tenant.module
            && outcome.generation == Some(tenant.generation)
            && outcome.bytes == self.expected_bytes(sent, tenant.destination, tenant.set_dmac);
        if !right {
            self.faults.others += 1;
            let found = &outcome.bytes;
            self.faults.note(|| describe(outcome, &format!("not as always: {:?}, {found:02x?}", outcome.verdict)));
        }
    }

    fn number(&self, verdict: Verdict) -> Option<u8> {
        match verdict {
            Verdict::Forwarded { port } => Some(port),
            Verdict::Delivered { queue } => Some(self.target.ports as u8 + queue),
            Verdict::Consumed { .. } | Verdict::Dropped { .. } => None,
        }
    }

    fn expected_bytes(&mut self, sent: Sent, destination: u8, dmac: Option<[u8; 6]>) -> Vec<u8> {
        let vlan = self.vlans[usize::from(sent.tenant)];
        let frame = self.frames.entry((sent.tenant, sent.flow)).or_insert_with(|| flow_frame(sent.flow, vlan));
        let mut bytes = frame.clone();
        if let Some(dmac) = dmac {
            bytes[..6].copy_from_slice(&dmac);
        }
        if u32::from(destination) >= self.target.ports {
            bytes.drain(12..16);
        }
        bytes
    }

    /// Everything has left: what is wrong with the whole.
    pub fn conclude(mut self) -> Conclusion {
        let lost = self.sent.iter().flatten().flatten().count() as u64;
        if lost > 0 {
            self.faults.lost_or_doubled += lost;
            self.faults.note(|| format!("{lost} packets have no outcome"));
        }
        let mut newest: Option<(u32, u64)> = None;
        for (&program, served) in &self.served {
            if let Some((before, last)) = newest.filter(|(_, last)| *last >= served.first_stamp) {
                self.faults.went_back += 1;
                self.faults.note(|| {
                    format!("program {program} began at {}, program {before} was seen at {last}", served.first_stamp)
                });
            }
            if let Some(done) = self.done.range(program + 1..).map(|d| *d.1).next().filter(|d| served.last_stamp > *d) {
                self.faults.went_back += 1;
                let last = served.last_stamp;
                self.faults.note(|| format!("program {program} was seen at {last}, its successor was done by {done}"));
            }
            newest = Some((program, served.last_stamp.max(newest.map_or(0, |n| n.1))));
        }
        self.steady_outcomes.sort_by_key(|o| o.0);
        Conclusion {
            packets: self.packets,
            programs_seen: self.served.len() as u64,
            stamped: self.last_stamp.saturating_sub(self.first_stamp) + 1,
            faults: self.faults,
            steady_outcomes: self.steady_outcomes,
        }
    }
}

/// What a run has shown.
pub struct Conclusion {
    /// Packets offered.
    pub packets: u64,
    /// Programs that served at least one packet.
    pub programs_seen: u64,
    /// Cycles from the first stamp to the last.
    pub stamped: u64,
    pub faults: Faults,
    /// Packet, verdict and stamp of the tenants whose tables stay, by packet.
    pub steady_outcomes: Vec<(u32, Verdict, Option<u64>)>,
}

fn describe(outcome: &Outcome, what: &str) -> String {
    let Outcome { id, module, generation, stamp, .. } = outcome;
    format!("packet {id:#010x}, module {module}, generation {generation:?}, stamp {stamp:?}: {what}")
}
