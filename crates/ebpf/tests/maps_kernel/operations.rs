//! Random operations on maps of data: the same answers, the same entries.

use super::sys::KernelMap;
use super::{kernel_cpus, spec};
use sluice_ebpf::{Errno, MapId, MapSpace, MapSpec, MapType};
use sluice_formats::random::{Rng, test_seed};
use std::collections::BTreeMap;

const NO_PREALLOC: u32 = 1;
const RDONLY: u32 = 8;
const WRONLY: u32 = 16;

/// A key and what a lookup of it gives.
type Entry = (Vec<u8>, Result<Vec<u8>, Errno>);

/// One map in the kernel and here.
struct Both {
    spec: MapSpec,
    kernel: KernelMap,
    maps: MapSpace,
    map: MapId,
    value_bytes: usize,
}

impl Both {
    fn new(spec: &MapSpec, cpus: u32) -> Self {
        let kernel = KernelMap::create(spec, None).unwrap_or_else(|e| panic!("{spec:?}: {e:?}"));
        let mut maps = MapSpace::new(cpus);
        let map = maps.create(spec).expect("the kernel takes it");
        let size = spec.value_size as usize;
        let value_bytes = if spec.kind.is_per_cpu() { size.next_multiple_of(8) * cpus as usize } else { size };
        Self { spec: spec.clone(), kernel, maps, map, value_bytes }
    }

    fn all_of_the_kernel(&self) -> Vec<Entry> {
        let mut all = Vec::new();
        let mut key = self.kernel.next_key(None, self.spec.key_size).unwrap();
        while let Some(this) = key {
            key = self.kernel.next_key(Some(&this), self.spec.key_size).unwrap();
            let value = self.kernel.lookup(&this, self.value_bytes);
            all.push((this, value));
        }
        all
    }

    fn all_of_ours(&self) -> Vec<Entry> {
        let mut all = Vec::new();
        let mut key = self.maps.next_key(self.map, None).unwrap();
        while let Some(this) = key {
            key = self.maps.next_key(self.map, Some(&this)).unwrap();
            let value = self.maps.user_lookup(self.map, &this);
            all.push((this, value));
        }
        all
    }

    fn random_value(&self, rng: &mut Rng) -> Vec<u8> {
        rng.bytes(self.value_bytes)
    }

    /// One random operation on both.
    fn step(&mut self, rng: &mut Rng, key: &[u8]) {
        match rng.below(10) {
            0..=4 => {
                let flags = [0, 0, 0, 0, 1, 2, 3, 4, 5, 8, 1 << 40][rng.index(11)];
                let value = self.random_value(rng);
                let kernel = self.kernel.update(key, &value, flags);
                let ours = self.maps.user_update(self.map, key, &value, flags);
                assert_eq!(ours, kernel, "update {key:?} flags {flags} of {:?}", self.spec);
            }
            5 | 6 => {
                let (kernel, ours) = (self.kernel.delete(key), self.maps.user_delete(self.map, key));
                assert_eq!(ours, kernel, "delete {key:?} of {:?}", self.spec);
            }
            7 => {
                let kernel = self.kernel.next_key(Some(key), self.spec.key_size);
                let ours = self.maps.next_key(self.map, Some(key));
                if sluice_ebpf::map::class(self.spec.kind) == sluice_ebpf::map::Class::Exact {
                    assert_eq!(ours, kernel, "next key of {key:?} of {:?}", self.spec);
                } else {
                    assert_eq!(ours.map(|_| ()), kernel.map(|_| ()));
                }
            }
            _ => {
                let kernel = self.kernel.lookup(key, self.value_bytes);
                assert_eq!(self.maps.user_lookup(self.map, key), kernel, "lookup {key:?} of {:?}", self.spec);
            }
        }
    }

    fn same_entries(&self) {
        let (mut kernel, mut ours) = (self.all_of_the_kernel(), self.all_of_ours());
        if sluice_ebpf::map::class(self.spec.kind) != sluice_ebpf::map::Class::Exact {
            kernel.sort_by(|a, b| a.0.cmp(&b.0));
            ours.sort_by(|a, b| a.0.cmp(&b.0));
        }
        assert_eq!(ours, kernel, "{:?}", self.spec);
    }
}

fn run(declared: &MapSpec, cpus: u32, rng: &mut Rng, steps: usize, key: &dyn Fn(&mut Rng) -> Vec<u8>) {
    let mut both = Both::new(declared, cpus);
    for i in 0..steps {
        let key = key(rng);
        both.step(rng, &key);
        if i % 256 == 255 {
            both.same_entries();
        }
    }
    both.same_entries();
}

#[test]
fn arrays_answer_as_the_kernels() {
    let Some(cpus) = kernel_cpus() else { return };
    let mut rng = Rng::new(test_seed("arrays_answer_as_the_kernels"));
    for kind in [MapType::Array, MapType::PercpuArray] {
        for value_size in [1, 4, 8, 12, 33] {
            let entries = rng.range(1, 20) as u32;
            let declared = spec(kind, 4, value_size, entries, 0);
            run(&declared, cpus, &mut rng, 2000, &move |rng| {
                (if rng.chance(1, 20) { rng.next_u32() } else { rng.below(u64::from(entries) + 2) as u32 })
                    .to_le_bytes()
                    .to_vec()
            });
        }
    }
}

#[test]
fn hash_maps_answer_as_the_kernels() {
    let Some(cpus) = kernel_cpus() else { return };
    let mut rng = Rng::new(test_seed("hash_maps_answer_as_the_kernels"));
    for kind in [MapType::Hash, MapType::PercpuHash] {
        for flags in [0, NO_PREALLOC] {
            for key_size in [1u32, 3, 4, 8, 16, 40, 512] {
                let entries = rng.range(1, 60) as u32;
                let declared = spec(kind, key_size, rng.range(1, 40) as u32, entries, flags);
                run(&declared, cpus, &mut rng, 2500, &move |rng| {
                    let mut key = vec![7; key_size as usize];
                    key[key_size as usize / 2] = rng.below(u64::from(entries) * 3 / 2 + 2) as u8;
                    key
                });
            }
        }
    }
}

#[test]
fn lru_maps_that_are_not_full_answer_as_the_kernels() {
    let Some(cpus) = kernel_cpus() else { return };
    let mut rng = Rng::new(test_seed("lru_maps_that_are_not_full_answer_as_the_kernels"));
    for kind in [MapType::LruHash, MapType::LruPercpuHash] {
        // The kernel gives each CPU free entries of its own: it is far from full with these keys.
        let declared = spec(kind, 4, 12, 4096, 0);
        run(&declared, cpus, &mut rng, 6000, &|rng| (rng.below(64) as u32).to_le_bytes().to_vec());
    }
}

#[test]
fn a_full_lru_map_takes_everything_and_never_holds_more() {
    let Some(cpus) = kernel_cpus() else { return };
    let mut rng = Rng::new(test_seed("a_full_lru_map_takes_everything_and_never_holds_more"));
    for kind in [MapType::LruHash, MapType::LruPercpuHash] {
        let declared = spec(kind, 4, 8, 200, 0);
        let mut both = Both::new(&declared, cpus);
        let mut last = BTreeMap::new();
        for _ in 0..5000 {
            let key = (rng.below(1000) as u32).to_le_bytes();
            let value = both.random_value(&mut rng);
            assert_eq!(both.kernel.update(&key, &value, 0), Ok(()));
            assert_eq!(both.maps.user_update(both.map, &key, &value, 0), Ok(()));
            last.insert(key.to_vec(), value);
            // Whatever is still there is what was written last, in both.
            assert_eq!(both.maps.user_lookup(both.map, &key).as_ref(), Ok(&last[&key[..]]));
        }
        for all in [both.all_of_the_kernel(), both.all_of_ours()] {
            assert!(all.len() <= 200, "{}", all.len());
            assert!(all.iter().all(|(key, value)| value.as_ref().is_ok_and(|v| *v == last[key])));
        }
        assert_eq!(both.all_of_ours().len(), 200, "and it is full");
    }
}

#[test]
fn tries_answer_as_the_kernels_and_in_their_order() {
    let Some(cpus) = kernel_cpus() else { return };
    let mut rng = Rng::new(test_seed("tries_answer_as_the_kernels_and_in_their_order"));
    for width in [1usize, 2, 4, 5, 8, 16, 256] {
        let entries = rng.range(1, 60) as u32;
        let declared = spec(MapType::LpmTrie, width as u32 + 4, rng.range(1, 20) as u32, entries, NO_PREALLOC);
        run(&declared, cpus, &mut rng, 4000, &move |rng| {
            let bits = width as u64 * 8;
            let length = if rng.chance(1, 30) { bits + rng.below(4) } else { rng.below(bits.min(20) + 1) } as u32;
            let mut address = vec![0; width];
            (0..3).for_each(|_| address[rng.index(width.min(3))] |= 1 << rng.below(8));
            [&length.to_le_bytes()[..], &address].concat()
        });
    }
}

#[test]
fn device_cpu_and_socket_maps_answer_as_the_kernels() {
    let Some(cpus) = kernel_cpus() else { return };
    let mut rng = Rng::new(test_seed("device_cpu_and_socket_maps_answer_as_the_kernels"));
    for kind in [MapType::Devmap, MapType::DevmapHash, MapType::Cpumap] {
        for value_size in [4, 8] {
            let entries = rng.range(1, 8) as u32;
            let declared = spec(kind, 4, value_size, entries, 0);
            let mut both = Both::new(&declared, cpus);
            for _ in 0..if kind == MapType::Cpumap { 300 } else { 3000 } {
                let key = (rng.below(u64::from(entries) + 3) as u32).to_le_bytes();
                if rng.chance(1, 2) {
                    let flags = [0, 0, 0, 1, 2, 3, 4][rng.index(7)];
                    // Interface 1 is `lo`, everywhere; a queue of 1 packet to 16,385.
                    let numbers: &[u32] =
                        if kind == MapType::Cpumap { &[0, 1, 100, 16384, 16385] } else { &[0, 1, 1, 1] };
                    let first = numbers[rng.index(numbers.len())].to_le_bytes();
                    let second = [0u32, u32::MAX][rng.index(2)].to_le_bytes();
                    let value = &[first, second].concat()[..value_size as usize];
                    let kernel = both.kernel.update(&key, value, flags);
                    let ours = both.maps.user_update(both.map, &key, value, flags);
                    assert_eq!(ours, kernel, "update {key:?} {value:?} flags {flags} of {declared:?}");
                } else {
                    let step = rng.below(3);
                    match step {
                        0 => {
                            assert_eq!(both.maps.user_delete(both.map, &key), both.kernel.delete(&key), "{declared:?}")
                        }
                        _ => assert_eq!(
                            both.maps.user_lookup(both.map, &key),
                            both.kernel.lookup(&key, value_size as usize),
                            "{declared:?}"
                        ),
                    }
                }
            }
            both.same_entries();
        }
    }
}

#[test]
fn user_access_flags_and_freezing_are_as_in_the_kernel() {
    let Some(cpus) = kernel_cpus() else { return };
    for kind in [MapType::Array, MapType::Hash, MapType::LpmTrie, MapType::PercpuArray, MapType::Devmap] {
        for access in [0, RDONLY, WRONLY] {
            for freeze in [false, true] {
                let key_size = if kind == MapType::LpmTrie { 8 } else { 4 };
                let base = u32::from(kind == MapType::LpmTrie);
                let mut declared = spec(kind, key_size, 4, 2, base | access);
                let kernel = KernelMap::create(&declared, None).unwrap();
                if freeze {
                    // A map that only this descriptor could write is refused: not of interest here.
                    let frozen = kernel.freeze();
                    declared.frozen = frozen.is_ok();
                }
                let mut maps = MapSpace::new(cpus);
                let map = maps.create(&declared).unwrap();
                let bytes = if kind.is_per_cpu() { 8 * cpus as usize } else { 4 };
                let (key, mut value) = (vec![0; key_size as usize], vec![0; bytes]);
                value[0] = 1;
                let ours = (
                    maps.user_update(map, &key, &value, 0),
                    maps.user_lookup(map, &key).map(|_| ()),
                    maps.user_delete(map, &key),
                    maps.next_key(map, None).map(|_| ()),
                );
                let theirs = (
                    kernel.update(&key, &value, 0),
                    kernel.lookup(&key, bytes).map(|_| ()),
                    kernel.delete(&key),
                    kernel.next_key(None, key_size).map(|_| ()),
                );
                assert_eq!(ours, theirs, "{declared:?}");
            }
        }
    }
}

#[test]
fn maps_without_entries_for_the_host_refuse_as_the_kernels() {
    let Some(cpus) = kernel_cpus() else { return };
    let declared = spec(MapType::Ringbuf, 0, 0, 4096, 0);
    let kernel = KernelMap::create(&declared, None).unwrap();
    let mut maps = MapSpace::new(cpus);
    let map = maps.create(&declared).unwrap();
    // bpf(2) wants a null pointer for a key of no bytes: the answers here are those behind it.
    assert_eq!(maps.next_key(map, None).map(|_| ()), kernel.next_key(None, 0).map(|_| ()));
    let (xsk, perf) = (spec(MapType::Xskmap, 4, 4, 2, 0), spec(MapType::PerfEventArray, 4, 4, 2, 0));
    for declared in [xsk, perf] {
        let both = Both::new(&declared, cpus);
        for key in [[0, 0, 0, 0], [2, 0, 0, 0]] {
            assert_eq!(both.maps.user_lookup(both.map, &key), both.kernel.lookup(&key, 4), "{declared:?}");
            let mut both = Both::new(&declared, cpus);
            assert_eq!(both.maps.user_delete(both.map, &key), both.kernel.delete(&key), "{declared:?}");
            assert_eq!(
                both.maps.user_update(both.map, &key, &[0; 4], 3),
                both.kernel.update(&key, &[0xff; 4], 3),
                "{declared:?}"
            );
        }
    }
}
