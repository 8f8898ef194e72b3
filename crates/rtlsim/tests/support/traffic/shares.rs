//! Who gets how much where several want the same: the merge, one destination, a blocked neighbour.

use super::rig::{Leave, Left, Module, Rig, To};
use crate::support::Build;
use sluice_device::Device;
use sluice_formats::random::Rng;
use sluice_formats::{Reason, Target};
use sluice_rtlsim::{Ready, RtlOptions, Stalls};
use std::collections::BTreeMap;

/// What each claimant got, in the order of the claimants, and what it should have got.
#[derive(Clone, Debug)]
pub struct Shares {
    pub got: Vec<f64>,
    pub due: Vec<f64>,
    /// Fewest packets that waited in each claimant's queue behind one that left.
    pub least: Vec<i64>,
    /// Packets dropped at ingress.
    pub overload: u64,
    /// What was dropped beside that, by module and reason.
    pub others: BTreeMap<(u8, Reason), u64>,
}

impl Shares {
    /// Largest deviation of a claimant, as a part of what is due to it.
    pub fn error(&self) -> f64 {
        self.got.iter().zip(&self.due).map(|(got, due)| (got / due - 1.0).abs()).fold(0.0, f64::max)
    }
}

/// Ports that all want the whole pipeline, each with frames of its own length: beats by port.
pub fn ports(build: Build, lengths: &[usize], cycles: u64, seed: u64) -> Shares {
    let mut rig = Rig::open(build.target, build.options(seed), &[Module::new(1, To::Spread([4, 5, 6, 7]))]);
    let mut rng = Rng::new(seed);
    for (port, &length) in lengths.iter().enumerate() {
        let arrival = u64::from(rig.target.beats(length as u32 + 4));
        for _ in 0..cycles / arrival {
            rig.offer(port as u8, Some(1), rng.below(4) as u8, length);
        }
    }
    rig.quiesce();
    let end = rig.arrived[..lengths.len()].iter().copied().min().unwrap_or(0);
    let begin = end - cycles * 9 / 10;
    let mut beats = vec![0.0; lengths.len()];
    for m in rig.merged.iter().filter(|m| (begin..end).contains(&m.tick)) {
        beats[(m.id >> 28) as usize] += rig.beats(m.id) as f64;
    }
    let total: f64 = beats.iter().sum();
    Shares {
        got: beats.iter().map(|b| b / total).collect(),
        due: vec![1.0 / lengths.len() as f64; lengths.len()],
        least: Vec::new(),
        overload: rig.drops(Reason::Overload),
        others: rig.dropped.into_iter().filter(|d| d.0.1 != Reason::Overload).collect(),
    }
}

/// A tenant that wants more of a destination than it gets.
#[derive(Clone, Copy, Debug)]
pub struct Claim {
    pub quantum: u16,
    pub length: usize,
}

/// Tenants that want one host queue, which is ready in a quarter of the cycles: bytes by tenant.
pub fn tenants(build: Build, claims: &[Claim; 3], cycles: u64, seed: u64) -> Shares {
    let stalls = Stalls { ready: Ready::Random { chance: 64 }, ..Stalls::default() };
    let options = RtlOptions { stalls, ..build.options(seed) };
    let cells = if build.target == "tiny" { 300 } else { 1_000 };
    let module =
        |(claim, number): (&Claim, u8)| Module { quantum: claim.quantum, cells, ..Module::new(number, To::One(4)) };
    let modules: Vec<Module> = claims.iter().zip(1..).map(module).collect();
    let mut rig = Rig::open(build.target, options, &modules);
    let start = rig.nic.now();
    // Each tenant on a port of its own gets a third of the pipeline, more than its due.
    for (port, claim) in claims.iter().enumerate() {
        let arrival = u64::from(rig.target.beats(claim.length as u32 + 4)) * 3;
        for i in 0..cycles / arrival {
            rig.offer_at(start + i * arrival, port as u8, Some(port as u8 + 1), 0, claim.length);
        }
    }
    rig.quiesce();
    let end = rig.arrived[..3].iter().copied().min().unwrap_or(0);
    let begin = end - cycles * 9 / 10;
    let mut bytes = [0.0; 3];
    let mut least = vec![i64::MAX; 3];
    for leave in rig.leaves.iter().filter(|l| (begin..end).contains(&l.tick)) {
        let tenant = usize::from(leave.module) - 1;
        bytes[tenant] += f64::from(leave.length);
        least[tenant] = least[tenant].min(leave.own);
    }
    let total: f64 = bytes.iter().sum();
    let weights: f64 = claims.iter().map(|c| f64::from(c.quantum)).sum();
    Shares {
        got: bytes.iter().map(|b| b / total).collect(),
        due: claims.iter().map(|c| f64::from(c.quantum) / weights).collect(),
        least,
        overload: rig.drops(Reason::Overload),
        others: rig.dropped.into_iter().filter(|d| d.0.1 != Reason::Overload).collect(),
    }
}

/// Four modules to four host queues, one of which is blocked or not.
#[derive(Clone, Debug)]
pub struct Neighbours {
    /// Cycles per packet that leaves, by destination; none where nothing leaves.
    pub cycles: Vec<Option<f64>>,
    /// Drops by module; module 1 goes to the destination that is blocked.
    pub dropped: BTreeMap<(u8, Reason), u64>,
    /// Cycles of the pipeline from the first packet to the last.
    pub merge_cycles: u64,
    pub beats: u64,
}

/// As many packets as the pipeline takes, one module after the other.
pub fn neighbours(build: Build, length: usize, packets: u64, blocked: bool, seed: u64) -> Neighbours {
    let modules: Vec<Module> = (1..=4).map(|n| Module::new(n, To::One(3 + n))).collect();
    let mut rig = Rig::open(build.target, build.options(seed), &modules);
    rig.nic.set_blocked(4, blocked).unwrap();
    let begin = rig.nic.now() + 64;
    let beats = u64::from(rig.target.beats(length as u32));
    for i in 0..packets {
        // Every port carries every module.
        let (port, module) = ((i % 4) as u8, ((i / 4 + i) % 4) as u8 + 1);
        rig.offer_at(begin + i * beats, port, Some(module), 0, length);
    }
    rig.quiesce();
    let cycles = (4..8).map(|d| spacing(&rig.left, d)).collect();
    let merged = &rig.merged;
    Neighbours {
        cycles,
        merge_cycles: merged[merged.len() - 1].tick - merged[0].tick,
        beats: (packets - 1) * beats,
        dropped: rig.dropped,
    }
}

fn spacing(left: &[Left], destination: u8) -> Option<f64> {
    let mut out: Vec<u64> = left.iter().filter(|l| l.destination == destination).map(|l| l.first_out).collect();
    out.sort_unstable();
    let (first, last) = (*out.first()?, *out.last()?);
    (out.len() > 1).then(|| (last - first) as f64 / (out.len() - 1) as f64)
}

/// Cycles in which no beat left the buffer while so many copies waited in it, and a stretch with
/// such cycles in words. Destinations may take turns beat by beat: so much may be under way.
pub fn idle_output(leaves: &[Leave], target: &Target, waiting: i64) -> (u64, Option<String>) {
    let mut idle = 0;
    let mut first = None;
    let beats = |leave: &Leave| u64::from(target.beats(leave.length));
    for busy in leaves.chunk_by(|before, _| before.queued >= waiting).filter(|b| b.len() > 1) {
        let (begin, end) = (&busy[0], &busy[busy.len() - 1]);
        let read: u64 = busy[1..].iter().map(beats).sum();
        let under_way = u64::from(target.destinations()) * (beats(end) - 1);
        let empty = (end.tick - begin.tick).saturating_sub(read + under_way);
        idle += empty;
        if empty > 0 {
            let gap = busy.windows(2).max_by_key(|pair| pair[1].tick - pair[0].tick);
            first.get_or_insert_with(|| format!("{empty} cycles from {} to {}, as in {gap:?}", begin.tick, end.tick));
        }
    }
    (idle, first)
}
