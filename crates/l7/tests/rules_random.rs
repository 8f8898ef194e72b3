//! Random and damaged rules: what is printed reads back as the same, and no bytes make the reader panic or take long.
//!
//! SLUICE_FUZZ_SECONDS (1) is the time, SLUICE_SEED repeats a run.

#[path = "../../packet/tests/support/damaged_text.rs"]
mod damaged_text;

use arbtest::arbitrary::{Result as Drawn, Unstructured};
use sluice_formats::random::{Rng, test_seed};
use sluice_l7::rules::{MOST_BYTES, MOST_ERRORS, Rules, read, read_bytes};
use sluice_l7::testing::{Limits, rules};
use std::path::Path;
use std::time::{Duration, Instant};

fn seconds() -> f64 {
    std::env::var("SLUICE_FUZZ_SECONDS").ok().and_then(|s| s.parse().ok()).unwrap_or(1.0)
}

fn reads_back(found: &Rules) {
    let text = found.to_string();
    let again = read("printed.l7", &text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    assert_eq!(again.clone().without_lines(), found.clone().without_lines(), "{text}");
    assert_eq!(again.to_string(), text);
}

#[test]
fn rules_that_are_printed_read_back_as_the_same_rules() {
    let property = |u: &mut Unstructured<'_>| -> Drawn<()> {
        let mut rng = Rng::new(u.arbitrary()?);
        reads_back(&rules(&mut rng, &Limits::default()));
        Ok(())
    };
    arbtest::arbtest(property).budget_ms(500).run();
}

#[test]
fn any_bytes_are_answered() {
    let property = |u: &mut Unstructured<'_>| -> Drawn<()> {
        let bytes: Vec<u8> = u.arbitrary()?;
        if let Err(errors) = read_bytes("noise.l7", &bytes) {
            assert!((1..=MOST_ERRORS).contains(&errors.0.len()));
            assert!(errors.to_string().contains("noise.l7:"));
        }
        Ok(())
    };
    arbtest::arbtest(property).budget_ms(300).run();
}

#[test]
fn the_time_of_reading_is_bounded_whatever_a_file_repeats() {
    let rule = "rule f ~ \"/a.{9}b*/$\" | \"x\" -> group g\n";
    let head = "application x { port 1 id 1 default drop stop \"/\" message m = 1 { field f = 1\n";
    let tail = "} } group g by f { queue 1 }\n";
    let fill = |head: &str, piece: &str, tail: &str| {
        let count = (MOST_BYTES - head.len() - tail.len()) / piece.len();
        format!("{head}{}{tail}", piece.repeat(count))
    };
    let mut numbered = String::new();
    for n in 0.. {
        let next = format!("group g{n} {{ queue 1 }} application x{n} {{ port {} id 1 default group g{n} }}\n", n + 1);
        if n == 256 || numbered.len() + next.len() > MOST_BYTES {
            break;
        }
        numbered += &next;
    }
    let slow = Duration::from_secs(5);
    for (text, passes) in [
        (fill(head, rule, tail), true),
        (fill("", "{", ""), false),
        (fill("", "}", ""), false),
        (fill(head, "rule r: f ~ \"x\" -> drop\n", tail), false),
        (fill("raw r { port 1 default drop rule \"", "*", "\" -> drop }"), false),
        (fill("raw r { port 1 default drop rule \"", ".{1", "\" -> drop }"), false),
        (fill("raw r { port 1 default drop rule \"x\"", " | \"x\"", " -> drop }"), true),
        (fill("", "\"", ""), false),
        (fill("", "\"\n", ""), false),
        (fill("", "'", ""), false),
        (fill("raw r { port 1 default drop stop", " \"/\"", "}"), false),
        (numbered, true),
    ] {
        let begin = Instant::now();
        let result = read("long.l7", &text);
        assert_eq!(result.is_ok(), passes, "{:.60}: {}", text, result.err().map_or(String::new(), |e| e.to_string()));
        let taken = begin.elapsed();
        assert!(taken < slow, "{taken:?} for {:.60}", text);
    }
}

fn damaged(rng: &mut Rng, all: &[Vec<u8>]) -> Vec<u8> {
    damaged_text::damaged(rng, all, |b| b.is_ascii_alphanumeric() || b == b'_')
}

#[test]
fn fuzz_l7_rules() {
    let mut rng = Rng::new(test_seed("fuzz_l7_rules"));
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/l7");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|f| f.unwrap().path()).collect();
    files.retain(|f| f.extension().is_some_and(|e| e == "l7"));
    files.sort();
    let shipped: Vec<_> = files.iter().map(|f| std::fs::read(f).unwrap()).collect();
    let end = Instant::now() + Duration::from_secs_f64(seconds());
    let (mut inputs, mut passed) = (0u64, 0u64);
    while Instant::now() < end {
        inputs += 1;
        match read_bytes("fuzz.l7", &damaged(&mut rng, &shipped)) {
            Ok(rules) => {
                passed += 1;
                reads_back(&rules);
            }
            Err(errors) => {
                assert!((1..=MOST_ERRORS).contains(&errors.0.len()));
                assert!(!errors.to_string().is_empty());
            }
        }
    }
    println!("fuzz: {inputs} inputs, {passed} passed");
}
