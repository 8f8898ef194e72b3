//! Messages a second and core on the models: 32 rules of 1 to 48 compares, behind one move to a stop byte.
//!
//! `cargo bench -p sluice-l7 --bench dispatch`. A message is taken apart into its view and dispatched; its frame's headers are not looked at.
//! Median of the rounds.

use sluice_l7::compile::{Options, compile};
use sluice_l7::fast::Fast;
use sluice_l7::step::{Decision, Identity, run};
use sluice_l7::testing;
use sluice_l7::view::View;
use std::hint::black_box;
use std::time::Instant;

const ROUNDS: usize = 11;
const MESSAGES: usize = 200_000;

/// Median of millions of messages a second.
fn timed(mut message: impl FnMut(usize) -> Decision) -> f64 {
    let mut all: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            let begin = Instant::now();
            (0..MESSAGES).for_each(|n| {
                black_box(message(n));
            });
            MESSAGES as f64 / begin.elapsed().as_secs_f64() / 1e6
        })
        .collect();
    all.sort_by(f64::total_cmp);
    all[ROUNDS / 2]
}

fn main() {
    println!("| compares | rules | program model, M/s | fast model, M/s |");
    println!("| --- | --- | --- | --- |");
    for compares in [1, 2, 4, 8, 16, 32, 48] {
        let rules = testing::ping_pong(compares, 32);
        let program = compile(&rules, &Options::default()).expect("it fits");
        let (tables, ports) = program.tables(&rules, 1);
        let payloads: Vec<Vec<u8>> = (0..32).map(|n| testing::ping_pong_payload(compares, n)).collect();
        let fast = Fast::new(&tables, &ports[0]);
        let identity = |n: usize| Identity { session: 1, message: n as u32 };
        let model = timed(|n| {
            let view = View::of_message(&payloads[n % 32], 0).expect("it is well formed");
            run(&tables, &ports[0], 0, identity(n), &view, |_| {}).decision
        });
        let fast = timed(|n| {
            let view = View::of_message(&payloads[n % 32], 0).expect("it is well formed");
            fast.run(0, identity(n), &view).decision
        });
        println!("| {compares} | 32 | {model:.1} | {fast:.1} |");
    }
}
