//! Limits of the kernel, against it: counts of loops and tail calls, room of LRU maps, sizes that loaders complete.

use sluice_ebpf::kernel::{Differential, KernelMap, Pinned, TestInput, available};
use sluice_ebpf::load::load;
use sluice_ebpf::map::as_libbpf_creates;
use sluice_ebpf::vm::Ingress;
use sluice_ebpf::{FaultReason, Image, MapSpace, MapSpec, MapType, Packet, Runtime};
use std::collections::BTreeSet;

fn image() -> Image {
    load(include_bytes!("objects/limits.o")).unwrap_or_else(|e| panic!("{e}"))
}

/// Runs one program on both sides; the results that both have then.
fn results(name: &str) -> Option<Vec<i64>> {
    if let Err(why) = available() {
        println!("skipped: {why}");
        return None;
    }
    let _pinned = Pinned::to(0).unwrap();
    let image = image();
    let mut both = Differential::new(&image).unwrap_or_else(|e| panic!("{}", e.0));
    both.restore().unwrap_or_else(|e| panic!("{}", e.0));
    both.run(image.program(name).unwrap(), &TestInput::frame(&[0; 64])).unwrap_or_else(|e| panic!("{}", e.0));
    both.compare_maps().unwrap_or_else(|e| panic!("{}", e.0));
    let map = both.map("results").unwrap();
    Some(both.contents(map).iter().map(|(_, value)| i64::from_le_bytes(value[..].try_into().unwrap())).collect())
}

#[test]
fn a_loop_of_more_than_8388608_rounds_does_none() {
    if let Some(found) = results("loops") {
        assert_eq!(found, [-7, 6, 3, 9]);
    }
}

/// The kernel goes on, 33 times: each program has its own eight frames there. Ours share them, as in hardware.
#[test]
fn functions_that_tail_call_in_circles_end_with_the_eighth_frame() {
    let mut image = image();
    image.maps.iter_mut().for_each(|map| *map = as_libbpf_creates(map, 1));
    let mut runtime = Runtime::new(1, 0);
    let installed = runtime.install(&image, &|_| None).unwrap();
    let (mut packet, ingress) = (Packet::new(&[0; 64]), Ingress { ifindex: 1, queue: 0 });
    let outcome = runtime.run(installed, image.program("again").unwrap(), &mut packet, ingress);
    assert_eq!(outcome.fault.map(|fault| fault.reason), Some(FaultReason::CallDepth { limit: 8 }));
}

#[test]
fn a_perf_event_array_without_sizes_has_those_that_all_have() {
    let image = image();
    let events = image.maps.iter().find(|m| m.name == "events").unwrap();
    assert_eq!((events.kind, events.key_size, events.value_size), (MapType::PerfEventArray, 4, 4));
    // Its events are compared with the kernel's.
    results("emits");
}

#[test]
fn an_lru_map_keeps_as_many_keys_as_it_has_room_for_and_all_that_the_kernel_keeps() {
    let _pinned = Pinned::to(0).ok();
    for entries in [1, 2, 7, 64, 129, 1000, 4096] {
        let spec = MapSpec::new("lru", MapType::LruHash, 4, 8, entries);
        let mut space = MapSpace::new(2);
        let map = space.create(&spec).unwrap();
        let kernel = available().ok().map(|()| KernelMap::create(&spec, None).unwrap());
        for key in 0..entries {
            space.user_update(map, &key.to_le_bytes(), &[7; 8], 0).unwrap();
            kernel.iter().for_each(|kernel| kernel.update(&key.to_le_bytes(), &[7; 8], 0).unwrap());
        }
        let here: BTreeSet<Vec<u8>> = sluice_ebpf::state::keys(&space, map).into_iter().collect();
        assert_eq!(here.len(), entries as usize);
        let there = kernel.map_or_else(Vec::new, |kernel| kernel.entries().unwrap());
        assert!(there.iter().all(|(key, _)| here.contains(key)), "{entries}: the kernel keeps what is not here");
        println!("{entries} keys: the kernel keeps {}", there.len());
    }
}
