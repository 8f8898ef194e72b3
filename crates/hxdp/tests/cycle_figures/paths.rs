//! The paths of the aims: each a program of the published one's function whose packets execute as many eBPF instructions.

use super::DEFAULT;
use super::aims::{FRAME, bare, bare_warped};
use super::mixes::{DEFAULT_ENGINE, Mix};
use super::path_list::{DROP, PATHS, PUBLISHED_LUT, Path, SWAP};
use crate::support::Replay;
use crate::support::steps::{self, Step};
use sluice_ebpf::Verdict;
use sluice_hxdp::cycles::{Arrivals, Load, lut, mean_alone, simulate};
use sluice_hxdp::{Engine, Target};
use std::fmt::Write;
use std::path::Path as FilePath;

/// Packets that are measured, behind those that fill the engine.
const MEASURED: usize = 1000;

/// A lone packet's latency is at most so many times the published cycles.
const ALONE: f64 = 4.0;
/// How far the model may be from the RTL, on each path.
const FROM_RTL: f64 = 0.05;
/// Paths that this is asked of, from the first on.
const ALONE_OF: usize = 7;

/// A path's packets.
pub fn packets(path: &Path, shape @ (lanes, ports): super::Shape) -> Mix {
    match path.program {
        "bare drop" => bare(DROP, &FRAME, Verdict::Drop, shape),
        "bare swap" => bare(SWAP, &FRAME, Verdict::Tx, shape),
        _ => played(path, &Target { ports, ..Target::new(lanes).unwrap() }, Replay::record),
    }
}

/// The same where they pass the program's table first.
pub fn warped(path: &Path) -> Mix {
    match path.program {
        "bare drop" => bare_warped(DROP, &FRAME, Verdict::Drop),
        "bare swap" => bare_warped(SWAP, &FRAME, Verdict::Tx),
        _ => played(path, &Target::new(2).unwrap(), Replay::warped),
    }
}

fn played(path: &Path, target: &Target, play: fn(&[Step], &Target) -> Replay) -> Mix {
    let root = FilePath::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/xdp");
    let all = steps::steps(&root.join(path.program).join("path.pkt"));
    let recorded: Vec<_> =
        all.iter().flat_map(|steps| play(steps, target).traces).flat_map(|(_, packets)| packets).collect();
    let (traces, instructions) = path.packets.iter().map(|at| recorded[*at].clone()).unzip();
    Mix { traces, instructions }
}

/// Cycles from one of them to the next.
pub fn cycles(mix: &Mix, engine: &Engine) -> f64 {
    let warm = 2 * engine.cores * engine.slots;
    let load = Load { traces: &mix.traces, arrivals: Arrivals::BackToBack, warm, measured: MEASURED };
    simulate(engine, &load).cycles_per_packet()
}

/// What each path takes of the default engine. A path that is no longer as long as the published one fails.
pub fn table() -> String {
    let mut out = String::from(
        "| path | program | insns, published | insns | bundles 1 / 2 / 4 lanes | issues, 2 lanes | published | aim | cycles | one core | \
         reached | RTL | off | alone | RTL | at most | packets a cycle and 10 k LUT | published |\n|",
    );
    out.push_str(&" --- |".repeat(18));
    out.push('\n');
    let engine = Engine::default();
    for (index, path) in PATHS.iter().enumerate() {
        let mix = packets(path, DEFAULT);
        assert!(mix.traces.iter().all(|trace| trace.rows_in == 1), "{}: packets of 64 bytes", path.what);
        let insns = mix.mean_instructions();
        if let Some(published) = path.instructions {
            let off = insns / f64::from(published) - 1.0;
            assert!(off.abs() <= 0.1, "{}: {insns:.1} instructions, {published} are published", path.what);
        }
        let bundles = DEFAULT_ENGINE.map(|shape| packets(path, shape).mean_bundles());
        let twice = mix.traces.iter().flat_map(|t| &t.issues).filter(|issue| issue.twice).count();
        let issues = bundles[1] + twice as f64 / mix.traces.len() as f64;
        let measured = cycles(&mix, &engine);
        let core = cycles(&mix, &Engine { cores: 1, ..engine });
        let alone = mean_alone(&engine, &mix.traces);
        let (rtl, rtl_alone) = path.of_rtl();
        for (what, model, rtl) in [("cycles a packet", measured, rtl), ("cycles alone", alone, rtl_alone)] {
            let off = model / rtl - 1.0;
            assert!(off.abs() <= FROM_RTL, "{}: {model:.2} {what} on the model, {rtl} on the RTL", path.what);
        }
        let most = if index < ALONE_OF { format!("{:.0}", ALONE * path.published) } else { String::from("-") };
        let _ = writeln!(
            out,
            "| {} | {} | {} | {insns:.1} | {:.1} / {:.1} / {:.1} | {issues:.1} | {} | {} | {measured:.1} | {core:.1} | {} | {rtl} | {:+.0} % | {alone:.0} | {rtl_alone} | \
             {most} | {:.4} | {:.4} |",
            path.what,
            path.program,
            path.instructions.map_or_else(|| String::from("-"), |insns| insns.to_string()),
            bundles[0],
            bundles[1],
            bundles[2],
            path.published,
            path.aim,
            if measured <= path.aim { "yes" } else { "no" },
            (measured / rtl - 1.0) * 100.0,
            1e4 / measured / lut(2, 2, 8, 1),
            1e4 / path.published / PUBLISHED_LUT,
        );
    }
    out
}
