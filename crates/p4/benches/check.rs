//! Speed of `check` on the programs here, with what they include, in MB of text a second. Median of the rounds.
//!
//! `cargo bench -p sluice-p4 --bench check`

use sluice_p4::Reader;
use std::path::Path;
use std::time::Instant;

const ROUNDS: usize = 21;

fn main() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/p4");
    let mut paths: Vec<_> = std::fs::read_dir(&folder).expect("it is there").flatten().map(|e| e.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|e| e == "p4"));
    paths.sort();
    println!("| program | bytes, printed | ms | MB/s |");
    println!("| --- | --- | --- | --- |");
    for path in paths {
        let reader = Reader::new().folder(folder.join("include")).define("WIDTH", "16");
        let program = reader.check(&path).expect("programs here are P4");
        // What it includes is a part of it.
        let bytes = program.to_string().len();
        let mut all: Vec<f64> = (0..ROUNDS)
            .map(|_| {
                let begin = Instant::now();
                std::hint::black_box(reader.check(&path)).expect("it was before");
                begin.elapsed().as_secs_f64()
            })
            .collect();
        all.sort_by(f64::total_cmp);
        let seconds = all[ROUNDS / 2];
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        println!("| {name} | {bytes} | {:.2} | {:.1} |", seconds * 1e3, bytes as f64 / seconds / 1e6);
    }
}
