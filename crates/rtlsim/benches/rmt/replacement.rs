//! A tenant of three is replaced while all of them fill the pipeline: rates over time.

use super::{CYCLES_A_MICROSECOND, compared};
use crate::plot::{Axis, Look, Plot, Scale, Series};
use crate::replacing::{self, LENGTH, Order, REPLACED, Run, Ticks, Version};
use sluice_formats::rmt::target::DEFAULT;
use std::fmt::Write;
use std::ops::Range;

/// Cycles of which one point of the plot is the mean.
const WINDOW: u64 = 50;
/// Cycles before the replacement, and packets in all.
const BEFORE: u64 = 500;
const PACKETS: usize = 3_500;

/// Gbit/s of packets of `LENGTH` bytes within some cycles.
fn gigabits(packets: usize, cycles: u64) -> f64 {
    let nanoseconds = cycles as f64 * 1000.0 / CYCLES_A_MICROSECOND;
    (packets * LENGTH * 8) as f64 / nanoseconds
}

/// The section's text.
pub fn replacement(seed: u64) -> String {
    let nic = compared(DEFAULT.name, seed);
    let run = replacing::run(nic, |nic| nic.rtl().load_step(), Order::Safe, (BEFORE, PACKETS), seed);
    assert_eq!((run.lost, run.answers.len()), (0, run.offered));
    assert_eq!((run.mixtures(), run.others_changed(), run.steps_back()), (0, 0, 0));
    let Ticks { written, committed, cleared } = run.ticks.clone();
    let (begun, written) = (written.start, written.end);
    let (rows, words) = (run.rows, run.words);

    let (first, last) = (run.answers[0].at, run.answers[run.answers.len() - 1].at);
    plot(&run, begun, committed, cleared, first..last);
    let mut text = format!(
        "Default target. Three CALC tenants send packets of {LENGTH} bytes at 5:3:2, one packet a cycle; tenant {REPLACED} is replaced\n\
         meanwhile. The two programs differ in parser, containers, key, every entry and every action; each answer is compared with\n\
         what the one and the other program answer, worked out apart from the models, and with the model.\n\n\
         ![Rate of each tenant](plots/rmt_replacement.svg)\n\n\
         The plot (its points are in `plots/rmt_replacement.csv`) shows Gbit/s of packets that left in windows of {WINDOW} cycles, over\n\
         microseconds at 250 MHz from the first word of the new program. The tenants' shares of 128 Gbit/s are 64, 38.4 and 25.6;\n\
         tenant {REPLACED} goes over from the old program to the new one from one packet to the next. The table has the same by stretches.\n\n\
         | stretch | cycles | tenant 1, old | tenant 1, new | tenant 2 | tenant 3 | all, Gbit/s | cycles without a packet |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- |\n"
    );
    for (name, ticks) in [
        ("before", first..begun),
        ("rows written", begun..written),
        ("until the commit is answered", written..committed),
        ("until the old rows are zeroed", committed..cleared),
        ("after", cleared..last + 1),
    ] {
        let cycles = ticks.end - ticks.start;
        let counts = counts(&run, &ticks);
        let all: usize = counts.iter().sum();
        let shown = counts.map(|n| format!("{:.2}", gigabits(n, cycles))).join(" | ");
        let _ = writeln!(
            text,
            "| {name} | {cycles} | {shown} | {:.2} | {} |",
            gigabits(all, cycles),
            cycles as usize - all.min(cycles as usize)
        );
    }
    let switched = run.answers.iter().find(|a| a.version == Some(Version::New)).map_or(0, |a| a.at - begun);
    text + &format!(
        "\n{} packets offered, {} lost, {} mixtures, {} answers of other tenants changed, {} of the old program behind one of the new.\n\
         {rows} rows of {words} words; the first answer of the new program left {switched} cycles ({:.2} us) after the first word went in.\n\n\
         Published (figure 10 and section 5.1): 9.3 Gbit/s on a link of 10 Gbit/s at 5:3:2, one module reconfigured 0.5 s into the run. Its packets\n\
         are dropped until the reconfiguration is over, and the rates of the other two stay as they are. Here no tenant loses a packet, the\n\
         replaced one neither, and the curves of the two others stay on their shares. Unsafe orders are noticed: `cargo test -p sluice-rtlsim\n\
         --test all rmt_replacement::` has a commit before the rows (packets are lost) and one amidst them (mixtures), `rmt_published_faults`\n\
         `an_unsafe_order_of_commit_shows_in_the_packets`.\n",
        run.offered,
        run.lost,
        run.mixtures(),
        run.others_changed(),
        run.steps_back(),
        switched as f64 / CYCLES_A_MICROSECOND,
    )
}

/// Packets of tenant 1 by both programs, of tenant 2 and of tenant 3.
fn counts(run: &Run, ticks: &Range<u64>) -> [usize; 4] {
    [(REPLACED, Version::Old), (REPLACED, Version::New), (2, Version::Old), (3, Version::Old)]
        .map(|(tenant, version)| run.count(tenant, version, ticks))
}

fn plot(run: &Run, begun: u64, committed: u64, cleared: u64, shown: Range<u64>) {
    let at = |tick: u64| (tick as f64 - begun as f64) / CYCLES_A_MICROSECOND;
    let windows: Vec<Range<u64>> =
        (shown.start..shown.end - WINDOW).step_by(WINDOW as usize).map(|t| t..t + WINDOW).collect();
    let names = ["tenant 1, old program", "tenant 1, new program", "tenant 2", "tenant 3", "all"];
    let value = |i: usize, w: &Range<u64>| {
        let counts = counts(run, w);
        gigabits(counts.get(i).copied().unwrap_or_else(|| counts.iter().sum()), WINDOW)
    };
    let curve = |i: usize| windows.iter().map(|w| (at(w.start + WINDOW / 2), value(i, w))).collect();
    let series = names.iter().enumerate().map(|(i, name)| Series {
        name: (*name).to_owned(),
        look: if i == 4 { Look::Dashed } else { Look::Plain },
        points: curve(i),
    });
    let (low, high) = (at(shown.start).floor() as i64, at(shown.end).ceil() as i64);
    Plot {
        title: "rmt pipeline: one of three CALC tenants replaced under full load".into(),
        x: Axis {
            title: "microseconds from the first word of the new program",
            scale: Scale::Linear,
            ticks: (low..=high).map(|t| t as f64).collect(),
        },
        y: Axis {
            title: "Gbit/s (64-byte packets)",
            scale: Scale::Linear,
            ticks: (0..=7).map(|t| 20.0 * f64::from(t)).collect(),
        },
        series: series.collect(),
        marks: vec![(0.0, "rows"), (at(committed), "commit"), (at(cleared), "old rows zeroed")],
    }
    .write("rmt_replacement");
}
