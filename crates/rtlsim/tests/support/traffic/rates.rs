//! Cycles per packet, latency, and what they are made of.

use super::rig::{Left, Module, Rig, To};
use crate::support::Build;
use sluice_device::Device;
use sluice_formats::random::Rng;
use sluice_packet::generate::Sizes;

/// The fixed lengths that are measured, in bytes without the tag.
pub const LENGTHS: [usize; 9] = [60, 64, 65, 127, 128, 129, 256, 1500, 9000];

/// Where packets come in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum From {
    /// Untagged on port 0: what arrives is what the pipeline takes.
    OnePort,
    /// Tagged on every port, back to back: four times what the pipeline takes.
    AllPorts,
}

/// A measurement.
#[derive(Clone, Debug)]
pub struct Rate {
    pub packets: u64,
    /// Beats of all packets but the last.
    pub beats: u64,
    /// Cycles from the first packet's entry into the pipeline to the last one's.
    pub merge_cycles: u64,
    /// Cycles from the first beat out of the first packet to that of the last.
    pub out_cycles: u64,
    pub overload: u64,
}

impl Rate {
    pub fn merge(&self) -> f64 {
        self.merge_cycles as f64 / (self.packets - 1) as f64
    }

    pub fn out(&self) -> f64 {
        self.out_cycles as f64 / (self.packets - 1) as f64
    }

    /// What the bus width alone would give.
    pub fn ideal(&self) -> f64 {
        self.beats as f64 / (self.packets - 1) as f64
    }
}

/// One module to all host queues, with room for the longest packets.
fn to_hosts() -> [Module; 1] {
    [Module { cells: 900, ..Module::new(1, To::Spread([4, 5, 6, 7])) }]
}

/// Packets of these sizes to all host queues; `packets` of them on each port that is used.
pub fn rate(build: Build, sizes: &Sizes, from: From, packets: u64, seed: u64) -> Rate {
    let mut rig = Rig::open(build.target, build.options(seed), &to_hosts());
    let mut rng = Rng::new(seed);
    let (ports, vlan) = match from {
        From::OnePort => (1, None),
        From::AllPorts => (rig.target.ports as u8, Some(1)),
    };
    for i in 0..packets {
        for port in 0..ports {
            let choice = rng.below(4) as u8;
            // The longest first: while one packet arrives whole, there must be another to send.
            let length = if i == 0 { longest(sizes) } else { sizes.next(i, &mut rng) };
            rig.offer(port, vlan, choice, length);
        }
    }
    rig.quiesce();
    // As long as every port is offered packets, some are waiting behind the merge.
    let end = match from {
        From::OnePort => u64::MAX,
        From::AllPorts => rig.arrived.iter().copied().min().unwrap_or(0),
    };
    let window: Vec<_> = rig.merged.iter().filter(|m| m.tick <= end).copied().collect();
    let (first, last) = (window[0], window[window.len() - 1]);
    let mut out: Vec<&Left> = rig.left.iter().collect();
    out.sort_by_key(|l| l.first_out);
    out.truncate(window.len());
    Rate {
        packets: window.len() as u64,
        beats: window[..window.len() - 1].iter().map(|m| rig.beats(m.id)).sum(),
        merge_cycles: last.tick - first.tick,
        out_cycles: out[out.len() - 1].first_out - out[0].first_out,
        overload: rig.drops(sluice_formats::Reason::Overload),
    }
}

fn longest(sizes: &Sizes) -> usize {
    match sizes {
        Sizes::Fixed(length) => *length,
        _ => 1514,
    }
}

/// Cycles from the first beat in.
#[derive(Clone, Copy, Debug)]
pub struct Latency {
    /// To the first beat out: least, median, 99th percentile, most.
    pub first: [u64; 4],
    /// To the last beat out, median.
    pub last: u64,
}

/// One packet at a time through an idle NIC.
pub fn idle_latency(build: Build, length: usize, seed: u64) -> Latency {
    let mut rig = Rig::open(build.target, build.options(seed), &to_hosts());
    for i in 0..16 {
        rig.offer(i % 4, Some(1), (i / 4) % 4, length);
        rig.quiesce();
        rig.advance(5 + u64::from(i));
    }
    latency(&rig.left)
}

/// 255 of 256 cycles of the pipeline are used; packets arrive evenly on four ports.
pub fn full_latency(build: Build, length: usize, packets: u64, seed: u64) -> Latency {
    let mut rig = Rig::open(build.target, build.options(seed), &to_hosts());
    let mut rng = Rng::new(seed);
    let begin = rig.nic.now() + 64;
    let beats = u64::from(rig.target.beats(length as u32));
    for i in 0..packets {
        let at = begin + i * beats + i * beats / 255;
        rig.offer_at(at, (i % 4) as u8, Some(1), rng.below(4) as u8, length);
    }
    rig.quiesce();
    assert!(rig.dropped.is_empty(), "{:?}", rig.dropped);
    let settled: Vec<Left> = rig.left.iter().filter(|l| l.first_in > begin + 256).copied().collect();
    latency(&settled)
}

/// All ports back to back, four times what the pipeline takes: packets wait in full port FIFOs.
pub fn overloaded_latency(build: Build, length: usize, packets: u64, seed: u64) -> Latency {
    let mut rig = Rig::open(build.target, build.options(seed), &to_hosts());
    let mut rng = Rng::new(seed);
    for _ in 0..packets {
        for port in 0..rig.target.ports as u8 {
            rig.offer(port, Some(1), rng.below(4) as u8, length);
        }
    }
    rig.quiesce();
    let end = rig.arrived.iter().copied().min().unwrap_or(0);
    let settled: Vec<Left> = rig.left.iter().filter(|l| (end / 2..end).contains(&l.first_in)).copied().collect();
    latency(&settled)
}

fn latency(left: &[Left]) -> Latency {
    let sorted = |of: fn(&Left) -> u64| {
        let mut all: Vec<u64> = left.iter().map(of).collect();
        all.sort_unstable();
        all
    };
    let first = sorted(|l| l.first_out - l.first_in);
    let last = sorted(|l| l.last_out - l.first_in);
    let n = first.len();
    Latency { first: [first[0], first[n / 2], first[n * 99 / 100], first[n - 1]], last: last[last.len() / 2] }
}
