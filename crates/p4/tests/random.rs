//! Damaged programs, damaged scripts and noise: no bytes make a reader panic or take long, and what can be read prints as
//! itself. What can be read of both is run.
//!
//! SLUICE_FUZZ_SECONDS (1) is the time, SLUICE_SEED repeats a run.

#[path = "../../packet/tests/support/damaged_text.rs"]
mod damaged_text;

use sluice_formats::random::{Rng, test_seed};
use sluice_p4::stf::Script;
use sluice_p4::{Program, Reader, Undefined};
use std::path::Path;
use std::time::{Duration, Instant};

fn seconds() -> f64 {
    std::env::var("SLUICE_FUZZ_SECONDS").ok().and_then(|s| s.parse().ok()).unwrap_or(1.0)
}

fn texts(extension: &str) -> Vec<Vec<u8>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut all = Vec::new();
    for folder in ["tests/files", "tests/run", "tests/info", "../../programs/p4", "include"] {
        let mut paths: Vec<_> = std::fs::read_dir(root.join(folder)).unwrap().map(|e| e.unwrap().path()).collect();
        paths.retain(|path| path.extension().is_some_and(|e| e == extension));
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
    match checked.as_ref().map(Program::info) {
        Ok(Ok(info)) => assert!(!info.text().is_empty() && !info.binary().is_empty() && !info.json().is_empty()),
        Ok(Err(errors)) => assert!(["E0794", "E0796"].contains(&errors.code()), "{errors}"),
        Err(_) => {}
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
    let texts = texts("p4");
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

/// Runs a script, whatever is in it: its mistakes are errors with a line.
fn run(bytes: &[u8], program: &Program) {
    let text = String::from_utf8_lossy(bytes);
    let mut reference = program.reference(Undefined::Random, 1).unwrap_or_else(|errors| panic!("{errors}"));
    match Script::parse("s.stf", &text).map(|script| script.run(&mut reference)) {
        Ok(report) => assert!(report.failures.iter().all(|failure| failure.line <= text.lines().count())),
        Err(errors) => assert!(errors.to_string().contains(" --> s.stf:"), "{errors}"),
    }
}

#[test]
fn fuzz_stf_text() {
    let seed = test_seed("fuzz_stf_text");
    println!("seed: {seed}");
    let mut rng = Rng::new(seed);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let reader = Reader::new().folder(folder.join("tests/run"));
    let paths = ["tests/run/tables.p4", "tests/run/replication.p4", "tests/run/parsers.p4", "../../programs/p4/mri.p4"];
    let programs = paths.map(|path| reader.check(&folder.join(path)).unwrap_or_else(|errors| panic!("{errors}")));
    let texts = texts("stf");
    let word = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'.';
    let (begin, mut inputs) = (Instant::now(), 0u64);
    while begin.elapsed().as_secs_f64() < seconds() {
        let bytes = match rng.below(16) {
            0 => {
                let length = rng.range(0, 200) as usize;
                rng.bytes(length)
            }
            _ => damaged_text::damaged(&mut rng, &texts, word),
        };
        run(&bytes, &programs[rng.index(programs.len())]);
        inputs += 1;
    }
    println!("fuzz: {inputs} scripts");
}

/// Programs whose text was damaged and that are P4 all the same are run on packets: no panic.
#[test]
fn fuzz_programs_that_run() {
    let seed = test_seed("fuzz_programs_that_run");
    println!("seed: {seed}");
    let mut rng = Rng::new(seed);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = |name: &str| folder.join("tests/run").join(name);
    let texts: Vec<Vec<u8>> =
        ["parsers.p4", "replication.p4", "bytes.p4"].iter().map(|name| std::fs::read(path(name)).unwrap()).collect();
    let word = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
    let (begin, mut ran) = (Instant::now(), 0u64);
    while begin.elapsed().as_secs_f64() < seconds() {
        let bytes = damaged_text::damaged(&mut rng, &texts, word);
        let text = String::from_utf8_lossy(&bytes);
        let reader =
            Reader::new().text("damaged.p4", text.as_ref()).define("LOCALS", "").define("APPLY", "hdr.h.a = 1;");
        let Ok(program) = reader.check(Path::new("damaged.p4")) else { continue };
        let Ok(mut reference) = program.reference(Undefined::Random, rng.next_u64()) else { continue };
        for _ in 0..4 {
            let length = rng.range(0, 64) as usize;
            let mut packet = rng.bytes(length);
            if let Some(first) = packet.first_mut() {
                *first %= 32;
            }
            // A packet that is given up is an error, too.
            let _ = reference.packet(rng.below(9) as u16, &packet);
        }
        ran += 1;
    }
    println!("fuzz: {ran} programs ran");
    assert!(ran > 0 || seconds() < 1.0);
}
