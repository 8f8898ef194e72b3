//! Damaged modules: answered, never a panic, whatever passes prints and reads back.
//!
//! SLUICE_FUZZ_SECONDS (1) is the time, SLUICE_SEED repeats a run.

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

/// Words of a text, with what stands between them.
fn words(text: &[u8]) -> Vec<Vec<u8>> {
    let mut all: Vec<Vec<u8>> = Vec::new();
    for &b in text {
        let word = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'.';
        match all.last_mut() {
            Some(last) if last.last().is_some_and(|l| word(*l) && word(b)) => last.push(b),
            _ => all.push(vec![b]),
        }
    }
    all
}

fn damaged(rng: &mut Rng, all: &[Vec<u8>]) -> Vec<u8> {
    let mut pieces = words(&all[rng.index(all.len())]);
    let others = words(&all[rng.index(all.len())]);
    for _ in 0..rng.range(1, 4) {
        let at = rng.index(pieces.len());
        match rng.below(6) {
            0 => pieces.truncate(at + 1),
            1 => drop(pieces.remove(at)),
            2 => pieces[at] = others[rng.index(others.len())].clone(),
            3 => pieces.insert(at, others[rng.index(others.len())].clone()),
            4 => pieces[at] = format!("{}", rng.next_u64() >> rng.below(64)).into_bytes(),
            _ => {
                let bytes = rng.range(1, 4) as usize;
                pieces[at] = rng.bytes(bytes);
            }
        }
        if pieces.is_empty() {
            break;
        }
    }
    pieces.concat()
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
