//! External memory that does not answer: who asked ends with a fault, and nobody else feels more of it than the wait; what comes later is nobody's.

use crate::support;
use crate::xdp::accounts::last_fault;
use crate::xdp::device::{Nic, SHOW, array, frame, object};
use crate::xdp::engine::{Engine, MODULE, open};
use crate::xdp::outside::{CHANGE, TOUCH, change, engine_alone, key, touch};
use crate::xdp::pair::Pair;
use sluice_device::{Device, Verdict};
use sluice_ebpf::{Image, MapSpec, MapType, Program};
use sluice_formats::limits::packet_id;
use sluice_formats::random::{Rng, test_seed};
use sluice_formats::row::Row;
use sluice_formats::target::TINY_FAR;
use sluice_formats::xdp::codes::{XdpFault, XdpMapOp};
use sluice_formats::xdp::rows::XdpOutsideRow;
use sluice_formats::{Reason, Table};
use sluice_object::XdpShare;
use sluice_rtlsim::plugin::boundary::Until;
use sluice_rtlsim::{RtlNic, RtlOptions, Variant, top};

/// An access is given up after so many cycles at the least, and twice as many at the most; and cycles for all else.
const LATE: u64 = 1 << 14;
const BESIDE: u64 = 600;
/// The error number of what the host is told.
const EIO: u8 = 5;

fn pair(engine: &mut Engine, text: &str, map: MapSpec) -> Pair {
    let program = sluice_ebpf::insn::assemble("main", text, &[map.name.as_str()]).unwrap();
    let programs = vec![Program { section: "xdp".into(), ..program }];
    Pair::new(engine, Image { programs, maps: vec![map], ..Image::default() }).unwrap()
}

fn outside(engine: &mut Engine) -> XdpOutsideRow {
    XdpOutsideRow::unpack(&engine.read(Table::XdpOutside, 0)).unwrap()
}

/// All that is under way ends as aborted, for this.
fn are_given_up(engine: &mut Engine, packets: usize, fault: XdpFault) {
    let begin = engine.nic.cycles();
    engine.end(packets);
    let verdicts = std::mem::take(&mut engine.verdicts);
    assert_eq!(verdicts.len(), packets, "{verdicts:?}");
    let aborted = |reason| Reason::from_code(reason) == Some(Reason::XdpAborted);
    assert!(verdicts.iter().all(|v| v.dropped && aborted(v.reason)), "{verdicts:?}");
    let ticks = std::mem::take(&mut engine.verdict_ticks);
    let waited = ticks[ticks.len() - packets..].iter().map(|tick| tick - begin);
    let (least, most) = waited.fold((u64::MAX, 0), |(least, most), one| (least.min(one), most.max(one)));
    assert!(least >= LATE && most <= 2 * LATE + BESIDE, "{least} to {most}");
    assert_eq!(last_fault(engine, MODULE).kind, fault.code());
}

#[test]
fn accesses_that_memory_does_not_answer_end_and_what_comes_later_is_nobodys() {
    let Some((mut engine, mut rng)) = open(&TINY_FAR, "accesses_that_memory_does_not_answer_end") else { return };
    // Twice as many lines as the cache has.
    let elements = 2 * 64 * 8;
    let mut pair = pair(&mut engine, TOUCH, array("counts", 8, elements));
    let mut number = 0;
    let mut send = |engine: &mut Engine, pair: &mut Pair, op: u8, index: u32| {
        number += 1;
        pair.send(engine, 0, number, &engine_alone(touch(1, op, index, 5 + u64::from(index))));
    };
    for index in (0..elements).step_by(8) {
        send(&mut engine, &mut pair, 1, index);
    }
    pair.compare(&mut engine);
    engine.quiesce();
    for round in 1..=4 {
        // Nothing is answered: loads and additions of lines in four blocks that are not in the cache.
        engine.nic.set_values_memory(30..=150, 200, 0, 256).unwrap();
        for at in 0..4 {
            let op = if at % 2 == 0 { 0 } else { 2 };
            engine.offer(packet_id(0, 5_000 + at), MODULE, &engine_alone(touch(1, op, 64 * at + 16 * (round - 1), 7)));
        }
        are_given_up(&mut engine, 4, XdpFault::Access);
        let row = outside(&mut engine);
        let given_up = if round == 1 { 4 } else { 5 * round - 1 } as u16;
        assert_eq!((row.read_errors, row.write_errors, row.late, row.lost), (0, 0, given_up, 4));
        // The host is told too, and waits no longer.
        let begin = engine.nic.cycles();
        assert_eq!(engine.map(XdpMapOp::Lookup, 0, &(8 * (round - 1)).to_le_bytes(), &[], 0, 0).0, EIO);
        assert!(engine.nic.cycles() - begin <= 2 * LATE + BESIDE);
        assert_eq!(outside(&mut engine).lost, 5);
        // All comes at last.
        engine.nic.set_values_memory(30..=150, 200, 0, 0).unwrap();
        engine.nic.run(&Until { max_cycles: 1_000, ..Until::default() }).unwrap();
        assert_eq!(outside(&mut engine).lost, 0);
        engine.order.clear();
        // One after the other, as in the interpreter.
        for (at, index) in (0..elements).step_by(8).enumerate() {
            send(&mut engine, &mut pair, if rng.chance(1, 2) { 0 } else { 2 }, index);
            engine.end(2 * at + 1);
            send(&mut engine, &mut pair, 0, index);
            engine.end(2 * at + 2);
        }
        pair.compare(&mut engine);
        engine.verdicts.clear();
    }
    // A store's answer that does not come: nobody waits for it, but it is counted, and its line cannot be read meanwhile.
    engine.nic.set_values_memory(30..=150, 200, 0, 256).unwrap();
    engine.offer(packet_id(0, 6_000), MODULE, &engine_alone(touch(1, 1, 0, 5)));
    engine.end(1);
    engine.nic.run(&Until { max_cycles: 2 * LATE + BESIDE, ..Until::default() }).unwrap();
    assert_eq!(outside(&mut engine).late_writes, 1);
    let begin = engine.nic.cycles();
    engine.offer(packet_id(0, 6_001), MODULE, &engine_alone(touch(1, 0, 0, 5)));
    engine.end(2);
    assert!(engine.nic.cycles() - begin < LATE);
    assert!(engine.verdicts[1].dropped && !engine.verdicts[0].dropped, "{:?}", engine.verdicts);
}

#[test]
fn rows_that_memory_does_not_answer_end_the_operations_that_look_at_them() {
    let Some((mut engine, _)) = open(&TINY_FAR, "rows_that_memory_does_not_answer_end_the_operations") else { return };
    let mut pair = pair(&mut engine, CHANGE, MapSpec::new("flows", MapType::Hash, 12, 8, 4096));
    let mut number = 0;
    let mut all = |engine: &mut Engine, pair: &mut Pair, op: u8| {
        for (at, entry) in (0..300).enumerate() {
            number += 1;
            pair.send(engine, 0, number, &engine_alone(change(1, op, entry, 5 + u64::from(entry))));
            engine.end(at + 1);
        }
        pair.compare(engine);
        engine.verdicts.clear();
        engine.order.clear();
    };
    all(&mut engine, &mut pair, 1);
    engine.quiesce();
    for op in [0, 1, 2] {
        engine.nic.set_values_memory(30..=150, 200, 0, 256).unwrap();
        engine.offer(packet_id(0, 5_000), MODULE, &engine_alone(change(1, op, 0, 5)));
        are_given_up(&mut engine, 1, XdpFault::Argument);
        assert_eq!(engine.map(XdpMapOp::Lookup, 0, &key(0), &[], 0, 0).0, EIO);
        engine.nic.set_values_memory(30..=150, 200, 0, 0).unwrap();
        engine.nic.run(&Until { max_cycles: 1_000, ..Until::default() }).unwrap();
        let row = outside(&mut engine);
        assert_eq!((row.read_errors, row.lost), (0, 0));
        engine.order.clear();
        all(&mut engine, &mut pair, 0);
    }
}

#[test]
fn an_owner_of_contexts_does_not_wait_for_a_tenant_whose_memory_does_not_answer() {
    if !support::has_top(&top::XDP, TINY_FAR.name, Variant::Test) {
        return;
    }
    let seed = test_seed("an_owner_of_contexts_does_not_wait_for_a_tenant_whose_memory");
    let mut rng = Rng::new(seed);
    let options = RtlOptions { top: &top::XDP, seed, check_accounting: true, ..RtlOptions::default() };
    let device = RtlNic::open(TINY_FAR.name, options).unwrap();
    let mut nic = Nic::given(device, |spec| {
        if spec.id == 2 {
            spec.xdp_share = Some(XdpShare { contexts: 2, memory: 1, ..XdpShare::default() });
        }
    });
    let elements = 2 * 64 * 8;
    // The second one's values lie on the chip.
    nic.put(2, &object("count", SHOW, vec![array("counts", 8, 16)], &[])).unwrap();
    nic.put(1, &object("touch", TOUCH, vec![array("counts", 8, 1 << 21)], &[])).unwrap();
    for index in (0..elements).step_by(8) {
        nic.offer(0, [touch(1, 1, index, 5)]);
        nic.device.advance(200).unwrap();
    }
    nic.device.quiesce().unwrap();
    nic.outcomes();
    nic.device.set_values_memory(30..=150, 200, 256).unwrap();
    let (begin, mut own) = (nic.device.now(), 0);
    let count = frame(2, 3, &[0; 48]);
    while nic.device.now() - begin < 3 * LATE {
        if nic.device.now() - begin < LATE {
            nic.offer(1, [touch(1, 0, rng.below(elements.into()) as u32, 5)]);
        }
        nic.offer(0, [count.clone()]);
        own += 1;
        nic.device.advance(1_000).unwrap();
        let outcomes = nic.outcomes();
        for outcome in &outcomes {
            if outcome.tenant == Some(2) {
                let waited = outcome.last_out.unwrap() - outcome.first_in.unwrap();
                assert!(
                    !matches!(outcome.verdict, Verdict::Dropped { .. }) && waited < 400,
                    "{waited} cycles, {outcome:?}"
                );
                own -= 1;
            }
        }
    }
    assert!(own <= 1, "{own} of the second tenant's packets have not come out");
}

#[test]
fn where_memory_sometimes_does_not_answer_packets_fault_or_do_what_they_should() {
    let Some((mut engine, mut rng)) = open(&TINY_FAR, "where_memory_sometimes_does_not_answer") else { return };
    // Twice as many lines as the cache has, in pages that are written.
    let elements = 2 * 64 * 8;
    pair(&mut engine, TOUCH, array("counts", 8, elements));
    let mut values = vec![0_u64; elements as usize];
    let (mut faults, mut ended, mut clean) = (0, 0, 0);
    for round in 0..if support::long() { 2_000 } else { 80 } {
        let lost = if round < 4 { 0 } else { [0, 8, 32, 128][rng.index(4)] };
        engine.nic.set_values_memory(1..=60, 200, 0, lost).unwrap();
        if lost == 0 {
            // What was not answered comes.
            engine.nic.run(&Until { max_cycles: 1_000, ..Until::default() }).unwrap();
        }
        // Packets of different elements, so that no order counts; some share lines.
        let mut sent: Vec<(u8, u32, u64)> = Vec::new();
        for _ in 0..rng.range(1, 12) {
            let near = if rng.chance(1, 3) { 8 } else { elements.into() };
            let one = (if round < 4 { 1 } else { rng.below(3) as u8 }, rng.below(near) as u32, rng.next_u64() >> 1);
            if sent.iter().all(|other| other.1 != one.1) {
                engine.offer(packet_id(0, sent.len() as u32), MODULE, &engine_alone(touch(1, one.0, one.1, one.2)));
                sent.push(one);
            }
        }
        engine.end(sent.len());
        for verdict in &engine.verdicts {
            let (op, index, number) = sent[(0..sent.len()).find(|at| packet_id(0, *at as u32) == verdict.id).unwrap()];
            let value = &mut values[index as usize];
            if verdict.dropped {
                assert_eq!(Reason::from_code(verdict.reason), Some(Reason::XdpAborted));
                assert!(lost > 0, "round {round}: element {index}");
                faults += 1;
                continue;
            }
            match op {
                1 => *value = number,
                2 => *value = value.wrapping_add(number),
                _ => assert_eq!(engine.routed[&verdict.id].1[32..40], value.to_le_bytes(), "element {index}"),
            }
            ended += 1;
            clean += usize::from(lost > 0);
        }
        assert_eq!(engine.verdicts.len(), sent.len());
        engine.forget();
    }
    engine.nic.set_values_memory(1..=60, 200, 0, 0).unwrap();
    engine.nic.run(&Until { max_cycles: 1_000, ..Until::default() }).unwrap();
    for (index, value) in values.iter().enumerate() {
        engine.offer(packet_id(0, 0), MODULE, &engine_alone(touch(1, 0, index as u32, 0)));
        engine.end(1);
        assert_eq!(engine.routed[&packet_id(0, 0)].1[32..40], value.to_le_bytes(), "element {index}");
        engine.forget();
    }
    println!("{faults} packets faulted, {ended} did not, {clean} of them beside answers that did not come");
    assert!(faults > 20 && clean > 50, "{faults} {clean}");
}
