//! Damaged modules: answered, never a panic, whatever passes prints and reads back.
//!
//! SLUICE_FUZZ_SECONDS (1) is the time, SLUICE_SEED repeats a run.

#[path = "../../packet/tests/support/damaged_text.rs"]
mod damaged_text;

use sluice_formats::random::{Rng, test_seed};
use sluice_rmt::target::{DEFAULT, TINY};
use sluice_rmt::text::{MOST_ERRORS, print, read_bytes};
use std::path::Path;
use std::time::{Duration, Instant};

fn modules() -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/rmt");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|f| f.unwrap().path()).collect();
    files.retain(|f| f.extension().is_some_and(|e| e == "rmt"));
    files.sort();
    files.iter().map(|f| std::fs::read(f).unwrap()).collect()
}

fn damaged(rng: &mut Rng, all: &[Vec<u8>]) -> Vec<u8> {
    damaged_text::damaged(rng, all, |b| b.is_ascii_alphanumeric() || b == b'_' || b == b'.')
}

#[test]
fn fuzz_rmt_text() {
    let seed = test_seed("fuzz_rmt_text");
    let seconds = std::env::var("SLUICE_FUZZ_SECONDS").ok().and_then(|s| s.parse().ok()).unwrap_or(1.0);
    let mut rng = Rng::new(seed);
    let all = modules();
    let end = Instant::now() + Duration::from_secs_f64(seconds);
    let (mut inputs, mut passed) = (0u64, 0u64);
    while Instant::now() < end {
        let bytes = damaged(&mut rng, &all);
        let target = if rng.chance(3, 4) { DEFAULT } else { TINY };
        inputs += 1;
        match read_bytes("fuzz.rmt", &bytes, &target) {
            Ok(unit) => {
                passed += 1;
                let text = print(&unit, &target);
                let again = read_bytes("again.rmt", text.as_bytes(), &target).unwrap_or_else(|e| panic!("{e}\n{text}"));
                assert!(again.program == unit.program, "{text}");
            }
            Err(errors) => {
                assert!((1..=MOST_ERRORS).contains(&errors.0.len()));
                assert!(!errors.to_string().is_empty());
            }
        }
    }
    println!("fuzz: {inputs} inputs, {passed} passed");
}
