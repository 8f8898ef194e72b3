//! Maps of maps against the kernel's.

use super::sys::KernelMap;
use super::{kernel_cpus, spec};
use sluice_ebpf::{Errno, MapId, MapSpace, MapSpec, MapType};
use sluice_formats::random::{Rng, test_seed};
use std::os::fd::AsRawFd;

/// Inner maps of all sorts, one like the first.
fn inner_maps() -> Vec<MapSpec> {
    vec![
        spec(MapType::Array, 4, 8, 2, 0),
        spec(MapType::Array, 4, 8, 2, 0),
        spec(MapType::Array, 4, 8, 3, 0),
        spec(MapType::Array, 4, 4, 2, 0),
        spec(MapType::Array, 4, 8, 2, 1 << 12),
        spec(MapType::Array, 4, 8, 3, 1 << 12),
        spec(MapType::PercpuArray, 4, 8, 2, 0),
        spec(MapType::PercpuArray, 4, 8, 3, 0),
        spec(MapType::Hash, 4, 8, 2, 0),
        spec(MapType::Hash, 4, 8, 3, 0),
        spec(MapType::Hash, 4, 8, 3, 1),
        spec(MapType::LruHash, 4, 8, 2, 0),
        spec(MapType::LpmTrie, 8, 8, 2, 1),
        spec(MapType::LpmTrie, 8, 8, 3, 1),
        spec(MapType::Devmap, 4, 4, 2, 0),
        spec(MapType::Devmap, 4, 4, 3, 0),
        spec(MapType::DevmapHash, 4, 4, 3, 0),
        spec(MapType::Xskmap, 4, 4, 2, 0),
        spec(MapType::Xskmap, 4, 4, 3, 0),
        spec(MapType::Cpumap, 4, 4, 2, 0),
        spec(MapType::Cpumap, 4, 4, 3, 0),
        spec(MapType::PerfEventArray, 4, 4, 2, 0),
        spec(MapType::PerfEventArray, 4, 4, 3, 0),
        spec(MapType::Ringbuf, 0, 0, 4096, 0),
        spec(MapType::Ringbuf, 0, 0, 8192, 0),
    ]
}

#[test]
fn an_inner_map_must_equal_its_declaration_as_in_the_kernel() {
    let Some(cpus) = kernel_cpus() else { return };
    let declared = inner_maps();
    let kernel: Vec<KernelMap> = declared.iter().map(|s| KernelMap::create(s, None).expect("right")).collect();
    let mut maps = MapSpace::new(cpus);
    let ours: Vec<MapId> = declared.iter().map(|s| maps.create(s).expect("right")).collect();
    let mut taken = 0;
    for kind in [MapType::ArrayOfMaps, MapType::HashOfMaps] {
        for (template, template_map) in declared.iter().zip(&kernel) {
            let mut outer = spec(kind, 4, 4, 2, 0);
            let kernel_outer = KernelMap::create(&outer, Some(template_map)).expect("right");
            outer.inner = Some(Box::new(template.clone()));
            let our_outer = maps.create(&outer).expect("right");
            for (i, candidate) in declared.iter().enumerate() {
                let fd = kernel[i].0.as_raw_fd().to_le_bytes();
                let theirs = kernel_outer.update(&[0; 4], &fd, 0);
                let here = maps.user_update(our_outer, &[0; 4], &ours[i].0.to_le_bytes(), 0);
                assert_eq!(here, theirs, "{candidate:?} in a {kind:?} of {template:?}");
                taken += u32::from(here.is_ok());
            }
        }
    }
    assert!(taken >= 2 * declared.len() as u32, "each is equal to itself");
}

#[test]
fn maps_of_maps_answer_as_the_kernels() {
    let Some(cpus) = kernel_cpus() else { return };
    let mut rng = Rng::new(test_seed("maps_of_maps_answer_as_the_kernels"));
    let (good, wrong) = (spec(MapType::Hash, 4, 8, 2, 0), spec(MapType::Hash, 4, 4, 2, 0));
    for kind in [MapType::ArrayOfMaps, MapType::HashOfMaps] {
        let kernel_inner: Vec<KernelMap> =
            [&good, &good, &wrong].map(|s| KernelMap::create(s, None).expect("right")).into();
        let mut maps = MapSpace::new(cpus);
        let inner: Vec<MapId> = [&good, &good, &wrong].map(|s| maps.create(s).expect("right")).into();
        let mut outer = spec(kind, 4, 4, 5, 0);
        let kernel = KernelMap::create(&outer, Some(&kernel_inner[0])).expect("right");
        outer.inner = Some(Box::new(good.clone()));
        let map = maps.create(&outer).expect("right");
        for _ in 0..3000 {
            let key = (rng.below(8) as u32).to_le_bytes();
            match rng.below(4) {
                0 => assert_eq!(maps.user_delete(map, &key), kernel.delete(&key), "{kind:?} {key:?}"),
                1 => {
                    let there = |found: Result<Vec<u8>, Errno>| found.map(|value| value.len());
                    assert_eq!(there(maps.user_lookup(map, &key)), there(kernel.lookup(&key, 4)), "{kind:?}");
                }
                _ => {
                    let flags = [0, 0, 0, 1, 2, 3, 4, 8][rng.index(8)];
                    let which = rng.index(4);
                    // The last is no map at all.
                    let fd = kernel_inner.get(which).map_or(-1, |m| m.0.as_raw_fd()).to_le_bytes();
                    let id = inner.get(which).map_or(u32::MAX, |m| m.0).to_le_bytes();
                    let (theirs, ours) = (kernel.update(&key, &fd, flags), maps.user_update(map, &key, &id, flags));
                    assert_eq!(ours, theirs, "{kind:?} {key:?} flags {flags} map {which}");
                }
            }
        }
    }
}

#[test]
fn program_arrays_refuse_as_the_kernels() {
    let Some(cpus) = kernel_cpus() else { return };
    let declared = spec(MapType::ProgArray, 4, 4, 2, 0);
    let kernel = KernelMap::create(&declared, None).expect("right");
    let mut maps = MapSpace::new(cpus);
    let map = maps.create(&declared).expect("right");
    for key in [[0, 0, 0, 0], [2, 0, 0, 0]] {
        assert_eq!(maps.user_lookup(map, &key), kernel.lookup(&key, 4));
        assert_eq!(maps.user_delete(map, &key), kernel.delete(&key));
        for flags in [1, 2, 3] {
            assert_eq!(maps.user_update(map, &key, &[0; 4], flags), kernel.update(&key, &[0xff; 4], flags));
        }
    }
    assert_eq!(maps.user_update(map, &[2, 0, 0, 0], &[0; 4], 0), kernel.update(&[2, 0, 0, 0], &[0xff; 4], 0));
    // With a program there, as the kernel: once deleted, and once not found.
    assert_eq!(maps.user_update(map, &[1, 0, 0, 0], &[7, 0, 0, 0], 0), Ok(()));
    assert_eq!((maps.user_lookup(map, &[1, 0, 0, 0]), maps.reference(map, 1)), (Ok(vec![7, 0, 0, 0]), Some(7)));
    assert_eq!(
        (maps.user_delete(map, &[1, 0, 0, 0]), maps.user_delete(map, &[1, 0, 0, 0])),
        (Ok(()), Err(Errno::NOENT))
    );
}
