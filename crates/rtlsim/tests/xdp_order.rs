//! Order of packets on the XDP cores: within a flow as they came, whatever their programs take; between flows nobody waits.

use crate::support;
use crate::xdp::engine::{Engine, MODULE, Rows, open_tiny};
use crate::xdp::pair::Pair;
use sluice_ebpf::insn::assemble;
use sluice_ebpf::{Image, MapSpec, MapType, Program};
use sluice_formats::Table;
use sluice_formats::limits::packet_id;
use sluice_formats::xdp::codes::XdpStep;
use sluice_formats::xdp::rows::{XdpCodeRow, XdpPoolRow, XdpProgramRow, XdpShareRow};
use sluice_formats::xdp::target::{PAGE_ROWS, Target as XdpTarget};
use sluice_hxdp::rows::FLAG;
use sluice_rtlsim::plugin::boundary::Until;
use std::collections::{BTreeMap, BTreeSet};

/// Goes round as often as byte 14 says, and ends as byte 15 says.
const ROUNDS: &str = "r2 = *(u32 *)(r1 +0)\nr3 = *(u32 *)(r1 +4)\nr4 = r2\nr4 += 16\nr0 = 1\nif r4 > r3 goto end\n\
                      r5 = *(u8 *)(r2 +14)\nr0 = *(u8 *)(r2 +15)\nr6 = 0\nround:\nr6 += 1\nif r6 < r5 goto round\n\
                      end:\nexit\n";
/// Buckets of a module's flows: the lowest bits of their hash.
const BUCKETS: u32 = 16;

/// Loads a program without maps for a module, into pages of its own.
fn load(engine: &mut Engine, module: u8, text: &str, serial: bool) {
    let start = u16::from(module) * PAGE_ROWS as u16;
    engine.load(module, 0, &Rows { serial, waits: serial, ..Rows::compiled(text, start) }, start);
}

/// A frame whose program goes round so often and ends so; its number is in it.
fn frame(bytes: usize, rounds: u8, verdict: u8, number: u32) -> Vec<u8> {
    let mut frame = vec![0; bytes];
    (frame[14], frame[15]) = (rounds, verdict);
    frame[16..20].copy_from_slice(&number.to_le_bytes());
    frame
}

#[test]
fn packets_of_a_flow_leave_as_they_came_and_others_overtake_them() {
    let Some((mut engine, mut rng)) = open_tiny("packets_of_a_flow_leave_as_they_came") else { return };
    let wanted = if support::long() { 100_000 } else { 3_000 };
    for module in 1..4 {
        load(&mut engine, module, ROUNDS, module == 3);
    }
    let (mut number, mut overtaken, mut cores) = (0, 0, BTreeSet::new());
    while number < wanted {
        let (ready, gaps) = [(0, 0), (40, 0), (200, 100), (0, 200)][rng.index(4)];
        engine.stall(ready, gaps);
        let (mut sent, first) = (BTreeMap::new(), number);
        for _ in 0..100 {
            let module = 1 + rng.below(3) as u8;
            let flow = rng.below(20) * 0x101;
            let rounds = if rng.below(4) == 0 { rng.below(200) as u8 } else { 1 };
            let bytes = if rng.below(8) == 0 { 20 + rng.index(1600) } else { 60 + rng.index(80) };
            let frame = frame(bytes, rounds, 1 + rng.below(2) as u8, number);
            let id = packet_id((number % 4) as u8, number);
            engine.offer_flow(id, module, flow as u32, &frame);
            sent.insert(id & 0x0fff_ffff, ((module, flow as u32 % BUCKETS), frame));
            number += 1;
        }
        engine.end(sent.len());
        engine.quiesce();
        let verdicts: Vec<(u32, bool)> =
            std::mem::take(&mut engine.verdicts).iter().map(|v| (v.id & 0x0fff_ffff, v.dropped)).collect();
        assert_eq!(verdicts.len(), sent.len(), "from packet {first} on");
        let mut last: BTreeMap<(u8, u32), u32> = BTreeMap::new();
        for (id, _) in &verdicts {
            let flow = sent[id].0;
            let before = last.insert(flow, *id);
            assert!(before < Some(*id), "{flow:?}: {id} left behind {before:?}");
        }
        overtaken += verdicts.windows(2).filter(|pair| pair[1].0 < pair[0].0).count();
        // What goes on leaves in the order of verdicts, as it came.
        let went: Vec<u32> = verdicts.iter().filter(|(_, dropped)| !dropped).map(|(id, _)| *id).collect();
        let left: Vec<u32> = std::mem::take(&mut engine.order).iter().map(|id| id & 0x0fff_ffff).collect();
        assert_eq!(left, went);
        for (id, (sideband, bytes)) in std::mem::take(&mut engine.routed) {
            assert_eq!(bytes, sent[&(id & 0x0fff_ffff)].1, "packet {id:#x}");
            assert_eq!(usize::from(sideband.length), bytes.len());
        }
        let starts = engine.steps.drain(..).filter(|(step, _)| *step == XdpStep::Start);
        cores.extend(starts.map(|(_, row)| row.processor));
    }
    println!("{number} packets, {overtaken} overtook the one before");
    assert!(overtaken > wanted as usize / 20, "{overtaken} overtook the one before");
    assert_eq!(cores.len(), XdpTarget::by_name(engine.target.name).processors(), "each processor had packets");
}

#[test]
fn frames_that_nobody_takes_wait_and_leave_as_they_came() {
    let Some((mut engine, _)) = open_tiny("frames_that_nobody_takes_wait") else { return };
    load(&mut engine, 1, "r0 = 2\nexit\n", false);
    // More than have room between verdict and output, each of a single beat of packet memory.
    let frames: Vec<Vec<u8>> = (0..60).map(|number| frame(64, 0, 0, number)).collect();
    engine.hold();
    for (number, frame) in (0..).zip(&frames) {
        engine.offer_flow(packet_id(0, number), 1, number, frame);
    }
    engine.run(Until { max_cycles: 3_000, ..Until::default() });
    let told = engine.verdicts.len();
    assert!((4..20).contains(&told), "{told} verdicts while nothing leaves");
    engine.stall(0, 0);
    engine.end(frames.len());
    engine.quiesce();
    let went: Vec<u32> = engine.verdicts.iter().map(|v| v.id).collect();
    assert_eq!(std::mem::take(&mut engine.order), went, "frames leave in the order of verdicts");
    for (id, (_, bytes)) in std::mem::take(&mut engine.routed) {
        assert_eq!(bytes, frames[(id & 0x0fff_ffff) as usize], "packet {id:#x}");
    }
}

#[test]
fn a_long_packet_is_waited_for_by_its_own_flow_alone() {
    let Some((mut engine, _)) = open_tiny("a_long_packet_is_waited_for") else { return };
    // With contexts of its own the other module needs none that the long ones may hold.
    let xdp = XdpTarget::by_name(engine.target.name);
    let share = XdpShareRow { contexts: 1, first: xdp.memory_units() - 1, units: 1, ..XdpShareRow::default() };
    engine.write(Table::XdpPool, 0, &XdpPoolRow { reserved: 1 });
    engine.write(Table::XdpShare, 1, &share);
    load(&mut engine, 1, ROUNDS, false);
    load(&mut engine, 2, "r6 = 0\nround:\nr6 += 1\nif r6 < 20000 goto round\nr0 = 1\nexit\n", false);
    let long = |engine: &mut Engine| {
        let row = XdpProgramRow::default();
        let words = engine.read(Table::XdpProgram, 4);
        let row = XdpProgramRow { work: 30_000, ..sluice_formats::row::Row::unpack(&words).unwrap_or(row) };
        engine.write(Table::XdpProgram, 4, &row);
    };
    long(&mut engine);
    // It takes 100,000 cycles and more; 200 others, more than all slots, end long before.
    engine.offer_flow(packet_id(0, 0), 2, 7, &[0; 64]);
    for number in 1..=200 {
        engine.offer_flow(packet_id(0, number), 1, number, &frame(64, 1, 1, number));
    }
    // The same flow number of another module is another flow.
    engine.offer_flow(packet_id(0, 201), 1, 7, &frame(64, 1, 1, 201));
    // One of its own flow waits, though its program is short.
    engine.offer_flow(packet_id(0, 202), 2, 7, &[0; 64]);
    engine.run(Until { max_cycles: 8_000, ..Until::default() });
    let ended: BTreeSet<u32> = engine.verdicts.iter().map(|v| v.id).collect();
    assert_eq!(ended, (1..=201).map(|n| packet_id(0, n)).collect());
    engine.end(203);
    let last: Vec<u32> = engine.verdicts[201..].iter().map(|v| v.id).collect();
    assert_eq!(last, [packet_id(0, 0), packet_id(0, 202)]);
}

/// A program that adds 1 to the only value of a map, in two accesses far apart.
fn counting() -> Image {
    let map = MapSpec::new("count", MapType::Array, 4, 8, 1);
    let text = "r6 = map[count][0]+0\nr7 = *(u64 *)(r6 +0)\nr7 *= 3\nr7 /= 3\nr7 *= 5\nr7 /= 5\nr7 += 1\n\
                *(u64 *)(r6 +0) = r7\nr0 = 1\nexit\n";
    let program = assemble("counting", text, &["count"]).unwrap_or_else(|e| panic!("{e}"));
    let program = Program { section: "xdp".into(), ..program };
    Image { programs: vec![program], maps: vec![map], ..Image::default() }
}

/// How packets of a flow wait for each other.
#[derive(Clone, Copy, PartialEq)]
enum Waits {
    /// Not at all.
    Never,
    /// Each for the one before as a whole.
    Whole,
    /// For the section of the one before.
    Section,
}

/// Packets that a program counted, of 64 in as many flows, and the cycles until the last one ended.
fn count(waits: Waits, flows: u32) -> Option<(u64, u64)> {
    let (mut engine, _) = open_tiny("flow_serial_programs")?;
    let pair = Pair::marked(&mut engine, counting()).expect("the engine has all of it");
    let index = 2 * u32::from(MODULE);
    let row: XdpProgramRow = sluice_formats::row::Row::unpack(&engine.read(Table::XdpProgram, index)).unwrap();
    assert!(!row.serial, "it has a section");
    engine.write(Table::XdpProgram, index, &XdpProgramRow { serial: waits == Waits::Whole, ..row });
    if waits != Waits::Section {
        for number in row.start.into()..u32::from(row.start) + PAGE_ROWS as u32 {
            let mut code: XdpCodeRow = sluice_formats::row::Row::unpack(&engine.read(Table::XdpCode, number)).unwrap();
            code.lanes.iter_mut().for_each(|lane| lane.op &= !FLAG);
            engine.write(Table::XdpCode, number, &code);
        }
    }
    let begin = engine.nic.cycles();
    for number in 0..64 {
        engine.offer_flow(packet_id(0, number), MODULE, number % flows, &[0; 64]);
    }
    engine.end(64);
    let took = engine.nic.cycles() - begin;
    Some((u64::from_le_bytes(pair.memory(&mut engine, 0)[..8].try_into().unwrap()), took))
}

#[test]
fn packets_of_a_flow_of_a_flow_serial_program_are_executed_one_by_one() {
    for waits in [Waits::Whole, Waits::Section] {
        let Some((counted, _)) = count(waits, 1) else { return };
        assert_eq!(counted, 64, "each sees what the one before it wrote");
        assert!(count(waits, 16).unwrap().0 < 64, "only a flow is serial");
    }
    assert!(count(Waits::Never, 1).unwrap().0 < 64, "what the others do to each other");
}

#[test]
fn a_held_packet_lets_those_of_other_flows_begin() {
    let Some((mut engine, _)) = open_tiny("a_held_packet_lets_others_begin") else { return };
    load(&mut engine, 1, ROUNDS, true);
    // One flow with a long packet and as many behind it as there are contexts; then short ones of others.
    for number in 0..6 {
        engine.offer_flow(packet_id(0, number), 1, 3, &frame(64, 200, 1, number));
    }
    for number in 6..10 {
        engine.offer_flow(packet_id(0, number), 1, number, &frame(64, 1, 1, number));
    }
    engine.end(10);
    let order: Vec<u32> = engine.verdicts.iter().map(|v| v.id).collect();
    let first: BTreeSet<u32> = order[..4].iter().copied().collect();
    assert_eq!(first, (6..10).map(|n| packet_id(0, n)).collect());
    assert_eq!(order[4..], (0..6).map(|n| packet_id(0, n)).collect::<Vec<_>>());
    // One at a time: each starts when the one before has ended.
    assert!(
        engine.verdict_ticks[4..].windows(2).all(|pair| pair[1] - pair[0] >= 200 * 5),
        "{:?}",
        engine.verdict_ticks
    );
}

#[test]
fn places_come_back_where_a_packet_is_dropped_as_another_has_been_sent() {
    let name = "places_come_back_where_a_packet_is_dropped_as_another_has_been_sent";
    let Some((mut engine, mut rng)) = open_tiny(name) else { return };
    load(&mut engine, 1, ROUNDS, false);
    let mut number = 0;
    // Short packets of many flows, half of them dropped, at full load; then as long ones as there are. With an output that is about as
    // fast as programs, frames wait behind each other for it, while packets end at any time.
    for round in 0..20 {
        let (count, long) = if round % 4 == 3 { (6, true) } else { (400, false) };
        engine.stall(if long { 0 } else { [0, 60, 80, 110][round % 4] }, 0);
        for _ in 0..count {
            let bytes = if long { 9216 } else { 20 + rng.index([200, 100][round % 2]) };
            let frame = frame(bytes, 1, 1 + rng.below(2) as u8, number);
            engine.offer_flow(packet_id((number % 4) as u8, number), 1, rng.next_u32(), &frame);
            number += 1;
        }
        engine.end(count);
        assert_eq!(engine.verdicts.len(), count, "round {round}: packet memory is lost");
        engine.quiesce();
        engine.forget();
        engine.steps.clear();
    }
}
