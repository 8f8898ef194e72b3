//! Damaged programs and noise: no bytes make the reader panic or take long, and what can be read prints as itself.
//!
//! SLUICE_FUZZ_SECONDS (1) is the time, SLUICE_SEED repeats a run.

#[path = "../../packet/tests/support/damaged_text.rs"]
mod damaged_text;

use sluice_formats::random::{Rng, test_seed};
use sluice_p4::Reader;
use std::path::Path;
use std::time::{Duration, Instant};

fn seconds() -> f64 {
    std::env::var("SLUICE_FUZZ_SECONDS").ok().and_then(|s| s.parse().ok()).unwrap_or(1.0)
}

fn texts() -> Vec<Vec<u8>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut all = Vec::new();
    for folder in ["tests/files", "../../programs/p4", "include"] {
        let mut paths: Vec<_> = std::fs::read_dir(root.join(folder)).unwrap().map(|e| e.unwrap().path()).collect();
        paths.retain(|path| path.extension().is_some_and(|e| e == "p4"));
        paths.sort();
        all.extend(paths.iter().map(|path| std::fs::read(path).unwrap()));
    }
    all
}

fn read(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let begin = Instant::now();
    let reader = Reader::new().text("damaged.p4", text.as_ref());
    let path = Path::new("damaged.p4");
    let checked = reader.check(path);
    let allowed = Duration::from_secs(1).mul_f64((bytes.len() as f64 / 1024.0).max(1.0));
    assert!(begin.elapsed() < allowed, "{:?} for\n{text}", begin.elapsed());
    if let Err(errors) = &checked {
        assert!(!errors.0.is_empty() && errors.0.len() <= sluice_p4::MOST_ERRORS);
        assert!(errors.to_string().contains(" --> "));
    }
    if let Ok(program) = reader.parse(path) {
        let printed = program.to_string();
        let again = Reader::new().text("printed.p4", printed.as_str()).parse(Path::new("printed.p4"));
        let again = again.unwrap_or_else(|errors| panic!("{errors}\n{printed}\nfrom\n{text}"));
        assert!(again == program, "{printed}\nfrom\n{text}");
        // Whether it is a program does not depend on how it is written.
        let checked_again = Reader::new().text("printed.p4", printed.as_str()).check(Path::new("printed.p4"));
        assert_eq!(checked_again.is_ok(), checked.is_ok(), "{printed}\nfrom\n{text}");
    }
}

#[test]
fn fuzz_p4_text() {
    let seed = test_seed("fuzz_p4_text");
    println!("seed: {seed}");
    let mut rng = Rng::new(seed);
    let texts = texts();
    let word = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
    let (begin, mut inputs) = (Instant::now(), 0u64);
    while begin.elapsed().as_secs_f64() < seconds() {
        let bytes = match rng.below(8) {
            0 => {
                let length = rng.range(0, 200) as usize;
                rng.bytes(length)
            }
            _ => damaged_text::damaged(&mut rng, &texts, word),
        };
        read(&bytes);
        inputs += 1;
    }
    println!("fuzz: {inputs} inputs");
}
