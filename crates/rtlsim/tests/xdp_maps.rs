//! Maps of the XDP engine do what the interpreter's do: every kind, error and slot, with the host between.

use crate::support;
use crate::xdp::engine::{Engine, MODULE, Rows, open_tiny};
use crate::xdp::pair::Pair;
use crate::xdp::together::together;
use sluice_ebpf::image::map_flags::{NO_PREALLOC, RDONLY_PROG};
use sluice_ebpf::{Image, MapSpec, MapType, Program};
use sluice_formats::Table;
use sluice_formats::limits::packet_id;
use sluice_formats::random::Rng;
use sluice_formats::row::Row;
use sluice_formats::xdp::codes::XdpMapOp;
use sluice_formats::xdp::rows::{XdpMapRow, XdpProgramRow, XdpSearchRow};
use sluice_formats::xdp::target::PAGE_ROWS;
use sluice_hxdp::{Target, compile};

/// Offsets in a packet: operation, flags, what came of it, key, value.
const OP: usize = 0;
const FLAGS: usize = 1;
const RESULT: usize = 8;
const KEY: usize = 32;
const VALUE: usize = 100;

/// Where a program has its key.
#[derive(Clone, Copy, Debug)]
enum KeyIn {
    Packet,
    Stack,
    /// In a value of an array; so is what it writes.
    Value,
    /// In the processor's own value of a per-CPU array.
    OwnValue,
}

impl KeyIn {
    const ALL: [Self; 4] = [Self::Packet, Self::Stack, Self::Value, Self::OwnValue];
}

/// Does with the map what the packet says, and writes what came of it into the packet.
fn program(map: &MapSpec, key_in: KeyIn) -> String {
    let end = VALUE + map.value_size as usize;
    let mut text = format!(
        "r6 = *(u32 *)(r1 +0)\nr2 = *(u32 *)(r1 +4)\nr3 = r6\nr3 += {end}\nif r3 > r2 goto out\n\
         r7 = *(u8 *)(r6 +{OP})\nr8 = r6\nr8 += {KEY}\n"
    );
    match key_in {
        KeyIn::Packet => {}
        KeyIn::Stack => {
            // One byte after the other; what is behind the key is not written.
            for at in 0..map.key_size {
                text += &format!("r1 = *(u8 *)(r8 +{at})\n*(u8 *)(r10 -{}) = r1\n", 75 - at as i32);
            }
            text += "r8 = r10\nr8 += -75\n";
        }
        KeyIn::Value | KeyIn::OwnValue => {
            text += match key_in {
                KeyIn::Value => "r9 = map[keys][0]+3\n",
                _ => {
                    "*(u32 *)(r10 -4) = 0\nr2 = r10\nr2 += -4\nr1 = map[own]\ncall bpf_map_lookup_elem#1\n\
                     if r0 == 0 goto out\nr9 = r0\nr9 += 3\n"
                }
            };
            for at in 0..map.key_size {
                text += &format!("r1 = *(u8 *)(r8 +{at})\n*(u8 *)(r9 +{at}) = r1\n");
            }
            text += "r8 = r9\n";
        }
    }
    let mut value = format!("r3 = r6\nr3 += {VALUE}\n");
    if matches!(key_in, KeyIn::Value) {
        value = "r3 = map[keys][0]+77\n".to_owned();
        text += "r9 = map[keys][0]+77\n";
        for at in 0..map.value_size {
            text += &format!("r1 = *(u8 *)(r6 +{})\n*(u8 *)(r9 +{at}) = r1\n", VALUE + at as usize);
        }
    }
    // Programs only look up in tries.
    let (update, delete) = match map.kind {
        MapType::LpmTrie => ("r0 = 0\n", "r0 = 0\n"),
        _ => ("call bpf_map_update_elem#2\n", "call bpf_map_delete_elem#3\n"),
    };
    let lookup = match map.kind {
        MapType::PercpuHash => "r1 = map[map]\nr2 = r8\nr3 = *(u8 *)(r6 +1)\ncall bpf_map_lookup_percpu_elem#195\n",
        _ => "r1 = map[map]\nr2 = r8\ncall bpf_map_lookup_elem#1\n",
    };
    // By an index of the packet; without entry what an earlier redirect said.
    let redirect = if matches!(map.kind, MapType::Devmap | MapType::DevmapHash) {
        format!(
            "if r7 != 5 goto lookup\nr1 = 77\nr2 = 0\nr3 = *(u8 *)(r6 +{RESULT})\nif r3 == 0 goto again\ncall bpf_redirect#23\nagain:\n\
             r1 = map[map]\nr2 = *(u32 *)(r6 +{KEY})\nr3 = *(u8 *)(r6 +{FLAGS})\ncall bpf_redirect_map#51\nr9 = *(u8 *)(r6 +{})\n\
             if r9 == 0 goto as_said\nr0 = 4\nas_said:\nexit\nlookup:\n",
            RESULT + 1
        )
    } else {
        String::new()
    };
    text += &format!(
        "if r7 == 1 goto update\nif r7 == 2 goto delete\nif r7 == 3 goto change\nif r7 == 4 goto keep\n{redirect}\
         {lookup}*(u64 *)(r6 +{RESULT}) = r0\nif r0 == 0 goto out\nr1 = *(u8 *)(r0 +0)\n*(u8 *)(r6 +{}) = r1\ngoto out\n\
         update:\nr1 = map[map]\nr2 = r8\n{value}r4 = *(u8 *)(r6 +{FLAGS})\n{update}*(u64 *)(r6 +{RESULT}) = r0\ngoto out\n\
         delete:\nr1 = map[map]\nr2 = r8\n{delete}*(u64 *)(r6 +{RESULT}) = r0\ngoto out\n",
        RESULT + 8
    );
    let last = map.value_size - 1;
    // A value is written by its pointer, but not of a map that programs only read.
    let written = if map.flags & RDONLY_PROG == 0 && !matches!(map.kind, MapType::Devmap | MapType::DevmapHash) {
        format!("r1 = *(u8 *)(r6 +{VALUE})\n*(u8 *)(r0 +{last}) = r1\n")
    } else {
        String::new()
    };
    text += &format!("change:\n{lookup}*(u64 *)(r6 +{RESULT}) = r0\nif r0 == 0 goto out\n{written}goto out\n");
    // A pointer is good after an update.
    text += &format!(
        "keep:\n{lookup}if r0 == 0 goto out\nr9 = r0\nr1 = map[map]\nr2 = r8\n{value}r4 = 0\n{update}\
         *(u64 *)(r6 +{RESULT}) = r0\nr1 = *(u8 *)(r9 +{last})\n*(u8 *)(r6 +{}) = r1\nout:\nr0 = 3\nexit\n",
        RESULT + 8
    );
    text
}

fn image(map: MapSpec, key_in: KeyIn) -> Image {
    let keys = MapSpec::new("keys", MapType::Array, 4, 77 + map.value_size, 1);
    let own = MapSpec::new("own", MapType::PercpuArray, 4, 72, 1);
    let text = program(&map, key_in);
    let maps = vec![MapSpec { name: "map".into(), ..map }, keys, own];
    let program =
        sluice_ebpf::insn::assemble("maps", &text, &["map", "keys", "own"]).unwrap_or_else(|e| panic!("{e}\n{text}"));
    Image { programs: vec![Program { section: "xdp".into(), ..program }], maps, ..Image::default() }
}

/// A packet that asks for an operation.
fn packet(map: &MapSpec, op: u8, flags: u8, key: &[u8], value: &[u8]) -> Vec<u8> {
    let mut packet = vec![0; VALUE + map.value_size as usize];
    (packet[OP], packet[FLAGS]) = (op, flags);
    packet[KEY..KEY + key.len()].copy_from_slice(key);
    packet[VALUE..].copy_from_slice(value);
    packet
}

/// Of few keys, so that they meet; of an array also indices beyond its end.
fn key(rng: &mut Rng, map: &MapSpec) -> Vec<u8> {
    let mut key = vec![0; map.key_size as usize];
    let number = rng.below(u64::from(map.max_entries) * 3 / 2 + 1);
    match map.kind {
        MapType::Array | MapType::PercpuArray | MapType::Devmap => key.copy_from_slice(&(number as u32).to_le_bytes()),
        MapType::LpmTrie => {
            // Prefixes of few addresses, so that they lie in each other; now and then one that is too long.
            let bits = 8 * (map.key_size - 4);
            let length = rng.below(u64::from(bits) + 1) as u32 + u32::from(rng.below(50) == 0) * bits;
            key[..4].copy_from_slice(&length.to_le_bytes());
            for byte in &mut key[4..] {
                *byte = [0, 0, 0x80, 0xff, 0x01][rng.index(5)];
            }
            if rng.below(2) == 0 {
                key[4..].fill(0xff);
                let at = 4 + rng.index(map.key_size as usize - 4);
                key[at] ^= 1 << rng.below(8);
            }
        }
        _ => {
            // What differs lies anywhere in the key.
            let at = (number % map.key_size as u64) as usize;
            key[at] = 1 + number as u8;
        }
    }
    key
}

/// Operations of packets and of the host in turns; everything is compared behind each few.
fn same(engine: &mut Engine, rng: &mut Rng, map: MapSpec, key_in: KeyIn, operations: usize) {
    let image = image(map.clone(), key_in);
    let Some(mut pair) = Pair::new(engine, image) else { panic!("{map:?} is there") };
    let (ready, gaps) = [(0, 0), (40, 0), (200, 100), (0, 200)][rng.index(4)];
    engine.stall(ready, gaps);
    let devices = matches!(map.kind, MapType::Devmap | MapType::DevmapHash);
    for n in 0..operations {
        let key = key(rng, &map);
        let mut value: Vec<u8> = (0..map.value_size).map(|_| rng.below(256) as u8).collect();
        if devices {
            value = (1 + rng.below(8) as u32).to_le_bytes().into();
        }
        // `BPF_F_LOCK` (4) among them, on maps without locks.
        let flags = rng.below(if devices { 3 } else { 8 }) as u8;
        match rng.below(8) {
            0 | 1 if flags < 3 && (devices || map.kind == MapType::LpmTrie) => {
                let flags = if map.kind == MapType::DevmapHash { flags & 1 } else { flags };
                pair.host(engine, XdpMapOp::Update, 0, &key, &value, flags);
            }
            0 if flags < 3 => {
                pair.host(engine, XdpMapOp::Update, 0, &key, &value, flags);
            }
            1 | 2 if matches!(map.kind, MapType::Hash | MapType::LruHash | MapType::LpmTrie) => {
                pair.host(engine, XdpMapOp::Delete, 0, &key, &[], 0);
            }
            3 => {
                pair.host(engine, XdpMapOp::Lookup, 0, &key, &[], 0);
            }
            _ => {
                let op = match (devices, map.kind) {
                    (true, _) => [0, 3, 5, 5][rng.index(4)],
                    (_, MapType::LpmTrie) => [0, 3][rng.index(2)],
                    _ => [0, 0, 1, 1, 2, 3, 4][rng.index(7)],
                };
                let mut packet = packet(&map, op, flags, &key, &value);
                if op == 5 {
                    packet[FLAGS] = [0, 1, 2, 3, 4, 64][rng.index(6)];
                    (packet[RESULT], packet[RESULT + 1]) = (rng.below(2) as u8, rng.below(2) as u8);
                }
                let port = rng.below(engine.target.ports.into()) as u8;
                pair.send(engine, port, n as u32, &packet);
                engine.end(pair.waiting());
            }
        }
        if n % 16 == 15 {
            pair.compare(engine);
        }
    }
    pair.compare(engine);
}

fn operations() -> usize {
    if support::long() { 20_000 } else { 160 }
}

#[test]
fn hash_maps_do_the_same_with_keys_of_every_length() {
    let Some((mut engine, mut rng)) = open_tiny("hash_maps_do_the_same_with_keys_of_every_length") else { return };
    let keys = [1, 3, 4, 8, 11, 12, 13, 16, 20, 28, 29, 37, 44, 45, 60, 61, 63, 64];
    for (n, key_size) in keys.into_iter().enumerate() {
        let key_in = KeyIn::ALL[n % 4];
        let value_size = [1, 4, 8, 12, 16, 24, 64, 33, 100][n % 9];
        let map = MapSpec::new("map", MapType::Hash, key_size, value_size, 1 + rng.below(20) as u32);
        same(&mut engine, &mut rng, map, key_in, operations());
    }
}

#[test]
fn lru_and_per_cpu_maps_do_the_same() {
    let Some((mut engine, mut rng)) = open_tiny("lru_and_per_cpu_maps_do_the_same") else { return };
    for (kind, entries) in [
        (MapType::LruHash, 1),
        (MapType::LruHash, 5),
        (MapType::LruHash, 62),
        (MapType::LruHash, 63),
        (MapType::LruHash, 130),
        (MapType::PercpuHash, 6),
        (MapType::LruPercpuHash, 4),
        (MapType::LruPercpuHash, 64),
        (MapType::PercpuArray, 7),
        (MapType::Array, 9),
    ] {
        let key_size = if matches!(kind, MapType::Array | MapType::PercpuArray) { 4 } else { 1 + rng.below(40) as u32 };
        for key_in in KeyIn::ALL {
            let map = MapSpec::new("map", kind, key_size, 1 + rng.below(40) as u32, entries);
            same(&mut engine, &mut rng, map, key_in, operations() / 2);
        }
    }
}

#[test]
fn maps_that_programs_only_read_and_devices_do_the_same() {
    let Some((mut engine, mut rng)) = open_tiny("maps_that_programs_only_read") else { return };
    let hash = MapSpec { flags: RDONLY_PROG, ..MapSpec::new("map", MapType::Hash, 8, 8, 5) };
    same(&mut engine, &mut rng, hash, KeyIn::Stack, operations());
    for kind in [MapType::Devmap, MapType::DevmapHash] {
        for key_in in KeyIn::ALL {
            same(&mut engine, &mut rng, MapSpec::new("map", kind, 4, 4, 6), key_in, operations() / 2);
        }
    }
}

#[test]
fn tries_that_the_host_keeps_find_the_longest_prefix() {
    let Some((mut engine, mut rng)) = open_tiny("tries_that_the_host_keeps_find_the_longest_prefix") else { return };
    for (key_size, entries) in [(5, 12), (8, 1), (8, 40), (12, 20), (13, 20), (20, 30), (28, 10), (45, 10), (64, 10)] {
        let map = MapSpec { flags: NO_PREALLOC, ..MapSpec::new("map", MapType::LpmTrie, key_size, 8, entries) };
        let key_in = KeyIn::ALL[rng.index(4)];
        same(&mut engine, &mut rng, map, key_in, 2 * operations());
    }
}

#[test]
fn operations_of_all_contexts_have_one_order() {
    let Some((mut engine, mut rng)) = open_tiny("operations_of_all_contexts_have_one_order") else { return };
    let (mut first, mut accesses) = (0, 0);
    for (kind, entries) in [
        (MapType::Hash, 3),
        (MapType::LruHash, 2),
        (MapType::LruHash, 20),
        (MapType::PercpuHash, 3),
        (MapType::LruPercpuHash, 2),
        (MapType::Array, 3),
        (MapType::PercpuArray, 3),
    ] {
        let key_size = if matches!(kind, MapType::Array | MapType::PercpuArray) { 4 } else { 1 + rng.below(20) as u32 };
        let map = MapSpec::new("map", kind, key_size, 1 + rng.below(24) as u32, entries);
        // What others may write meanwhile is no key: which of both the engine reads is not told.
        let key_in = [KeyIn::Packet, KeyIn::Stack, KeyIn::OwnValue][rng.index(3)];
        let Some(mut pair) = Pair::new(&mut engine, image(map.clone(), key_in)) else { panic!("{map:?} is there") };
        for _ in 0..operations() / 40 {
            let (ready, gaps) = [(0, 0), (40, 0), (200, 100), (0, 200)][rng.index(4)];
            engine.stall(ready, gaps);
            engine.steps.clear();
            let frame = |_| {
                let key = key(&mut rng, &map);
                let value: Vec<u8> = (0..map.value_size).map(|_| rng.below(256) as u8).collect();
                let (op, flags) = ([0, 0, 1, 1, 2, 3, 4][rng.index(7)], rng.below(8) as u8);
                (rng.below(4) as u8 % engine.target.ports as u8, packet(&map, op, flags, &key, &value))
            };
            let frames: Vec<_> = (0..30).map(frame).collect();
            accesses += together(&mut engine, &mut pair, &frames, first);
            first += frames.len() as u32;
        }
    }
    println!("{first} packets, {accesses} accesses");
    assert!(accesses > first as usize);
}

#[test]
fn rows_of_any_content_stop_nothing() {
    let Some((mut engine, mut rng)) = open_tiny("rows_of_any_content_stop_nothing") else { return };
    let mut first = 0;
    for _ in 0..operations() / 8 {
        let kind = [MapType::Hash, MapType::LruHash, MapType::LruPercpuHash, MapType::LpmTrie][rng.index(4)];
        let (key_size, value_size) = (5 + rng.below(30) as u32, 1 + rng.below(40) as u32);
        let flags = if kind == MapType::LpmTrie { NO_PREALLOC } else { 0 };
        let map = MapSpec { flags, ..MapSpec::new("map", kind, key_size, value_size, 1 + rng.below(9) as u32) };
        let Some(pair) = Pair::new(&mut engine, image(map.clone(), KeyIn::Packet)) else { panic!("{map:?} is there") };
        // The map's own row, or what it leads to.
        let noise =
            |rng: &mut Rng| [0; 4].map(|_| if rng.below(2) == 0 { rng.below(1 << 18) } else { rng.next_u64() } as u32);
        for row in 0..60 {
            let words = noise(&mut rng);
            engine.write(Table::XdpSearch, row, &XdpSearchRow { words });
        }
        if rng.below(2) == 0 {
            let mut row = pair.row(0);
            match rng.below(8) {
                0 => row.kind = rng.below(8) as u8,
                1 => row.key_bytes = rng.below(128) as u8,
                2 => row.value_bytes = rng.below(1024) as u16,
                // Walks that lead round take as many steps as there are slots.
                3 => row.slots = rng.below(2000) as u32,
                4 => (row.entry, row.bucket) = (rng.next_u64() as u16, rng.next_u64() as u16),
                5 => (row.bucket_bits, row.entry_shift) = (rng.below(16) as u8, rng.below(4) as u8),
                6 => (row.lru, row.per_cpu) = (rng.below(2) == 0, rng.below(2) == 0),
                _ => (row.shift, row.entries) = (rng.below(16) as u8, rng.next_u64() as u32),
            }
            engine.write(Table::XdpMap, 0, &row);
        }
        for n in 0..12 {
            let (key, value) = (key(&mut rng, &map), rng.bytes(map.value_size as usize));
            let frame = packet(&map, rng.below(5) as u8, rng.below(4) as u8, &key, &value);
            engine.offer(packet_id(0, first + n), MODULE, &frame);
            let op =
                [XdpMapOp::Lookup, XdpMapOp::Update, XdpMapOp::Delete, XdpMapOp::Next, XdpMapOp::Put][rng.index(5)];
            engine.map(op, 0, &key, &value, rng.below(4) as u8, rng.below(32) as u8);
        }
        first += 12;
        engine.end(12);
        engine.quiesce();
        assert_eq!(std::mem::take(&mut engine.verdicts).len(), 12, "every packet ends");
        engine.routed.clear();
        engine.order.clear();
        engine.steps.clear();
    }
}

/// What became of a packet of the module: whether it was dropped.
fn dropped(engine: &mut Engine, number: u32, frame: &[u8]) -> bool {
    engine.offer(packet_id(0, number), MODULE, frame);
    engine.end(1);
    engine.quiesce();
    engine.routed.clear();
    engine.verdicts.pop().expect("it ended").dropped
}

#[test]
fn a_map_of_another_module_ends_the_program() {
    let Some((mut engine, mut rng)) = open_tiny("a_map_of_another_module_ends_the_program") else { return };
    let map = MapSpec::new("map", MapType::Hash, 8, 8, 3);
    let _pair = Pair::new(&mut engine, image(map.clone(), KeyIn::Packet)).expect("the engine has all of it");
    let frame = packet(&map, 1, 0, &rng.bytes(8), &rng.bytes(8));
    assert!(!dropped(&mut engine, 0, &frame), "its own");
    let row = XdpMapRow::unpack(&engine.read(Table::XdpMap, 0)).unwrap();
    for (number, (what, wrong)) in (1..).zip([
        ("another module's", XdpMapRow { module_id: MODULE + 1, ..row }),
        ("nobody's", XdpMapRow { valid: false, ..row }),
        ("without a key", XdpMapRow { key_bytes: 0, ..row }),
        ("of a key longer than there are", XdpMapRow { key_bytes: 65, ..row }),
        ("without a value", XdpMapRow { value_bytes: 0, ..row }),
        ("of a value longer than there are", XdpMapRow { value_bytes: 513, ..row }),
    ]) {
        engine.write(Table::XdpMap, 0, &wrong);
        assert!(dropped(&mut engine, number, &frame), "{what}");
    }
    engine.write(Table::XdpMap, 0, &row);
    assert!(!dropped(&mut engine, 10, &frame), "its own again");
}

#[test]
fn a_processor_of_the_second_core_has_its_own_slot_aside_and_its_own_copy() {
    let Some((mut engine, _)) = open_tiny("a_processor_of_the_second_core") else { return };
    // A packet of another module goes round on the first core, for as long as those behind it need.
    let start = 8 * PAGE_ROWS as u16;
    let round = sluice_ebpf::insn::assemble("round", "r0 = 1\nround:\nr2 += 1\nif r2 != 0 goto round\nexit\n", &[]);
    let round = Image { programs: vec![Program { section: "xdp".into(), ..round.unwrap() }], ..Image::default() };
    let round = compile(&round, &round.programs[0], &Target::new(2).unwrap()).unwrap();
    let rows = Rows::new(&round, start, &[], |_| None).unwrap();
    engine.load(MODULE + 1, 0, &rows, start);
    let program = XdpProgramRow { work: 20_000, ..Engine::program(&rows, start) };
    engine.write(Table::XdpProgram, 2 * u32::from(MODULE + 1), &program);
    for kind in [MapType::Hash, MapType::PercpuHash] {
        let map = MapSpec::new("map", kind, 8, 8, 4);
        let pair = Pair::new(&mut engine, image(map.clone(), KeyIn::Packet)).expect("the engine has all of it");
        engine.offer(packet_id(0, 0), MODULE + 1, &[0; 64]);
        let (key, value) = ([7; 8], [9; 8]);
        for number in 1..3 {
            engine.offer(packet_id(0, number), MODULE, &packet(&map, 1, 0, &key, &value));
            engine.end(number as usize);
        }
        engine.end(3);
        engine.quiesce();
        let order: Vec<bool> = std::mem::take(&mut engine.verdicts).iter().map(|v| v.dropped).collect();
        assert_eq!(order, [false, false, true], "{kind:?}");
        engine.routed.clear();
        engine.order.clear();
        let memory = pair.memory(&mut engine, 0);
        let values: Vec<bool> = memory.chunks(8).map(|word| word == value).collect();
        if kind == MapType::Hash {
            // Slots 0 to 3 were aside. The new entry took 4, and the change exchanged it for the third processor's.
            let aside = XdpSearchRow::unpack(&engine.read(Table::XdpSearch, 1)).unwrap();
            assert_eq!(aside.words, [0, 1, 4, 3]);
            assert_eq!(values[..5], [false, false, true, false, true]);
        } else {
            let copies: Vec<bool> = values[..16].chunks(4).map(|copy| copy[0]).collect();
            assert_eq!(copies, [false, false, true, false], "the third copy");
        }
    }
}

/// An update whose value does not lie in one piece of memory: with byte 0 it is there, else as its number says. The answer goes into the frame.
fn update_from(kind: MapType) -> String {
    let key = "*(u64 *)(r10 -8) = 1\nr2 = r10\nr2 += -8\n";
    format!(
        "r9 = r1\nr6 = *(u32 *)(r1 +0)\nr8 = *(u32 *)(r1 +4)\nr3 = r6\nr3 += 64\nr0 = 1\nif r3 > r8 goto out\nr5 = *(u8 *)(r6 +0)\nr3 = r6\nr3 += 8\n\
         if r5 == 0 goto call\nr3 = 0\nif r5 == 1 goto call\nr3 = r8\nr3 += -23\nif r5 == 2 goto call\nr3 = r10\nr3 += -16\nif r5 == 3 goto call\n\
         r3 = r9\nif r5 == 4 goto call\nr3 = map[keys][0]+48\nif r5 == 5 goto call\nr3 = r8\ncall:\n{key}r1 = map[map]\nr4 = 0\n{}\
         *(u64 *)(r6 +40) = r0\nr0 = 3\nout:\nexit\n",
        if kind == MapType::LpmTrie { "r0 = 0\n" } else { "call bpf_map_update_elem\n" }
    )
}

#[test]
fn a_value_that_may_not_be_read_changes_nothing_and_stops_nothing() {
    let name = "a_value_that_may_not_be_read_changes_nothing_and_stops_nothing";
    let Some((mut engine, mut rng)) = open_tiny(name) else { return };
    for kind in [MapType::Array, MapType::Hash, MapType::LruHash, MapType::PercpuHash, MapType::PercpuArray] {
        let key_size = if matches!(kind, MapType::Array | MapType::PercpuArray) { 4 } else { 8 };
        let text = update_from(kind);
        let program =
            sluice_ebpf::insn::assemble("from", &text, &["map", "keys"]).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let maps = vec![MapSpec::new("map", kind, key_size, 24, 2), MapSpec::new("keys", MapType::Array, 4, 64, 1)];
        let image = Image { programs: vec![Program { section: "xdp".into(), ..program }], maps, ..Image::default() };
        let mut pair = Pair::new(&mut engine, image).expect("the engine has all of it");
        // Of a new entry first, then of one that is there.
        for (number, from) in (0..).zip([1, 2, 3, 4, 5, 6, 0, 1, 0, 2, 3, 0, 4, 5, 6, 0]) {
            let mut frame = rng.bytes(64 + rng.clone().index(16));
            frame[0] = from;
            pair.send(&mut engine, 0, number, &frame);
            assert_eq!(pair.last_fault().is_some(), from != 0, "{kind:?}, value {from}");
            engine.end(pair.waiting());
            assert_eq!(pair.compare(&mut engine), usize::from(from == 0), "{kind:?}, value {from}");
        }
    }
}
