//! Figure 5.4: the ways through a program that packets of its scripts take.

use super::paper::object;
use crate::support::{Replay, Twins, image, scripts, steps, target};
use sluice_ebpf::vm::Ingress;
use sluice_hxdp::Trace;
use std::collections::BTreeMap;

/// Instructions that the interpreter executes, without and with the published rules; issues without, with these, and with our table.
#[derive(Clone, Debug, Default)]
pub struct Way {
    pub instructions: [f64; 2],
    pub issues: [f64; 3],
    packets: f64,
}

/// Ways by the slots that they execute: those with the most instructions last.
pub fn ways(program: &str) -> Vec<Way> {
    let mut all: BTreeMap<Vec<(u32, u32)>, Way> = BTreeMap::new();
    match program {
        "listing_5_1" => listing(&mut all),
        _ => {
            let folder =
                |path: &std::path::Path| path.parent().and_then(|f| f.file_name()).is_some_and(|f| f == program);
            for script in scripts().iter().filter(|script| folder(script)) {
                for steps in steps::steps(script) {
                    let paper = Replay::by_paper(&steps, &target(2)).papers;
                    let warped = Replay::warped(&steps, &target(2)).traces;
                    for ((file, runs), (other, traces)) in paper.iter().zip(&warped) {
                        assert_eq!((file, runs.len()), (other, traces.len()));
                        if file.file_stem().is_some_and(|stem| stem == program) {
                            runs.iter().zip(traces).for_each(|(run, (trace, _))| add(&mut all, run, trace));
                        }
                    }
                }
            }
        }
    }
    let mean = |way: Way| Way {
        instructions: way.instructions.map(|sum| sum / way.packets),
        issues: way.issues.map(|sum| sum / way.packets),
        packets: way.packets,
    };
    let mut all: Vec<Way> = all.into_values().map(mean).collect();
    all.sort_by(|a, b| a.instructions[0].total_cmp(&b.instructions[0]).then(a.issues[2].total_cmp(&b.issues[2])));
    all
}

fn add(all: &mut BTreeMap<Vec<(u32, u32)>, Way>, run: &crate::support::paper::Run, trace: &Trace) {
    // What the published rules judge by bytes behind the frame's end is no way of theirs.
    if !run.is_long {
        return;
    }
    let way = all.entry(run.slots.clone()).or_default();
    let passes = trace.issues.iter().map(|issue| 1 + u64::from(issue.twice)).sum::<u64>();
    let issues = [run.issues[0], run.issues[1], passes];
    way.instructions.iter_mut().zip(run.instructions).for_each(|(sum, n)| *sum += n as f64);
    way.issues.iter_mut().zip(issues).for_each(|(sum, n)| *sum += n as f64);
    way.packets += 1.0;
}

/// Frames of all kinds of listing 5.1: known and unknown senders of IPv4, IPv6, and others.
fn listing(all: &mut BTreeMap<Vec<(u32, u32)>, Way>) {
    let image = image(&object("listing_5_1"));
    let mut plain = Twins::new(image.clone(), &target(2), None).unwrap();
    plain.by_paper();
    let mut warped = Twins::warped(image, &target(2)).unwrap();
    warped.record();
    let known = [2, 0, 0, 0, 0, 1];
    for twins in [&mut plain, &mut warped] {
        twins.each(|runtime, installed| {
            let stations = runtime.map(installed, 0).unwrap();
            runtime.maps.user_update(stations, &known, &[0; 4], 0).unwrap();
        });
        for (kind, sender) in [([8, 0], 1), ([8, 0], 2), ([0x86, 0xdd], 1), ([8, 6], 1)] {
            let mut frame = vec![0; 64];
            frame[6] = 2;
            frame[11] = sender;
            frame[12..14].copy_from_slice(&kind);
            twins.run(0, &frame, Ingress { ifindex: 1, queue: 0 }).unwrap();
        }
    }
    let runs = &plain.paper.as_ref().unwrap().runs;
    runs.iter().zip(&warped.traces).for_each(|(run, (trace, _))| add(all, run, trace));
}
