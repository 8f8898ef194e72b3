//! Tables over the parameters of an engine.

use super::mixes::{ALL, Mix, Mixes, geometric};
use super::plot::{Axis, Look, Plot, Scale, Series};
use super::{DEFAULT, Shape, aims};
use sluice_hxdp::cycles::{Arrivals, Dispatch, Issue, MapEngine, Memory, Order, loaded, lut};
use sluice_hxdp::{Engine, Trace};
use std::fmt::Write;
use std::path::Path;

const CONTEXTS: [usize; 8] = [1, 2, 3, 4, 6, 8, 12, 16];
const CORES: [usize; 4] = [1, 2, 3, 4];
const LATENCIES: [u64; 5] = [2, 4, 8, 16, 32];

/// A table's head.
fn head(columns: &[&str]) -> String {
    format!("| {} |\n|{}\n", columns.join(" | "), " --- |".repeat(columns.len()))
}

/// The engine with the ports that its bundles are made for.
fn engine_of((_, ports): Shape) -> Engine {
    let memory = if ports == 2 { Memory::TWO } else { Memory::READ_AND_WRITE };
    Engine { memory, ..Engine::default() }
}

/// Packets a cycle and 10,000 LUT.
fn density(cycles: f64, lut: f64) -> f64 {
    1e4 / cycles / lut
}

/// Each object on the default engine, and with other lanes.
pub fn objects(mixes: &Mixes) -> String {
    let mut out = head(&[
        "object",
        "insns",
        "bundles",
        "issues",
        "map accesses and helpers",
        "cycles 1 / 2 / 4 lanes",
        "one core, 2 lanes",
        "issue",
        "alone",
        "per 10 k LUT",
    ]);
    let engine = Engine::default();
    let area = lut(2, 2, 8, 1);
    for (name, mix) in mixes.on(DEFAULT) {
        let timing = mix.saturated(&engine);
        let core = mix.saturated(&Engine { cores: 1, ..engine });
        let cycles = super::mixes::DEFAULT_ENGINE
            .map(|shape| mixes.on(shape)[name].saturated(&engine_of(shape)).cycles_per_packet());
        let shared = mix.traces.iter().flat_map(|trace| &trace.issues).map(|issue| u64::from(issue.shared()));
        let twice = mix.traces.iter().flat_map(|trace| &trace.issues).filter(|issue| issue.twice).count();
        let mean = |sum: u64| sum as f64 / mix.traces.len() as f64;
        let _ = writeln!(
            out,
            "| {name} | {:.1} | {:.1} | {:.1} | {:.1} | {:.1} / {:.1} / {:.1} | {:.1} | {:.0} % | {:.0} | {:.4} |",
            mix.mean_instructions(),
            mix.mean_bundles(),
            mix.mean_bundles() + mean(twice as u64),
            mean(shared.sum()),
            cycles[0],
            cycles[1],
            cycles[2],
            core.cycles_per_packet(),
            timing.issue * 100.0,
            mix.alone(&engine),
            density(cycles[1], area),
        );
    }
    out
}

/// Flows of the packets of an object that has many.
const MANY: u32 = 64;

/// Objects whose packets of a flow wait for each other: all packets in one flow, and in many.
pub fn flows(mixes: &Mixes) -> String {
    let mut out = head(&["object", "what waits", "one flow", "64 flows", "as if nobody waited"]);
    let engine = Engine::default();
    for (name, mix) in mixes.on(DEFAULT) {
        let whole = mix.traces.iter().any(|trace| trace.serial);
        if !whole && !mix.traces.iter().any(Trace::has_section) {
            continue;
        }
        let one = mix.map(|trace| Trace { flow: 0, ..trace.clone() });
        // Each packet comes once in each flow, one flow behind the other.
        let traces =
            mix.traces.iter().flat_map(|trace| (0..MANY).map(|flow| Trace { flow, ..trace.clone() })).collect();
        let many = Mix { traces, ..mix.clone() };
        let plain = |issue: &Issue| Issue { enters: false, leaves: false, ..*issue };
        let alone =
            |trace: &Trace| Trace { serial: false, issues: trace.issues.iter().map(plain).collect(), ..trace.clone() };
        let beside = many.map(alone);
        let [one, many, beside] = [one, many, beside].map(|mix| mix.saturated(&engine).cycles_per_packet());
        let what = if whole { "the whole program" } else { "a section" };
        let _ = writeln!(out, "| {name} | {what} | {one:.1} | {many:.1} | {beside:.1} |");
    }
    out
}

/// One field of the sweep over contexts.
fn contexts_field(mixes: &Mixes, shape: Shape, cores: usize, contexts: usize) -> String {
    let engine = Engine { cores, ..engine_of(shape).with_contexts(contexts) };
    let cycles = mixes.mean_cycles(shape, &engine);
    let area = lut(cores, shape.0, contexts, shape.1);
    format!(" {cycles:.1}, {:.0} k, {:.4} |", area / 1e3, density(cycles, area))
}

/// How a line of the sweep begins.
fn contexts_line((lanes, ports): Shape, cores: usize) -> String {
    format!("| {lanes} | {ports} | {cores} |")
}

/// The line and the field of it that are compared without UPDATE_DOCS.
pub fn a_point_of_the_sweep(mixes: &Mixes) -> (String, String) {
    (contexts_line(DEFAULT, 2), contexts_field(mixes, DEFAULT, 2, 4))
}

/// Makes a table.
pub type Make = fn(&Mixes) -> String;

/// All tables that are made with UPDATE_DOCS only, by their marks.
pub const TABLES: [(&str, Make); 9] = [
    ("reach", aims::reach),
    ("contexts", contexts),
    ("map latency", map_latency),
    ("memory", memory),
    ("accesses", accesses),
    ("results", results),
    ("pipeline", pipeline),
    ("order", order),
    ("line rate", line_rate),
];

fn contexts(mixes: &Mixes) -> String {
    let contexts = CONTEXTS.map(|contexts| format!("{contexts} contexts"));
    let mut columns = vec!["lanes", "ports", "cores"];
    columns.extend(contexts.iter().map(String::as_str));
    let mut out = head(&columns);
    for shape in ALL {
        for cores in CORES {
            let fields: String =
                CONTEXTS.iter().map(|contexts| contexts_field(mixes, shape, cores, *contexts)).collect();
            let _ = writeln!(out, "{}{fields}", contexts_line(shape, cores));
        }
    }
    out
}

fn map_latency(mixes: &Mixes) -> String {
    let contexts = CONTEXTS.map(|contexts| format!("{contexts} contexts"));
    let mut columns = vec!["map latency", "alone"];
    columns.extend(contexts.iter().map(String::as_str));
    let mut out = head(&columns);
    for latency in LATENCIES {
        let engine = Engine::default().with_map_latency(latency);
        let _ = write!(out, "| {latency} | {:.0} |", mixes.mean_alone(DEFAULT, &engine));
        for contexts in CONTEXTS {
            let _ = write!(out, " {:.1} |", mixes.mean_cycles(DEFAULT, &engine.with_contexts(contexts)));
        }
        out.push('\n');
    }
    out
}

fn memory(mixes: &Mixes) -> String {
    let mut out = head(&[
        "lanes",
        "accesses a bundle",
        "memory",
        "bundles",
        "cycles",
        "alone",
        "per 10 k LUT",
        "cycles, frames of 1,500 bytes",
    ]);
    let long = |trace: &Trace| Trace { rows_in: 24, rows_out: 24 * trace.rows_out.min(1), ..trace.clone() };
    let one = Memory::ONE;
    let kinds = [
        (1, one, "one port for loads and stores"),
        (1, Memory::READ_AND_WRITE, "a read and a write port"),
        (2, one, "one port for loads and stores"),
        (2, Memory::READ_AND_WRITE, "a read and a write port"),
        (2, Memory::TWO, "two of each"),
    ];
    for lanes in [1, 2, 4] {
        for (ports, memory, what) in kinds {
            if lanes < ports {
                continue;
            }
            let engine = Engine { memory, ..Engine::default() };
            let shape = (lanes, ports);
            let cycles = mixes.mean_cycles(shape, &engine);
            let area = lut(2, lanes, 8, if memory == Memory::TWO { 2 } else { 1 });
            let _ = writeln!(
                out,
                "| {lanes} | {ports} | {what} | {:.1} | {cycles:.2} | {:.0} | {:.4} | {:.2} |",
                geometric(mixes.on(shape).values().map(Mix::mean_bundles)),
                mixes.mean_alone(shape, &engine),
                density(cycles, area),
                geometric(mixes.on(shape).values().map(|mix| mix.map(long).saturated(&engine).cycles_per_packet())),
            );
        }
    }
    out
}

/// What the two accesses of a bundle are, of those that have two.
fn accesses(mixes: &Mixes) -> String {
    let mut out = head(&["lanes", "bundles with two accesses", "load and store", "two loads", "two stores"]);
    for lanes in [2, 4] {
        let issues = mixes.on((lanes, 2)).values().flat_map(|mix| &mix.traces).flat_map(|trace| &trace.issues);
        let (mut all, mut kinds) = (0u64, [0u64; 3]);
        for issue in issues {
            all += 1;
            match (issue.loads, issue.stores) {
                (1, 1) => kinds[0] += 1,
                (2, 0) => kinds[1] += 1,
                (0, 2) => kinds[2] += 1,
                _ => {}
            }
        }
        let two: u64 = kinds.iter().sum();
        let share = |n: u64, of: u64| format!("{:.0} %", n as f64 / of as f64 * 100.0);
        let [both, loads, stores] = kinds.map(|kind| share(kind, two));
        let _ = writeln!(out, "| {lanes} | {} | {both} | {loads} | {stores} |", share(two, all));
    }
    out
}

/// Registers that bundles write at once, and what is written later. A core has as many write ports as lanes.
fn results(mixes: &Mixes) -> String {
    let mut out = head(&["lanes", "no register", "one", "two", "three or four", "results that come later, a bundle"]);
    for shape in super::mixes::DEFAULT_ENGINE {
        let issues = mixes.on(shape).values().flat_map(|mix| &mix.traces).flat_map(|trace| &trace.issues);
        let (mut all, mut later, mut kinds) = (0u64, 0u64, [0u64; 4]);
        for issue in issues {
            let late = u8::from(issue.late || issue.twice).min(issue.results);
            kinds[usize::from(issue.results - late).min(3)] += 1;
            later += u64::from(late);
            all += 1;
        }
        let [none, one, two, more] = kinds.map(|n| format!("{:.0} %", n as f64 / all as f64 * 100.0));
        let _ = writeln!(out, "| {} | {none} | {one} | {two} | {more} | {:.2} |", shape.0, later as f64 / all as f64);
    }
    out
}

fn pipeline(mixes: &Mixes) -> String {
    let mut out = head(&["change", "4 contexts", "6", "8", "12", "best object at 8", "alone"]);
    let base = Engine::default();
    let posted = Engine { posted: true, ..base };
    let maps = |change: fn(MapEngine) -> MapEngine| Engine { maps: change(base.maps), ..base };
    let changes = [
        ("none", base),
        ("a bundle in 4 cycles", Engine { interval: 4, exit: 5, ..base }),
        ("a bundle in 6 cycles", Engine { interval: 6, exit: 7, ..base }),
        ("two passes for all that takes longer", Engine { late: false, ..base }),
        ("late results by a port of their own", Engine { late_port: true, ..base }),
        ("map stores posted", posted),
        ("both of these", Engine { late_port: true, ..posted }),
        ("8 rows of stack cleared", Engine { stack_rows: 8, ..base }),
        ("no reserved cycle", Engine { reserve: 0, ..base }),
        ("packets to cores in turns", Engine { dispatch: Dispatch::RoundRobin, ..base }),
        ("map engine, no hash to wait for", maps(|maps| MapEngine { hash: 0, ..maps })),
        ("map engine, at least 8 cycles each", maps(|maps| MapEngine { least: 8, ..maps })),
        ("map engine, at least 16 cycles each", maps(|maps| MapEngine { least: 16, ..maps })),
        ("value port begins one in 2 cycles", Engine { value_every: 2, ..base }),
        ("value port begins one in 4 cycles", Engine { value_every: 4, ..base }),
        ("other helpers answer after 24", Engine { helper: 24, ..base }),
        ("multiply 2 less", Engine { multiply: 3, ..base }),
    ];
    for (what, engine) in changes {
        let mut row = format!("| {what} |");
        for contexts in [4, 6, 8, 12] {
            let _ = write!(row, " {:.2} |", mixes.mean_cycles(DEFAULT, &engine.with_contexts(contexts)));
        }
        let gains = mixes.on(DEFAULT).iter().map(|(name, mix)| {
            let of = |engine| mix.saturated(engine).cycles_per_packet();
            (of(&engine) / of(&base) * 100.0 - 100.0, name)
        });
        let (gain, name) = gains.min_by(|a, b| a.0.total_cmp(&b.0)).unwrap();
        let best = if what == "none" { String::from("-") } else { format!("{name} {gain:+.0} %") };
        let _ = writeln!(out, "{row} {best} | {:.0} |", mixes.mean_alone(DEFAULT, &engine));
    }
    out
}

/// All objects' packets in turns, each object with flows of its own; objects with fewer packets begin again.
fn interleaved(mixes: &[&Mix]) -> Mix {
    let flows_of = |object: usize| (object as u32).wrapping_mul(0x9e37_79b9);
    let most = mixes.iter().map(|mix| mix.traces.len()).max().unwrap();
    let mut all = Mix::default();
    for n in 0..most {
        for (object, mix) in mixes.iter().enumerate() {
            let trace = &mix.traces[n % mix.traces.len()];
            all.traces.push(Trace { flow: trace.flow.wrapping_add(flows_of(object)), ..trace.clone() });
        }
    }
    all
}

fn order(mixes: &Mixes) -> String {
    const SLOTS: [usize; 5] = [8, 12, 16, 24, 32];
    let slots = SLOTS.map(|slots| format!("{slots} slots"));
    let mut columns = vec!["packets", "order"];
    columns.extend(slots.iter().map(String::as_str));
    let mut out = head(&columns);
    let objects = mixes.on(DEFAULT);
    let each: Vec<Mix> = objects.values().cloned().collect();
    let all = vec![interleaved(&objects.values().collect::<Vec<_>>())];
    let two = vec![interleaved(&[&objects["swap"], &objects["swap"], &objects["swap"], &objects["load_balancer.fed"]])];
    let one = |mix: &Mix| mix.map(|trace| Trace { flow: 1, ..trace.clone() });
    let serial = |mix: &Mix| mix.map(|trace| Trace { serial: true, ..trace.clone() });
    let of = |change: &dyn Fn(&Mix) -> Mix| each.iter().map(change).collect::<Vec<_>>();
    let (tickets, few) = (Order::Tickets(256), Order::Tickets(16));
    let rows = [
        ("each object", "none", Order::None, each.clone()),
        ("each object", "tickets, 256 buckets", tickets, each.clone()),
        ("each object", "tickets, 16 buckets", few, each.clone()),
        ("each object", "arrival", Order::Arrival, each.clone()),
        ("all objects in turns", "none", Order::None, all.clone()),
        ("all objects in turns", "tickets, 256 buckets", tickets, all.clone()),
        ("all objects in turns", "tickets, 16 buckets", few, all.clone()),
        ("all objects in turns", "arrival", Order::Arrival, all),
        ("three of swap, one of load_balancer", "none", Order::None, two.clone()),
        ("three of swap, one of load_balancer", "tickets, 256 buckets", tickets, two.clone()),
        ("three of swap, one of load_balancer", "arrival", Order::Arrival, two),
        ("each object, one flow", "tickets, 256 buckets", tickets, of(&one)),
        ("each object", "flow-serial", tickets, of(&serial)),
        ("each object, one flow", "flow-serial", tickets, of(&|mix| serial(&one(mix)))),
    ];
    for (what, name, order, mixes) in rows {
        let mut row = format!("| {what} | {name} |");
        for slots in SLOTS {
            let engine = Engine { order, slots, ..Engine::default() };
            let cycles = mixes.iter().map(|mix| mix.saturated(&engine).cycles_per_packet());
            let _ = write!(row, " {:.2} |", geometric(cycles));
        }
        let _ = writeln!(out, "{row}");
    }
    out
}

/// Bytes that a packet of 64 takes on the wire, and thousandths of a cycle of 4 ns that it takes of so many Gbit/s.
fn period(gigabit: u64) -> u64 {
    (64 + 20) * 8 * 1000 / gigabit / 4
}

fn line_rate(mixes: &Mixes) -> String {
    const RATES: [u64; 4] = [5, 10, 25, 100];
    let rates = RATES.map(|rate| format!("carried of {rate} Gbit/s"));
    let mut columns = vec!["object", "cycles", "M packets/s", "cycles, 4 cores"];
    columns.extend(rates.iter().map(String::as_str));
    let mut out = head(&columns);
    let engine = Engine::default();
    for (name, mix) in mixes.on(DEFAULT) {
        let mix = mix.map(Trace::of_one_row);
        let cycles = mix.saturated(&engine).cycles_per_packet();
        let four = mix.saturated(&Engine { cores: 4, ..engine }).cycles_per_packet();
        let mut row = format!("| {name} | {cycles:.1} | {:.1} | {four:.1} |", 250.0 / cycles);
        for rate in RATES {
            let timing = loaded(&engine, &mix.traces, Arrivals::Every { period: period(rate), queue: 64 });
            let _ = write!(row, " {:.0} % |", (1.0 - timing.lost as f64 / timing.came as f64) * 100.0);
        }
        let _ = writeln!(out, "{row}");
    }
    out
}

/// Cycles and density over contexts; the whole sweep beside them as text.
pub fn plots(mixes: &Mixes) {
    let mut csv = String::from(
        "lanes,ports,cores,contexts,map latency,cycles,alone,LUT estimated,packets per cycle per 10 k LUT\n",
    );
    let (mut cycles, mut densities) = (Vec::new(), Vec::new());
    for shape in ALL {
        let (lanes, ports) = shape;
        let alone: Vec<f64> = LATENCIES
            .iter()
            .map(|latency| mixes.mean_alone(shape, &engine_of(shape).with_map_latency(*latency)))
            .collect();
        for cores in CORES {
            let (mut points, mut dense) = (Vec::new(), Vec::new());
            for contexts in CONTEXTS {
                for (latency, alone) in LATENCIES.iter().zip(&alone) {
                    // Other latencies with the default number of cores only.
                    if *latency != 8 && cores != 2 {
                        continue;
                    }
                    let engine = Engine { cores, ..engine_of(shape).with_contexts(contexts) };
                    let mean = mixes.mean_cycles(shape, &engine.with_map_latency(*latency));
                    let area = lut(cores, lanes, contexts, ports);
                    let per = density(mean, area);
                    let _ = writeln!(
                        csv,
                        "{lanes},{ports},{cores},{contexts},{latency},{mean:.2},{alone:.1},{area:.0},{per:.5}"
                    );
                    if *latency == 8 {
                        points.push((contexts as f64, mean));
                        dense.push((contexts as f64, per));
                    }
                }
            }
            if ports == lanes.div_ceil(2) && cores <= 2 {
                let name = format!("{cores} x {lanes} lanes");
                let look = if cores == 2 { Look::Line } else { Look::Dashed };
                cycles.push(Series { name: name.clone(), look, points });
                densities.push(Series { name, look, points: dense });
            }
        }
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/plots");
    std::fs::write(folder.join("hxdp_sweep.csv"), csv).unwrap();
    let x = || Axis {
        title: "contexts of a core",
        scale: Scale::Linear,
        ticks: (0..=8).map(|n| f64::from(2 * n)).collect(),
    };
    let plot = |title: &str, y: Axis, series| Plot { title: title.into(), x: x(), y, series, marks: vec![] };
    let ticks = [10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0].to_vec();
    let y = Axis { title: "cycles a packet (model)", scale: Scale::Log, ticks };
    plot("XDP engine: cycles a packet, mean of the shipped programs", y, cycles).write("hxdp_cycles");
    let ticks = (0..=5).map(|n| f64::from(n) / 500.0).collect();
    let y = Axis { title: "packets a cycle and 10 k LUT (model)", scale: Scale::Linear, ticks };
    plot("XDP engine: packets a cycle and 10,000 estimated LUT", y, densities).write("hxdp_density");
}
