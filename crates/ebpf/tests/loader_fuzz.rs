//! Random, truncated and bit-flipped objects: nothing panics, hangs or takes memory without bound.
//!
//! Runs for `SLUICE_FUZZ_SECONDS` (1 if not set) from the seed that it prints; `SLUICE_SEED` repeats a run.

use sluice_ebpf::Image;
use sluice_ebpf::load::{load, report};
use sluice_formats::random::{Rng, test_seed};
use std::time::{Duration, Instant};

/// Names the round if it panics.
struct Round(u64, u64);

impl Drop for Round {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("failed in round {} of SLUICE_SEED={}", self.1, self.0);
        }
    }
}

/// Longest that one input may take, far above what any needs.
const HANG: Duration = Duration::from_secs(10);

fn objects() -> Vec<Vec<u8>> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/objects");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|f| f.unwrap().path()).collect();
    paths.sort();
    paths.retain(|p| p.extension().is_some_and(|e| e == "o"));
    paths.iter().map(|p| std::fs::read(p).unwrap()).collect()
}

/// Bytes that an image holds, roughly.
fn held(image: &Image) -> usize {
    let mut bytes = image.license.len() + image.btf.as_ref().map_or(0, Vec::len);
    for program in &image.programs {
        bytes += program.name.len() + program.section.len() + program.insns.len() * 12;
        bytes += program.functions.iter().map(|f| f.name.len() + size_of_val(f)).sum::<usize>();
        bytes += program.lines.values().map(|l| l.file.len() + l.text.len() + size_of_val(l)).sum::<usize>();
    }
    for map in &image.maps {
        bytes += map.name.len() + size_of_val(map) + map.initial.len() * 32;
        bytes += map.contents.as_ref().map_or(0, Vec::len);
    }
    bytes + image.refused.iter().map(|r| r.name.len() + r.error.to_string().len() + 200).sum::<usize>()
}

/// Damages bytes in up to `times` places: bits, small and extreme numbers, pieces moved, the end cut off.
fn damage(bytes: &mut Vec<u8>, times: u64, rng: &mut Rng) {
    for _ in 0..1 + rng.below(times) {
        if bytes.is_empty() {
            return;
        }
        // Headers, symbols and relocations stand at both ends.
        let at = match rng.below(3) {
            0 => rng.index(bytes.len().min(64)),
            1 => bytes.len() - 1 - rng.index(bytes.len().min(2000)),
            _ => rng.index(bytes.len()),
        };
        let end = (at + 1 + rng.index(16)).min(bytes.len());
        match rng.below(9) {
            0 | 1 => bytes[at] ^= 1 << rng.below(8),
            2 => bytes[at] = rng.next_u32() as u8,
            3 => bytes[at] = rng.below(32) as u8,
            4 => bytes[at..end].fill([0, 0xff, 0x7f, 0x80][rng.index(4)]),
            5 => {
                let piece = bytes[at..end].to_vec();
                let to = rng.index(bytes.len() - piece.len() + 1);
                bytes[to..to + piece.len()].copy_from_slice(&piece);
            }
            6 => {
                let word = (bytes.len() as u32).wrapping_add(rng.below(64) as u32).wrapping_sub(32);
                let at = at.min(bytes.len().saturating_sub(4));
                let to = (at + 4).min(bytes.len());
                bytes[at..to].copy_from_slice(&word.to_le_bytes()[..to - at]);
            }
            7 if rng.chance(1, 4) => bytes.truncate(at),
            _ => bytes[at] = bytes[at].wrapping_add([1, 8, 0xff, 0xf8][rng.index(4)]),
        }
    }
}

#[test]
fn fuzz_damaged_objects() {
    let seconds = std::env::var("SLUICE_FUZZ_SECONDS").ok().and_then(|s| s.parse().ok()).unwrap_or(1.0);
    let seed = test_seed("fuzz_damaged_objects");
    let (mut rng, objects, start) = (Rng::new(seed), objects(), Instant::now());
    let (mut rounds, mut loaded, mut codes) = (0, 0u64, std::collections::BTreeMap::new());
    while start.elapsed().as_secs_f64() < seconds {
        let _named = Round(seed, rounds);
        let mut bytes = objects[rng.index(objects.len())].clone();
        if rng.chance(1, 50) {
            let keep = rng.index(64);
            let len = rng.index(500);
            bytes.truncate(keep);
            bytes.extend(rng.bytes(len));
        } else {
            damage(&mut bytes, 6, &mut rng);
        }
        let began = Instant::now();
        match load(&bytes) {
            Ok(image) => {
                loaded += 1;
                // A small constant for source lines, and a multiple of the input.
                let most = 64 * bytes.len() + (1 << 21);
                assert!(held(&image) < most, "{} bytes of {}", held(&image), bytes.len());
                let report = report(&image);
                assert_eq!(report.programs.len(), image.programs.len());
                assert!(serde_json::to_string(&report).is_ok());
                for program in &image.programs {
                    assert!(program.maps().into_iter().all(|m| m < image.maps.len()));
                    assert!(program.functions.iter().all(|f| (f.start as usize) < program.insns.len()));
                }
                for refused in &image.refused {
                    *codes.entry(refused.error.code()).or_insert(0u64) += 1;
                }
            }
            Err(error) => {
                assert!(error.code().starts_with("E04") && !error.to_string().is_empty());
                *codes.entry(error.code()).or_insert(0) += 1;
            }
        }
        assert!(began.elapsed() < HANG, "one input took {:?}", began.elapsed());
        rounds += 1;
    }
    println!("fuzz: {rounds} inputs, {loaded} loaded, refusals {codes:?}");
    assert!(rounds < 500 || loaded > 0 && loaded < rounds, "{loaded} of {rounds} inputs were loaded");
}
