//! The paths of the aims with a warp engine in front of the cores.

use super::aims::{bare, bare_warped};
use super::mixes::Mix;
use super::path_list::PATHS;
use super::{DEFAULT, paths};
use sluice_ebpf::Verdict;
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

/// Not shipped: a filter that drops by the packet's headers, with as many instructions as the published one executes (44).
const BY_HEADER: &str = "r6 = r1
    r2 = *(u32 *)(r1 +0)
    r3 = *(u32 *)(r1 +4)
    r4 = r2
    r4 += 14
    if r4 > r3 goto pass
    r5 = *(u16 *)(r2 +12)
    r5 = be16 r5
    if w5 != 2048 goto pass
    r4 = r2
    r4 += 34
    if r4 > r3 goto pass
    r5 = *(u8 *)(r2 +14)
    w0 = w5
    w0 &= 240
    if w0 != 64 goto pass
    w5 &= 15
    w5 <<= 2
    if w5 < 20 goto pass
    r4 = r2
    r4 += 14
    r4 += r5
    r5 = *(u16 *)(r2 +20)
    r5 = be16 r5
    w5 &= 16383
    if w5 != 0 goto pass
    r5 = *(u8 *)(r2 +23)
    if w5 != 6 goto pass
    r7 = r4
    r7 += 20
    if r7 > r3 goto pass
    r5 = *(u16 *)(r4 +2)
    r5 = be16 r5
    if w5 < 6000 goto pass
    if w5 > 6063 goto pass
    r5 = *(u8 *)(r4 +13)
    w5 &= 63
    if w5 == 0 goto drop
    w5 &= 18
    if w5 == 2 goto drop
    pass:
    r0 = 2
    exit
    drop:
    w7 = 1
    w0 = w7
    r0 <<= 32
    r0 s>>= 32
    exit";
/// Not shipped: sends frames back as they are.
const BACK: &str = "r0 = 3\n    exit";

/// A frame that the filter drops: a connection's first segment to port 6001.
fn dropped() -> Vec<u8> {
    let mut frame = vec![0; 64];
    frame[12..16].copy_from_slice(&[8, 0, 0x45, 0]);
    frame[23] = 6;
    frame[36..38].copy_from_slice(&6001u16.to_be_bytes());
    frame[47] = 2;
    frame
}

/// Verdicts of the table alone: what it is, the program, a packet and its verdict, limit, published without and with.
type Alone = (&'static str, &'static str, Vec<u8>, Verdict, f64, f64, f64);

fn alone() -> [Alone; 2] {
    [
        ("Suricata #23, by header", BY_HEADER, dropped(), Verdict::Drop, 1.05, 58.0, 3.0),
        ("TX by verdict", BACK, vec![2; 60], Verdict::Tx, 2.0, 6.9, 5.05),
    ]
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
