//! Packets by size on the engine in RTL, and one module against all of them.

use super::VARIANT;
use super::paths::{self, Flood, Ready};
use super::support::device::{Nic, object};
use crate::plot::{Axis, Look, Plot, Scale, Series};
use crate::traffic::frames::with_tag;
use sluice_formats::Target;
use sluice_object::{Destination, Linker, NicSettings, TenantSpec, VlanGrant};
use sluice_rtlsim::{RtlNic, RtlOptions, top};
use std::fmt::Write;

/// Lengths of frames, without the tag that ingress takes off.
const LENGTHS: [usize; 7] = [64, 128, 256, 512, 1024, 1518, 9000];
/// Programs of the paths, in the order of `path_list`.
const PROGRAMS: [(&str, &str); 3] = [("drop", "drop"), ("swap, transmit", "swap"), ("router_basic", "router #7")];
/// Rows that may wait in the engine's queue, so that nothing is dropped there.
const ROWS: usize = 900;

/// The section of docs/measurements.md.
pub fn table(seed: u64) -> String {
    let mut out = String::from(
        "The engine alone, default target. *Cycles*: frames back to back, from the end of a packet to the next one's, the mean of 1,000 behind 200 \
         others.\n*Alone*: from a packet's first beat in to its first beat out, or to its drop. A beat is 64 bytes and the bus takes one a cycle, so \
         no engine needs fewer cycles than beats.\nThe published figure 4.6 (hXDP) is the forwarding latency by size; its numbers are not in the text that \
         we have, so none stand beside these ([plot](plots/xdp_sizes.svg)).\n\n| bytes | beats |",
    );
    PROGRAMS.iter().for_each(|(name, _)| write!(out, " {name}: cycles | alone |").expect("text grows"));
    out.push_str("\n| --- | --- | --- | --- | --- | --- | --- | --- |\n");
    let target = Target::by_name("default").expect("it is there");
    let mut points = [const { [Vec::new(), Vec::new()] }; PROGRAMS.len()];
    let mut beats = Vec::new();
    for length in LENGTHS {
        let needed = target.beats(length as u32);
        beats.push((length as f64, f64::from(needed)));
        let _ = write!(out, "| {length} | {needed} |");
        for ((_, what), points) in PROGRAMS.iter().zip(&mut points) {
            let path = paths::named(what);
            let mut ready = paths::ready(path, seed).unwrap_or_else(|e| panic!("{what}: {e}"));
            for frame in &mut ready.frames {
                // Behind the tag.
                frame.resize(length + 4, 0);
            }
            let cycles = paths::interval(&mut ready, path.what, path.begins_flows(), &load(length));
            let alone = paths::alone(&mut ready);
            points[0].push((length as f64, cycles));
            points[1].push((length as f64, alone));
            let _ = write!(out, " {cycles:.1} | {alone:.0} |");
        }
        out.push('\n');
    }
    let mut all = vec![Series { name: "beats of the bus".to_owned(), look: Look::Plain, points: beats }];
    for ((name, _), [cycles, alone]) in PROGRAMS.iter().zip(points) {
        all.push(Series { name: format!("{name}: back to back"), look: Look::Line, points: cycles });
        all.push(Series { name: format!("{name}: alone"), look: Look::Dashed, points: alone });
    }
    let ticks = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0, 1024.0].to_vec();
    Plot {
        title: "XDP engine: cycles by size of packet".to_owned(),
        x: Axis { title: "bytes of a packet", scale: Scale::Log, ticks: LENGTHS.map(|n| n as f64).to_vec() },
        y: Axis { title: "cycles", scale: Scale::Log, ticks },
        series: all,
        marks: Vec::new(),
    }
    .write("xdp_sizes");
    out
}

/// As many packets as find room.
fn load(length: usize) -> Flood {
    // A queue's list has an empty row beside.
    let rows = (length + 4).div_ceil(64) + 1;
    Flood { waiting: (ROWS / rows).clamp(4, 300) }
}

/// Modules of the default target that may have a tenant: number 0 has none.
const MODULES: u16 = 63;

/// The section of docs/measurements.md about modules.
pub fn modules(seed: u64) -> String {
    let mut out = format!(
        "The same packets for one module, and spread over {MODULES} modules in turns (module 0 has no tenant), each with a program of its own, the \
         last one with a map. In both cases\nall modules are loaded. Frames of 64 bytes back to back: cycles from an end to the next, the mean of 1,000 behind 200 \
         others.\nDrops of many modules take longer, probably for the turns: a module whose queue is empty gives its turn on, which takes up to 4 cycles without a packet, and at most 300 packets wait here, 5 a module. This has not been measured apart.\n\n| program | one module | {MODULES} modules | difference |\n| --- | --- | --- | --- |\n"
    );
    let programs = [
        ("drop", super::DROP.to_owned(), false),
        ("swap, transmit", swap(), false),
        ("count, transmit", count(), true),
    ];
    for (name, text, counts) in programs {
        let cycles = [1, MODULES].map(|modules| {
            let mut nic = admitted(seed);
            for id in 1..=MODULES {
                let maps = if counts { vec![super::support::device::array("counts", 8, 64)] } else { Vec::new() };
                nic.put(id, &object("measured", &text, maps, &[]))
                    .unwrap_or_else(|e| panic!("{name}, module {id}: {e}"));
            }
            let frames = (1..=modules).map(|id| with_tag(vec![2; 64], id)).collect();
            paths::interval(&mut Ready { nic, frames }, "drop", false, &Flood::default())
        });
        let [one, all] = cycles;
        let _ = writeln!(out, "| {name} | {one:.2} | {all:.2} | {:+.1} % |", 100.0 * (all / one - 1.0));
    }
    out
}

fn swap() -> String {
    super::programs().into_iter().find(|(name, _)| name.starts_with("swap")).expect("it is there").1
}

/// Counts in a map and sends the frame back.
fn count() -> String {
    super::support::device::COUNT.replace("r0 = 2\nexit", "r0 = 3\nexit")
}

/// A NIC with a tenant in each module, each with a VLAN of its number.
fn admitted(seed: u64) -> Nic<RtlNic> {
    let options = RtlOptions { top: &top::XDP, variant: VARIANT, seed, ..RtlOptions::default() };
    let device = RtlNic::open("default", options).unwrap_or_else(|e| panic!("{e}"));
    let target = Target::by_name("default").expect("it is there");
    let engines = sluice_device::Device::capabilities(&device).engines.clone();
    let linker = Linker::of(target, &engines, Some(sluice_hxdp::rows::compiler));
    let cells = linker.grantable_cells() / (2 * u32::from(MODULES));
    let mut nic = Nic { device, linker, outcomes: Vec::new() };
    let load = nic.linker.nic(NicSettings::new(target)).unwrap_or_else(|e| panic!("{e}"));
    nic.run(&load).unwrap_or_else(|e| panic!("{e}"));
    for id in 1..=MODULES {
        let mut spec = TenantSpec::new(id, format!("tenant{id}"));
        spec.vlans = vec![VlanGrant { port: None, vlan: id }];
        spec.queues = [Destination::Port(0), Destination::Host(0)].map(|to| (to, cells as u16)).into();
        let load = nic.linker.admit(spec).unwrap_or_else(|e| panic!("{e}"));
        nic.run(&load).unwrap_or_else(|e| panic!("{e}"));
    }
    nic
}
