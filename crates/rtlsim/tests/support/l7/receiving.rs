//! What is asked of the receive side, on any target.

use crate::host::HostBench;
use crate::l7::frames::{self, Flow};
use crate::l7::rows::Rows;
use crate::l7::tenants::{Tenants, quota};
use crate::l7::traffic::Traffic;
use sluice_formats::l7::codes::{L7Goal, L7PortKind};
use sluice_formats::l7::qnp::Header;
use sluice_formats::l7::rows::{L7PortRow, L7RingRow, L7RingStateRow, L7TargetPart};
use sluice_formats::random::{Rng, test_is_long, test_seed};
use sluice_formats::row::Row;
use sluice_formats::{Op, Status, Table};
use sluice_rtlsim::Ready;
use sluice_rtlsim::plugin::boundary::Until;

const FLOW: Flow = Flow { source: 0x0a00_0001, from: 2, to: 9000 };

/// An engine where all messages of an application, an endpoint and a raw application of module 2 go to queue 3.
fn one_queue(target: &str, seed: u64, expiry: u32) -> Option<HostBench> {
    let mut bench = HostBench::open(target, seed)?;
    let otherwise = L7TargetPart::new(L7Goal::Queue, 3);
    let row = L7PortRow { valid: true, module_id: 2, port: 9000, id: 7, otherwise, expiry, ..L7PortRow::default() };
    let raw = L7PortRow { port: 9001, kind: L7PortKind::Raw.code(), id: 0, ..row };
    let endpoint = L7PortRow { port: 9002, kind: L7PortKind::Endpoint.code(), id: 0, ..row };
    (0..).zip([row, raw, endpoint]).for_each(|(index, row)| bench.write(Table::L7Port, index, &row));
    bench.engine.ports = vec![row, raw, endpoint].into();
    quota(&mut bench, 2, 32);
    Some(bench)
}

/// Packet `number` of a message of `packets`. The payload is not that of a field.
fn packet(message: u32, packets: u8, number: u8, payload: &[u8]) -> Vec<u8> {
    let header = Header {
        app_id: 7,
        msg_type: 5,
        msg_id: message,
        msg_len_in_pkts: packets,
        pkt_seq_num_in_msg: number,
        session: 0x5e55,
        ..Header::default()
    };
    // No dispatch fields.
    let payload: Vec<u8> = payload.iter().map(|byte| byte | 0x80).collect();
    frames::packet(FLOW, header, &payload)
}

pub fn messages_of_one_packet_go_into_their_buffers(target: &str) {
    let Some(mut bench) = one_queue(target, 3, 0) else { return };
    bench.ring(3, 2, 4);
    bench.post(3, [2_000; 16]);
    bench.pass(400);
    for message in 0..4 {
        bench.send(2, packet(message, 1, 0, &vec![message as u8; 100 * message as usize]), 0);
    }
    bench.settle();
    bench.send(2, frames::raw(Flow { to: 9001, ..FLOW }, b"get user:1"), 0);
    let ack = Header { msg_len_in_pkts: 1, pkt_flag: 1, ..Header::default() };
    bench.send(2, frames::packet(Flow { to: 9002, ..FLOW }, ack, b""), 0);
    bench.settle();
    assert_eq!((bench.counts["consumed"], bench.counts["whole"]), (6, 6));
    bench.compare_counters();
}

/// Many more messages than descriptors are fetched at a time, from a slow host, between those of another ring: none is lost, and none too many is taken.
pub fn a_burst_waits_for_its_descriptors(target: &str) {
    let Some(mut bench) = one_queue(target, 13, 0) else { return };
    bench.rtl.set_memory(300..=700, 256).unwrap();
    bench.ring(3, 2, 6);
    bench.post(3, [2_000; 50]);
    bench.pass(3_000);
    for message in 0..30 {
        (0..1 + message % 2)
            .for_each(|n| bench.send(2, packet(message, 1 + (message % 2) as u8, n as u8, &[1; 40]), 0));
    }
    bench.settle();
    assert_eq!((bench.counts["whole"], bench.early, bench.counts.get("l7_no_descriptor")), (30, 0, None));
    for message in 30..60 {
        bench.send(2, packet(message, 2, 0, &[1; 40]), 0);
        bench.send(2, packet(message, 2, 1, &[1; 50]), 0);
    }
    bench.settle();
    assert_eq!((bench.counts["whole"], bench.early), (50, 0));
    assert!(bench.counts["l7_no_descriptor"] >= 10);
    bench.compare_counters();
}

pub fn in_lockstep(target: &str, name: &str, rounds: usize, packets: usize) {
    let rounds = if test_is_long() { 100 * rounds } else { rounds };
    let mut rng = Rng::new(test_seed(name));
    let mut counts = std::collections::BTreeMap::<String, u64>::new();
    let mut early = 0;
    for round in 0..rounds {
        let seed = rng.next_u64();
        let Some(mut bench) = HostBench::open(target, seed) else { return };
        let sizes = bench.target;
        let mut tenants = Tenants::random(sizes, &mut rng);
        if tenants.ports.is_empty() {
            continue;
        }
        for (row, _) in &mut tenants.ports {
            row.expiry = 80 + rng.below(100) as u32;
        }
        tenants.write(&mut bench, sizes, &mut rng);
        bench.tables = tenants.tables.clone();
        let most = *rng.choose(&[30, 300, 1_500]).unwrap();
        bench.rtl.set_memory(1..=most, *rng.choose(&[256, 256, 100]).unwrap()).unwrap();
        // Rings of any module, some of nobody; some begin without buffers.
        let owner = rng.choose(&tenants.ports).unwrap().0.module_id;
        for ring in 0..sizes.rings.min(16) as u8 {
            if rng.chance(1, 8) {
                continue;
            }
            let module = if rng.chance(3, 4) { owner } else { 1 + rng.below(4) as u8 };
            bench.ring(ring, module, 2 + rng.below(4) as u8);
            let count = rng.below(33) as usize;
            let lengths = lengths(&mut rng, count);
            bench.post(ring, lengths);
        }
        let mut traffic = Traffic::new(rng.fork(), tenants.ports.clone(), sizes);
        let gaps = *rng.choose(&[0, 0, 40, 150]).unwrap();
        bench.rtl.set_gaps(0, gaps).unwrap();
        let ready = [Ready::Always, Ready::Random { chance: 150 }, Ready::Bursts { chance: 100, longest: 80 }];
        bench.rtl.set_ready(0, ready[round % 3]).unwrap();
        for sent in 0..packets {
            if sent % 100 == 50 {
                bench.compare_snapshot();
            }
            let (module, frame) = traffic.next();
            match rng.below(24) {
                // Loss, repeats, other lengths.
                0 => {}
                1 => (0..2).for_each(|_| bench.send(module, frame.clone(), 0)),
                2 => bench.send(module, other_length(&mut rng, frame), 0),
                _ => bench.send(module, frame, 0),
            }
            if rng.chance(1, 8) && !bench.hosts.is_empty() {
                let rings: Vec<_> = bench.hosts.keys().copied().collect();
                let ring = *rng.choose(&rings).unwrap();
                let count = rng.index(8);
                let lengths = lengths(&mut rng, count);
                bench.post(ring, lengths);
            }
            if bench.waiting() > 60 || rng.chance(1, 30) {
                bench.run(&Until { max_cycles: 1 + rng.below(2_500), ..Until::default() });
            }
        }
        bench.settle();
        assert_eq!(bench.engine.table.evicted, 0, "more messages than the test is made for");
        bench.rtl.set_ready(0, Ready::Always).unwrap();
        bench.compare_counters();
        // What is not whole expires.
        bench.pass(64 * (180 + 2 * sizes.entries as u64));
        bench.settle();
        bench.compare_counters();
        assert!((0..sizes.rings).all(|ring| bench.receive.in_flight(ring as u8) == 0));
        early += bench.early;
        bench.counts.iter().for_each(|(name, count)| *counts.entry(name.clone()).or_default() += count);
    }
    println!("{target}: {counts:?}, {early} descriptors came late");
    assert_eq!(counts.get("l7_no_state"), None, "more messages than the test is made for");
    let names = ["frame", "queue", "consumed", "whole", "expired", "given up", "l7_no_first", "l7_no_descriptor"];
    for name in names.into_iter().chain(["l7_duplicate", "l7_malformed", "l7_checksum", "l7_rule", "l7_conflict"]) {
        assert!(counts.get(name).is_some_and(|count| *count > 0), "too few: {name}: {counts:?}");
    }
}

/// A packet of a message with a payload of another length, and maybe of another number, that is sound otherwise.
fn other_length(rng: &mut Rng, mut frame: Vec<u8>) -> Vec<u8> {
    if frame.len() < 64 {
        return frame;
    }
    let payload = match rng.below(3) {
        0 => frame.len() - 64 + 1 + rng.index(3),
        1 => (frame.len() - 64).saturating_sub(1 + rng.index(3)),
        _ => rng.index(1_400),
    };
    frame.resize(64 + payload, 0x55);
    frame[16..18].copy_from_slice(&(50 + payload as u16).to_be_bytes());
    frame[38..40].copy_from_slice(&(30 + payload as u16).to_be_bytes());
    frames::seal_ipv4(&mut frame);
    frames::seal(&mut frame);
    frame
}

/// Of buffers: large ones mostly.
fn lengths(rng: &mut Rng, count: usize) -> Vec<u32> {
    let length = |rng: &mut Rng| match rng.below(6) {
        0 => rng.below(200) as u32,
        1 => rng.below(2_000) as u32,
        _ => 60_000 + rng.below(10) as u32,
    };
    (0..count).map(|_| length(rng)).collect()
}

/// Messages of so many packets of 1,500 bytes, one behind the other: every beat of their payload goes into host memory, and nothing is lost.
pub fn a_beat_a_cycle_goes_into_host_memory(target: &str) {
    for packets in [4, 64] {
        let Some(mut bench) = one_queue(target, 5, 0) else { return };
        let bytes = bench.target.bus_bytes;
        // A tiny engine's writes under way span less.
        let late = if target == "tiny" { 60 } else { 400 };
        bench.rtl.set_memory(late..=late, 256).unwrap();
        bench.ring(3, 2, 5);
        bench.post(3, [100_000; 32]);
        bench.pass(2_000);
        bench.rtl.set_gaps(0, 0).unwrap();
        bench.span = None;
        let payload = vec![0x5a; 1_500 - 64];
        let (messages, mut beats) = (512 / u32::from(packets).max(16), 0);
        for message in 0..messages {
            for number in 0..packets {
                let frame = packet(message, packets, number, &payload);
                beats += frame.len().div_ceil(bytes);
                bench.send(2, frame, 0);
            }
        }
        bench.settle();
        assert_eq!(bench.counts["whole"], u64::from(messages));
        let (first, last) = bench.span.unwrap();
        let cycles = last - first + 1 - u64::from(late);
        let (rate, into) = (beats as f64 / cycles as f64, bench.bytes as f64 / bytes as f64 / cycles as f64);
        println!("{target}, {packets} packets: {rate:.3} beats a cycle come, {into:.3} go into host memory");
        assert!(rate >= 0.98, "{target}, {packets} packets: {rate:.3} beats a cycle");
        bench.compare_counters();
    }
}

/// A message has as many packets as the engine takes, in any order behind the first, small or long; one more is malformed.
pub fn a_message_has_as_many_packets_as_the_engine_takes(target: &str) {
    let Some(mut bench) = one_queue(target, 21, 0) else { return };
    let most = bench.target.message_packets as u8;
    let mut rng = Rng::new(test_seed("l7_most_packets"));
    bench.ring(3, 2, 3);
    bench.post(3, [60_000, 60_000, 3_000_000]);
    bench.pass(1_000);
    for (message, packets, bytes) in [(1, most, 40), (2, most / 2 + 1, 40), (3, most, 8_900)] {
        let mut numbers: Vec<u8> = (1..packets).collect();
        rng.shuffle(&mut numbers);
        // One comes twice.
        numbers.push(numbers[0]);
        for number in [0].into_iter().chain(numbers) {
            bench.send(2, packet(message, packets, number, &vec![number; bytes]), 0);
        }
        bench.settle();
        assert_eq!((bench.counts["whole"], bench.counts["l7_duplicate"]), (message.into(), message.into()));
    }
    let sent = bench.counts["consumed"];
    assert_eq!(sent, u64::from(most) * 2 + u64::from(most / 2 + 1));
    if let Some(more) = most.checked_add(1) {
        bench.send(2, packet(4, more, 0, &[1; 40]), 0);
        bench.settle();
        assert_eq!((bench.counts["consumed"], bench.counts["l7_malformed"]), (sent, 1));
    }
    bench.compare_counters();
}

/// A message of which a packet does not come is given up after its application's time, to the tick, and its buffer comes back; then it may begin again.
pub fn a_message_expires_after_its_time_and_may_begin_again(target: &str) {
    let expiry = 150;
    let Some(mut bench) = one_queue(target, 7, expiry) else { return };
    bench.ring(3, 2, 2);
    bench.post(3, [4_000; 4]);
    bench.pass(300);
    // Behind a reset the count of ticks wraps after 100 ticks: the message waits across that.
    assert!(bench.rtl.now() < 90 * 64, "{}", bench.rtl.now());
    bench.send(2, packet(1, 2, 0, &[1; 100]), 0);
    bench.settle();
    let begun = bench.rtl.now();
    bench.pass(64 * (u64::from(expiry) - 1) - 700);
    assert_eq!(bench.counts.get("expired"), None, "{} cycles", bench.rtl.now() - begun);
    // The later packet is counted; the message ends no earlier for it.
    bench.pass(64 * (2 + bench.target.entries as u64) + 1_000);
    bench.settle();
    assert_eq!(bench.counts["expired"], 1);
    // Too late.
    bench.send(2, packet(1, 2, 1, &[2; 50]), 0);
    bench.settle();
    assert_eq!(bench.counts["l7_no_first"], 1);
    // Once more, now whole, and the entry of the first attempt is not in its way.
    bench.doorbell(3);
    (0..2).for_each(|number| bench.send(2, packet(1, 2, number, &[3; 100]), 0));
    bench.settle();
    assert_eq!((bench.counts["whole"], bench.counts["consumed"]), (1, 3));
    bench.compare_counters();
}

/// What fits is taken, what does not is not, and a sender that says too much takes nobody's buffer.
pub fn buffers_that_are_too_short_and_rings_that_are_empty(target: &str) {
    let Some(mut bench) = one_queue(target, 9, 100) else { return };
    bench.ring(3, 2, 3);
    bench.post(3, [64 + 300, 64 + 300, 64 + 300]);
    bench.pass(1_000);
    // The first two of three fit, the last one does not; then a shorter last one comes.
    for (number, length) in [(0, 100), (1, 100), (2, 101), (2, 100)] {
        bench.send(2, packet(1, 3, number, &vec![number; length]), 0);
    }
    // Never.
    for number in 0..3 {
        bench.send(2, packet(2, 3, number, &[number; 200]), 0);
    }
    bench.send(2, packet(3, 1, 0, &[0; 301]), 0);
    // Another length in the middle, then nothing; an empty last packet.
    for (number, length) in [(0, 100), (1, 99), (2, 10)] {
        bench.send(2, packet(4, 3, number, &vec![number; length]), 0);
    }
    for (number, length) in [(0, 300), (1, 0)] {
        bench.send(2, packet(5, 2, number, &vec![number; length]), 0);
    }
    // No descriptor is left.
    for number in 0..2 {
        bench.send(2, packet(6, 2, number, &[number; 200]), 0);
    }
    bench.settle();
    assert_eq!((bench.counts["whole"], bench.counts["l7_malformed"]), (2, 6));
    // The second one may come when the first is forgotten.
    let no_first = bench.counts.get("l7_no_first").copied().unwrap_or(0);
    assert_eq!(bench.counts["l7_no_descriptor"] + no_first, 2);
    assert_eq!(bench.early, 0);
    // Which is forgotten, not expired: with a buffer it begins anew.
    bench.post(3, [1_000]);
    bench.pass(500);
    (0..2).for_each(|number| bench.send(2, packet(6, 2, number, &[number; 200]), 0));
    bench.settle();
    assert_eq!(bench.counts["whole"], 3);
    bench.pass(64 * (100 + 2 * bench.target.entries as u64));
    bench.settle();
    assert_eq!((bench.counts["expired"], bench.receive.in_flight(3)), (1, 0));
    bench.compare_counters();
}

/// Completions of a ring whose host looks at none of them stop it; more than it has posted is never taken.
pub fn a_ring_goes_round_and_stops_when_nobody_looks(target: &str) {
    let Some(mut bench) = one_queue(target, 11, 0) else { return };
    bench.ring(3, 2, 2);
    let mut message = 0;
    for _ in 0..12 {
        bench.post(3, [300; 4]);
        bench.pass(800);
        for _ in 0..6 {
            bench.send(2, packet(message, 1, 0, &message.to_be_bytes()), 0);
            message += 1;
        }
        bench.settle();
    }
    assert_eq!((bench.counts["whole"], bench.counts["l7_no_descriptor"], bench.early), (48, 24, 0));
    // All are posted again, but the host does not say that it has seen the completions.
    let seen = bench.hosts[&3].there;
    bench.hosts.get_mut(&3).unwrap().there = seen - 4;
    bench.receive.rings.get_mut(&3).unwrap().seen = seen - 4;
    bench.post(3, [300; 4]);
    bench.hosts.get_mut(&3).unwrap().there = seen;
    bench.pass(800);
    bench.send(2, packet(message, 1, 0, b"no place"), 0);
    bench.settle();
    assert_eq!(bench.counts["l7_no_descriptor"], 25);
    bench.doorbell(3);
    bench.send(2, packet(message + 1, 1, 0, b"a place"), 0);
    bench.settle();
    assert_eq!(bench.counts["whole"], 49);
    bench.compare_counters();
}

/// A ring that is in use stays as it is; without a row its queue gets frames, and what is on its way ends; then it is made anew.
pub fn a_ring_is_unmade_and_made_again(target: &str) {
    let Some(mut bench) = one_queue(target, 15, 0) else { return };
    bench.ring(3, 2, 2);
    bench.post(3, [2_000; 3]);
    bench.pass(400);
    bench.send(2, packet(1, 2, 0, &[1; 100]), 0);
    bench.settle();
    let row = bench.receive.rings[&3].row;
    assert_eq!(L7RingRow::unpack(&bench.read(Table::L7Ring, 3)), Ok(row));
    let make = |bench: &mut HostBench| bench.ask(Op::Write, Table::L7Ring, 3, row.pack().unwrap()).status;
    assert_eq!(make(&mut bench), Status::Busy);
    bench.write(Table::L7Ring, 3, &L7RingRow::default());
    bench.receive.rings.get_mut(&3).unwrap().row.valid = false;
    bench.send(2, packet(2, 1, 0, &[1; 100]), 0);
    bench.settle();
    assert_eq!(bench.counts["queue"], 1);
    // The first message has its buffer.
    assert_eq!(make(&mut bench), Status::Busy);
    let state = L7RingStateRow::unpack(&bench.read(Table::L7RingState, 3));
    assert_eq!(state, Ok(L7RingStateRow { fetched: 3, taken: 1, completed: 0 }));
    bench.send(2, packet(1, 2, 1, &[1; 80]), 0);
    bench.settle();
    assert_eq!(bench.counts["whole"], 1);
    // What was posted to it is gone with it; another module has it now.
    bench.ring(3, 1, 3);
    assert_eq!(L7RingStateRow::unpack(&bench.read(Table::L7RingState, 3)), Ok(L7RingStateRow::default()));
    bench.post(3, [2_000; 3]);
    bench.pass(400);
    bench.send(2, packet(3, 1, 0, &[1; 100]), 0);
    bench.settle();
    assert_eq!(bench.counts["l7_no_descriptor"], 1);
    bench.compare_counters();
}
