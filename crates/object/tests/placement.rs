//! How full the match table gets, and that every placed entry is found.

use crate::common::*;
use sluice_formats::random::{Rng, test_seed};
use sluice_formats::target::DEFAULT;
use sluice_object::linker::placement::{Cuckoo, Keyed};
use sluice_object::linker::spaces::Region;
use sluice_object::{KeySpec, Linker};

/// A row that is its key.
#[derive(Clone)]
struct Entry([u8; 13]);

impl Keyed for Entry {
    type Key = [u8; 13];

    fn key(&self) -> [u8; 13] {
        self.0
    }

    fn owner(&self) -> u16 {
        0
    }
}

/// Offers random keys; returns (placed before the first refusal, placed after `offers`).
fn fill(region: Region, offers: u32, rng: &mut Rng) -> (u32, u32) {
    let mut table = Cuckoo::new(region.sets());
    let (mut placed, mut first) = (Vec::new(), None);
    for _ in 0..offers {
        let key = random_key(rng);
        match table.path_to_room(region, &key) {
            Some(path) => {
                table.make_room(&path);
                table.set(path[0], Some(Entry(key)));
                placed.push(key);
            }
            None => first = first.or(Some(placed.len() as u32)),
        }
    }
    for key in &placed {
        assert!(table.find(region, key).is_some(), "a placed key is lost");
    }
    (first.unwrap_or(placed.len() as u32), placed.len() as u32)
}

#[test]
fn load_factors() {
    let mut rng = Rng::new(test_seed("load_factors"));
    for bits in 0..=8 {
        let region = Region { base: 0, bits };
        let (mut first, mut full) = (Vec::new(), Vec::new());
        for _ in 0..50 {
            let (f, all) = fill(region, 2 * region.rows(), &mut rng);
            first.push(f);
            full.push(all);
        }
        first.sort_unstable();
        full.sort_unstable();
        let percent = |n: u32| 100.0 * f64::from(n) / f64::from(region.rows());
        println!(
            "{:>3} sets, {:>4} rows: first refusal at {:.1} % worst, {:.1} % median, {:.1} % best; \
             {:.1} % worst after offering twice the rows",
            region.sets(),
            region.rows(),
            percent(first[0]),
            percent(first[25]),
            percent(first[49]),
            percent(full[0])
        );
        // Two hashes with buckets of two rows are full for random keys at 89.7 % in the limit
        // of large tables, so no placer reaches 90 % before its first refusal every time; it
        // does when refused keys are passed over.
        if bits >= 3 {
            assert!(percent(full[0]) >= 90.0);
        }
        if bits >= 6 {
            assert!(percent(first[0]) >= 70.0 && percent(first[25]) >= 87.0);
        }
    }
}

/// How often random keys do not fit at the most entries that a number of sets is given for.
#[test]
fn full_reserves_of_random_keys() {
    let mut rng = Rng::new(test_seed("full_reserves_of_random_keys"));
    // The fourth figure is several times what was measured; 24 in 8 sets is the tiny target's all.
    for (entries, bits, rounds, most) in [
        (4, 0, 1000, 0),
        (8, 2, 20_000, 60),
        (16, 3, 20_000, 40),
        (32, 4, 20_000, 20),
        (24, 3, 20_000, 800),
        (96, 5, 20_000, 60),
        (192, 6, 4000, 10),
        (384, 7, 2000, 5),
    ] {
        let region = Region { base: 0, bits };
        let refused = (0..rounds).filter(|_| fill(region, entries, &mut rng).1 < entries).count();
        println!("{entries:>3} entries in {:>3} sets: {refused} of {rounds} refused", region.sets());
        assert!(refused <= most, "{entries} entries: {refused} of {rounds} refused, at most {most} expected");
    }
}

/// How often a whole replacement finds no place, by how much of the reserve it uses.
#[test]
fn replacements_that_fit() {
    let mut rng = Rng::new(test_seed("replacements_that_fit"));
    println!("entries of each generation, replacements of 40 tables refused: other keys / same keys, other actions");
    for used in [384, 256, 192, 128, 96, 64, 32, 16] {
        let (mut placed, mut other, mut same) = (0, 0, 0);
        let mut sets = 0;
        for _ in 0..40 {
            let mut linker = Linker::new(&DEFAULT);
            linker.admit(tenant(1, "red", used as u32, &DEFAULT)).unwrap();
            let old = random_object(&mut rng, "old", KeySpec::FIVE_TUPLE, used, &DEFAULT);
            // One table in some hundreds has no place at 16 and 96 entries.
            if linker.load(1, &old).is_err() {
                continue;
            }
            placed += 1;
            let new = random_object(&mut rng, "new", KeySpec::FIVE_TUPLE, used, &DEFAULT);
            let mut again = sluice_object::Object { name: "again".to_owned(), ..old.clone() };
            again.entries.iter_mut().for_each(|e| e.action = random_action(&mut rng, &DEFAULT));
            again.demands.queues = linker.tenant(1).unwrap().spec.queues.keys().map(|d| (*d, 0)).collect();
            other += u32::from(linker.clone().replace(1, &new).is_err());
            same += u32::from(linker.clone().replace(1, &again).is_err());
            sets = region(&linker, 1).sets();
        }
        println!("{used:>4} in {sets:>3} sets: {other:>2} / {same:>2}, {placed} placed at first");
        assert!(placed >= 37 && other <= 3, "a table finds its place within the reserve");
        assert_eq!(same, 0, "keys that fit once fit again beside themselves");
    }
}

/// Addresses and ports as people give them out, in rows, are no random keys. A CRC alone folds
/// them onto few sets, where no placer helps; the hash's mixing step spreads them.
#[test]
fn keys_in_rows_find_their_place() {
    let numbered = |spec: KeySpec, at: usize, step: u32| {
        let mut object = sluice_object::Object::new("rows", spec, sluice_object::Action::DROP);
        for n in 0..384u32 {
            let mut key = [10, 0, 0, 1, 192, 168, 0, 1, 0x13, 0x88, 0x00, 0x50, 6];
            let value = u32::from_be_bytes([0, 0, key[at], key[at + 1]]) + n * step;
            key[at..at + 2].copy_from_slice(&value.to_be_bytes()[2..]);
            object.push(key, sluice_object::Action::DROP);
        }
        object
    };
    let (mut tried, mut refused) = (0, Vec::new());
    for (name, spec, at) in [
        ("MAC", KeySpec::DMAC, 4),
        ("MAC, middle", KeySpec::DMAC, 2),
        ("source", KeySpec::FIVE_TUPLE, 2),
        ("destination", KeySpec::FIVE_TUPLE, 6),
        ("source port", KeySpec::FIVE_TUPLE, 8),
        ("destination port", KeySpec::FIVE_TUPLE, 10),
    ] {
        for step in [1, 2, 3, 4, 10, 16, 100] {
            for entries in [384, 256, 192, 96, 64, 32] {
                tried += 1;
                let mut object = numbered(spec, at, step);
                object.entries.truncate(entries);
                object.demands.entries = entries as u32;
                let mut linker = Linker::new(&DEFAULT);
                linker.admit(tenant(1, "red", entries as u32, &DEFAULT)).unwrap();
                if let Err(e) = linker.load(1, &object) {
                    refused.push(format!("{entries} of {name}, step {step}: {e}"));
                }
            }
        }
    }
    println!("rows of numbered keys refused: {} of {tried}", refused.len());
    assert!(refused.is_empty(), "{refused:#?}");
}

/// The example of docs/errors/E0228.md.
#[test]
fn more_sets_help_crowded_keys() {
    let mut object = sluice_object::Object::new("ports", KeySpec::FIVE_TUPLE, sluice_object::Action::DROP);
    for port in 8398u16..=8405 {
        let [high, low] = port.to_be_bytes();
        let key = [10, 0, 0, 1, 192, 168, 0, 1, 0x13, 0x88, high, low, 6];
        object.push(key, sluice_object::Action::DROP);
    }
    let load = |max_entries| {
        let mut linker = Linker::new(&DEFAULT);
        linker.admit(tenant(1, "red", max_entries, &DEFAULT)).unwrap();
        let sets = region(&linker, 1).half(0).sets();
        (sets, linker.load(1, &object).map(drop).map_err(|e| e.code()))
    };
    assert_eq!(load(8), (4, Err("E0228")));
    assert_eq!(load(16), (8, Ok(())));
}
