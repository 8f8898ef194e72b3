//! Dispatch latency of a message alone (table 4.2 of QingNiao's text).

use super::engine::{Build, Engine};
use super::messages::{Fill, Shape, placed};
use crate::plot::{Axis, Look, Plot, Scale, Series};
use std::fmt::Write;

/// Messages of each kind, so far apart that each is alone.
const MESSAGES: usize = 20;
const APART: u64 = 1_000;

const COMPARES: [usize; 7] = [1, 2, 4, 8, 16, 32, 48];

/// Least and most cycles from a message's first beat at the engine to its decision's row.
fn alone(build: Build, shape: Shape, seed: u64) -> (u64, u64) {
    let mut engine = Engine::open(build, seed, &placed(build.target(), &[shape]).unwrap_or_else(|e| panic!("{e}")));
    for message in 0..MESSAGES {
        // Each takes another place of the table, and another tick.
        let at = engine.now() + APART + message as u64 % 7;
        engine.offer(1, at, &shape.frame(message as u32, message % shape.rules, 128, Fill::Other));
        engine.settle();
        let decided = engine.decided[message].expect("it is decided");
        assert_eq!((decided.row.dropped, decided.row.queue_id), (false, shape.queue_of(message % shape.rules)));
    }
    let all: Vec<u64> = (0..MESSAGES).map(|message| engine.latency(message)).collect();
    (*all.iter().min().expect("there are some"), *all.iter().max().expect("there are some"))
}

/// The section of docs/measurements.md.
pub fn table(seed: u64) -> String {
    let mut out = String::from(
        "Cycles of a message alone, from its first beat at the engine to the row that tells its decision. That row comes when the packet has left the engine, behind its last \
         beat, its checksum, the message table and the receive side;\nthe matcher's verdict comes earlier ([where the cycles go](design/l7.md#what-there-is)). One stop byte, 32 rules; 128 bytes, or as many as \
         the compares need. Least and most of 20 messages.\n\n\
         | compares | default | tiny | published (table 4.2) |\n| --- | --- | --- | --- |\n",
    );
    let names = ["default, 512 bit", "tiny, 256 bit"];
    let mut series: Vec<Series> =
        names.map(|name| Series { name: name.into(), look: Look::Line, points: Vec::new() }).into_iter().collect();
    let mut published = Series { name: "published".into(), look: Look::Points, points: Vec::new() };
    for n in COMPARES {
        let _ = write!(out, "| {n} |");
        for (at, build) in [Build::Matchers(4), Build::Tiny].into_iter().enumerate() {
            let (least, most) = alone(build, Shape { compares: n, ..Shape::default() }, seed);
            let both = if least == most { least.to_string() } else { format!("{least} to {most}") };
            let _ = write!(out, " {both} |");
            series[at].points.push((n as f64, most as f64));
        }
        let of_the_text = 15 + 6 * (n - 1);
        published.points.push((n as f64, of_the_text as f64));
        let _ = writeln!(out, " {of_the_text} |");
    }
    series.push(published);
    out.push_str("\n![Dispatch latency over compares](plots/l7_latency.svg)\n");
    Plot {
        title: "l7: dispatch latency of a message alone".into(),
        x: Axis {
            title: "compares of a message",
            scale: Scale::Linear,
            ticks: vec![0.0, 8.0, 16.0, 24.0, 32.0, 40.0, 48.0],
        },
        y: Axis { title: "cycles", scale: Scale::Linear, ticks: vec![0.0, 50.0, 100.0, 150.0, 200.0, 250.0, 300.0] },
        series,
        marks: Vec::new(),
    }
    .write("l7_latency");
    out
}
