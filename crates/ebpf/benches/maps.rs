//! Nanoseconds a map operation: lookups as programs do them, and accesses to the values.

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use sluice_ebpf::{MapId, MapSpace, MapSpec, MapType};
use sluice_formats::random::Rng;

/// Operations in one measured call.
const BATCH: usize = 1024;

fn main() {
    divan::main();
}

fn filled(kind: MapType, key_size: u32, entries: u32) -> (MapSpace, MapId, Vec<Vec<u8>>) {
    let mut maps = MapSpace::new(2);
    let spec =
        MapSpec { flags: u32::from(kind == MapType::LpmTrie), ..MapSpec::new("bench", kind, key_size, 16, entries) };
    let map = maps.create(&spec).expect("a right declaration");
    let mut rng = Rng::new(1);
    let mut keys: Vec<Vec<u8>> = (0..entries)
        .map(|i| {
            let mut key = vec![0; key_size as usize];
            if kind == MapType::LpmTrie {
                rng.fill(&mut key[4..]);
                key[0] = 8 + rng.below(25) as u8;
                key[4..8].copy_from_slice(&rng.next_u32().to_le_bytes());
            } else {
                key[..4].copy_from_slice(&i.to_le_bytes());
            }
            maps.update(map, &key, &[7; 16], 0, 0).expect("there is room");
            key
        })
        .collect();
    if kind == MapType::LpmTrie {
        keys.iter_mut().for_each(|key| key[0] = 32);
    }
    rng.shuffle(&mut keys);
    let keys = keys.iter().cycle().take(BATCH).cloned().collect();
    (maps, map, keys)
}

fn lookups(bencher: Bencher, kind: MapType, key_size: u32, entries: u32) {
    let (mut maps, map, keys) = filled(kind, key_size, entries);
    bencher.counter(ItemsCount::new(BATCH)).bench_local(|| {
        for key in &keys {
            black_box(maps.lookup(map, black_box(key), 0));
        }
    });
}

#[divan::bench]
fn lookup_array(bencher: Bencher) {
    lookups(bencher, MapType::Array, 4, 256);
}

#[divan::bench(args = [4, 8, 13, 40])]
fn lookup_hash_of_256_by_key_size(bencher: Bencher, key_size: u32) {
    lookups(bencher, MapType::Hash, key_size, 256);
}

#[divan::bench]
fn lookup_hash_of_65536(bencher: Bencher) {
    lookups(bencher, MapType::Hash, 16, 65536);
}

#[divan::bench]
fn lookup_lru_hash_of_256(bencher: Bencher) {
    lookups(bencher, MapType::LruHash, 13, 256);
}

#[divan::bench(args = [16, 1024])]
fn lookup_lpm(bencher: Bencher, entries: u32) {
    lookups(bencher, MapType::LpmTrie, 8, entries);
}

#[divan::bench]
fn update_hash_in_place(bencher: Bencher) {
    let (mut maps, map, keys) = filled(MapType::Hash, 8, 256);
    bencher.counter(ItemsCount::new(BATCH)).bench_local(|| {
        for key in &keys {
            black_box(maps.update(map, black_box(key), &[1; 16], 0, 0)).expect("it is there");
        }
    });
}

#[divan::bench]
fn insert_into_a_full_lru_hash(bencher: Bencher) {
    let (mut maps, map, _) = filled(MapType::LruHash, 8, 256);
    let mut next = 1000u64;
    bencher.counter(ItemsCount::new(BATCH)).bench_local(|| {
        for _ in 0..BATCH {
            next += 1;
            maps.update(map, &next.to_le_bytes(), &[1; 16], 0, 0).expect("an entry goes");
        }
    });
}

#[divan::bench]
fn read_8_bytes_of_a_value(bencher: Bencher) {
    let (mut maps, map, keys) = filled(MapType::Hash, 4, 256);
    let at: Vec<u64> = keys.iter().filter_map(|key| maps.lookup(map, key, 0)).map(u64::from).collect();
    bencher.counter(ItemsCount::new(BATCH)).bench_local(|| {
        for &address in &at {
            black_box(maps.read(black_box(address), 8));
        }
    });
}
