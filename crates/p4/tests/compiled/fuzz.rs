//! Programs whose text was damaged: the compiler takes them or refuses them in words and soon, and what it takes is right.
//!
//! SLUICE_FUZZ_SECONDS (1) is the time, SLUICE_SEED repeats a run.

#[path = "../../../packet/tests/support/damaged_text.rs"]
mod damaged_text;

use crate::compare::{ALONE, Came, LONG, PORTS, compare};
use crate::generate::{Size, sample};
use sluice_formats::random::{Rng, test_seed};
use sluice_p4::Reader;
use std::path::Path;
use std::time::{Duration, Instant};

/// The most that a program may take for each kilobyte of its text, its packets among it.
const MOST: Duration = Duration::from_secs(1);

/// The programs of a folder.
fn texts(folder: &Path) -> Vec<Vec<u8>> {
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|e| e == "p4"));
    paths.sort();
    paths.iter().map(|path| std::fs::read(path).unwrap()).collect()
}

#[test]
fn fuzz_programs_that_are_compiled() {
    let seed = test_seed("fuzz_compile");
    let seconds: f64 = std::env::var("SLUICE_FUZZ_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(1.0);
    let mut rng = Rng::new(seed);
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = root.join("../../programs/p4");
    let mut all = texts(&folder);
    all.extend(texts(&root.join("tests/run")));
    let size = |number| if number % 4 == 3 { Size::Wide } else { Size::Default };
    all.extend((0..32).map(|number| sample(&mut rng, size(number)).program.into_bytes()));
    let word = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
    let (begin, mut counts, mut slowest) = (Instant::now(), [0; 3], Duration::ZERO);
    while begin.elapsed().as_secs_f64() < seconds || counts[1] == 0 {
        let bytes = damaged_text::damaged(&mut rng, &all, word);
        let text = String::from_utf8_lossy(&bytes);
        let path = folder.join("damaged.p4");
        let reader = Reader::new().folder(&folder).define("LOCALS", "").define("APPLY", "hdr.h.a = hdr.h.b + 1;");
        let Ok(program) = reader.text(path.clone(), text.as_ref()).check(&path) else {
            counts[0] += 1;
            continue;
        };
        let mut packet = || {
            let length = rng.range(1, 64) as usize;
            rng.bytes(length)
        };
        let packets: Vec<(u16, Vec<u8>)> = (0..20).map(|number| (number % PORTS, packet())).collect();
        let one = Instant::now();
        match compare(&program, "", if counts[1] % 2 == 1 { LONG } else { ALONE }, &packets) {
            Came::Agreed(_) => counts[1] += 1,
            Came::Wrong(why) => panic!("{why}\n{text}"),
            Came::Refused(why) => {
                assert!(why.contains("error[E07"), "{why}\n{text}");
                counts[2] += 1;
            }
            // The reference refuses it, too, or gives a packet up.
            Came::NoProgram(_) => counts[0] += 1,
        }
        slowest = slowest.max(one.elapsed());
        let allowed = MOST.mul_f64((bytes.len() as f64 / 1024.0).max(1.0));
        assert!(one.elapsed() < allowed, "{:?} for\n{text}", one.elapsed());
    }
    let [others, agreed, refused] = counts;
    println!("fuzz: {agreed} compiled, {refused} refused, {others} no programs; the slowest took {slowest:?}");
}
