//! Messages a second, one behind the other: over matchers, compares, alternatives, and bytes of a message.

use super::engine::{Build, CLOCK, Engine};
use super::messages::{Fill, Shape, placed};
use crate::plot::{Axis, Look, Plot, Scale, Series};
use std::fmt::Write;

/// Messages before those that are measured, and these.
const WARM: usize = 200;
const MEASURED: usize = 1_000;
/// Behind the last one that is measured the engine runs empty.
const TAIL: usize = 100;

/// Compares.
pub const COMPARES: [usize; 9] = [1, 2, 4, 8, 12, 16, 24, 32, 48];
/// Matchers.
pub const MATCHERS: [usize; 4] = [1, 2, 4, 8];
const ALTERNATIVES: [usize; 11] = [4, 8, 16, 32, 64, 128, 256, 512, 1024, 1536, 2048];
const BYTES: [usize; 5] = [128, 256, 512, 1024, 1500];
/// Rates at the plots' side, in millions a second.
pub const TICKS: [f64; 6] = [4.0, 8.0, 16.0, 32.0, 64.0, 128.0];
/// What is published for 1 compare, bound by DMA, and for 48 with 4 matchers (4.6.2), in messages a second.
const PUBLISHED: [(f64, f64); 2] = [(1.0, 16.06), (48.0, 3.37)];

/// Messages of a shape in frames of a length; the rules' alternatives in turn.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    pub shape: Shape,
    pub bytes: usize,
    pub fill: Fill,
}

/// Millions of messages a second, or why there is no room for the rules.
pub fn rate(build: Build, load: Load, seed: u64) -> Result<f64, String> {
    let mut engine = Engine::open(build, seed, &placed(build.target(), &[load.shape])?);
    let rule = |message: usize| message * 7 % load.shape.rules;
    for message in 0..WARM + MEASURED + TAIL {
        let frame = load.shape.frame(message as u32, rule(message), load.bytes, load.fill);
        engine.offer(1, 0, &frame);
    }
    engine.settle();
    let mut ends = Vec::new();
    for (message, decided) in engine.decided.iter().enumerate() {
        let decided = decided.expect("all are decided");
        let wanted = load.shape.queue_of(rule(message));
        assert!(!decided.row.dropped && decided.row.queue_id == wanted, "message {message}: {decided:?}");
        ends.push(decided.at);
    }
    ends.sort_unstable();
    Ok(CLOCK / 1e6 * MEASURED as f64 / (ends[WARM + MEASURED] - ends[WARM]) as f64)
}

pub fn text(rate: &Result<f64, String>) -> String {
    rate.as_ref().map_or("no room".into(), |rate| format!("{rate:.2}"))
}

pub fn matchers_text(number: usize) -> String {
    if number == 1 { "1 matcher".into() } else { format!("{number} matchers") }
}

pub fn head(first: &str, columns: &[String]) -> String {
    format!("\n| {first} | {} |\n| --- |{}\n", columns.join(" | "), " --- |".repeat(columns.len()))
}

/// The section of docs/measurements.md.
pub fn table(seed: u64) -> String {
    let mut out = format!(
        "Millions of messages a second at 250 MHz, of one module, target `default`, frames of one packet back to back on the engine's own top: from the decision of message \
         {WARM} to that of message {}, in the order of decisions.\nEach message's queue is checked. Rules of a ping-pong: *compares* of 4 bytes with a byte between, of which the last one chooses one of 32 \
         rules; a stop byte is searched first where it says *with stop*.\nPublished: figures 4.18 and 4.19 of QingNiao's text without numbers but those given; it measured between hosts.\n",
        WARM + MEASURED
    );
    one(&mut out, seed);
    compares(&mut out, seed);
    alternatives(&mut out, seed);
    bytes(&mut out, seed);
    out
}

/// The shortest messages: one step.
fn one(out: &mut String, seed: u64) {
    out.push_str(&head("1 compare, 128 bytes", &MATCHERS.map(matchers_text)));
    for (fill, name) in [(Fill::Field, "one field"), (Fill::Other, "another field behind it")] {
        let _ = write!(out, "| {name} |");
        for matchers in MATCHERS {
            let shape = Shape { rules: 4, until: false, ..Shape::default() };
            let _ =
                write!(out, " {} |", text(&rate(Build::Matchers(matchers), Load { shape, bytes: 128, fill }, seed)));
        }
        out.push('\n');
    }
    out.push_str("\nThe bus takes a message of 128 bytes in 2 cycles: 125 M/s.\n");
}

/// A column: messages of a load that depends on the row's value.
pub struct Case<'a> {
    pub name: String,
    pub look: Look,
    pub build: Build,
    pub load: Box<dyn Fn(usize) -> Load + 'a>,
}

/// Rows of a table over values, each with a column a case and what `last` says of it behind them. Gives the cases as series.
pub fn sweep(
    out: &mut String,
    values: &[usize],
    cases: Vec<Case>,
    seed: u64,
    last: impl Fn(usize) -> Option<String>,
) -> Vec<Series> {
    let mut series: Vec<Series> =
        cases.iter().map(|c| Series { name: c.name.clone(), look: c.look, points: Vec::new() }).collect();
    for &value in values {
        let _ = write!(out, "| {value} |");
        for (case, series) in cases.iter().zip(&mut series) {
            let got = rate(case.build, (case.load)(value), seed);
            let _ = write!(out, " {} |", text(&got));
            series.points.extend(got.map(|got| (value as f64, got)));
        }
        out.push_str(&last(value).map_or("\n".into(), |last| format!(" {last} |\n")));
    }
    series
}

/// Draws series over values of a size.
pub fn draw(name: &str, title: &str, size: &'static str, values: &[usize], ticks: &[f64], series: Vec<Series>) {
    Plot {
        title: title.into(),
        x: Axis { title: size, scale: Scale::Log, ticks: values.iter().map(|n| *n as f64).collect() },
        y: Axis { title: "million messages a second", scale: Scale::Log, ticks: ticks.to_vec() },
        series,
        marks: Vec::new(),
    }
    .write(name);
}

/// Over matchers and compares (figure 4.18), in messages of 128 bytes or as few as they need.
fn compares(out: &mut String, seed: u64) {
    let columns: Vec<String> = MATCHERS.map(matchers_text).to_vec();
    let with_stop: Vec<String> = columns.iter().map(|c| format!("{c}, with stop")).collect();
    out.push_str(&head("compares", &[columns, with_stop, vec!["published, 4 matchers".into()]].concat()));
    let case = |until, matchers| Case {
        name: matchers_text(matchers),
        look: Look::Line,
        build: Build::Matchers(matchers),
        load: Box::new(move |compares| {
            // Alone in its row, so that a message of one compare is one step.
            let rules = if until { 32 } else { 4 };
            Load { shape: Shape { compares, rules, until, ..Shape::default() }, bytes: 128, fill: Fill::Other }
        }),
    };
    let cases = [false, true].into_iter().flat_map(|until| MATCHERS.map(|matchers| case(until, matchers))).collect();
    let published = |n| PUBLISHED.iter().find(|p| p.0 == n as f64).map_or(String::new(), |p| format!("{}", p.1));
    let mut series = sweep(out, &COMPARES, cases, seed, |n| Some(published(n))).split_off(MATCHERS.len());
    out.push_str(
        "\nWithout a stop byte there are 4 rules, so that a message of one compare is one step; with it there are 32.\n\n![Messages a second over compares](plots/l7_compares.svg)\n",
    );
    series.push(Series { name: "published, 4".into(), look: Look::Points, points: PUBLISHED.to_vec() });
    let (title, ticks) = ("l7: messages a second by compares, one stop byte, 32 rules", [&[2.0], &TICKS[..]].concat());
    draw("l7_compares", title, "compares of a message", &COMPARES, &ticks, series);
}

/// Over alternatives of the last compare, 8 bytes each.
fn alternatives(out: &mut String, seed: u64) {
    let columns: Vec<String> = ["1 compare", "4 compares"].iter().map(|n| format!("{n}, 4 matchers")).collect();
    let one: Vec<String> = ["1 compare", "4 compares"].iter().map(|n| format!("{n}, 1 matcher")).collect();
    out.push_str(&head("alternatives", &[columns, one].concat()));
    let case = |matchers, compares| Case {
        name: format!("{compares} compares, {}", matchers_text(matchers)),
        look: Look::Line,
        build: Build::Matchers(matchers),
        load: Box::new(move |rules| {
            let shape = Shape { compares, rules, length: 8, until: false, ..Shape::default() };
            Load { shape, bytes: 128, fill: Fill::Other }
        }),
    };
    let cases = [4, 1].into_iter().flat_map(|matchers| [1, 4].map(|compares| case(matchers, compares))).collect();
    let series = sweep(out, &ALTERNATIVES, cases, seed, |_| None);
    out.push_str(
        "\nAlternatives of 8 bytes, without a stop byte, 128 bytes a message. *No room*: they take more than the engine's 512 rows of 4, for a hash does not fill all.\n\n![Messages a second over alternatives](plots/l7_alternatives.svg)\n",
    );
    let title = "l7: messages a second by alternatives of the last compare";
    draw("l7_alternatives", title, "alternatives", &ALTERNATIVES, &TICKS, series);
}

/// Over bytes of a message, with and without `seg_cnt` (figure 4.19).
fn bytes(out: &mut String, seed: u64) {
    let cases = [(1, Fill::Other), (1, Fill::Counted), (4, Fill::Other), (4, Fill::Counted)];
    let name = |(matchers, fill): (usize, Fill)| {
        format!("{}, {}", matchers_text(matchers), if fill == Fill::Counted { "with seg_cnt" } else { "without" })
    };
    out.push_str(&head("bytes", &[cases.map(name).to_vec(), vec!["bus".into()]].concat()));
    let case = |(matchers, fill): (usize, Fill)| Case {
        name: name((matchers, fill)),
        look: if fill == Fill::Counted { Look::Line } else { Look::Dashed },
        build: Build::Matchers(matchers),
        load: Box::new(move |bytes| Load { shape: Shape { compares: 2, ..Shape::default() }, bytes, fill }),
    };
    let bus = |bytes: usize| Some(format!("{:.2}", CLOCK / 1e6 / bytes.div_ceil(64) as f64));
    let series = sweep(out, &BYTES, cases.map(case).into(), seed, bus);
    out.push_str(
        "\n2 compares with one stop byte, 32 rules. *Bus*: one beat of 64 bytes a cycle. With `seg_cnt` one segment goes to the matchers, without it up to 8.\n\n![Messages a second over bytes of a message](plots/l7_bytes.svg)\n",
    );
    let title = "l7: messages a second by bytes of a message, 2 compares";
    draw("l7_bytes", title, "bytes of a message", &BYTES, &TICKS[1..], series);
}
