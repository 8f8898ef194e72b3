//! The paths of the aims with a warp engine in front of the cores.

use super::aims::{bare, bare_warped};
use super::mixes::Mix;
use super::path_list::{BACK, BY_HEADER, LIMITS, NOT_REACHED, PATHS, Path, dropped};
use super::{DEFAULT, paths};
use sluice_ebpf::Verdict;
use sluice_hxdp::cycles::{Start, mean_alone};
use sluice_hxdp::{Engine, Trace};
use std::fmt::Write;

/// Verdicts of the table alone: what it is, the program, a packet and its verdict, limit, published without and with.
type Alone = (&'static str, &'static str, Vec<u8>, Verdict, f64, f64, f64);

fn alone() -> [Alone; 2] {
    [
        ("Suricata #23, by header", BY_HEADER, dropped(), Verdict::Drop, 1.05, 58.0, 3.0),
        ("TX by verdict", BACK, vec![2; 60], Verdict::Tx, 2.0, 6.9, 5.05),
    ]
}

/// Packets of `header_filter`, which a table decides: what it is, instructions that are published, limit, published without and with.
type Decided = (&'static str, &'static [usize], Option<u32>, f64, f64, f64);

const DECIDED: [Decided; 2] = [
    ("Suricata #23, header_filter", &[0, 1, 2, 3, 4, 5], Some(44), 1.05, 58.0, 3.0),
    ("TX by verdict, header_filter", &[6, 7, 8, 9, 10, 11], None, 2.0, 6.9, 5.05),
];

/// Their paths.
pub fn decided() -> impl Iterator<Item = Path> {
    DECIDED.into_iter().map(|(what, packets, instructions, limit, published, _)| Path {
        what,
        program: "header_filter",
        packets,
        instructions,
        published,
        aim: limit,
    })
}

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
    for (what, text, frame, verdict, limit, published, with) in alone() {
        let mixes = [bare(text, &frame, verdict, DEFAULT), bare_warped(text, &frame, verdict)];
        assert!(mixes[1].traces.iter().all(|trace| trace.start == Start::Verdict), "{what}");
        let insns = mixes[0].mean_instructions();
        assert!(
            text != BY_HEADER || (insns / 44.0 - 1.0).abs() <= 0.1,
            "{what}: {insns} instructions, 44 are published"
        );
        row(&mut out, (what, "not shipped"), mixes, limit, (published, Some(with)));
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
    let (plain, warped) = (Engine::default(), Engine::default().with_warp());
    let measured = [paths::cycles(&without, &plain), paths::cycles(&with, &warped)];
    let issues = [passes(&without.traces), passes(&with.traces)];
    let beyond = NOT_REACHED.iter().any(|(path, _)| *path == what);
    assert_eq!(measured[1] > limit, beyond, "{what}: {:.2} cycles with warp, at most {limit}", measured[1]);
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
        mean_alone(&plain, &without.traces),
        mean_alone(&warped, &with.traces),
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
        Some(Start::Resume { steps, search: Some(_) }) => ("at what follows its lookup", steps),
        Some(Start::Resume { steps, search: None }) => ("further on", steps),
        _ => ("at the program's start", 0),
    }
}
