//! Values of maps in external memory: what programs see of them is the interpreter's, whenever and however memory answers.

use crate::packets;
use crate::programs;
use crate::support;
use crate::xdp::device::{Nic, array, object};
use crate::xdp::engine::{Engine, MODULE, open};
use crate::xdp::outside::{TOUCH, engine_alone, touch};
use crate::xdp::pair::Pair;
use crate::xdp::showing::showing;
use crate::xdp::together::together;
use sluice_device::Device;
use sluice_ebpf::{Image, Insn, MapSpec, MapType, Program};
use sluice_formats::limits::packet_id;
use sluice_formats::random::{Rng, test_seed};
use sluice_formats::row::Row;
use sluice_formats::target::TINY_FAR;
use sluice_formats::xdp::codes::XdpMapOp;
use sluice_formats::xdp::rows::XdpOutsideRow;
use sluice_formats::{Reason, Table};
use sluice_rtlsim::{Comparison, RtlOptions, Variant, top};

#[test]
fn random_programs_do_the_same_with_values_outside() {
    let Some((mut engine, mut rng)) = open(&TINY_FAR, "random_programs_do_the_same_with_values_outside") else {
        return;
    };
    let (mut sent, mut accesses) = (0, 0);
    let wanted = if support::long() { 125_000 } else { 2_500 };
    while sent < wanted {
        let statements = 1 + rng.below(40) as u32;
        let Some(image) = showing(programs::random(&mut rng, statements), 2 + rng.below(2) as i32) else { continue };
        // As in `xdp_core`: the follower does not know the read of a key that lies in a value.
        let key_in_value = |insn: &Insn| (insn.op, insn.dst, insn.src) == (0x18, 2, 6);
        if image.programs[0].insns.iter().any(key_in_value) {
            continue;
        }
        let Some(mut pair) = Pair::new(&mut engine, image) else { continue };
        let (ready, gaps) = [(0, 0), (40, 0), (200, 100), (0, 200)][rng.index(4)];
        engine.stall(ready, gaps);
        let least = rng.range(1, 60) as u32;
        let most = least + rng.below(200) as u32;
        engine.nic.set_values_memory(least..=most, rng.range(20, 257) as u32, 0, 0).unwrap();
        engine.steps.clear();
        let packets = 1 + rng.below(24);
        let frame = |_| (rng.below(engine.target.ports.into()) as u8, packets::frame(&mut rng));
        let frames: Vec<_> = (0..packets).map(frame).collect();
        accesses += together(&mut engine, &mut pair, &frames, sent);
        sent += frames.len() as u32;
    }
    println!("{sent} packets, {accesses} accesses of what they share");
    assert!(accesses > sent as usize / 2);
}

fn options(seed: u64) -> RtlOptions {
    RtlOptions { top: &top::XDP, seed, check_accounting: true, ..RtlOptions::default() }
}

/// RTL and interpreter in lockstep, with external memory.
fn lockstep(name: &str) -> Option<(Nic<Comparison>, Rng)> {
    let there = support::has_top(&top::XDP, TINY_FAR.name, Variant::Test);
    let seed = test_seed(name);
    let open = || Comparison::open(TINY_FAR.name, options(seed), support::waves_folder()).unwrap();
    there.then(|| (Nic::new(open()), Rng::new(seed)))
}

#[test]
fn an_array_of_33_million_elements_is_there_at_once_and_is_the_interpreters() {
    let Some((mut nic, mut rng)) = lockstep("an_array_of_33_million_elements_is_there_at_once") else { return };
    let elements = 1 << 25;
    let before = nic.device.now();
    nic.put(1, &object("touch", TOUCH, vec![array("counts", 8, elements)], &[])).unwrap();
    // Nobody writes 256 MiB of zeros.
    assert!(nic.device.now() - before < 60_000, "{} ticks", nic.device.now() - before);
    let (mut known, module, id) = (Vec::new(), nic.module(1), nic.map(1, "counts"));
    for round in 0..40 {
        for port in 0..4 {
            // New places, and those that were touched; the last one and the first one beyond.
            let mut index = |rng: &mut Rng| match rng.below(8) {
                0 => elements - 1,
                1 => elements + rng.below(2) as u32,
                2..5 if !known.is_empty() => *rng.choose(&known).unwrap(),
                _ => {
                    known.push(rng.below(elements.into()) as u32);
                    known[known.len() - 1]
                }
            };
            let frames =
                (0..4).map(|_| touch(1, rng.below(4) as u8, index(&mut rng), rng.next_u64())).collect::<Vec<_>>();
            nic.offer(port, frames);
        }
        nic.device.advance(rng.below(900)).unwrap();
        let maps = nic.device.maps().unwrap();
        let key = rng.choose(&known).unwrap().to_le_bytes();
        if round % 3 == 0 {
            maps.update(module, id, &key, &rng.next_u64().to_le_bytes(), 0).unwrap();
        }
        maps.lookup(module, id, &key).unwrap();
    }
    nic.device.quiesce().unwrap();
    for index in known.into_iter().chain([0, elements - 1]) {
        nic.number(1, "counts", index);
    }
}

#[test]
fn a_map_begins_with_zeros_where_another_tenant_had_his_values() {
    let Some((mut nic, mut rng)) = lockstep("a_map_begins_with_zeros_where_another_tenant_had_his_values") else {
        return;
    };
    // Each has more than half of external memory: only one has room.
    let elements = (300 << 20) / 8;
    let touched: Vec<u32> = (0..24).map(|n| if n < 12 { 8 * n } else { rng.below(elements.into()) as u32 }).collect();
    for id in [1, 2, 1, 3] {
        nic.put(id, &object("touch", TOUCH, vec![array("counts", 8, elements)], &[])).unwrap();
        for op in [0, 1, 0, 2, 0] {
            let frames = touched.iter().map(|index| touch(id, op, *index, rng.next_u64())).collect::<Vec<_>>();
            nic.offer(rng.below(4) as u8, frames);
            nic.device.quiesce().unwrap();
        }
        let other = object("touch", TOUCH, vec![array("counts", 8, elements)], &[]);
        let refused = nic.put(4, &other).unwrap_err().to_string();
        assert!(refused.contains("units of 64 KiB of external memory for map `counts`, 33"), "{refused}");
        nic.unload(id);
    }
}

#[test]
fn values_of_hash_maps_lie_outside_where_the_chip_has_no_room() {
    let Some((mut nic, mut rng)) = lockstep("values_of_hash_maps_lie_outside_where_the_chip_has_no_room") else {
        return;
    };
    // 100 values of 512 bytes do not fit on the small chip.
    let wide = MapSpec::new("wide", MapType::Hash, 4, 400, 100);
    let spread = MapSpec::new("spread", MapType::PercpuHash, 4, 200, 60);
    nic.put(1, &object("touch", TOUCH, vec![array("counts", 8, 6), wide, spread], &[])).unwrap();
    let module = nic.module(1);
    for _ in 0..150 {
        let id = if rng.chance(2, 3) { nic.map(1, "wide") } else { nic.map(1, "spread") };
        let copies = if id == nic.map(1, "wide") { 1 } else { 4 };
        let size = if copies == 1 { 400 } else { 4 * 200 };
        let maps = nic.device.maps().unwrap();
        let key = (rng.below(130) as u32).to_le_bytes();
        match rng.below(3) {
            // Both sides say the same, whatever it is: `Comparison` sees to that.
            0 => drop(maps.delete(module, id, &key)),
            1 => drop(maps.update(module, id, &key, &rng.bytes(size), rng.below(3))),
            _ => drop(maps.lookup(module, id, &key)),
        }
        nic.offer(0, [touch(1, 2, rng.below(7) as u32, 1)]);
        nic.device.advance(rng.below(60)).unwrap();
    }
    nic.device.quiesce().unwrap();
}

/// A program with an array outside, in the tables of an engine.
fn pair(engine: &mut Engine, elements: u32) -> Pair {
    let program = sluice_ebpf::insn::assemble("touch", TOUCH, &["counts"]).unwrap();
    let programs = vec![Program { section: "xdp".into(), ..program }];
    Pair::new(engine, Image { programs, maps: vec![array("counts", 8, elements)], ..Image::default() }).unwrap()
}

#[test]
fn an_answer_with_an_error_ends_the_packets_that_asked_and_nobody_else() {
    let Some((mut engine, mut rng)) = open(&TINY_FAR, "an_answer_with_an_error_ends_the_packets_that_asked") else {
        return;
    };
    // Twice as many lines as the cache has.
    let elements = 2 * 64 * 8;
    let mut pair = pair(&mut engine, elements);
    let mut number = 0;
    let mut send = |engine: &mut Engine, pair: &mut Pair, op: u8, index: u32| {
        number += 1;
        pair.send(engine, 0, number, &engine_alone(touch(1, op, index, 5 + u64::from(index))));
    };
    for index in (0..elements).step_by(8) {
        send(&mut engine, &mut pair, 1, index);
    }
    pair.compare(&mut engine);
    let errors = |engine: &mut Engine| XdpOutsideRow::unpack(&engine.read(Table::XdpOutside, 0)).unwrap();
    assert_eq!((errors(&mut engine).read_errors, errors(&mut engine).write_errors), (0, 0));
    // Every line fails: a load and an addition fault, and change nothing; a store asks for no line.
    engine.nic.set_values_memory(30..=150, 200, 256, 0).unwrap();
    for index in [0, 8, 16, 24] {
        let op = if index % 16 == 0 { 0 } else { 2 };
        engine.offer(packet_id(0, 500 + index), MODULE, &engine_alone(touch(1, op, index, 7)));
    }
    engine.end(4);
    engine.quiesce();
    let verdicts = std::mem::take(&mut engine.verdicts);
    assert_eq!(verdicts.len(), 4);
    assert!(
        verdicts.iter().all(|v| v.dropped && Reason::from_code(v.reason) == Some(Reason::XdpAborted)),
        "{verdicts:?}"
    );
    assert_eq!((errors(&mut engine).read_errors, errors(&mut engine).write_errors), (4, 0));
    // The host is told too.
    assert_eq!(engine.map(XdpMapOp::Lookup, 0, &0u32.to_le_bytes(), &[], 0, 0).0, 5);
    engine.nic.set_values_memory(30..=150, 200, 0, 0).unwrap();
    engine.order.clear();
    // One after the other, as in the interpreter.
    for (at, index) in (0..elements).step_by(8).enumerate() {
        send(&mut engine, &mut pair, if rng.chance(1, 2) { 0 } else { 2 }, index);
        engine.end(2 * at + 1);
        send(&mut engine, &mut pair, 0, index);
        engine.end(2 * at + 2);
    }
    pair.compare(&mut engine);
    // Writes that fail are counted.
    engine.nic.set_values_memory(30..=150, 200, 256, 0).unwrap();
    engine.offer(packet_id(0, 2000), MODULE, &engine_alone(touch(1, 1, 0, 7)));
    engine.end(1);
    engine.quiesce();
    engine.nic.run(&sluice_rtlsim::plugin::boundary::Until { max_cycles: 1000, ..Default::default() }).unwrap();
    assert_eq!(errors(&mut engine).write_errors, 1);
}
