//! The paths of the aims: each a program of the published one's function whose packets execute as many eBPF instructions.

use crate::DEFAULT;
use crate::aims::{DROP, SWAP, bare};
use crate::mixes::{DEFAULT_ENGINE, Mix};
use crate::support::{Replay, steps};
use sluice_ebpf::Verdict;
use sluice_hxdp::cycles::{Arrivals, Load, lut, mean_alone, simulate};
use sluice_hxdp::{Engine, Target};
use std::fmt::Write;
use std::path::Path as FilePath;

/// Packets that are measured, behind those that fill the engine.
const MEASURED: usize = 1000;
/// LUT of the published core.
const PUBLISHED_LUT: f64 = 42e3;

/// One path.
struct Path {
    what: &'static str,
    program: &'static str,
    /// Its packets among those of the program's `path.pkt`.
    packets: &'static [usize],
    /// eBPF instructions that the published program executes; ours are within a tenth.
    instructions: Option<u32>,
    /// Cycles a packet.
    published: f64,
    aim: f64,
}

const fn path(
    what: &'static str,
    program: &'static str,
    packets: &'static [usize],
    instructions: u32,
    published: f64,
    aim: f64,
) -> Path {
    Path { what, program, packets, instructions: Some(instructions), published, aim }
}

const FIRST: &[usize] = &[0, 1, 2, 3, 4, 5];
const SECOND: &[usize] = &[6, 7, 8, 9, 10, 11];
/// Two flows of four packets each, without the first of each.
const KNOWN: &[usize] = &[1, 2, 3, 5, 6, 7];

const PATHS: [Path; 12] = [
    path("L2 ACL #1", "mac_gate", FIRST, 40, 46.0, 10.0),
    path("router #7", "router_basic", FIRST, 72, 94.0, 20.0),
    path("tunnel #4", "iptunnel", FIRST, 145, 113.1, 30.0),
    path("NAT #2, known flow", "nat_basic", KNOWN, 144, 132.3, 35.0),
    path("Suricata #46", "flow_filter", FIRST, 64, 71.0, 15.0),
    path("Suricata #23, drop", "flow_filter", SECOND, 44, 58.0, 10.0),
    path("Katran #11, established", "balancer", KNOWN, 385, 277.8, 80.0),
    path("firewall, new flow", "udp_firewall", &[0, 1, 2, 3], 61, 23.9, 14.0),
    path("firewall, known flow", "udp_firewall", &[4, 5, 6, 7], 50, 23.9, 14.0),
    Path { what: "drop", program: "bare drop", packets: &[], instructions: None, published: 3.0, aim: 1.5 },
    Path { what: "swap", program: "bare swap", packets: &[], instructions: None, published: 6.9, aim: 2.0 },
    Path {
        what: "redirect_map",
        program: "redirect_map",
        packets: FIRST,
        instructions: None,
        published: 10.4,
        aim: 5.0,
    },
];

/// A lone packet's latency is at most so many times the published cycles.
const ALONE: f64 = 4.0;
/// Paths that this is asked of, from the first on.
const ALONE_OF: usize = 7;

fn packets(path: &Path, shape @ (lanes, ports): crate::Shape) -> Mix {
    match path.program {
        "bare drop" => return bare(DROP, Verdict::Drop, shape),
        "bare swap" => return bare(SWAP, Verdict::Tx, shape),
        _ => {}
    }
    let root = FilePath::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/xdp");
    let target = Target { ports, ..Target::new(lanes).unwrap() };
    let all = steps::steps(&root.join(path.program).join("path.pkt"));
    let recorded: Vec<_> =
        all.iter().flat_map(|steps| Replay::record(steps, &target).traces).flat_map(|(_, packets)| packets).collect();
    let (traces, instructions) = path.packets.iter().map(|at| recorded[*at].clone()).unzip();
    Mix { traces, instructions }
}

fn cycles(mix: &Mix, engine: &Engine) -> f64 {
    let warm = 2 * engine.cores * engine.slots;
    let load = Load { traces: &mix.traces, arrivals: Arrivals::BackToBack, warm, measured: MEASURED };
    simulate(engine, &load).cycles_per_packet()
}

/// What each path takes of the default engine. A path that is no longer as long as the published one fails.
pub fn table() -> String {
    let mut out = String::from(
        "| path | program | insns, published | insns | bundles 1 / 2 / 4 lanes | issues, 2 lanes | published | aim | cycles | one core | \
         reached | alone | at most | packets a cycle and 10 k LUT | published |\n|",
    );
    out.push_str(&" --- |".repeat(15));
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
        let twice = mix.traces.iter().flat_map(|t| &t.issues).filter(|issue| issue.shared() > 0).count();
        let issues = bundles[1] + twice as f64 / mix.traces.len() as f64;
        let measured = cycles(&mix, &engine);
        let core = cycles(&mix, &Engine { cores: 1, ..engine });
        let alone = mean_alone(&engine, &mix.traces);
        let most = if index < ALONE_OF { format!("{:.0}", ALONE * path.published) } else { String::from("-") };
        let _ = writeln!(
            out,
            "| {} | {} | {} | {insns:.1} | {:.1} / {:.1} / {:.1} | {issues:.1} | {} | {} | {measured:.1} | {core:.1} | {} | {alone:.0} | \
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
            1e4 / measured / lut(2, 2, 8, 1),
            1e4 / path.published / PUBLISHED_LUT,
        );
    }
    out
}
