//! What the NIC does in cycles, written into docs/measurements.md section by section.
//!
//!     cargo bench -p sluice-rtlsim --bench measure                     # all but `hitless`
//!     cargo bench -p sluice-rtlsim --bench measure -- hitless          # some minutes
//!
//! `SLUICE_SEED` fixes the seed. Each section says with which one it was measured.

#[path = "l7/mod.rs"]
mod l7;
mod packing;
#[path = "../tests/support/pipeline.rs"]
mod pipeline;
#[path = "plot/mod.rs"]
mod plot;
#[path = "../tests/support/rmt_replacing.rs"]
mod replacing;
#[path = "rmt/mod.rs"]
mod rmt;
#[path = "../tests/support/mod.rs"]
mod support;
#[path = "../tests/support/traffic/mod.rs"]
mod traffic;
#[path = "xdp/mod.rs"]
mod xdp;

use sluice_formats::random::SEED_VARIABLE;
use sluice_packet::generate::Sizes;
use sluice_rtlsim::{Variant, locate, top};
use std::fmt::Write;
use std::path::PathBuf;
use support::Build;
use traffic::rates::{self, From, LENGTHS};
use traffic::replacing::Plan;
use traffic::shares::{self, Claim};

const CONFIGS: [&str; 2] = ["default", "tiny"];
const HEAD: &str = "# Measurements\n\nCycles of the RTL in simulation, written by `cargo bench -p sluice-rtlsim --bench measure`; \
                    each section\nnames the command, the date and the seed that give it again. Lengths are bytes without \
                    FCS and without\nthe tag that ingress takes off. `default` has a bus of 64 bytes, `tiny` of 32.\n";

type Section = (&'static str, &'static str, fn(u64) -> String);

/// A section: name, title, how it is measured. All but the last run by default.
const SECTIONS: [Section; 22] = [
    ("throughput", "Throughput", throughput),
    ("latency", "Latency", latency),
    ("fairness", "Fairness", fairness),
    ("rmt", "The rmt pipeline", rmt::cycles),
    ("rmt-wide", "The rmt pipeline of 12 stages", rmt::wide),
    ("rmt-writes", "Rows and modules of the rmt pipeline", rmt::writes),
    ("rmt-replacement", "A replacement in the rmt pipeline under full load", rmt::replacement),
    ("xdp", "The XDP engine", xdp::cycles),
    ("xdp-paths", "Shipped programs on the XDP engine", xdp::table),
    ("xdp-warp", "Shipped programs with the warp engine", xdp::warp),
    ("xdp-flows", "Packets of one flow on the XDP engine", xdp::flows),
    ("xdp-far", "Shipped programs with maps in external memory", xdp::far),
    ("xdp-sizes", "The XDP engine by size of packet", xdp::sizes),
    ("xdp-modules", "The XDP engine with one module and with all", xdp::modules),
    ("xdp-rates", "Rates of the XDP engine", xdp::rates),
    ("l7", "Dispatch latency of the l7 engine", l7::latency),
    ("l7-rates", "Rates of the l7 engine", l7::rates),
    ("l7-lengths", "Rates of the l7 engine by bytes of a compare", l7::lengths),
    ("l7-shares", "Short programs beside long ones on the l7 engine", l7::shares),
    ("l7-attack", "Floods on the l7 engine", l7::attack),
    ("packing", "How many modules there is room for", packing::packing),
    ("hitless", "Replacements under full load", hitless),
];

/// Sections that others write, kept as they are.
const OTHERS: [&str; 4] = ["fast", "xdp-linux", "xdp-linux-rates", "entries"];

fn main() {
    let named: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with("--")).collect();
    if let Some(unknown) = named.iter().find(|n| SECTIONS.iter().all(|s| s.0 != **n)) {
        let known = SECTIONS.map(|s| s.0).join(", ");
        eprintln!("measure: no section `{unknown}`; there are {known}");
        std::process::exit(2);
    }
    let seed = std::env::var(SEED_VARIABLE).ok().and_then(|s| s.parse().ok()).unwrap_or(1);
    for (name, title, measure) in SECTIONS {
        let wanted = if named.is_empty() { name != "hitless" } else { named.iter().any(|n| n == name) };
        if wanted && there(name) {
            let body = measure(seed);
            let head = format!(
                "## {title}\n\n`{SEED_VARIABLE}={seed} cargo bench -p sluice-rtlsim --bench measure -- {name}`, {}.\n\n",
                today()
            );
            println!("{head}{body}");
            put(name, &format!("{head}{body}"));
        }
    }
}

/// Replacements and the rmt pipeline run with all assertions on, the rest as fast as it goes.
fn variant(section: &str) -> Variant {
    if section == "hitless" { Variant::Test } else { Variant::Bench }
}

/// The whole NIC, for speed.
fn bench(target: &'static str) -> Build {
    Build { variant: Variant::Bench, ..Build::new(&top::NIC, target) }
}

/// Whether the plug-ins that a section needs are there.
fn there(section: &str) -> bool {
    if section == "packing" {
        return true;
    }
    if section.starts_with("l7") {
        return there_with_matchers(section);
    }
    if section == "xdp-far" {
        return xdp::far_is_there();
    }
    let configs: &[&str] = match section {
        "xdp-paths" | "xdp-warp" | "xdp-flows" | "xdp-sizes" | "xdp-modules" | "xdp-rates" => &["xdp_default"],
        _ if section.starts_with("xdp") => &["xdp_default", "xdp_tiny"],
        "rmt" => &["rmt_default", "rmt_tiny"],
        "rmt-wide" => &["rmt_wide"],
        _ if section.starts_with("rmt") => &["rmt_default"],
        _ => return CONFIGS.iter().all(|c| support::has(c, variant(section))),
    };
    let variant = if section.starts_with("xdp") { xdp::VARIANT } else { rmt::VARIANT };
    let missing = configs.iter().find(|c| locate::find(c, variant).is_err());
    if let Some(config) = missing {
        let (file, recipe) = (locate::file_name(config, variant), variant.recipe(config));
        println!("{section}: no plug-in {file}, so it is skipped: {recipe}");
    }
    missing.is_none()
}

/// The same for the l7 engine, which is measured with other numbers of matchers and other sizes too.
fn there_with_matchers(section: &str) -> bool {
    let builds = match section {
        "l7" => vec![l7::Build::Matchers(4), l7::Build::Tiny],
        "l7-rates" => l7::MATCHERS.map(l7::Build::Matchers).to_vec(),
        "l7-lengths" => l7::LENGTHS_BUILDS.to_vec(),
        _ => vec![l7::Build::Matchers(4)],
    };
    let missing = builds.iter().find(|build| build.find().is_none());
    if let Some(build) = missing {
        println!("{section}: no plug-in, so it is skipped: {}", build.recipe());
    }
    missing.is_none()
}

fn throughput(seed: u64) -> String {
    let mut text = String::from(
        "Cycles per packet at the entry of the pipeline and at the outputs, over host queues 0 to 3. One port:\n\
         untagged frames on port 0, back to back. Four ports: tagged frames on every port, back to back, four\n\
         times what the pipeline takes; what is too much is dropped at ingress. Bubbles: cycles in which the\n\
         pipeline took no beat.\n\n\
         | config | bytes | beats | one port: in | out | four ports: in | out | packets | bubbles |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
    );
    for config in CONFIGS {
        let fixed = LENGTHS.map(|n| (n.to_string(), Sizes::Fixed(n), (600_000 / n as u64).clamp(500, 4_000)));
        for (name, sizes, packets) in fixed.into_iter().chain([("IMIX".into(), Sizes::Imix, 4_000)]) {
            let one = rates::rate(bench(config), &sizes, From::OnePort, packets, seed);
            let four = rates::rate(bench(config), &sizes, From::AllPorts, packets / 2, seed);
            let beats = match sizes {
                Sizes::Imix => format!("{:.3} and {:.3}", one.ideal(), four.ideal()),
                _ => format!("{}", one.ideal()),
            };
            let bubbles = one.merge_cycles + four.merge_cycles - one.beats - four.beats;
            let (a, b, c, d) = (one.merge(), one.out(), four.merge(), four.out());
            let packets = one.packets + four.packets;
            writeln!(
                text,
                "| {config} | {name} | {beats} | {a:.3} | {b:.3} | {c:.3} | {d:.3} | {packets} | {bubbles} |"
            )
            .expect("text grows");
        }
    }
    text + "\nIMIX from four ports is another mix than what the ports offer: which frames find room depends on the\n\
            packets and beats that a port's FIFO holds.\n"
}

fn latency(seed: u64) -> String {
    let mut text = String::from(
        "Cycles from the first beat in to the first beat out, and to the last (median). Idle: one packet at a\n\
         time. Full: even arrivals on four ports that use 255 of 256 cycles of the pipeline, to four host\n\
         queues. Overloaded: four ports back to back; packets wait in full port FIFOs.\n\n\
         | config | bytes | idle: first | last | full: first, median | 99 % | most | last | overloaded: median | most |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
    );
    for config in CONFIGS {
        for n in LENGTHS {
            let idle = rates::idle_latency(bench(config), n, seed);
            let packets = (400_000 / n as u64).clamp(300, 4_000);
            let full = rates::full_latency(bench(config), n, packets, seed);
            let over = rates::overloaded_latency(bench(config), n, packets / 2, seed);
            let ([first, ..], last) = (idle.first, idle.last);
            let ([_, median, most_of, most], full_last) = (full.first, full.last);
            let [_, over_median, _, over_most] = over.first;
            writeln!(
                text,
                "| {config} | {n} | {first} | {last} | {median} | {most_of} | {most} | {full_last} | {over_median} | {over_most} |"
            )
            .expect("text grows");
        }
    }
    text
}

fn fairness(seed: u64) -> String {
    let mut text = String::from(
        "Ports that all want the whole pipeline: share of its beats.\n\n\
         | config | bytes on ports 0, 1, ... | shares in % | largest error | dropped at ingress |\n\
         | --- | --- | --- | --- | --- |\n",
    );
    let percent = |shares: &[f64]| shares.iter().map(|s| format!("{:.2}", 100.0 * s)).collect::<Vec<_>>().join(" ");
    for config in CONFIGS {
        for lengths in [&[60, 1500][..], &[60, 65, 256, 1500], &[1500, 60, 60, 60]] {
            let s = shares::ports(bench(config), lengths, 100_000, seed);
            let (got, error) = (percent(&s.got), 100.0 * s.error());
            writeln!(text, "| {config} | {lengths:?} | {got} | {error:.2} % | {} |", s.overload).expect("text grows");
        }
    }
    text += "\nTenants with quanta 1 : 2 : 4 at one host queue that is ready in a quarter of the cycles: share of its bytes.\n\n\
             | config | bytes | quanta | shares in % | due in % | largest error |\n\
             | --- | --- | --- | --- | --- | --- |\n";
    for config in CONFIGS {
        let (unit, [short, middle, long]) =
            if config == "tiny" { (60, [60, 200, 500]) } else { (500, [60, 256, 1500]) };
        for lengths in [[short, middle, long], [long, short, middle], [middle, long, short]] {
            let quanta = [unit, 2 * unit, 4 * unit];
            let claims = std::array::from_fn(|i| Claim { quantum: quanta[i], length: lengths[i] });
            let s = shares::tenants(bench(config), &claims, 300_000, seed);
            let (got, due, error) = (percent(&s.got), percent(&s.due), 100.0 * s.error());
            writeln!(text, "| {config} | {lengths:?} | {quanta:?} | {got} | {due} | {error:.2} % |")
                .expect("text grows");
        }
    }
    text += "\nFour modules to four host queues, one packet after the other at the full rate: cycles per packet of each\n\
             host queue, with host queue 0 free and blocked.\n\n\
             | config | bytes | free | host 0 blocked | dropped there | dropped elsewhere |\n\
             | --- | --- | --- | --- | --- | --- |\n";
    for config in CONFIGS {
        for length in [60, 256, 1500] {
            let packets = 600_000 / length as u64;
            let run = |blocked| shares::neighbours(bench(config), length, packets, blocked, seed);
            let (free, blocked) = (run(false), run(true));
            let show = |cycles: &[Option<f64>]| {
                let cell = |c: &Option<f64>| c.map_or("-".to_owned(), |c| format!("{c:.3}"));
                cycles.iter().map(cell).collect::<Vec<_>>().join(" ")
            };
            let drops =
                |first: bool| -> u64 { blocked.dropped.iter().filter(|d| (d.0.0 == 1) == first).map(|d| *d.1).sum() };
            let (a, b) = (show(&free.cycles), show(&blocked.cycles));
            writeln!(text, "| {config} | {length} | {a} | {b} | {} | {} |", drops(true), drops(false))
                .expect("text grows");
        }
    }
    text
}

fn hitless(seed: u64) -> String {
    let mut text = String::from(
        "One tenant's table is replaced again and again; the neighbours of each table differ in the overlay's\n\
         key, in every entry and in every action. Three tenants' packets of 60 bytes fill every cycle of the pipeline,\n\
         in bursts back to back on every port. Faulty: one message in five on the ring is dropped or\n\
         corrupted, in each direction. All assertions of the RTL are on.\n\n\
         | config | ring | replacements | entries | packets | commits | messages | disturbed | sent again | mixtures | \
         lost | other tenants | steps back |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
    );
    for (config, plan) in CONFIGS.into_iter().flat_map(|c| {
        let plan = Plan::new(Build::new(&top::NIC, c), 1_000, seed);
        [(c, plan.clone()), (c, plan.with_faults())]
    }) {
        let run = traffic::replacing::run(&plan);
        println!("{}", run.summary(&plan));
        let (c, f) = (&run.conclusion, &run.conclusion.faults);
        assert!(f.none(), "{f:?}");
        let ring = if plan.faults.any() { "faulty" } else { "good" };
        writeln!(
            text,
            "| {config} | {ring} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
            run.replacements,
            run.entries,
            c.packets,
            c.programs_seen - 1,
            run.messages,
            run.disturbed,
            run.repeated,
            f.mixtures,
            f.own_drops + f.lost_or_doubled,
            f.others,
            f.went_back
        )
        .expect("text grows");
    }
    text
}

/// Puts a section into docs/measurements.md in place of the one of this name.
fn put(name: &str, text: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/measurements.md");
    let old = std::fs::read_to_string(&path).unwrap_or_default();
    let mut new = HEAD.to_owned();
    for section in SECTIONS.map(|s| s.0).into_iter().chain(OTHERS) {
        let (begin, end) = (format!("<!-- {section} -->\n"), format!("<!-- end of {section} -->\n"));
        let kept = old.split_once(&begin).and_then(|(_, rest)| Some(rest.split_once(&end)?.0));
        let body = if section == name { Some(text) } else { kept };
        if let Some(body) = body {
            write!(new, "\n{begin}{body}{end}").expect("text grows");
        }
    }
    std::fs::write(&path, new).expect("docs/measurements.md can be written");
}

/// The date as 2026-01-31, by UTC.
fn today() -> String {
    let elapsed = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    // Days to a date: Howard Hinnant's civil_from_days, for years after 1970.
    let z = elapsed.as_secs() / 86_400 + 719_468;
    let (era, doe) = (z / 146_097, z % 146_097);
    let yoe = (doe - doe / 1_460 + doe / 36_524 - doe / 146_096) / 365;
    let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    let mp = (5 * doy + 2) / 153;
    let (day, month) = (doy - (153 * mp + 2) / 5 + 1, if mp < 10 { mp + 3 } else { mp - 9 });
    let year = yoe + era * 400 + u64::from(month <= 2);
    format!("{year}-{month:02}-{day:02}")
}
