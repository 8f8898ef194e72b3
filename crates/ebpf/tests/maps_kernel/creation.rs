//! Declarations that the kernel takes and refuses, and its error numbers.

use super::sys::KernelMap;
use super::{kernel_cpus, spec};
use sluice_ebpf::{Errno, MapSpace, MapSpec, MapType};
use sluice_formats::random::{Rng, test_seed};

/// What an inner map of the matrix's maps of maps looks like.
fn inner() -> MapSpec {
    spec(MapType::Array, 4, 8, 2, 0)
}

fn declared(rng: &mut Rng) -> MapSpec {
    let kind = MapType::ALL[rng.index(MapType::ALL.len())];
    let usual = rng.chance(3, 4);
    let pick = |rng: &mut Rng, usual_ones: &[u32], odd: &[u32]| {
        let from = if usual && rng.chance(9, 10) { usual_ones } else { odd };
        from[rng.index(from.len())]
    };
    let key_usual: &[u32] = match kind {
        MapType::LpmTrie => &[5, 8, 20, 260],
        MapType::Ringbuf | MapType::Queue | MapType::Stack => &[0],
        MapType::Hash | MapType::LruHash | MapType::PercpuHash | MapType::LruPercpuHash | MapType::HashOfMaps => {
            &[1, 4, 7, 16, 512]
        }
        _ => &[4],
    };
    let value_usual: &[u32] = match kind {
        MapType::Ringbuf => &[0],
        MapType::Devmap | MapType::DevmapHash | MapType::Cpumap => &[4, 8],
        MapType::ArrayOfMaps | MapType::HashOfMaps | MapType::ProgArray | MapType::PerfEventArray | MapType::Xskmap => {
            &[4]
        }
        _ => &[1, 4, 8, 12, 100],
    };
    let mut flags = if kind == MapType::LpmTrie { 1 } else { 0 };
    if rng.chance(1, 2) {
        // Flags 5 and 9 say how the descriptor is used, not what the map is; 13 and up need more.
        let known = [0, 1, 2, 3, 4, 6, 7, 8, 10, 11, 12];
        (0..=rng.below(2)).for_each(|_| flags ^= 1 << known[rng.index(known.len())]);
    }
    let mut declared = spec(
        kind,
        pick(rng, key_usual, &[0, 1, 3, 4, 5, 8, 260, 261, 1 << 12]),
        pick(rng, value_usual, &[0, 1, 3, 4, 8, 9, 32767, 32768, 32769, (4 << 20) - 60, 5 << 20]),
        if kind == MapType::Ringbuf && usual {
            4096 << rng.below(4)
        } else {
            pick(rng, &[1, 2, 5, 8], &[0, 1, 3, 4096, 6000, 8192])
        },
        flags,
    );
    // Long values only of a few entries: how much memory there is, is no question here.
    if declared.value_size > 100 {
        declared.max_entries = declared.max_entries.min(8);
    }
    if matches!(kind, MapType::ArrayOfMaps | MapType::HashOfMaps) {
        declared.inner = Some(Box::new(inner()));
    }
    declared
}

fn kernel_most_cpus() -> u32 {
    let last = std::fs::read_to_string("/sys/devices/system/cpu/kernel_max").expect("sysfs is there");
    last.trim().parse::<u32>().expect("a number") + 1
}

#[test]
fn the_same_declarations_are_taken_and_refused() {
    let Some(cpus) = kernel_cpus() else { return };
    let template = KernelMap::create(&inner(), None).expect("a plain array");
    let mut rng = Rng::new(test_seed("the_same_declarations_are_taken_and_refused"));
    let mut taken = [0; 28];
    let mut refused = taken;
    for _ in 0..4000 {
        let declared = declared(&mut rng);
        let kernel = KernelMap::create(&declared, declared.inner.as_ref().map(|_| &template));
        let ours = MapSpace::new(cpus).create(&declared);
        let (kernel, ours) = (kernel.map(drop), ours.map(drop).map_err(|e| (e.errno(), e.to_string())));
        let count = if kernel.is_ok() { &mut taken } else { &mut refused };
        count[declared.kind as usize] += 1;
        match (&kernel, &ours) {
            // How many CPUs a kernel can have is its configuration's; a cpumap has no more entries.
            (Err(Errno::TOOBIG), Ok(())) if declared.kind == MapType::Cpumap => {
                assert!(declared.max_entries > kernel_most_cpus(), "{declared:?}");
            }
            // The kernel may have no memory for what it would take.
            (Err(Errno::NOMEM), _) => {}
            _ => assert_eq!(kernel.err(), ours.as_ref().err().map(|e| e.0), "{declared:?}: {ours:?}"),
        }
    }
    for kind in MapType::ALL {
        println!("{}: {} taken, {} refused", kind.name(), taken[kind as usize], refused[kind as usize]);
        assert!(taken[kind as usize] > 10 && refused[kind as usize] > 10, "{kind:?}");
    }
}

#[test]
fn a_declaration_at_each_limit_is_as_in_the_kernel() {
    let Some(cpus) = kernel_cpus() else { return };
    let mut cases = Vec::new();
    for key in [4, 5, 259, 260, 261] {
        cases.push(spec(MapType::LpmTrie, key, 1, 1, 1));
    }
    for entries in [0, 1, 4095, 4096, 4097, 8192, 12288, 16384] {
        cases.push(spec(MapType::Ringbuf, 0, 0, entries, 0));
    }
    for value in [32760, 32761, 32767, 32768, 32769] {
        cases.push(spec(MapType::PercpuArray, 4, value, 1, 0));
        cases.push(spec(MapType::PercpuHash, 4, value, 1, 0));
        cases.push(spec(MapType::LruPercpuHash, 4, value, 1, 0));
    }
    for total in -2..=2 {
        let room = (4 << 20) - 48;
        cases.push(spec(MapType::Hash, 4, (room - 4 + total) as u32, 1, 1));
        cases.push(spec(MapType::LruHash, 4, (room - 4 + total) as u32, 1, 0));
    }
    for kind in [MapType::Devmap, MapType::DevmapHash, MapType::Cpumap, MapType::Xskmap] {
        for value in 3..=9 {
            cases.push(spec(kind, 4, value, 2, 0));
        }
    }
    for kind in [MapType::Queue, MapType::Stack] {
        for value in [(4 << 20) - 1, 4 << 20, (4 << 20) + 1] {
            cases.push(spec(kind, 0, value, 1, 0));
        }
    }
    for declared in cases {
        let kernel = KernelMap::create(&declared, None).map(drop).err();
        let ours = MapSpace::new(cpus).create(&declared).err();
        assert_eq!(kernel, ours.as_ref().map(|e| e.errno()), "{declared:?}: {ours:?}");
    }
}

#[test]
fn an_inner_map_is_of_the_kinds_the_kernel_takes() {
    let Some(cpus) = kernel_cpus() else { return };
    let array = KernelMap::create(&inner(), None).expect("a plain array");
    for kind in MapType::ALL {
        let (key, value, entries) = match kind {
            MapType::Ringbuf => (0, 0, 4096),
            MapType::Queue | MapType::Stack => (0, 4, 1),
            MapType::LpmTrie => (8, 4, 1),
            _ => (4, 4, 1),
        };
        let mut held = spec(kind, key, value, entries, u32::from(kind == MapType::LpmTrie));
        let of_maps = matches!(kind, MapType::ArrayOfMaps | MapType::HashOfMaps);
        if of_maps {
            held.inner = Some(Box::new(inner()));
        }
        let template = KernelMap::create(&held, of_maps.then_some(&array)).expect("a right declaration");
        for outer in [MapType::ArrayOfMaps, MapType::HashOfMaps] {
            let mut declared = spec(outer, 4, 4, 2, 0);
            let kernel = KernelMap::create(&declared, Some(&template)).map(drop).err();
            declared.inner = Some(Box::new(held.clone()));
            let ours = MapSpace::new(cpus).create(&declared).map(drop).err().map(|e| e.errno());
            assert_eq!(kernel, ours, "{outer:?} of {kind:?}");
        }
    }
}
