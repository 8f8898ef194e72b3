//! What is asked of the engine without rings, on any target.

use crate::bench::Bench;
use crate::l7::builds;
use crate::l7::frames::{self, Flow};
use crate::l7::rows::Rows;
use crate::l7::tenants::{Tenants, quota};
use crate::l7::traffic::Traffic;
use sluice_formats::Table;
use sluice_formats::l7::codes::{L7Goal, L7PortKind};
use sluice_formats::l7::compare::{L7Bytes, MatchShape};
use sluice_formats::l7::qnp::Header;
use sluice_formats::l7::rows::{L7AlternativePart, L7MatchRow, L7MovePart, L7PortRow, L7StartRow, L7TargetPart};
use sluice_formats::l7::target::{ALTERNATIVES, MATCH_BYTES, Target, VIEW_BYTES};
use sluice_formats::random::{Rng, test_is_long, test_seed};
use sluice_l7::compile::{Options, compile};
use sluice_l7::engine::{Fate, Job};
use sluice_l7::message::{Field, encode};
use sluice_l7::step::{self, Verdict};
use sluice_l7::tables::Tables;
use sluice_l7::testing;
use sluice_rtlsim::Ready;
use sluice_rtlsim::plugin::boundary::Until;

/// Of engines whose programs are not asked.
fn no_rules(job: &Job) -> Option<Verdict> {
    job.run(&Tables::default())
}

/// Compares that were hit.
#[derive(Debug, Default)]
struct Steps {
    all: u64,
    /// Of more bytes than the targets compare.
    long: u64,
    /// Alternatives that the targets do not have.
    fifth: u64,
    /// Where the targets do not look.
    far: u64,
}

/// The verdict of the rules, and the compares on its way.
fn counted(job: &Job, tables: &Tables, steps: &mut Steps) -> Option<Verdict> {
    let view = job.view.as_ref()?;
    Some(step::run(tables, job.port, job.message_type, job.identity, view, |step| {
        let Some(hit) = step.hit else { return };
        let length = usize::from(tables.rows[usize::from(step.row)].length);
        steps.all += 1;
        steps.long += u64::from(length > MATCH_BYTES && !step.past);
        steps.fifth += u64::from(usize::from(hit) >= ALTERNATIVES);
        steps.far += u64::from(usize::from(step.position) >= VIEW_BYTES && length > 0 && !step.past);
    }))
}

pub fn in_lockstep(target: &str, name: &str, rounds: usize, packets: usize) {
    let rounds = if test_is_long() { 220 * rounds } else { rounds };
    let mut rng = Rng::new(test_seed(name));
    let mut counts = std::collections::BTreeMap::<String, u64>::new();
    let mut steps = Steps::default();
    for round in 0..rounds {
        let Some(mut bench) = Bench::open(target, rng.next_u64()) else { return };
        let sizes = bench.target;
        let tenants = Tenants::random(sizes, &mut rng);
        // Not all rules fit into a tiny engine.
        if tenants.ports.is_empty() {
            continue;
        }
        tenants.write(&mut bench, sizes, &mut rng);
        let mut traffic = Traffic::new(rng.fork(), tenants.ports.clone(), sizes);
        let gaps = *rng.choose(&[0, 0, 40, 150]).unwrap();
        bench.rtl.set_gaps(0, gaps).unwrap();
        let ready = [Ready::Always, Ready::Random { chance: 150 }, Ready::Bursts { chance: 100, longest: 80 }];
        bench.rtl.set_ready(0, ready[round % 3]).unwrap();
        // A tiny table forgets finished messages, in an order that depends on time: few messages, then a new engine.
        for _ in 0..packets {
            let (module, frame) = traffic.next();
            bench.send(module, frame, 0, |job| counted(job, &tenants.tables, &mut steps));
            if bench.waiting() > 400 {
                bench.run(&Until { max_cycles: 2_000, ..Until::default() }, &mut None);
            }
        }
        bench.settle();
        assert_eq!(bench.model.table.evicted, 0, "more messages than the test is made for");
        bench.rtl.set_ready(0, Ready::Always).unwrap();
        bench.compare_counters(sizes.modules.min(8) as u32);
        for (name, count) in &bench.counts {
            *counts.entry(name.clone()).or_default() += count;
        }
    }
    println!("{target}: {counts:?}, {steps:?}");
    let sizes = builds::sizes(target);
    // A short run may miss them.
    if test_is_long() {
        assert!(sizes.compare_bytes == MATCH_BYTES || steps.long > 0);
        assert!(sizes.alternatives == ALTERNATIVES || steps.fifth > 0);
        assert!(sizes.view_bytes() == VIEW_BYTES || steps.far > 0);
    }
    let names = [
        "frame",
        "queue",
        "fault",
        "l7_malformed",
        "l7_checksum",
        "l7_no_first",
        "l7_no_app",
        "l7_updating",
        "l7_rule",
        "l7_conflict",
    ];
    for name in names {
        assert!(counts.get(name).is_some_and(|count| *count > 0), "too few: {name}: {counts:?}");
    }
}

/// What is no message leaves at most 3 cycles after it came (256 bit: 5).
pub fn a_frame_that_is_no_message_leaves_soon(target: &str, most: u64) {
    let Some(mut bench) = Bench::open(target, 7) else { return };
    let now = bench.rtl.now();
    let flow = Flow { source: 1, from: 2, to: 3 };
    for n in 0..20 {
        let length = [0, 18, 22, 100, 1400][n as usize % 5];
        bench.send(1, frames::raw(flow, &vec![0; length]), now + 1_000 + 500 * n, no_rules);
    }
    bench.settle();
    assert_eq!(bench.passed.len(), 20);
    let worst = bench.passed.iter().map(|(came, left)| left - came).max().unwrap();
    println!("{target}: {worst} cycles");
    assert!(worst <= most, "{target}: {worst} cycles");
}

/// A message's packets wait for it, and others do not wait for them; later ones of a message that nobody began are dropped.
pub fn messages_beyond_the_quota_have_no_state(target: &str) {
    let Some(mut bench) = Bench::open(target, 9) else { return };
    let otherwise = L7TargetPart::new(L7Goal::Queue, 9);
    let row = L7PortRow { valid: true, module_id: 2, port: 9000, id: 7, otherwise, ..L7PortRow::default() };
    bench.write(Table::L7Port, 3, &row);
    bench.model.ports = vec![row].into();
    quota(&mut bench, 2, 5);
    let flow = Flow { source: 1, from: 2, to: 9000 };
    let packet = |message, number| {
        let header =
            Header { app_id: 7, msg_id: message, msg_len_in_pkts: 2, pkt_seq_num_in_msg: number, ..Header::default() };
        frames::packet(flow, header, b"abcdef")
    };
    let sent: Vec<_> = (0..8).map(|message| bench.send(2, packet(message, 0), 0, no_rules).fate).collect();
    assert_eq!(sent.iter().filter(|fate| matches!(fate, Fate::Queue(_))).count(), 5);
    for message in [0, 6] {
        bench.send(2, packet(message, 1), 0, no_rules);
    }
    bench.settle();
    bench.send(2, packet(7, 0), 0, no_rules);
    bench.settle();
    assert_eq!(bench.counts["l7_no_state"], 3);
    bench.compare_counters(4);
}

/// Packets one behind the other: how many beats a cycle go in and out.
fn rate(target: &str, what: &str, least: f64, make: impl Fn(u32) -> Vec<u8>) {
    let Some(mut bench) = Bench::open(target, 11) else { return };
    let otherwise = L7TargetPart::new(L7Goal::Queue, 3);
    let row = L7PortRow { valid: true, module_id: 2, port: 9000, id: 7, otherwise, ..L7PortRow::default() };
    let raw = L7PortRow { port: 9001, kind: L7PortKind::Raw.code(), ..row };
    let endpoint = L7PortRow { port: 9002, kind: L7PortKind::Endpoint.code(), ..row };
    (0..).zip([row, raw, endpoint]).for_each(|(index, row)| bench.write(Table::L7Port, index, &row));
    bench.model.ports = vec![row, raw, endpoint].into();
    quota(&mut bench, 2, 32);
    let header = Header { app_id: 7, msg_len_in_pkts: 64, ..Header::default() };
    // Messages that are decided when the others come.
    for message in 0..8 {
        bench.send(2, frames::packet(FLOW, Header { msg_id: message, ..header }, b"abcdef"), 0, no_rules);
    }
    bench.settle();
    (bench.span, _) = (None, bench.rtl.set_gaps(0, 0).unwrap());
    let (bytes, mut beats) = (Target::by_name(target).bus_bytes, 0);
    for number in 0..400 {
        let frame = make(number);
        beats += frame.len().div_ceil(bytes);
        bench.send(2, frame, 0, no_rules);
    }
    bench.settle();
    let (first, last) = bench.span.unwrap();
    let rate = beats as f64 / (last - first + 1) as f64;
    println!("{target}, {what}: {rate:.3} beats a cycle");
    assert!(rate >= least, "{target}, {what}: {rate:.3} beats a cycle");
}

/// Of packets that a test makes by hand.
pub const FLOW: Flow = Flow { source: 0x0a00_0001, from: 2, to: 9000 };

/// A later packet of one of eight messages.
fn later(number: u32, payload: usize) -> Vec<u8> {
    let number_in_message = 1 + (number / 8 % 63) as u8;
    let header = Header {
        app_id: 7,
        msg_id: number % 8,
        msg_len_in_pkts: 64,
        pkt_seq_num_in_msg: number_in_message,
        ..Header::default()
    };
    frames::packet(FLOW, header, &vec![number as u8; payload])
}

pub fn a_beat_a_cycle_goes_through(target: &str) {
    let other = Flow { to: 1, ..FLOW };
    let ack = Header { app_id: 7, msg_len_in_pkts: 1, pkt_flag: 1, ..Header::default() };
    rate(target, "no messages, 60 bytes", 0.95, |_| frames::raw(other, &[0; 18]));
    rate(target, "no messages, 1,500 bytes", 0.99, |_| frames::raw(other, &[0; 1458]));
    let endpoint = Flow { to: 9002, ..FLOW };
    rate(target, "acknowledgements, 64 bytes", 0.95, |n| frames::packet(endpoint, Header { msg_id: n, ..ack }, &[]));
    rate(target, "later packets, 65 bytes", 0.95, |n| later(n, 1));
    rate(target, "later packets, 128 bytes", 0.95, |n| later(n, 64));
    rate(target, "later packets, 1,500 bytes", 0.99, |n| later(n, 1436));
    rate(target, "both by turns, 64 and 129 bytes", 0.95, |n| match n % 2 {
        0 => frames::raw(other, &[0; 22]),
        _ => later(n, 65),
    });
}

/// A move to a stop byte that the application has not finds it nowhere, whatever its port row has in the byte's place.
pub fn a_stop_byte_that_the_application_has_not_is_found_nowhere(target: &str) {
    for stop_count in 0..4 {
        let Some(mut bench) = Bench::open(target, 17) else { return };
        // Message type s moves behind stop byte s, then compares an x there: queue 1, else 2.
        let row = |miss| {
            let goal = L7TargetPart::new(L7Goal::Queue, 1);
            let x = L7AlternativePart { valid: true, bytes: b'x'.into(), target: goal, ..L7AlternativePart::default() };
            let mut row = L7MatchRow { module_id: 2, length: 1, miss, ..L7MatchRow::default() };
            row.alternatives[0] = x;
            row
        };
        let rows = vec![L7MatchRow::default(), row(L7TargetPart::new(L7Goal::Queue, 2))];
        let start = |stop| {
            let step = L7MovePart { field: 1, skip: 0, stop };
            L7StartRow { module_id: 2, step, target: L7TargetPart::new(L7Goal::Row, 1) }
        };
        let tables = Tables { rows, starts: (0..4).map(start).collect(), ..Tables::default() };
        (0..).zip(&tables.rows).for_each(|(index, row)| bench.write_match(index, row));
        (0..).zip(&tables.starts).for_each(|(index, row)| bench.write(Table::L7Start, index, row));
        let otherwise = L7TargetPart::new(L7Goal::Queue, 9);
        let stops = [b'a', b'b'];
        let row = L7PortRow { valid: true, module_id: 2, port: 9000, id: 7, ..L7PortRow::default() };
        let row = L7PortRow { stops, stop_count, otherwise, types: 4, ..row };
        bench.write(Table::L7Port, 0, &row);
        bench.model.ports = vec![row].into();
        quota(&mut bench, 2, 32);
        let mut queues = Vec::new();
        for stop in 0..4u8 {
            let header =
                Header { app_id: 7, msg_type: stop, msg_id: stop.into(), msg_len_in_pkts: 1, ..Header::default() };
            let frame = frames::packet(FLOW, header, b"\x01\x08..ax..bx");
            let Fate::Queue(queue) = bench.send(2, frame, 0, |job| job.run(&tables)).fate else {
                panic!("it goes to a queue")
            };
            queues.push(queue);
        }
        bench.settle();
        let found = |stop: u8| if (1..3).contains(&stop) && stop <= stop_count { 1 } else { 2 };
        assert_eq!(queues, (0..4).map(found).collect::<Vec<u8>>(), "{stop_count} stop bytes");
    }
}

/// A port row that is written while a packet comes counts for the packets behind it.
pub fn a_packet_keeps_the_row_that_it_came_with(target: &str) {
    let Some(mut bench) = Bench::open(target, 19) else { return };
    let row = |queue| L7PortRow {
        valid: true,
        module_id: 2,
        port: 9002,
        kind: L7PortKind::Endpoint.code(),
        otherwise: L7TargetPart::new(L7Goal::Queue, queue),
        ..L7PortRow::default()
    };
    bench.write(Table::L7Port, 0, &row(3));
    bench.model.ports = vec![row(3)].into();
    // Long enough for the answer to come before its end.
    bench.rtl.set_gaps(0, 220).unwrap();
    let header = Header { app_id: 7, msg_len_in_pkts: 1, pkt_flag: 1, ..Header::default() };
    let frame = frames::packet(Flow { to: 9002, ..FLOW }, header, &[0x55; 8_000]);
    bench.send(2, frame.clone(), 0, no_rules);
    bench.run(&Until { max_cycles: 100, ..Until::default() }, &mut None);
    bench.write(Table::L7Port, 0, &row(4));
    assert_eq!(bench.waiting(), 1, "it has ended before the row was written");
    bench.settle();
    bench.model.ports = vec![row(4)].into();
    assert_eq!(bench.send(2, frame, 0, no_rules).fate, Fate::Queue(4));
    bench.settle();
}

/// A compare of as many bytes as the engine has is hit by each of its alternatives, at every column of a segment and up to the view's last
/// byte, and by no other byte in any place.
pub fn a_compare_is_hit_at_every_place_of_the_view(target: &str) {
    let Some(mut bench) = Bench::open(target, 23) else { return };
    let sizes = bench.target;
    let mut rng = Rng::new(test_seed("l7_compare_places"));
    let port =
        L7PortRow { valid: true, module_id: 2, port: 9000, kind: L7PortKind::Raw.code(), ..L7PortRow::default() };
    let port = L7PortRow { otherwise: L7TargetPart::new(L7Goal::Queue, 99), types: 1, ..port };
    bench.write(Table::L7Port, 0, &port);
    bench.model.ports = vec![port].into();
    let to = |row| L7TargetPart::new(L7Goal::Row, row);
    let step = L7MovePart { field: 1, ..L7MovePart::default() };
    let mut tables = Tables { starts: vec![L7StartRow { module_id: 2, step, target: to(0) }], ..Tables::default() };
    tables.shape = sizes.match_shape();
    let most = sizes.compare_bytes;
    let (mut hits, mut misses) = (0, 0);
    for n in 0..6 * sizes.view_segments {
        let length = *rng.choose(&[1, most / 2, most - 1, most]).unwrap();
        // Every column in turn; the last place of the view now and then.
        let last = sizes.view_bytes() - length;
        let at = if n % 16 == 15 { last } else { (64 * rng.index(sizes.view_segments) + n % 64).min(last) };
        // Moves that lead there, and one row that compares. Slow packets are compared while they come.
        bench.rtl.set_gaps(0, *rng.choose(&[0, 200, 230]).unwrap()).unwrap();
        let skip = at.min(255);
        let mut left = at - skip;
        tables.rows = Vec::new();
        tables.starts[0].step.skip = skip as u8;
        bench.write(Table::L7Start, 0, &tables.starts[0]);
        for row in 1..=left.div_ceil(255) as u16 {
            let skip = left.min(255);
            left -= skip;
            let anyway =
                L7AlternativePart { valid: true, anyway: true, target: to(row), ..L7AlternativePart::default() };
            let step = L7MovePart { skip: skip as u8, ..L7MovePart::default() };
            tables.rows.push(L7MatchRow { module_id: 2, step, ..L7MatchRow::default() });
            tables.rows.last_mut().unwrap().alternatives[0] = anyway;
        }
        let mut compare = L7MatchRow { module_id: 2, length: length as u8, ..L7MatchRow::default() };
        let text = rng.bytes(length);
        for (queue, a) in (0..).zip(&mut compare.alternatives[..sizes.alternatives]) {
            let mut bytes = text.clone();
            bytes[rng.index(length)] ^= 1 << queue;
            *a = L7AlternativePart { valid: true, bytes: L7Bytes::of(&bytes), ..L7AlternativePart::default() };
            a.target = L7TargetPart::new(L7Goal::Queue, queue);
        }
        // The first of equal ones counts.
        let chosen = rng.index(sizes.alternatives);
        let later = chosen + rng.index(sizes.alternatives - chosen);
        compare.alternatives[later].bytes = compare.alternatives[chosen].bytes;
        let bytes = sizes.view_bytes() + rng.index(3);
        let mut payload = rng.bytes(bytes);
        payload[at..at + length].copy_from_slice(&compare.alternatives[chosen].bytes.0[..length]);
        let is_hit = rng.chance(2, 3);
        if !is_hit {
            payload[at + rng.index(length)] ^= 1 << rng.below(8);
        }
        tables.rows.push(compare);
        (0..).zip(&tables.rows).for_each(|(index, row)| bench.write_match(index, row));
        let fate = bench.send(2, frames::raw(FLOW, &payload), 0, |job| job.run(&tables)).fate;
        if is_hit {
            assert_eq!(fate, Fate::Queue(chosen as u8), "{length} bytes at {at}");
        }
        *(if fate == Fate::Queue(99) { &mut misses } else { &mut hits }) += 1;
        bench.settle();
    }
    assert!(hits > 20 && misses > 5, "{hits} hits, {misses} misses");
}

/// The second of three fields begins at every column around the ends of segments, with values of even and odd lengths: the third one is found.
pub fn fields_are_found_wherever_they_begin(target: &str) {
    let Some(mut bench) = Bench::open(target, 27) else { return };
    let otherwise = L7TargetPart::new(L7Goal::Queue, 99);
    let port = L7PortRow { valid: true, module_id: 2, port: 9000, id: 7, otherwise, types: 1, ..L7PortRow::default() };
    bench.write(Table::L7Port, 0, &port);
    bench.model.ports = vec![port].into();
    quota(&mut bench, 2, 8);
    let step = L7MovePart { field: 3, ..L7MovePart::default() };
    let target = L7TargetPart::new(L7Goal::Row, 0);
    let mut row = L7MatchRow { module_id: 2, length: 2, ..L7MatchRow::default() };
    row.alternatives[0] = L7AlternativePart { valid: true, bytes: L7Bytes::of(b"ok"), ..L7AlternativePart::default() };
    row.alternatives[0].target = L7TargetPart::new(L7Goal::Queue, 5);
    let starts = vec![L7StartRow { module_id: 2, step, target }];
    let tables = Tables { starts, rows: vec![row], shape: bench.target.match_shape(), ..Tables::default() };
    bench.write(Table::L7Start, 0, &tables.starts[0]);
    bench.write_match(0, &tables.rows[0]);
    let columns = [64, 128, 192].into_iter().flat_map(|end: usize| end - 3..=end + 1);
    let cases = columns.flat_map(|column| (0..8).map(move |length| (column, length)));
    for (number, (column, length)) in (1..).zip(cases) {
        // Where another byte than the third field's index is taken for it, the message is malformed.
        let field = |index, value| Field { index, value };
        let fields = [
            field(1, vec![0; column - 2]),
            field(2, vec![0xff; length]),
            field(3, b"ok".to_vec()),
            field(4, vec![0; 60]),
        ];
        let header = Header { app_id: 7, msg_id: number, msg_len_in_pkts: 1, ..Header::default() };
        let frame = frames::packet(FLOW, header, &encode(&fields));
        let fate = bench.send(2, frame, 0, |job| job.run(&tables)).fate;
        assert_eq!(fate, Fate::Queue(5), "field 2 at {column} of {length} bytes");
        bench.settle();
    }
    bench.compare_counters(4);
}

/// What a row's alternatives cost: as many as the engine has, nothing; more lie in wide rows, which cost 2 cycles, and so does each further
/// step of 2 cycles.
pub fn alternatives_of_one_row_cost_no_cycle(target: &str) {
    let Some(mut bench) = Bench::open(target, 29) else { return };
    let (sizes, mut message) = (bench.target, 0);
    let mut latency = |steps: usize, count: u8, alternatives: usize| {
        let rules = testing::ping_pong(steps, count);
        let shape = MatchShape { alternatives, ..sizes.match_shape() };
        let program = compile(&rules, &Options { shape, ..Options::default() }).unwrap();
        let (tables, ports) = program.tables(&rules, 2);
        (0..).zip(&tables.rows).for_each(|(index, row)| bench.write_match(index, row));
        (0..).zip(&tables.starts).for_each(|(index, row)| bench.write(Table::L7Start, index, row));
        bench.write(Table::L7Port, 0, &ports[0]);
        bench.model.ports = ports.into();
        quota(&mut bench, 2, 32);
        message += 1;
        let header = Header { app_id: 1, msg_id: message, msg_len_in_pkts: 1, ..Header::default() };
        let frame = frames::packet(FLOW, header, &testing::ping_pong_payload(steps, count - 1));
        let fate = bench.send(2, frame, 0, |job| job.run(&tables)).fate;
        assert_eq!(fate, Fate::Queue(count - 1));
        bench.settle();
        bench.last_latency()
    };
    // Of so many steps that nothing else is later.
    let one = latency(12, 4, 4);
    let (more, all) = (latency(13, 4, 4), latency(12, sizes.alternatives as u8, sizes.alternatives));
    let wide = latency(12, 2 * sizes.alternatives as u8, sizes.alternatives);
    let as_four = latency(12, 8, 4);
    println!(
        "{target}: {one} cycles; a step more {more}; a full row {all}; wide rows {wide}; 8 in rows of 4 {as_four}"
    );
    assert_eq!((more, all, wide, as_four), (one + 2, one, one + 2, one + 2));
}
