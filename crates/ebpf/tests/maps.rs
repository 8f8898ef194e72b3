//! What programs see of maps: values behind addresses, per CPU, after changes; and LRU maps.

use sluice_device::Resumed;
use sluice_ebpf::address::{MAP_HANDLES, READ_ONLY};
use sluice_ebpf::image::map_flags::{NO_PREALLOC, RDONLY_PROG, WRONLY_PROG};
use sluice_ebpf::{Errno, MapId, MapSpace, MapSpec, MapType};
use sluice_formats::random::{Rng, test_seed};

fn spec(kind: MapType, key_size: u32, value_size: u32, max_entries: u32) -> MapSpec {
    MapSpec {
        flags: if kind == MapType::LpmTrie { NO_PREALLOC } else { 0 },
        ..MapSpec::new("test", kind, key_size, value_size, max_entries)
    }
}

fn space(spec: &MapSpec) -> (MapSpace, MapId) {
    let mut maps = MapSpace::new(2);
    let map = maps.create(spec).expect("a right declaration");
    (maps, map)
}

fn key(n: u32) -> [u8; 4] {
    n.to_le_bytes()
}

/// The value that a program finds.
fn value(maps: &mut MapSpace, map: MapId, key: &[u8], cpu: u32) -> Option<Vec<u8>> {
    let size = maps.spec(map).unwrap().value_size as usize;
    let address = maps.lookup(map, key, cpu)?;
    Some(maps.read(address.into(), size).expect("a value is readable").to_vec())
}

#[test]
fn stores_through_a_pointer_are_the_maps_value() {
    for kind in [MapType::Array, MapType::Hash, MapType::LruHash, MapType::PercpuArray, MapType::PercpuHash] {
        let (mut maps, map) = space(&spec(kind, 4, 12, 4));
        maps.update(map, &key(2), &[5; 12], 0, 1).unwrap();
        let address = u64::from(maps.lookup(map, &key(2), 1).unwrap());
        maps.write(address + 8, 4).unwrap().copy_from_slice(&[1, 2, 3, 4]);
        assert_eq!(maps.owner(address + 8), Some((map, 8)));
        assert!(maps.write(address + 9, 4).is_none() && maps.read(address + 12, 1).is_none());
        let all = maps.user_lookup(map, &key(2)).unwrap();
        let at = if kind.is_per_cpu() { 16 } else { 0 };
        assert_eq!(all[at..at + 12], [5, 5, 5, 5, 5, 5, 5, 5, 1, 2, 3, 4], "{kind:?}");
    }
}

#[test]
fn a_cpu_has_its_own_value_and_others_begin_at_zero() {
    for kind in [MapType::PercpuArray, MapType::PercpuHash, MapType::LruPercpuHash] {
        let (mut maps, map) = space(&spec(kind, 4, 4, 4));
        // What the slot held before is not seen by the entry that comes.
        maps.user_update(map, &key(1), &[9; 16], 0).unwrap();
        if kind != MapType::PercpuArray {
            maps.delete(map, &key(1)).unwrap();
        } else {
            maps.user_update(map, &key(1), &[0; 16], 0).unwrap();
        }
        maps.update(map, &key(1), &[7; 4], 0, 1).unwrap();
        assert_eq!(value(&mut maps, map, &key(1), 0), Some(vec![0; 4]));
        assert_eq!(value(&mut maps, map, &key(1), 1), Some(vec![7; 4]));
        assert_eq!(maps.user_lookup(map, &key(1)).unwrap(), [0, 0, 0, 0, 0, 0, 0, 0, 7, 7, 7, 7, 0, 0, 0, 0]);
        assert_eq!(maps.lookup(map, &key(1), 2), None, "no such CPU");
    }
}

#[test]
fn an_old_pointer_sees_the_old_value_after_a_change() {
    for (kind, flags) in [(MapType::Hash, 0), (MapType::Hash, NO_PREALLOC), (MapType::LruHash, 0)] {
        let (mut maps, map) = space(&MapSpec { flags, ..spec(kind, 4, 8, 2) });
        maps.update(map, &key(1), &[1; 8], 0, 0).unwrap();
        let old = u64::from(maps.lookup(map, &key(1), 0).unwrap());
        maps.update(map, &key(1), &[2; 8], 0, 0).unwrap();
        assert_eq!(maps.read(old, 8), Some(&[1; 8][..]));
        maps.write(old, 8).unwrap().fill(9);
        assert_eq!(value(&mut maps, map, &key(1), 0), Some(vec![2; 8]), "a late store is lost");
        assert_eq!(maps.owner(old), Some((map, 0)));
    }
}

#[test]
fn a_deleted_value_reads_as_it_was_until_its_slot_is_taken() {
    let (mut maps, map) = space(&spec(MapType::Hash, 4, 8, 2));
    maps.update(map, &key(1), &[1; 8], 0, 0).unwrap();
    let old = u64::from(maps.lookup(map, &key(1), 0).unwrap());
    maps.delete(map, &key(1)).unwrap();
    assert_eq!(maps.read(old, 8), Some(&[1; 8][..]));
    maps.update(map, &key(3), &[3; 8], 0, 0).unwrap();
    assert_eq!(maps.read(old, 8), Some(&[3; 8][..]), "the slot last freed is the first taken");
    maps.remove(map);
    assert_eq!(maps.read(old, 1), None);
}

#[test]
fn a_full_map_refuses_or_gives_up_one() {
    let full = |kind| {
        let (mut maps, map) = space(&spec(kind, 8, 4, 3));
        let key = |n: u32| [key(32), n.to_be_bytes()].concat();
        (0..3).for_each(|n| maps.update(map, &key(n), &[1; 4], 0, 0).unwrap());
        let answer = maps.update(map, &key(3), &[1; 4], 0, 0);
        let again = maps.update(map, &key(2), &[2; 4], 0, 0);
        let left = (0..4).filter(|&n| maps.user_lookup(map, &key(n)).is_ok()).count();
        (answer, again, left)
    };
    assert_eq!(full(MapType::Hash), (Err(Errno::TOOBIG), Ok(()), 3));
    assert_eq!(full(MapType::LpmTrie), (Err(Errno::NOSPC), Ok(()), 3));
    assert_eq!(full(MapType::LruHash), (Ok(()), Ok(()), 3));
}

#[test]
fn values_programs_only_read_lie_in_their_region_and_refuse_stores() {
    let rodata =
        MapSpec { flags: RDONLY_PROG, contents: Some(vec![1, 2, 3]), frozen: true, ..spec(MapType::Array, 4, 8, 1) };
    let (mut maps, map) = space(&rodata);
    let at = maps.first_value(map).unwrap();
    assert_eq!(at, READ_ONLY);
    assert_eq!(maps.read(at.into(), 8), Some(&[1, 2, 3, 0, 0, 0, 0, 0][..]));
    assert!(maps.write(at.into(), 1).is_none());
    assert_eq!(maps.user_update(map, &key(0), &[0; 8], 0), Err(Errno::PERM));

    let devmap = maps.create(&spec(MapType::Devmap, 4, 8, 4)).unwrap();
    assert_eq!(maps.lookup(devmap, &key(1), 0), None, "no interface");
    maps.user_update(devmap, &key(1), &[3, 0, 0, 0, 0, 0, 0, 0], 0).unwrap();
    let at = maps.lookup(devmap, &key(1), 0).unwrap();
    assert!(at > READ_ONLY && maps.write(at.into(), 4).is_none());
    assert_eq!((maps.read(at.into(), 4), maps.reference(devmap, 1)), (Some(&[3, 0, 0, 0][..]), Some(3)));
    assert_eq!(maps.update(devmap, &key(1), &[0; 8], 0, 0), Err(Errno::INVAL));
    assert_eq!(maps.delete(devmap, &key(1)), Err(Errno::INVAL));

    let secret = maps.create(&MapSpec { flags: WRONLY_PROG, ..spec(MapType::Array, 4, 8, 1) }).unwrap();
    let at = maps.first_value(secret).unwrap().into();
    assert!(maps.read(at, 1).is_none() && maps.write(at, 8).is_some());
    assert_eq!(maps.lookup(secret, &key(0), 0).map(u64::from), Some(at), "a program finds it, to write");
}

#[test]
fn a_spin_lock_is_never_changed_by_updates_and_never_shown() {
    for kind in [MapType::Array, MapType::Hash] {
        let (mut maps, map) = space(&MapSpec { spin_lock: Some(4), ..spec(kind, 4, 12, 1) });
        maps.user_update(map, &key(0), &[0xff; 12], 0).unwrap();
        let address = u64::from(maps.lookup(map, &key(0), 0).unwrap());
        assert_eq!(maps.read(address + 4, 4), Some(&[0; 4][..]));
        maps.write(address + 4, 4).unwrap().fill(1);
        maps.update(map, &key(0), &[7; 12], 4, 0).unwrap();
        assert_eq!(maps.read(address, 12), Some(&[7, 7, 7, 7, 1, 1, 1, 1, 7, 7, 7, 7][..]), "in place under the lock");
        assert_eq!(maps.user_lookup(map, &key(0)).unwrap(), [7, 7, 7, 7, 0, 0, 0, 0, 7, 7, 7, 7]);
    }
}

#[test]
fn an_inner_map_lives_while_a_map_holds_it() {
    let inner_spec = spec(MapType::Hash, 4, 8, 2);
    let outer_spec = MapSpec { inner: Some(Box::new(inner_spec.clone())), ..spec(MapType::HashOfMaps, 4, 4, 2) };
    let (mut maps, outer) = space(&outer_spec);
    let inner = maps.create(&inner_spec).unwrap();
    maps.user_update(outer, &key(5), &key(inner.0), 0).unwrap();
    maps.user_update(outer, &key(6), &key(inner.0), 0).unwrap();
    assert_eq!(maps.lookup(outer, &key(5), 0), Some(MAP_HANDLES + inner.0));
    maps.remove(inner);
    assert_eq!(maps.ids(), [outer]);
    assert_eq!(maps.update(inner, &key(1), &[1; 8], 0, 0), Ok(()), "a program still reaches it");
    assert_eq!(maps.user_update(outer, &key(5), &key(inner.0), 0), Err(Errno(9)), "but nobody can name it");
    maps.user_delete(outer, &key(5)).unwrap();
    assert!(maps.spec(inner).is_some());
    maps.remove(outer);
    assert!(maps.spec(inner).is_none() && maps.spec(outer).is_none());
}

#[test]
fn going_through_entries_meets_each_once_while_they_change() {
    for kind in [MapType::Array, MapType::PercpuArray, MapType::Hash, MapType::PercpuHash, MapType::LruHash] {
        let (mut maps, map) = space(&spec(kind, 4, 8, 50));
        (0..50).for_each(|n| maps.update(map, &key(n), &u64::from(n).to_le_bytes(), 0, 0).unwrap());
        let (mut cursor, mut met, mut this) = (0, Vec::new(), Vec::new());
        while let Some((next, address)) = maps.next_entry(map, cursor, 0, &mut this) {
            assert_eq!(maps.lookup(map, &this, 0), Some(address));
            met.push(u32::from_le_bytes(this[..].try_into().unwrap()));
            if met.len() % 2 == 0 && maps.delete(map, &this).is_err() {
                assert_eq!(maps.update(map, &this, &[0; 8], 0, 0), Ok(()), "an array");
            } else if met.len() % 2 == 1 {
                maps.update(map, &this, &[1; 8], 2, 0).unwrap();
            }
            cursor = next;
        }
        met.sort_unstable();
        assert_eq!(met, (0..50).collect::<Vec<_>>(), "{kind:?}");
    }
}

/// The policy of docs/design/xdp-maps.md, written as it is said there.
struct Reference {
    /// Ring: (entry, touched).
    ring: Vec<Option<(u32, bool)>>,
    hand: usize,
    aside: usize,
    free: Vec<usize>,
    fresh: usize,
    capacity: usize,
}

impl Reference {
    fn new(capacity: usize, cpus: usize) -> Self {
        Self { ring: vec![None; capacity + cpus], hand: 0, aside: 0, free: Vec::new(), fresh: cpus, capacity }
    }

    fn slot(&self, key: u32) -> Option<usize> {
        self.ring.iter().position(|entry| entry.is_some_and(|(k, _)| k == key))
    }

    fn lookup(&mut self, key: u32) -> bool {
        let slot = self.slot(key);
        if let Some(slot) = slot {
            self.ring[slot] = Some((key, true));
        }
        slot.is_some()
    }

    fn delete(&mut self, key: u32) -> bool {
        let slot = self.slot(key);
        if let Some(slot) = slot {
            self.ring[slot] = None;
            self.free.push(slot);
        }
        slot.is_some()
    }

    fn update(&mut self, key: u32) {
        if let Some(slot) = self.slot(key) {
            self.ring[slot] = None;
            let new = std::mem::replace(&mut self.aside, slot);
            self.ring[new] = Some((key, true));
            return;
        }
        if self.ring.iter().flatten().count() == self.capacity {
            loop {
                let at = self.hand;
                self.hand = (self.hand + 1) % self.ring.len();
                match &mut self.ring[at] {
                    Some((_, touched @ true)) => *touched = false,
                    Some(_) => {
                        self.ring[at] = None;
                        self.free.push(at);
                        break;
                    }
                    None => {}
                }
            }
        }
        let slot = self.free.pop().unwrap_or_else(|| {
            self.fresh += 1;
            self.fresh - 1
        });
        self.ring[slot] = Some((key, false));
    }
}

#[test]
fn an_lru_map_gives_up_what_its_policy_says() {
    let mut rng = Rng::new(test_seed("an_lru_map_gives_up_what_its_policy_says"));
    for _ in 0..30 {
        let capacity = rng.range(1, 40) as u32;
        let (mut maps, map) = space(&spec(MapType::LruHash, 4, 4, capacity));
        let mut reference = Reference::new(capacity as usize, 2);
        for _ in 0..2000 {
            let n = rng.below(u64::from(capacity) * 2) as u32;
            match rng.below(8) {
                0 => assert_eq!(maps.delete(map, &key(n)).is_ok(), reference.delete(n)),
                1..=3 => {
                    assert_eq!(maps.update(map, &key(n), &key(n), 0, 0), Ok(()));
                    reference.update(n);
                }
                4 => {
                    // The host looks without touching.
                    assert_eq!(maps.user_lookup(map, &key(n)).is_ok(), reference.slot(n).is_some());
                }
                _ => assert_eq!(maps.lookup(map, &key(n), 0).is_some(), reference.lookup(n)),
            }
            let there = |n: &u32| maps.user_lookup(map, &key(*n)) == Ok(key(*n).to_vec());
            let mut kept: Vec<u32> = reference.ring.iter().flatten().map(|(key, _)| *key).collect();
            assert!(kept.len() <= capacity as usize);
            kept.sort_unstable();
            assert_eq!((0..capacity * 2).filter(there).collect::<Vec<_>>(), kept);
        }
    }
}

#[test]
fn entries_in_use_outlive_a_scan_of_keys_seen_once() {
    let mut rng = Rng::new(test_seed("entries_in_use_outlive_a_scan_of_keys_seen_once"));
    for kind in [MapType::LruHash, MapType::LruPercpuHash] {
        let (mut maps, map) = space(&spec(kind, 4, 4, 64));
        for n in 0..32 {
            maps.update(map, &key(n), &[1; 4], 0, 0).unwrap();
        }
        for n in 1000..5000 {
            // Each of them is used before 16 new ones have come: less than the 32 that are not in use.
            for used in 0..32 {
                if n % 16 == 0 || rng.chance(1, 16) {
                    assert!(maps.lookup(map, &key(used), 0).is_some(), "{used} is in use");
                }
            }
            maps.update(map, &key(n), &[2; 4], 0, 0).unwrap();
        }
    }
}

#[test]
fn random_operations_of_wrong_sizes_and_places_are_answered() {
    let mut rng = Rng::new(test_seed("random_operations_of_wrong_sizes_and_places_are_answered"));
    let mut maps = MapSpace::new(2);
    for kind in MapType::ALL {
        let (key, value, entries) = match kind {
            MapType::Ringbuf => (0, 0, 4096),
            MapType::LpmTrie => (8, 4, 4),
            MapType::Queue | MapType::Stack => (0, 4, 4),
            _ => (4, 4, 4),
        };
        let mut declared = spec(kind, key, value, entries);
        if matches!(kind, MapType::ArrayOfMaps | MapType::HashOfMaps) {
            declared.inner = Some(Box::new(spec(MapType::Array, 4, 4, 1)));
        }
        maps.create(&declared).unwrap();
    }
    let mut buffer = Vec::new();
    for _ in 0..40_000 {
        let map = MapId(rng.below(MapType::ALL.len() as u64 + 1) as u32);
        let (mut key, mut value) = (vec![0; rng.index(10)], vec![0; [0, 3, 4, 8, 16][rng.index(5)]]);
        if rng.chance(1, 2) {
            rng.fill(&mut key);
            rng.fill(&mut value);
        }
        let (flags, cpu) = (rng.below(6), rng.below(3) as u32);
        match rng.below(9) {
            0 => drop(maps.update(map, &key, &value, flags, cpu)),
            1 => drop(maps.delete(map, &key)),
            2 => drop(maps.user_update(map, &key, &value, flags)),
            3 => drop(maps.user_delete(map, &key)),
            4 => drop(maps.user_lookup(map, &key)),
            5 => drop(maps.next_key(map, rng.chance(1, 2).then_some(&key[..]))),
            6 => drop(maps.next_entry(map, rng.next_u64() >> rng.below(64), cpu, &mut buffer)),
            7 => drop(maps.ring_output(map, &value, &mut |_| ())),
            _ => {
                let found = maps.lookup(map, &key, cpu);
                let address = found.map_or(rng.next_u64() >> rng.below(64), u64::from) + rng.below(9);
                let bytes = rng.index(12);
                if maps.read(address, bytes).is_some_and(|read| !read.is_empty()) {
                    assert!(maps.owner(address).is_some());
                }
                maps.write(address, bytes);
            }
        }
    }
}

#[test]
fn a_walk_skips_and_repeats_nothing_that_stays_when_the_key_behind_which_it_stands_comes_again_elsewhere() {
    const COUNT: u32 = 100;
    let mut elsewhere = 0;
    for steps in 1..COUNT as usize {
        let mut maps = MapSpace::new(1);
        let map = maps.create(&MapSpec::new("map", MapType::Hash, 4, 4, 2 * COUNT)).unwrap();
        for key in 0..COUNT {
            maps.user_update(map, &key.to_le_bytes(), &[0; 4], 0).unwrap();
        }
        let (mut met, mut key) = (Vec::new(), None);
        for _ in 0..steps {
            key = maps.next_key(map, key.as_deref()).unwrap();
            met.extend(key.clone());
        }
        let told = maps.order_behind(map, key.as_deref()).unwrap().unwrap();
        // All even keys and that one go, and come again in another order.
        let last = u32::from_le_bytes(key.clone().unwrap().try_into().unwrap());
        let going: Vec<u32> = (0..COUNT).filter(|key| key % 2 == 0 || *key == last).collect();
        going.iter().for_each(|key| maps.user_delete(map, &key.to_le_bytes()).unwrap());
        going.iter().rev().for_each(|key| maps.user_update(map, &key.to_le_bytes(), &[0; 4], 0).unwrap());
        elsewhere += u32::from(maps.order_behind(map, key.as_deref()).unwrap() != Some(told));
        let Resumed::Behind(mut key) = maps.resume(map, key.as_deref(), told).unwrap() else { panic!("no order") };
        while let Some(next) = maps.next_key(map, key.as_deref()).unwrap() {
            met.push(next.clone());
            key = Some(next);
        }
        let mut stayed: Vec<u32> = met.iter().map(|key| u32::from_le_bytes(key[..].try_into().unwrap())).collect();
        stayed.retain(|key| key % 2 == 1 && *key != last);
        stayed.sort_unstable();
        assert!(stayed.into_iter().eq((0..COUNT).filter(|key| key % 2 == 1 && *key != last)), "after {steps} steps");
    }
    assert!(elsewhere > 5, "{elsewhere} keys came again at another place");
}
