//! How long a module takes from its text to the writes that a device gets, by its entries.
//!
//! `cargo bench -p sluice-rmt --bench compile`. CALC with entries of its own behind the five: the text is read and checked, made into rows, and
//! placed by a linker in which its tenant has been admitted. Median and least of the rounds, in milliseconds.

use sluice_formats::target;
use sluice_object::{Demands, Destination, Linker, Step, TenantSpec};
use sluice_rmt::encode::object::object;
use sluice_rmt::target::DEFAULT;
use sluice_rmt::text::read;
use std::hint::black_box;
use std::time::Instant;

const ROUNDS: usize = 51;
/// 384 is the most that one tenant may have in a stage.
const ENTRIES: [usize; 5] = [5, 16, 64, 256, 384];

/// CALC's text with a wider key, so that there is room for entries.
fn text(entries: usize) -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../programs/rmt/calc.rmt");
    let calc = std::fs::read_to_string(path).expect("calc.rmt is here");
    let wide = calc.replacen("key operation", "key version_op", 1);
    assert_ne!(wide, calc, "calc.rmt has the key that this bench widens");
    let more: String = (5..entries).map(|i| format!("        {} -> add\n", 0x1000 + i)).collect();
    let with = wide.replacen("        '+' -> add\n", &format!("        '+' -> add\n{more}"), 1);
    assert!(entries <= 5 || with.len() > wide.len(), "calc.rmt has the entry that this bench adds to");
    with
}

/// Median and least of the rounds in milliseconds.
fn timed(mut round: impl FnMut() -> f64) -> (f64, f64) {
    let mut all: Vec<f64> = (0..ROUNDS).map(|_| 1e3 * round()).collect();
    all.sort_by(f64::total_cmp);
    (all[ROUNDS / 2], all[0])
}

fn main() {
    println!("| entries | rows written | text to rows, ms: median | least | placed, ms: median | least |");
    println!("| --- | --- | --- | --- | --- | --- |");
    for entries in ENTRIES {
        let text = text(entries);
        let compiled =
            || read("calc.rmt", &text, &DEFAULT).expect("it is checked").part(&DEFAULT).expect("it has rows");
        let (read, read_least) = timed(|| {
            let begin = Instant::now();
            black_box(compiled());
            begin.elapsed().as_secs_f64()
        });
        let object = object("calc", compiled(), Demands::default(), &DEFAULT);
        let mut linker = Linker::new(&target::DEFAULT);
        let mut spec = TenantSpec::new(1, "calc");
        spec.queues = [(Destination::Port(0), 64)].into();
        spec.make_room(&object);
        linker.admit(spec).expect("the pipeline is free");
        let mut writes = 0;
        let (placed, placed_least) = timed(|| {
            let mut linker = linker.clone();
            let begin = Instant::now();
            let load = linker.load(1, &object).expect("there is room");
            let took = begin.elapsed().as_secs_f64();
            writes = load.steps.iter().filter(|s| matches!(s, Step::Write { .. })).count();
            took
        });
        println!("| {entries} | {writes} | {read:.2} | {read_least:.2} | {placed:.2} | {placed_least:.2} |");
    }
}
