//! The paths of the aims with a warp engine in front of the cores.

use super::path_list::PATHS;
use super::{DEFAULT, paths};
use sluice_hxdp::cycles::{Start, mean_alone};
use sluice_hxdp::{Engine, Trace};
use std::fmt::Write;

/// A path's name, what it may take with the engine, and what is published with one.
const LIMITS: [(&str, f64, Option<f64>); 10] = [
    ("L2 ACL #1", 4.0, Some(27.0)),
    ("router #7", 9.0, Some(72.0)),
    ("tunnel #4", 18.0, Some(88.0)),
    ("NAT #2, known flow", 24.0, Some(107.0)),
    ("Suricata #46", 7.0, Some(23.0)),
    ("Suricata #23, drop", f64::INFINITY, None),
    ("Katran #11, established", 48.7, Some(120.0)),
    ("router #7, two tries", 14.0, Some(72.0)),
    ("tunnel #4, four operations on maps", 26.0, Some(88.0)),
    ("Katran #11, eleven operations on maps", 62.0, Some(120.0)),
];

/// What each path takes without and with the engine. One beyond its limit fails, and one that is slower with it.
pub fn table() -> String {
    let mut out = String::from(
        "| path | program | issues | with | cycles | with | at most | published | with | alone | with | begins | steps |\n|",
    );
    out.push_str(&" --- |".repeat(13));
    out.push('\n');
    let (plain, warped) = (Engine::default(), Engine::default().with_warp());
    for path in &PATHS {
        let known = LIMITS.iter().find(|(what, ..)| *what == path.what);
        let [without, with] = [paths::packets(path, DEFAULT), paths::warped(path)];
        let measured = [paths::cycles(&without, &plain), paths::cycles(&with, &warped)];
        let issues = [passes(&without.traces), passes(&with.traces)];
        let limit = known.map_or(f64::INFINITY, |(_, limit, _)| *limit);
        assert!(measured[1] <= limit, "{}: {:.2} cycles with warp, at most {limit}", path.what, measured[1]);
        assert!(issues[1] <= issues[0], "{}: {} issues with warp, {} without", path.what, issues[1], issues[0]);
        assert!(measured[1] <= measured[0] * 1.01, "{}: {measured:.2?} cycles without and with warp", path.what);
        let or_none = |number: Option<f64>| number.map_or_else(|| String::from("-"), |n| n.to_string());
        let (begins, steps) = begins(&with.traces);
        let _ = writeln!(
            out,
            "| {} | {} | {:.1} | {:.1} | {:.1} | {:.1} | {} | {} | {} | {:.0} | {:.0} | {begins} | {steps} |",
            path.what,
            path.program,
            issues[0],
            issues[1],
            measured[0],
            measured[1],
            or_none(Some(limit).filter(|limit| limit.is_finite())),
            path.published,
            or_none(known.and_then(|(_, _, published)| *published)),
            mean_alone(&plain, &without.traces),
            mean_alone(&warped, &with.traces),
        );
    }
    out
}

fn passes(traces: &[Trace]) -> f64 {
    let of = |trace: &Trace| trace.issues.len() + trace.issues.iter().filter(|issue| issue.twice).count();
    traces.iter().map(of).sum::<usize>() as f64 / traces.len() as f64
}

/// How most packets begin, and in how many steps.
fn begins(traces: &[Trace]) -> (&'static str, u8) {
    match traces.last().map(|trace| trace.start) {
        Some(Start::Verdict) => ("verdict", 0),
        Some(Start::Resume { steps, search: Some(_) }) => ("at what follows its lookup", steps),
        Some(Start::Resume { steps, search: None }) => ("further on", steps),
        _ => ("at the program's start", 0),
    }
}
