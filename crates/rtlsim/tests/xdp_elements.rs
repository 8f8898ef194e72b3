//! Queues and stacks of the XDP engine do what the interpreter's do: elements of every length from and to every memory, errors, all contexts at once, the host between.

use crate::support;
use crate::xdp::engine::{Engine, open_tiny};
use crate::xdp::pair::Pair;
use crate::xdp::together::together;
use sluice_ebpf::image::map_flags::{RDONLY_PROG, WRONLY_PROG};
use sluice_ebpf::{Image, MapSpec, MapType, Program};
use sluice_formats::random::Rng;
use sluice_formats::xdp::codes::XdpMapOp;

/// Offsets in a packet: operation, flags, what came of it, element.
const OP: usize = 0;
const FLAGS: usize = 1;
const RESULT: usize = 8;
const VALUE: usize = 16;

/// Where a program has its element.
#[derive(Clone, Copy, Debug)]
enum In {
    Packet,
    Stack,
    /// In the processor's own value of a per-CPU array, which nobody else writes meanwhile.
    Value,
    /// Where the last byte is not the program's any more.
    Beyond,
}

/// Does with the map what the packet says: 0 push, 1 pop, 2 peek, 3 pop and then push what was popped.
fn program(map: &MapSpec, element: In) -> String {
    let size = map.value_size;
    let mut text = format!(
        "r6 = *(u32 *)(r1 +0)\nr2 = *(u32 *)(r1 +4)\nr3 = r6\nr3 += {}\nif r3 > r2 goto out\n\
         r7 = *(u8 *)(r6 +{OP})\nr9 = *(u8 *)(r6 +{FLAGS})\n",
        VALUE as u32 + size
    );
    let bytes = |from: &str, at: usize, to: &str| {
        let copy = |n: u32| format!("r1 = *(u8 *)({from} +{})\n*(u8 *)({to} +{n}) = r1\n", at as u32 + n);
        (0..size).map(copy).collect::<String>()
    };
    let back = |from: &str| {
        let copy = |n: u32| format!("r1 = *(u8 *)({from} +{n})\n*(u8 *)(r6 +{}) = r1\n", VALUE as u32 + n);
        (0..size).map(copy).collect::<String>()
    };
    text += &match element {
        In::Packet => format!("r8 = r6\nr8 += {VALUE}\n"),
        In::Stack => format!("r8 = r10\nr8 += -{}\n{}", size + 3, bytes("r6", VALUE, "r8")),
        In::Value => format!(
            "*(u32 *)(r10 -4) = 0\nr2 = r10\nr2 += -4\nr1 = map[own]\ncall bpf_map_lookup_elem#1\nif r0 == 0 goto out\nr8 = r0\nr8 += 5\n{}",
            bytes("r6", VALUE, "r8")
        ),
        In::Beyond => "r8 = r6\nr8 += 17\n".to_owned(),
    };
    let shown = if matches!(element, In::Packet | In::Beyond) { String::new() } else { back("r8") };
    let call = |helper: &str| {
        format!("r1 = map[map]\nr2 = r8\nr3 = r9\ncall bpf_map_{helper}_elem\n*(u64 *)(r6 +{RESULT}) = r0\n")
    };
    text += &format!(
        "if r7 == 1 goto pop\nif r7 == 2 goto peek\nif r7 == 3 goto both\n{}goto out\npop:\n{}{shown}goto out\npeek:\n{}{shown}goto out\n\
         both:\nr1 = map[map]\nr2 = r8\ncall bpf_map_pop_elem\nif r0 != 0 goto out\n{}out:\nr0 = 3\nexit\n",
        call("push"),
        call("pop"),
        call("peek"),
        call("push")
    );
    text
}

fn image(map: MapSpec, element: In) -> Image {
    let own = MapSpec::new("own", MapType::PercpuArray, 4, 8 + map.value_size, 1);
    let text = program(&map, element);
    let maps = vec![MapSpec { name: "map".into(), ..map }, own];
    let program = sluice_ebpf::insn::assemble("maps", &text, &["map", "own"]).unwrap_or_else(|e| panic!("{e}\n{text}"));
    Image { programs: vec![Program { section: "xdp".into(), ..program }], maps, ..Image::default() }
}

fn packet(rng: &mut Rng, map: &MapSpec, op: u8) -> Vec<u8> {
    let mut packet = vec![0; VALUE + map.value_size as usize];
    (packet[OP], packet[FLAGS]) = (op, [0, 0, 0, 2, 1, 3, 4][rng.index(7)]);
    packet[VALUE..].iter_mut().for_each(|byte| *byte = rng.below(256) as u8);
    packet
}

/// What the host does between.
fn host(engine: &mut Engine, pair: &mut Pair, rng: &mut Rng, map: &MapSpec) {
    let value: Vec<u8> = (0..map.value_size).map(|_| rng.below(256) as u8).collect();
    let op = [XdpMapOp::Push, XdpMapOp::Push, XdpMapOp::Pop, XdpMapOp::Peek][rng.index(4)];
    pair.host(engine, op, 0, &[], &value, [0, 0, 1, 2, 3][rng.index(5)]);
}

fn kinds() -> [MapType; 2] {
    [MapType::Queue, MapType::Stack]
}

#[test]
fn elements_of_every_length_come_as_they_went() {
    let Some((mut engine, mut rng)) = open_tiny("elements_of_every_length_come_as_they_went") else { return };
    let operations = if support::long() { 4000 } else { 80 };
    for kind in kinds() {
        for (n, size) in [1, 2, 4, 7, 8, 12, 16, 33, 64, 100].into_iter().enumerate() {
            for element in [In::Packet, In::Stack, In::Value] {
                let flags = [0, 0, 0, WRONLY_PROG, RDONLY_PROG][n % 5];
                let map = MapSpec { flags, ..MapSpec::new("map", kind, 0, size, 1 + rng.below(6) as u32) };
                let Some(mut pair) = Pair::new(&mut engine, image(map.clone(), element)) else {
                    panic!("{map:?} is there")
                };
                let (ready, gaps) = [(0, 0), (40, 0), (200, 100), (0, 200)][rng.index(4)];
                engine.stall(ready, gaps);
                for n in 0..operations {
                    if rng.below(4) == 0 {
                        host(&mut engine, &mut pair, &mut rng, &map);
                    } else {
                        let op = [0, 0, 1, 2, 3][rng.index(5)];
                        let frame = packet(&mut rng, &map, op);
                        pair.send(&mut engine, 0, n, &frame);
                        engine.end(pair.waiting());
                    }
                    if n % 16 == 15 {
                        pair.compare(&mut engine);
                    }
                }
                pair.compare(&mut engine);
            }
        }
    }
}

#[test]
fn a_pop_to_memory_that_is_not_there_faults_behind_it_and_a_push_before() {
    let Some((mut engine, mut rng)) = open_tiny("a_pop_to_memory_that_is_not_there") else { return };
    for kind in kinds() {
        for size in [1, 8, 12, 40] {
            let map = MapSpec::new("map", kind, 0, size, 3);
            let Some(mut pair) = Pair::new(&mut engine, image(map.clone(), In::Beyond)) else {
                panic!("{map:?} is there")
            };
            for n in 0..40 {
                if rng.below(2) == 0 {
                    host(&mut engine, &mut pair, &mut rng, &map);
                }
                let op = rng.below(3) as u8;
                let frame = packet(&mut rng, &map, op);
                pair.send(&mut engine, 0, n, &frame);
                assert!(pair.last_fault().is_some(), "{kind:?} {size}");
                engine.end(pair.waiting());
                if n % 8 == 7 {
                    pair.compare(&mut engine);
                }
            }
        }
    }
}

#[test]
fn all_contexts_push_and_pop_at_once() {
    let Some((mut engine, mut rng)) = open_tiny("all_contexts_push_and_pop_at_once") else { return };
    let rounds = if support::long() { 60 } else { 4 };
    let (mut first, mut accesses) = (0, 0);
    for kind in kinds() {
        for (element, size, entries) in
            [(In::Packet, 4, 1), (In::Stack, 8, 2), (In::Value, 24, 3), (In::Packet, 40, 9), (In::Stack, 5, 30)]
        {
            let map = MapSpec::new("map", kind, 0, size, entries);
            let Some(mut pair) = Pair::new(&mut engine, image(map.clone(), element)) else {
                panic!("{map:?} is there")
            };
            for _ in 0..rounds {
                let (ready, gaps) = [(0, 0), (40, 0), (200, 100), (0, 200)][rng.index(4)];
                engine.stall(ready, gaps);
                engine.steps.clear();
                let frames: Vec<_> = (0..60)
                    .map(|_| {
                        let op = [0, 0, 1, 2, 3][rng.index(5)];
                        (rng.below(engine.target.ports.into()) as u8, packet(&mut rng, &map, op))
                    })
                    .collect();
                accesses += together(&mut engine, &mut pair, &frames, first);
                first += 60;
                for _ in 0..3 {
                    host(&mut engine, &mut pair, &mut rng, &map);
                }
            }
        }
    }
    assert!(accesses > 2 * first as usize, "{accesses}");
}
