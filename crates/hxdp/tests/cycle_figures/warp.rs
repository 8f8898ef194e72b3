//! The paths of the aims with a warp engine in front of the cores.

use super::mixes::Mix;
use super::path_list::{DECIDED, LIMITS, PATHS, decided};
use super::{DEFAULT, paths};
use sluice_hxdp::cycles::{Start, mean_alone};
use sluice_hxdp::{Engine, Trace};
use std::fmt::Write;

/// What each path takes without and with the engine. One beyond its limit fails, and one that is slower with it.
pub fn table() -> String {
    let mut out = String::from(
        "| path | program | issues | with | cycles | with | at most | published | with | alone | with | begins | steps |\n|",
    );
    out.push_str(&" --- |".repeat(13));
    out.push('\n');
    for path in &PATHS {
        let known = LIMITS.iter().find(|(what, ..)| *what == path.what);
        let limit = known.map_or(f64::INFINITY, |(_, limit, _)| *limit);
        let published = (path.published, known.and_then(|(_, _, published)| *published));
        let mixes = [paths::packets(path, DEFAULT), paths::warped(path)];
        row(&mut out, (path.what, path.program), mixes, limit, published);
    }
    for (path, (.., limit, published, with)) in decided().zip(DECIDED) {
        let mixes = [paths::packets(&path, DEFAULT), paths::warped(&path)];
        assert!(mixes[1].traces.iter().all(|trace| trace.start == Start::Verdict), "{}", path.what);
        let insns = mixes[0].mean_instructions();
        if let Some(wanted) = path.instructions {
            let off = insns / f64::from(wanted) - 1.0;
            assert!(off.abs() <= 0.1, "{}: {insns} instructions, {wanted} are published", path.what);
        }
        row(&mut out, (path.what, path.program), mixes, limit, (published, Some(with)));
    }
    out
}

/// One row of it.
fn row(
    out: &mut String,
    (what, program): (&str, &str),
    [without, with]: [Mix; 2],
    limit: f64,
    (published, published_with): (f64, Option<f64>),
) {
    let engine = Engine::default();
    let measured = [paths::cycles(&without, &engine), paths::cycles(&with, &engine)];
    let issues = [passes(&without.traces), passes(&with.traces)];
    assert!(measured[1] <= limit, "{what}: {:.2} cycles with warp, at most {limit}", measured[1]);
    assert!(issues[1] <= issues[0], "{what}: {} issues with warp, {} without", issues[1], issues[0]);
    assert!(measured[1] <= measured[0] * 1.01, "{what}: {measured:.2?} cycles without and with warp");
    let or_none = |number: Option<f64>| number.map_or_else(|| String::from("-"), |n| n.to_string());
    let (begins, steps) = begins(&with.traces);
    let _ = writeln!(
        out,
        "| {what} | {program} | {:.1} | {:.1} | {:.1} | {:.1} | {} | {published} | {} | {:.0} | {:.0} | {begins} | {steps} |",
        issues[0],
        issues[1],
        measured[0],
        measured[1],
        or_none(Some(limit).filter(|limit| limit.is_finite())),
        or_none(published_with),
        mean_alone(&engine, &without.traces),
        mean_alone(&engine, &with.traces),
    );
}

pub fn passes(traces: &[Trace]) -> f64 {
    let of = |trace: &Trace| trace.issues.len() + trace.issues.iter().filter(|issue| issue.twice).count();
    traces.iter().map(of).sum::<usize>() as f64 / traces.len() as f64
}

/// How most packets begin, and in how many steps.
fn begins(traces: &[Trace]) -> (&'static str, u8) {
    match traces.last().map(|trace| trace.start) {
        Some(Start::Verdict) => ("verdict", 0),
        Some(Start::Resume { steps, search: Some(_), .. }) => ("at what follows its lookup", steps),
        Some(Start::Resume { steps, search: None, .. }) => ("further on", steps),
        _ => ("at the program's start", 0),
    }
}
