//! Generated programs by the kernel's JIT, beside the engine in RTL: the section `xdp-linux-rates` of docs/measurements.md.

use crate::CLOCKS;
use crate::plot::{Axis, Look, Plot, Scale, Series};
use crate::rate_list::{FRAME, Family, KEYS, MAP, What, families, of_rtl};
use sluice_ebpf::kernel::{Kernel, TestInput};
use sluice_ebpf::{Image, Program, insn};
use std::fmt::Write;

/// Runs of a round, and rounds.
const REPEAT: u32 = 40_000;
const ROUNDS: usize = 201;
/// What a program that transmits returns.
const TRANSMIT: u32 = 3;

/// A row: how often, nanoseconds a run, cycles of the engine.
struct Row {
    times: u32,
    nanoseconds: f64,
    cycles: f64,
    /// What one more costs: nanoseconds and cycles, between this row and the one before.
    each: Option<(f64, f64)>,
}

/// The section, and its plots.
pub fn section(head: &str) -> String {
    let mut out = format!(
        "## Rates by the Linux JIT, beside the engine\n\n`cargo bench -p sluice-hxdp --bench linux -- rates`, {head}\n\n\
         The [programs](../crates/hxdp/tests/cycle_figures/rate_list.rs) of [rates of the engine](#rates-of-the-xdp-engine), on the same frame. *JIT, ns*: of a run by `BPF_PROG_TEST_RUN`, whose loop is some\n\
         nanoseconds of it; the median of {ROUNDS} rounds of {REPEAT} runs, of which the kernel tells whole nanoseconds. There is no driver and no PCIe in it, and all maps are in the processor's cache.\n\
         *Cycles*: of the RTL, two cores, at clocks that are **assumed**: no synthesis has shown one. *Each time*: what one more costs, between this row and the one before.\n\
         Plots: [arithmetic and calls](plots/xdp_rates_times.svg), [maps by the key's bytes](plots/xdp_rates_keys.svg). The dissertation that we have (hXDP, chapter 4) plots neither; its figures 4.5 and 4.7 are\n\
         [programs](#shipped-programs-by-the-linux-jit-beside-the-engine).\n\n\
         | what | times | JIT, ns | million packets/s | engine, cycles | at 156.25 MHz | at 250 MHz | 250 MHz beside the JIT | each time: JIT, ns | cycles | ns at 250 MHz |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
    );
    let mut all = Vec::new();
    for family in families() {
        let rows = rows(&family);
        for row in &rows {
            let [slow, fast] = CLOCKS.map(|mhz| mhz / row.cycles);
            let rate = 1e3 / row.nanoseconds;
            let each = row.each.map_or("- | - | -".to_owned(), |(nanoseconds, cycles)| {
                format!("{nanoseconds:.2} | {cycles:.2} | {:.2}", cycles * 1e3 / CLOCKS[1])
            });
            let _ = writeln!(
                out,
                "| {} | {} | {:.0} | {rate:.1} | {:.2} | {slow:.1} | {fast:.1} | {:.2} | {each} |",
                family.what.name(),
                row.times,
                row.nanoseconds,
                row.cycles,
                fast / rate
            );
        }
        all.push((family.what, rows));
    }
    by_times(&all);
    by_keys(&all);
    out
}

fn rows(family: &Family) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for &times in family.times {
        let nanoseconds = measure(family.what, times);
        let (cycles, each_cycles) = of_rtl(family.what, times);
        let each = rows
            .last()
            .zip(each_cycles)
            .map(|(before, cycles)| ((nanoseconds - before.nanoseconds) / f64::from(times - before.times), cycles));
        rows.push(Row { times, nanoseconds, cycles, each });
    }
    rows
}

/// Nanoseconds of a run of the program that does it so often.
fn measure(what: What, times: u32) -> f64 {
    let text = what.program(times);
    let program = insn::assemble("measured", &text, &[MAP]).unwrap_or_else(|e| panic!("{}: {e}", what.name()));
    let programs = vec![Program { section: "xdp".into(), ..program }];
    let maps = what.map().into_iter().collect();
    let image = Image { programs, maps, license: "GPL".into(), ..Image::default() };
    let kernel = Kernel::load(&image).unwrap_or_else(|e| panic!("{}: {e}", what.name()));
    if let (Some(map), Some((key, value))) = (kernel.map(MAP), what.entry()) {
        map.update(&key, &value, 0).unwrap_or_else(|e| panic!("{}: {e:?}", what.name()));
    }
    let program = &kernel.programs[0];
    let seen = program.test_run(&TestInput::frame(&FRAME)).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(seen.r0, TRANSMIT, "{}: it does not come to its end", what.name());
    let one = |_| f64::from(program.time(&FRAME, REPEAT).unwrap_or_else(|e| panic!("{e}")));
    let mut found: Vec<f64> = (0..ROUNDS).map(one).collect();
    found.sort_by(f64::total_cmp);
    found[ROUNDS / 2]
}

/// Million packets a second of the JIT, and of the engine at the faster clock.
fn lines(name: &str, points: impl Iterator<Item = (f64, f64, f64)>) -> [Series; 2] {
    let (mut jit, mut engine) = (Vec::new(), Vec::new());
    for (x, nanoseconds, cycles) in points {
        jit.push((x, 1e3 / nanoseconds));
        engine.push((x, CLOCKS[1] / cycles));
    }
    [
        Series { name: format!("{name}: JIT"), look: Look::Dashed, points: jit },
        Series { name: format!("{name}: engine"), look: Look::Line, points: engine },
    ]
}

fn by_times(all: &[(What, Vec<Row>)]) {
    let names = [(What::Chain, "one chain"), (What::Chains, "four chains"), (What::Sum, "csum_diff")];
    let mut series = Vec::new();
    for (what, name) in names {
        let (_, rows) = all.iter().find(|(of, _)| *of == what).expect("a family");
        let some = rows.iter().filter(|row| row.times > 0);
        series.extend(lines(name, some.map(|row| (f64::from(row.times), row.nanoseconds, row.cycles))));
    }
    Plot {
        title: "Arithmetic and calls of a helper: million packets a second, engine at 250 MHz (assumed)".to_owned(),
        x: Axis { title: "times", scale: Scale::Log, ticks: [1, 2, 4, 8, 16, 32, 64, 128, 256].map(f64::from).into() },
        y: Axis { title: "million packets/s", scale: Scale::Log, ticks: vec![0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0] },
        series,
        marks: Vec::new(),
    }
    .write("xdp_rates_times");
}

fn by_keys(all: &[(What, Vec<Row>)]) {
    let mut series = Vec::new();
    for (of, name) in
        [(What::Lookup as fn(u32) -> What, "lookup"), (What::Update, "update"), (What::Replace, "delete, insert")]
    {
        let points = KEYS.map(|bytes| {
            let (_, rows) = all.iter().find(|(what, _)| *what == of(bytes)).expect("a family");
            (f64::from(bytes), rows[0].nanoseconds, rows[0].cycles)
        });
        series.extend(lines(name, points.into_iter()));
    }
    Plot {
        title: "One operation on a hash map a packet: million packets a second, engine at 250 MHz (assumed)".to_owned(),
        x: Axis { title: "bytes of the key", scale: Scale::Log, ticks: KEYS.map(f64::from).into() },
        y: Axis { title: "million packets/s", scale: Scale::Log, ticks: vec![3.0, 10.0, 30.0, 100.0, 300.0] },
        series,
        marks: Vec::new(),
    }
    .write("xdp_rates_keys");
}
