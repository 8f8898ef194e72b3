//! The tables of docs/warp-paper.md: `UPDATE_DOCS=1 cargo test -p sluice-hxdp --test all cycle_figures::paper` writes them.

use super::paper_paths::{Way, ways};
use super::path_list::{PATHS, Path, decided};
use super::plot::{Axis, Look, Plot, Scale, Series};
use super::{DEFAULT, paths, with_table};
use crate::support::{Replay, image, steps, target};
use sluice_hxdp::warp::paper::{Table, optimize};
use sluice_hxdp::{Engine, compile, cycles::mean_alone};
use std::fmt::Write;
use std::path::{Path as FilePath, PathBuf};

/// A published application: instructions, rows, and what its rules take: entries, bytes of the key and of the stack.
struct Application {
    name: &'static str,
    published: [u32; 5],
    /// Figure 5.4: paths, their instructions without and with.
    paths: [u32; 3],
    ours: &'static [&'static str],
}

const APPLICATIONS: [Application; 6] = [
    Application {
        name: "L2 ACL",
        published: [40, 27, 3, 2, 6],
        paths: [4, 111, 11],
        ours: &["listing_5_1", "mac_gate"],
    },
    Application {
        name: "Router",
        published: [119, 95, 9, 4, 8],
        paths: [9, 366, 117],
        ours: &["router_basic", "edge_router"],
    },
    Application {
        name: "Tunnel",
        published: [283, 155, 7, 4, 24],
        paths: [7, 485, 221],
        ours: &["iptunnel", "vxlan_entry"],
    },
    Application { name: "DNAT", published: [228, 135, 6, 6, 40], paths: [10, 1199, 831], ours: &["nat_basic"] },
    Application {
        name: "Suricata",
        published: [138, 65, 49, 12, 40],
        paths: [50, 3201, 382],
        ours: &["flow_filter", "header_filter"],
    },
    Application {
        name: "Katran",
        published: [1398, 1013, 20, 16, 88],
        paths: [24, 5182, 3689],
        ours: &["balancer", "edge_balancer"],
    },
];

/// Paths of table 5.4: the saved part of the instructions as figure 5.4 or the text says it, latency in ns and cycles a packet, without and with.
type Published = (&'static str, &'static str, [Option<u32>; 2], [f64; 2]);

const PUBLISHED: [Published; 11] = [
    ("L2 ACL #1", "85 %", [Some(1024), Some(1128)], [46.0, 27.0]),
    ("router #7", "54 to 57 %", [Some(1212), Some(1304)], [94.0, 72.0]),
    ("tunnel #4", "33 %", [Some(1288), Some(1368)], [113.1, 88.0]),
    ("NAT #2, known flow", "-", [Some(1364), Some(1444)], [132.3, 106.8]),
    ("Suricata #46", "82 to 100 %", [Some(1112), Some(1124)], [71.0, 23.0]),
    ("Suricata #23, by header", "100 %", [None, None], [58.0, 3.02]),
    ("Katran #11, established", "18.7 %", [Some(1942), Some(1501)], [277.8, 120.2]),
    ("router #7, two tries", "54 to 57 %", [Some(1212), Some(1304)], [94.0, 72.0]),
    ("tunnel #4, four operations on maps", "33 %", [Some(1288), Some(1368)], [113.1, 88.0]),
    ("Katran #11, eleven operations on maps", "18.7 %", [Some(1942), Some(1501)], [277.8, 120.2]),
    ("TX by verdict", "100 %", [None, None], [6.9, 5.05]),
];

fn path_of(what: &str) -> Path {
    let all = PATHS.into_iter().chain(decided());
    all.into_iter().find(|path| path.what == what).unwrap_or_else(|| panic!("no path {what}"))
}

pub fn object(program: &str) -> PathBuf {
    let root = FilePath::new(env!("CARGO_MANIFEST_DIR"));
    match program {
        "listing_5_1" => root.join("tests/variants/listing_5_1.o"),
        _ => root.join("../../programs/xdp").join(program).join(format!("{program}.o")),
    }
}

/// Table 5.1: the rules of listing 5.1.
fn rules() -> String {
    use sluice_hxdp::warp::paper::Action;
    let image = image(&object("listing_5_1"));
    let mut out = String::from("| # | bytes 12 and 13 | published | `--paper` |\n| --- | --- | --- | --- |\n");
    let published = [("IPv6", "DROP"), ("IPv4", "Continue Processing"), ("*", "PASS")];
    let Table { rules } = optimize(&image.programs[0]);
    assert_eq!(rules.len(), published.len());
    for (at, (rule, (kind, wanted))) in rules.iter().zip(published).enumerate() {
        let bytes: Vec<String> = rule.matches.values().map(|(_, value)| format!("{value:#04x}")).collect();
        let ours = match &rule.action {
            Action::Forward(r0) => sluice_ebpf::Verdict::from_r0(*r0).name().to_owned(),
            Action::Restore { pc, stack, .. } => format!("goes on at slot {pc}, {} bytes of the stack", stack.len()),
        };
        let asked = if bytes.is_empty() { String::from("any") } else { bytes.join(" ") };
        let _ = writeln!(out, "| {} | {asked} | {kind}: {wanted} | {ours} |", at + 1);
    }
    out
}

/// Table 5.2.
fn sizes() -> String {
    let mut out = String::from(
        "| application | ours | instructions, published | ours | rows, published | ours | entries, published | `--paper` | leaves, ours \
         | key bytes, published | `--paper` | ours, and predicates | stack bytes, published | `--paper` | ours |\n|",
    );
    out.push_str(&format!("{}\n", " --- |".repeat(15)));
    for application in &APPLICATIONS {
        let [insns, rows, entries, key, stack] = application.published;
        for name in application.ours {
            let image = image(&object(name));
            let program = &image.programs[0];
            let plain = compile(&image, program, &target(2)).unwrap();
            let warped = sluice_hxdp::warp::warp(&image, 0, &plain, &target(2)).unwrap().table;
            let paper = optimize(program);
            let _ = writeln!(
                out,
                "| {} | {name} | {insns} | {} | {rows} | {} | {entries} | {} | {} | {key} | {} | {} and {} | {stack} | {} | {} |",
                application.name,
                instructions(program),
                plain.bundles.rows.len(),
                paper.rules.len(),
                warped.leaves.len(),
                paper.key().len(),
                warped.key.lanes.iter().flatten().count(),
                warped.key.predicates.len(),
                paper.stack(),
                8 * words(&warped),
            );
        }
    }
    out
}

/// Most words of the stack that a leaf sets.
fn words(table: &sluice_hxdp::warp::Table) -> usize {
    use sluice_hxdp::warp::Action;
    let of = |action: &Action| match action {
        Action::Resume { entry, .. } => entry.stack.len(),
        _ => 0,
    };
    table.leaves.iter().map(|leaf| of(&leaf.action)).max().unwrap_or_default()
}

/// A load of 64 bits is one.
fn instructions(program: &sluice_ebpf::Program) -> usize {
    let (mut at, mut count) = (0, 0);
    while let Some(insn) = program.insns.get(at) {
        at += insn.kind(program.insns.get(at + 1).copied()).map_or(1, |kind| kind.slots() as usize);
        count += 1;
    }
    count
}

/// What figure 5.4 shows of the paths of table 5.4.
fn instructions_of_paths() -> String {
    let mut out = String::from(
        "| path | program | instructions, published | saved, published | instructions, ours | with `--paper` | saved | issues | with `--paper` \
         | with our table | saved | compiled instructions | with our table |\n|",
    );
    out.push_str(&format!("{}\n", " --- |".repeat(13)));
    for (what, saved, ..) in PUBLISHED {
        let path = path_of(what);
        let script =
            FilePath::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/xdp").join(path.program).join("path.pkt");
        let all = steps::steps(&script);
        let [paper] = [&all[0]].map(|steps| Replay::by_paper(steps, &target(2)));
        let warped = Replay::warped(&all[0], &target(2));
        let mean = |of: &dyn Fn(usize) -> u64| {
            path.packets.iter().map(|at| of(*at)).sum::<u64>() as f64 / path.packets.len() as f64
        };
        let runs = &paper.papers[0].1;
        let insns = [0, 1].map(|at| mean(&|packet| runs[packet].instructions[at]));
        let issues = [0, 1].map(|at| mean(&|packet| runs[packet].issues[at]));
        let ours = super::warp::passes(&paths::warped(&path).traces);
        let operations = [&paper, &warped].map(|replay| mean(&|packet| replay.operations[0].1[packet]));
        assert!(insns[1] <= insns[0] && issues[1] <= issues[0] && ours <= issues[0], "{what}");
        let _ = writeln!(
            out,
            "| {what} | {} | {} | {saved} | {:.1} | {:.1} | {} | {:.1} | {:.1} | {ours:.1} | {} | {:.1} | {:.1} |",
            path.program,
            path.instructions.map_or_else(|| String::from("-"), |insns| insns.to_string()),
            insns[0],
            insns[1],
            part(insns[0], insns[1]),
            issues[0],
            issues[1],
            part(issues[0], ours),
            operations[0],
            operations[1],
        );
    }
    out
}

fn part(without: f64, with: f64) -> String {
    format!("{:.0} %", (1.0 - with / without) * 100.0)
}

/// Figure 5.4: all paths of a program that its scripts take.
fn figure(all: &[(&str, &str, [u32; 3], Vec<Way>)]) -> String {
    let mut out = String::from(
        "| application | paths, published | instructions | with | saved | ours | paths | instructions | with `--paper` | saved | issues | with `--paper` \
         | with our table | saved |\n|",
    );
    out.push_str(&format!("{}\n", " --- |".repeat(14)));
    for (application, name, [paths, without, with], ways) in all {
        let sum = |of: &dyn Fn(&Way) -> f64| ways.iter().map(of).sum::<f64>();
        let insns = [0, 1].map(|at| sum(&|way| way.instructions[at]));
        let issues = [0, 1, 2].map(|at| sum(&|way| way.issues[at]));
        let _ = writeln!(
            out,
            "| {application} | {paths} | {without} | {with} | {} | {name} | {} | {:.0} | {:.0} | {} | {:.0} | {:.0} | {:.0} | {} |",
            part(f64::from(*without), f64::from(*with)),
            ways.len(),
            insns[0],
            insns[1],
            part(insns[0], insns[1]),
            issues[0],
            issues[1],
            issues[2],
            part(issues[0], issues[2]),
        );
    }
    out
}

/// Of an Alveo U50: LUT, registers, block RAM of 36 Kbit, UltraRAM.
const U50: [f64; 4] = [872e3, 1743e3, 1344.0, 640.0];

/// Table 5.3, ours as docs/synth.md has it.
fn area() -> String {
    let page = FilePath::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/synth.md");
    let page = std::fs::read_to_string(page).unwrap();
    let begins = |line: &&str| line.starts_with("| warp | defaults |");
    let line = page.lines().find(begins).expect("docs/synth.md has a warp engine");
    let fields: Vec<f64> = line.split('|').filter_map(|field| field.trim().replace(',', "").parse().ok()).collect();
    let [lut, _, registers, bram, uram, ..] = fields[..] else { panic!("{line}") };
    let mut out = String::from("| | LUT | registers | block RAM | UltraRAM |\n| --- | --- | --- | --- | --- |\n");
    let _ = writeln!(out, "| Corundum and hXDP, published | 10.7 % | 6.91 % | 13.65 % | 2.34 % |");
    let _ = writeln!(out, "| with the Warp Engine | 16.8 % | 9.86 % | 14.51 % | 8.44 % |");
    let more = [6.1, 2.95, 0.86, 6.1];
    let published: Vec<String> =
        more.iter().zip(U50).map(|(part, all)| format!("{part} %, {:.0}", part * all / 100.0)).collect();
    let _ = writeln!(out, "| more, and of a U50 | {} |", published.join(" | "));
    let ours: Vec<String> = [lut, registers, bram, uram]
        .iter()
        .zip(U50)
        .map(|(n, all)| format!("{:.2} %, {n:.0}", n / all * 100.0))
        .collect();
    let _ = writeln!(out, "| ours, the block alone | {} |", ours.join(" | "));
    out
}

/// Table 5.4.
fn speed() -> String {
    let mut out = String::from(
        "| path | program | cycles, published | with | times as fast | ours | with | times as fast | latency in ns, published | with | cycles alone, ours | with |\n|",
    );
    out.push_str(&format!("{}\n", " --- |".repeat(12)));
    let engine = Engine::default();
    for (what, _, latency, published) in PUBLISHED {
        let path = path_of(what);
        let mixes = [paths::packets(&path, DEFAULT), paths::warped(&path)];
        let [without, with] = [0, 1].map(|at| paths::cycles(&mixes[at], &engine));
        let alone = [0, 1].map(|at| mean_alone(&engine, &mixes[at].traces));
        let [before, after] = latency.map(|ns| ns.map_or_else(|| String::from("-"), |ns| ns.to_string()));
        let _ = writeln!(
            out,
            "| {what} | {} | {} | {} | {:.2} | {without:.1} | {with:.1} | {:.2} | {before} | {after} | {:.0} | {:.0} |",
            path.program,
            published[0],
            published[1],
            published[0] / published[1],
            without / with,
            alone[0],
            alone[1],
        );
    }
    out
}

fn plots(all: &[(&str, &str, [u32; 3], Vec<Way>)]) {
    let count: usize = all.iter().map(|(.., ways)| ways.len()).sum();
    let mut first = 0;
    let mut marks = Vec::new();
    for (_, name, _, ways) in all {
        marks.push((first as f64, *name));
        first += ways.len();
    }
    let leak = |(at, name): (f64, &str)| (at, &*String::leak(name.to_owned()));
    let marks: Vec<(f64, &'static str)> = marks.into_iter().map(leak).collect();
    let every: Vec<&Way> = all.iter().flat_map(|(.., ways)| ways).collect();
    let series = |name: &str, of: &dyn Fn(&Way) -> f64| Series {
        name: name.to_owned(),
        look: Look::Line,
        points: every.iter().enumerate().map(|(at, way)| (at as f64, of(way))).collect(),
    };
    let plot = |title: &str, unit, most: u32, step: u32, series| Plot {
        title: title.to_owned(),
        x: Axis {
            title: "paths, program by program",
            scale: Scale::Linear,
            ticks: (0..=count.div_ceil(20)).map(|n| (20 * n) as f64).collect(),
        },
        y: Axis { title: unit, scale: Scale::Linear, ticks: (0..=most / step).map(|n| f64::from(n * step)).collect() },
        series,
        marks: marks.clone(),
    };
    let insns = vec![series("without", &|way| way.instructions[0]), series("with --paper", &|way| way.instructions[1])];
    plot("eBPF instructions of each path", "instructions of a packet", 600, 100, insns)
        .write("warp_paper_instructions");
    let issues = vec![
        series("without", &|way| way.issues[0]),
        series("with --paper", &|way| way.issues[1]),
        series("with our table", &|way| way.issues[2]),
    ];
    plot("Issues of each path", "issues of a packet (model)", 200, 20, issues).write("warp_paper_issues");
}

#[test]
fn the_tables_of_the_paper_are_what_the_models_make_of_the_scripts() {
    let path = FilePath::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/warp-paper.md");
    let update = std::env::var_os("UPDATE_DOCS").is_some();
    let page = std::fs::read_to_string(&path).unwrap();
    let of = |application: &'static Application| {
        application.ours.iter().map(|name| (application.name, *name, application.paths, ways(name)))
    };
    static ALL: [Application; 6] = APPLICATIONS;
    let all: Vec<_> = ALL.iter().flat_map(of).collect();
    let tables = [
        ("table 5.1", rules()),
        ("table 5.2", sizes()),
        ("paths", instructions_of_paths()),
        ("figure 5.4", figure(&all)),
        ("table 5.3", area()),
        ("table 5.4", speed()),
    ];
    let fresh = tables.iter().fold(page.clone(), |page, (mark, table)| with_table(&page, mark, table));
    if update {
        std::fs::write(&path, fresh).unwrap();
        plots(&all);
        return;
    }
    let stale = "UPDATE_DOCS=1 cargo test -p sluice-hxdp --test all cycle_figures::paper writes it";
    assert!(page == fresh, "docs/warp-paper.md is stale: {stale}");
}
