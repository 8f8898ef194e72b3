//! Rows of search memory outside: maps with keys that the chip has no room for are the interpreter's, however memory answers.

use crate::support;
use crate::xdp::device::{Nic, object};
use crate::xdp::engine::{Engine, MODULE, open};
use crate::xdp::outside::{CHANGE, change, engine_alone, key};
use crate::xdp::pair::Pair;
use sluice_device::Device;
use sluice_ebpf::{Image, MapSpec, MapType, Program, tenant};
use sluice_formats::limits::packet_id;
use sluice_formats::random::{Rng, test_seed};
use sluice_formats::row::Row;
use sluice_formats::target::TINY_FAR;
use sluice_formats::xdp::codes::XdpMapOp;
use sluice_formats::xdp::rows::XdpOutsideRow;
use sluice_formats::{Reason, Table};
use sluice_object::XdpMemory::{self, Chip, Outside};
use sluice_object::XdpShare;
use sluice_rtlsim::{Comparison, RtlNic, RtlOptions, Variant, top};

/// Lookups, updates and deletions of so many keys, in a map that lies where it is said.
fn changes_are_the_interpreters(name: &str, kind: MapType, entries: u32, keys: u32, place: XdpMemory) {
    if !support::has_top(&top::XDP, TINY_FAR.name, Variant::Test) {
        return;
    }
    let seed = test_seed(name);
    let options = RtlOptions { top: &top::XDP, seed, check_accounting: true, ..RtlOptions::default() };
    let device = Comparison::open(TINY_FAR.name, options, support::waves_folder()).unwrap();
    let (mut nic, mut rng) = (Nic::new(device), Rng::new(seed));
    // Packets are of many flows, so that they do not wait for each other: IPv4, and what is to be done stands a byte behind.
    let text = CHANGE.replace("*(u8 *)(r6 +14)", "*(u8 *)(r6 +15)");
    let mut object = object("change", &text, vec![MapSpec::new("flows", kind, 12, 8, entries)], &[]);
    tenant::place(&mut object, &[("flows".to_owned(), place)]).unwrap();
    nic.put(1, &object).unwrap();
    let (module, id) = (nic.module(1), nic.map(1, "flows"));
    let copies = if matches!(kind, MapType::PercpuHash) { nic.device.maps().unwrap().cpus() as usize } else { 1 };
    for number in 0..keys.saturating_sub(120) {
        nic.device.maps().unwrap().update(module, id, &key(number), &vec![7; 8 * copies], 0).unwrap();
    }
    for _ in 0..100 {
        for port in 0..4 {
            let mut packet = || {
                let op = rng.below(3) as u8;
                let mut frame = change(1, op, rng.below(keys.into()) as u32, rng.next_u64());
                frame[16..20].copy_from_slice(&[8, 0, 0x45, op]);
                frame
            };
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
    changes_are_the_interpreters("a_hash_map_of_a_million_entries", MapType::Hash, 1 << 20, 300, Outside);
}

#[test]
fn entries_that_come_and_go_while_they_are_looked_up_are_the_interpreters() {
    changes_are_the_interpreters("entries_that_come_and_go", MapType::Hash, 1 << 20, 4, Outside);
}

#[test]
fn a_full_lru_map_outside_gives_up_what_the_interpreter_gives_up() {
    changes_are_the_interpreters("a_full_lru_map_outside_gives_up", MapType::LruHash, 64, 400, Outside);
}

#[test]
fn a_full_lru_map_on_the_chip_of_an_engine_with_external_memory_gives_up_the_same() {
    changes_are_the_interpreters("a_full_lru_map_on_the_chip", MapType::LruHash, 64, 400, Chip);
}

#[test]
fn a_per_cpu_map_with_more_slots_than_the_chip_has_numbers_is_the_interpreters() {
    changes_are_the_interpreters("a_per_cpu_map_with_more_slots", MapType::PercpuHash, 70_000, 300, Outside);
}

#[test]
fn a_row_that_cannot_be_read_ends_the_packets_that_asked_and_changes_nothing() {
    let Some((mut engine, _)) = open(&TINY_FAR, "a_row_that_cannot_be_read_ends_the_packets") else { return };
    let program = sluice_ebpf::insn::assemble("change", CHANGE, &["flows"]).unwrap();
    let programs = vec![Program { section: "xdp".into(), ..program }];
    let maps = vec![MapSpec::new("flows", MapType::Hash, 12, 8, 4096)];
    let mut pair = Pair::new(&mut engine, Image { programs, maps, ..Image::default() }).unwrap();
    let untagged = |op: u8, key: u32| engine_alone(change(1, op, key, 5 + u64::from(key)));
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
    engine.nic.set_values_memory(30..=150, 200, 256, 0).unwrap();
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
    engine.nic.set_values_memory(30..=150, 200, 0, 0).unwrap();
    engine.order.clear();
    for (at, key) in (0..300).enumerate() {
        number += 1;
        pair.send(&mut engine, 0, number, &untagged(0, key));
        engine.end(at + 1);
    }
    pair.compare(&mut engine);
}

/// Longest time in the NIC of an owner's lookups on the chip, beside a tenant whose lookups all wait for memory.
#[test]
fn lookups_on_the_chip_do_not_wait_for_a_tenant_whose_rows_are_missing() {
    if !support::has_top(&top::XDP, TINY_FAR.name, Variant::Test) {
        return;
    }
    let seed = test_seed("lookups_on_the_chip_do_not_wait_for_a_tenant_whose_rows_are_missing");
    let mut rng = Rng::new(seed);
    let options = RtlOptions { top: &top::XDP, seed, check_accounting: true, ..RtlOptions::default() };
    let mut nic = Nic::given(RtlNic::open(TINY_FAR.name, options).unwrap(), |spec| {
        if spec.id == 2 {
            spec.xdp_share = Some(XdpShare { contexts: 2, memory: 1, ..XdpShare::default() });
        }
    });
    let load = |nic: &mut Nic<RtlNic>, id, entries| {
        let map = MapSpec::new("flows", MapType::Hash, 12, 8, entries);
        nic.put(id, &object("change", CHANGE, vec![map], &[])).unwrap();
        for number in 0..300.min(entries) {
            let (module, map) = (nic.module(id), nic.map(id, "flows"));
            nic.device.maps().unwrap().update(module, map, &key(number), &[7; 8], 0).unwrap();
        }
    };
    load(&mut nic, 2, 16);
    load(&mut nic, 1, 1 << 20);
    // Memory is slow.
    const LATENCY: u32 = 3_000;
    nic.device.set_values_memory(LATENCY..=LATENCY, 256, 0).unwrap();
    let (begin, mut sent, mut longest, mut others) = (nic.device.now(), 0, 0, 0);
    while nic.device.now() - begin < 100_000 {
        nic.offer(1, [change(1, 0, rng.below(300) as u32, 0)]);
        // A lookup, and sometimes a change.
        nic.offer(0, [change(2, rng.chance(1, 4).into(), rng.below(16) as u32, 5)]);
        sent += 1;
        nic.device.advance(500).unwrap();
        for outcome in nic.outcomes() {
            let Some(last) = outcome.last_out else { continue };
            let waited = last - outcome.first_in.unwrap();
            match outcome.tenant {
                Some(2) => (longest, sent) = (longest.max(waited), sent - 1),
                _ => others += u64::from(waited >= LATENCY.into()),
            }
        }
    }
    println!("longest {longest} cycles, {others} of the others waited for memory");
    assert!(sent <= 1 && longest < 400 && others > 10, "{longest} cycles, {sent} not out, {others}");
}
