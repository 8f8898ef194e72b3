//! Program Warping on RTL: what a packet's bytes decide is decided before a core sees it, and everything else is as without.

use crate::packets;
use crate::parsers::parser;
use crate::support;
use crate::xdp::engine::{Engine, INTERFACES, MODULE, open_tiny};
use crate::xdp::pair::{Pair, image};
use crate::xdp::together::{in_flows, together};
use sluice_ebpf::vm::Ingress;
use sluice_ebpf::{Image, MapSpec, MapType, Program};
use sluice_formats::limits::packet_id;
use sluice_formats::random::{Rng, test_seed};
use sluice_formats::row::Row;
use sluice_formats::target::{DEFAULT, TINY};
use sluice_formats::xdp::codes::XdpMapOp;
use sluice_formats::xdp::rows::{XdpProgramRow, XdpWarpHitsRow};
use sluice_formats::xdp::target::WARP_RULES;
use sluice_formats::{Table, Target};
use sluice_hxdp::Stored;
use sluice_hxdp::warp::bits::Seen;
use sluice_hxdp::warp::tree::Tree;
use sluice_hxdp::warp::witness::witness;
use sluice_hxdp::warp::{Action, Leaf, Table as WarpTable};
use sluice_rtlsim::{Variant, top};

/// What a run has seen.
#[derive(Default, Debug)]
struct Run {
    packets: u64,
    programs: u64,
    verdicts: u64,
    resumes: u64,
    early: u64,
}

/// What is known of a packet's leaf: which one, and its key if it looks up.
fn leaf_of(table: &WarpTable, frame: &[u8], port: u8) -> Option<(usize, Option<Vec<u8>>)> {
    let ingress = Ingress { ifindex: INTERFACES[usize::from(port)], queue: 0 };
    let seen = Seen::new(frame, ingress);
    let leaf = table.leaf(&seen)?;
    match &table.leaves[leaf].action {
        Action::Plain => None,
        Action::Verdict { .. } => Some((leaf, None)),
        Action::Resume { entry, .. } => Some((leaf, entry.lookup.as_ref().map(|lookup| lookup.key_of(&seen)))),
    }
}

/// Random parsers with packets of all their leaves.
fn parsers(target: &'static Target, seed: u64, wanted: u64, all: &mut Run) {
    let (mut engine, mut rng) = (Engine::open(target, seed), Rng::new(seed));
    let mut number = 0;
    while all.packets < wanted {
        let (image, text) = parser(&mut rng);
        let tree = Tree::of(&image, &image.programs[0], &Stored::default());
        let Some(mut pair) = Pair::warped(&mut engine, image) else { continue };
        all.programs += 1;
        for rule in 0..WARP_RULES as u32 {
            let index = 2 * u32::from(MODULE) * WARP_RULES as u32 + rule;
            engine.write(Table::XdpWarpHits, index, &XdpWarpHitsRow::default());
        }
        let tests = tree.leaves();
        let table = pair.table.clone().expect("it is warped");
        let mut hits = vec![0u64; table.leaves.len()];
        for _ in 0..3 {
            let frames: Vec<(u8, Vec<u8>)> = (0..1 + rng.index(60))
                .map(|_| {
                    let found = witness(&tests[rng.index(tests.len())].1, &mut rng);
                    let (mut frame, ingress) = found.unwrap_or_else(|| (packets::frame(&mut rng), Ingress::default()));
                    match rng.index(6) {
                        0 => frame.truncate(rng.index(frame.len()).max(1)),
                        1 => {
                            let byte = rng.index(frame.len().min(64));
                            frame[byte] ^= 1 << rng.index(8);
                        }
                        _ => {}
                    }
                    let there = INTERFACES.iter().position(|ifindex| *ifindex == ingress.ifindex);
                    let ports = usize::try_from(target.ports).expect("few");
                    (there.filter(|port| *port < ports).unwrap_or_else(|| rng.index(ports)) as u8, frame)
                })
                .collect();
            for (port, frame) in &frames {
                let Some((leaf, key)) = leaf_of(&table, frame, *port) else { continue };
                hits[leaf] += 1;
                let resumes = matches!(table.leaves[leaf].action, Action::Resume { .. });
                all.resumes += u64::from(resumes);
                all.verdicts += u64::from(!resumes);
                if let Some(key) = key.filter(|_| rng.chance(1, 2)) {
                    pair.host(&mut engine, XdpMapOp::Update, 1, &key, &rng.bytes(8), 0);
                }
            }
            let (ready, gaps) = [(0, 0), (0, 0), (40, 0), (200, 100), (0, 200)][rng.index(5)];
            engine.stall(ready, gaps);
            engine.steps.clear();
            together(&mut engine, &mut pair, &frames, number);
            number += frames.len() as u32;
            all.packets += frames.len() as u64;
        }
        for (rule, wanted) in (0..).zip(&hits) {
            let index = 2 * u32::from(MODULE) * WARP_RULES as u32 + rule;
            let row = XdpWarpHitsRow::unpack(&engine.read(Table::XdpWarpHits, index)).unwrap();
            assert_eq!(row.packets, *wanted, "packets of leaf {rule}\n{text}");
        }
    }
    all.early += engine.early as u64;
}

#[test]
fn random_parsers_do_the_same_by_their_tables_on_rtl() {
    let test = "random_parsers_do_the_same_by_their_tables_on_rtl";
    let long = support::long();
    for (target, wanted) in [(&TINY, if long { 200_000 } else { 6_000 }), (&DEFAULT, if long { 1_000_000 } else { 0 })]
    {
        if wanted == 0 || !support::has_top(&top::XDP, target.name, Variant::Test) {
            continue;
        }
        let mut all = Run::default();
        parsers(target, test_seed(test), wanted, &mut all);
        println!("{}: {all:?}", target.name);
        assert!(all.early * 10 > all.packets, "{all:?}");
        assert!(all.resumes * 10 > all.packets && all.verdicts * 10 > all.packets, "{all:?}");
    }
}

/// A filter with words, verdicts and two loops: tags are left out, then a field decides; the other loop is a core's.
const TAGS: &str = "r6 = r1
    r2 = *(u32 *)(r1 +0)
    r3 = *(u32 *)(r1 +4)
    r8 = 0
    again:
    r4 = r2
    r4 += 40
    if r4 > r3 goto short
    r5 = *(u16 *)(r2 +12)
    if w5 != 129 goto on
    r8 += 1
    if r8 < 3 goto again
    on:
    r5 = *(u16 *)(r2 +16)
    r5 = be16 r5
    if w5 == 7 goto drop
    r5 += r8
    *(u16 *)(r2 +20) = r5
    r7 = *(u8 *)(r2 +30)
    w7 &= 3
    more:
    r7 += -1
    if r7 s> 0 goto more
    r0 = 3
    exit
    short:
    r0 = 2
    exit
    drop:
    r0 = 1
    exit";

/// Frames of each of its ways.
fn tagged(rng: &mut Rng) -> Vec<u8> {
    let length = [30, 39, 40, 41, 64, 65, 200][rng.index(7)];
    let mut frame = rng.bytes(length);
    frame[12..14].copy_from_slice([&[0x81, 0], &[8, 0]][rng.index(2)]);
    frame[16..18].copy_from_slice([&[0, 7], &[1, 2]][rng.index(2)]);
    frame
}

#[test]
fn at_the_limit_of_work_a_leaf_is_not_followed() {
    let Some((mut engine, mut rng)) = open_tiny("warp_work") else { return };
    for work in 0..6 {
        let mut pair = Pair::warped(&mut engine, image(TAGS)).expect("the engine has all of it");
        assert!(pair.table.as_ref().is_some_and(|table| table.leaves.iter().any(|leaf| leaf.work > 0)));
        let index = 2 * u32::from(MODULE);
        let row = XdpProgramRow::unpack(&engine.read(Table::XdpProgram, index)).unwrap();
        engine.write(Table::XdpProgram, index, &XdpProgramRow { work, ..row });
        pair.runtime.work_limit = work.into();
        for number in 0..60 {
            pair.send(&mut engine, 0, number, &tagged(&mut rng));
        }
        assert_eq!(pair.faults() > 0, work < 4, "{work}");
        pair.compare(&mut engine);
        engine.forget();
    }
}

#[test]
fn a_leaf_for_another_length_is_not_followed() {
    let Some((mut engine, mut rng)) = open_tiny("warp_length") else { return };
    let mut pair = Pair::warped(&mut engine, image(TAGS)).expect("the engine has all of it");
    for number in 0..200 {
        let mut frame = tagged(&mut rng);
        // What the frame has, and what its sideband says of it.
        let said = frame.len() + 1 + rng.index(40);
        frame.truncate(36 + rng.index(20));
        let fate = pair.interpret(0, &frame);
        engine.offer_now(packet_id(0, number), MODULE, said as u16, &frame);
        engine.end(1);
        engine.quiesce();
        let verdict = engine.verdicts.pop().expect("it has ended");
        assert_eq!(pair.found(&mut engine, &verdict), fate, "{said} bytes said, {frame:02x?}");
        engine.forget();
    }
}

/// One packet of a flow after the other doubles a value; of some frames the engine makes words, of others it makes nothing.
const SERIAL: &str = "r2 = *(u32 *)(r1 +0)
    r3 = *(u32 *)(r1 +4)
    r4 = r2
    r4 += 40
    if r4 > r3 goto out
    r5 = *(u8 *)(r2 +12)
    if w5 == 1 goto plain
    r6 = *(u32 *)(r2 +20)
    r7 = *(u32 *)(r2 +24)
    r8 = *(u32 *)(r2 +28)
    r9 = *(u32 *)(r2 +32)
    goto look
    plain:
    r6 = *(u8 *)(r2 +39)
    r7 = r6
    r7 *= r7
    r8 = 5
    r9 = 9
    look:
    r6 += r7
    r6 ^= r8
    r6 += r9
    r5 = *(u8 *)(r2 +13)
    *(u32 *)(r10 -4) = r5
    r9 = r2
    r2 = r10
    r2 += -4
    r1 = map[values]
    call bpf_map_lookup_elem
    if r0 == 0 goto out
    r1 = *(u32 *)(r0 +0)
    r1 *= 3
    r1 += r6
    *(u32 *)(r0 +0) = r1
    *(u32 *)(r9 +14) = r1
    r0 = 3
    exit
    out:
    r0 = 1
    exit";

/// Flows of a test, each with a value.
const FLOWS: usize = 8;

#[test]
fn packets_that_wait_for_their_flow_do_not_wait_for_ever() {
    let Some((mut engine, mut rng)) = open_tiny("warp_serial") else { return };
    let program = sluice_ebpf::insn::assemble("serial", SERIAL, &["values"]).unwrap_or_else(|e| panic!("{e}"));
    let values = MapSpec::new("values", MapType::Hash, 4, 4, 16);
    let programs = vec![Program { section: "xdp".into(), ..program }];
    let image = Image { programs, maps: vec![values], ..Image::default() };
    let mut pair = Pair::warped(&mut engine, image).expect("the engine has all of it");
    let table = pair.table.clone().expect("it is warped");
    let is_made = |leaf: &Leaf| matches!(&leaf.action, Action::Resume { entry, .. } if entry.lookup.is_none());
    assert!(table.leaves.iter().any(is_made), "words without a lookup: {:?}", table.leaves);
    for key in 0..FLOWS as u32 {
        pair.host(&mut engine, XdpMapOp::Update, 0, &key.to_le_bytes(), &rng.bytes(4), 0);
    }
    for round in 0..30 {
        engine.stall([0, 60][round % 2], [0, 0, 120][round % 3]);
        let mut sent = Vec::new();
        for number in 0..40 {
            // Now and then at random, else one of each flow whose words take their time, and behind them one of each that has none: it is ready before.
            let (flow, plain) = match round % 3 {
                0 => (rng.index(FLOWS), rng.index(2)),
                _ => (number % FLOWS, number / FLOWS % 2),
            };
            let length = if round % 3 == 0 { 40 + rng.index(60) } else { 40 };
            let mut frame = rng.bytes(length);
            frame[12..14].copy_from_slice(&[plain as u8, flow as u8]);
            sent.push((flow as u8, packet_id(0, number as u32), frame));
        }
        in_flows(&mut engine, &mut pair, &sent);
    }
}

/// Counts packets and bytes, and drops.
const COUNTS: &str = "r2 = *(u32 *)(r1 +0)
    r7 = *(u32 *)(r1 +4)
    r7 -= r2
    w1 = 1
    *(u32 *)(r10 -4) = r1
    r2 = r10
    r2 += -4
    r1 = map[counters]
    call bpf_map_lookup_elem
    if r0 == 0 goto out
    r1 = *(u64 *)(r0 +0)
    r1 += 3
    *(u64 *)(r0 +0) = r1
    r1 = *(u64 *)(r0 +8)
    r1 += r7
    *(u64 *)(r0 +8) = r1
    out:
    r0 = 1
    exit";

#[test]
fn a_verdict_counts_in_two_values_before_its_packet_ends() {
    let Some((mut engine, mut rng)) = open_tiny("warp_counts") else { return };
    let program = sluice_ebpf::insn::assemble("counts", COUNTS, &["counters"]).unwrap_or_else(|e| panic!("{e}"));
    let counters = MapSpec::new("counters", MapType::PercpuArray, 4, 16, 4);
    let programs = vec![Program { section: "xdp".into(), ..program }];
    let image = Image { programs, maps: vec![counters], ..Image::default() };
    let mut pair = Pair::warped(&mut engine, image).expect("the engine has all of it");
    let table = pair.table.clone().expect("it is warped");
    let counts = |leaf: &Leaf| matches!(&leaf.action, Action::Verdict { counts, .. } if counts.len() == 2);
    assert!(table.leaves.iter().any(counts), "{:?}", table.leaves);
    for round in 0..20 {
        engine.stall([0, 60][round % 2], [0, 120][round / 2 % 2]);
        for number in 0..60 {
            let length = 14 + rng.index(300);
            pair.send(&mut engine, 0, number, &rng.bytes(length));
        }
        pair.compare(&mut engine);
        engine.forget();
    }
}
