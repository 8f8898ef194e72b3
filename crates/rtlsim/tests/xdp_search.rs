//! Rows of search memory outside: maps with keys that the chip has no room for are the interpreter's, however memory answers.

use crate::support;
use crate::xdp::device::{Nic, frame, object};
use crate::xdp::engine::{Engine, MODULE, open};
use crate::xdp::pair::Pair;
use sluice_device::Device;
use sluice_ebpf::{Image, MapSpec, MapType, Program};
use sluice_formats::limits::packet_id;
use sluice_formats::random::{Rng, test_seed};
use sluice_formats::row::Row;
use sluice_formats::target::TINY_FAR;
use sluice_formats::xdp::codes::XdpMapOp;
use sluice_formats::xdp::rows::XdpOutsideRow;
use sluice_formats::{Reason, Table};
use sluice_rtlsim::{Comparison, RtlOptions, Variant, top};

/// Makes the entry of a packet's key its number (1), takes it out (2), or shows its value. A key has 4 bytes in front of 8.
const CHANGE: &str = "r6 = *(u32 *)(r1 +0)\nr2 = *(u32 *)(r1 +4)\nr3 = r6\nr3 += 40\nr0 = 1\nif r3 > r2 goto out\n\
    r4 = *(u32 *)(r6 +16)\n*(u32 *)(r10 -12) = r4\n*(u64 *)(r10 -8) = r4\nr7 = *(u64 *)(r6 +24)\n*(u64 *)(r10 -24) = r7\n\
    r8 = *(u8 *)(r6 +14)\nr2 = r10\nr2 += -12\nr1 = map[flows]\nif r8 == 1 goto update\nif r8 == 2 goto delete\n\
    call bpf_map_lookup_elem\nif r0 == 0 goto drop\nr1 = *(u64 *)(r0 +0)\n*(u64 *)(r6 +32) = r1\nr0 = 3\nexit\n\
    update:\nr3 = r10\nr3 += -24\nr4 = 0\ncall bpf_map_update_elem\n*(u64 *)(r6 +32) = r0\nr0 = 3\nexit\n\
    delete:\ncall bpf_map_delete_elem\n*(u64 *)(r6 +32) = r0\nr0 = 3\nexit\ndrop:\nr0 = 1\nout:\nexit\n";

/// A frame for it.
fn change(vlan: u16, op: u8, key: u32, number: u64) -> Vec<u8> {
    let mut rest = vec![0];
    rest.extend(key.to_le_bytes());
    rest.extend([0; 4]);
    rest.extend(number.to_le_bytes());
    rest.extend([0; 24]);
    frame(vlan, op, &rest)
}

/// The map's key.
fn key(number: u32) -> Vec<u8> {
    [number.to_le_bytes().to_vec(), u64::from(number).to_le_bytes().to_vec()].concat()
}

fn changes_are_the_interpreters(name: &str, kind: MapType, entries: u32) {
    if !support::has_top(&top::XDP, TINY_FAR.name, Variant::Test) {
        return;
    }
    let seed = test_seed(name);
    let options = RtlOptions { top: &top::XDP, seed, check_accounting: true, ..RtlOptions::default() };
    let device = Comparison::open(TINY_FAR.name, options, support::waves_folder()).unwrap();
    let (mut nic, mut rng) = (Nic::new(device), Rng::new(seed));
    nic.put(1, &object("change", CHANGE, vec![MapSpec::new("flows", kind, 12, 8, entries)], &[])).unwrap();
    let (module, id) = (nic.module(1), nic.map(1, "flows"));
    let copies = if matches!(kind, MapType::PercpuHash) { nic.device.maps().unwrap().cpus() as usize } else { 1 };
    // An LRU map is full after a few more.
    let keys = if matches!(kind, MapType::LruHash) { entries + 60 } else { 300 };
    for number in 0..keys - 120 {
        nic.device.maps().unwrap().update(module, id, &key(number), &vec![7; 8 * copies], 0).unwrap();
    }
    for _ in 0..100 {
        for port in 0..4 {
            let mut packet = || change(1, rng.below(3) as u8, rng.below(keys.into()) as u32, rng.next_u64());
            let frames: Vec<_> = (0..3).map(|_| packet()).collect();
            nic.offer(port, frames);
        }
        nic.device.advance(rng.below(3_000)).unwrap();
        let maps = nic.device.maps().unwrap();
        let number = key(rng.below(keys.into()) as u32);
        // Both sides say the same, whatever it is: `Comparison` sees to that.
        match rng.below(3) {
            0 => drop(maps.delete(module, id, &number)),
            1 => drop(maps.update(module, id, &number, &rng.bytes(8 * copies), rng.below(3))),
            _ => drop(maps.lookup(module, id, &number)),
        }
    }
    nic.device.quiesce().unwrap();
}

#[test]
fn a_hash_map_of_a_million_entries_is_the_interpreters() {
    changes_are_the_interpreters("a_hash_map_of_a_million_entries", MapType::Hash, 1 << 20);
}

#[test]
fn a_full_lru_map_outside_gives_up_what_the_interpreter_gives_up() {
    changes_are_the_interpreters("a_full_lru_map_outside_gives_up", MapType::LruHash, 1_100);
}

#[test]
fn a_per_cpu_map_with_more_slots_than_the_chip_has_numbers_is_the_interpreters() {
    changes_are_the_interpreters("a_per_cpu_map_with_more_slots", MapType::PercpuHash, 70_000);
}

#[test]
fn a_row_that_cannot_be_read_ends_the_packets_that_asked_and_changes_nothing() {
    let Some((mut engine, _)) = open(&TINY_FAR, "a_row_that_cannot_be_read_ends_the_packets") else { return };
    let program = sluice_ebpf::insn::assemble("change", CHANGE, &["flows"]).unwrap();
    let programs = vec![Program { section: "xdp".into(), ..program }];
    let maps = vec![MapSpec::new("flows", MapType::Hash, 12, 8, 4096)];
    let mut pair = Pair::new(&mut engine, Image { programs, maps, ..Image::default() }).unwrap();
    // As an engine alone has it, without its tag.
    let untagged = |op: u8, key: u32| {
        let mut bytes = change(1, op, key, 5 + u64::from(key));
        bytes.drain(12..16);
        bytes
    };
    // More lines of chains and entries than the cache has.
    let mut number = 0;
    for key in 0..300 {
        number += 1;
        pair.send(&mut engine, 0, number, &untagged(1, key));
        engine.end(number as usize);
    }
    pair.compare(&mut engine);
    let errors = |engine: &mut Engine| XdpOutsideRow::unpack(&engine.read(Table::XdpOutside, 0)).unwrap().read_errors;
    assert_eq!(errors(&mut engine), 0);
    engine.nic.set_values_memory(30..=150, 200, 256).unwrap();
    for (at, op) in [0, 1, 2, 1].into_iter().enumerate() {
        engine.offer(packet_id(0, 500 + at as u32), MODULE, &untagged(op, at as u32));
    }
    engine.end(4);
    engine.quiesce();
    let verdicts = std::mem::take(&mut engine.verdicts);
    assert_eq!(verdicts.len(), 4);
    let aborted = |reason| Reason::from_code(reason) == Some(Reason::XdpAborted);
    assert!(verdicts.iter().all(|v| v.dropped && aborted(v.reason)), "{verdicts:?}");
    assert!(errors(&mut engine) >= 4);
    // The host is told too.
    assert_eq!(engine.map(XdpMapOp::Lookup, 0, &key(0), &[], 0, 0).0, 5);
    engine.nic.set_values_memory(30..=150, 200, 0).unwrap();
    engine.order.clear();
    for (at, key) in (0..300).enumerate() {
        number += 1;
        pair.send(&mut engine, 0, number, &untagged(0, key));
        engine.end(at + 1);
    }
    pair.compare(&mut engine);
}
