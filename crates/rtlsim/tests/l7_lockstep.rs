//! The l7 engine on its own top does what its model does: filter, staging buffer, message table.

#[path = "support/l7/mod.rs"]
mod l7;

use l7::bench::Bench;
use l7::frames::{self, Flow};
use l7::traffic::{Traffic, goal};
use sluice_formats::Table;
use sluice_formats::l7::codes::{L7Goal, L7PortKind};
use sluice_formats::l7::qnp::Header;
use sluice_formats::l7::rows::{L7PortRow, L7QuotaRow, L7SecretRow, L7ShareRow};
use sluice_formats::l7::target::{Target, VIEW_BYTES};
use sluice_formats::random::{Rng, test_seed};
use sluice_l7::engine::{Fate, Job};
use sluice_l7::step::{Decision, Verdict};
use sluice_rtlsim::Ready;
use sluice_rtlsim::plugin::Until;

/// What the stand-in of the matchers says.
fn stand_in(job: &Job) -> Option<Verdict> {
    let cap = if job.is_raw() || job.seg_cnt == 0 { VIEW_BYTES } else { 64 * usize::from(job.seg_cnt) };
    let view = &job.payload[..job.payload.len().min(cap).min(VIEW_BYTES)];
    let to = |decision, fault| Some(Verdict { decision, steps: 1, cycles: 1, fault });
    if job.message_type.is_none() {
        return match L7Goal::from_code(job.port.otherwise.kind) {
            Some(L7Goal::Queue) => to(Decision::Queue(job.port.otherwise.number as u8), false),
            Some(L7Goal::Group) => to(Decision::Queue(255), false),
            _ => to(Decision::Drop, false),
        };
    }
    let [first, last] = match view {
        [] => return to(Decision::Queue(255), false),
        [one] => [*one, *one],
        [first, .., last] => [*first, *last],
    };
    match first {
        200..230 => to(Decision::Drop, false),
        230..245 => None,
        245.. => to(Decision::Queue(1), true),
        _ => to(Decision::Queue(first ^ last), false),
    }
}

/// Ports of some modules.
fn ports(target: &Target, rng: &mut Rng) -> Vec<L7PortRow> {
    let mut rows = Vec::new();
    for n in 0..target.ports as u16 {
        let kind = *rng
            .choose(&[L7PortKind::Application, L7PortKind::Application, L7PortKind::Endpoint, L7PortKind::Raw])
            .unwrap();
        let otherwise = match kind {
            L7PortKind::Endpoint => goal(L7Goal::Queue, n),
            _ => *rng.choose(&[goal(L7Goal::Queue, 100 + n), goal(L7Goal::Drop, 0), goal(L7Goal::Group, 0)]).unwrap(),
        };
        rows.push(L7PortRow {
            valid: !rng.chance(1, 20),
            module_id: (n % 7 + 1) as u8,
            generation: rng.chance(1, 16),
            // Applications of a module share ports.
            port: match kind {
                L7PortKind::Application => 9000 + n / 14,
                _ => 9100 + n,
            },
            kind: kind.code(),
            id: if kind == L7PortKind::Application { n as u8 } else { 0 },
            updating: rng.chance(1, 12),
            otherwise,
            types: 4,
            ..L7PortRow::default()
        });
    }
    rows
}

fn set_up(bench: &mut Bench, target: &Target, rng: &mut Rng) -> Vec<L7PortRow> {
    let rows = ports(target, rng);
    for (index, row) in (0..).zip(&rows) {
        bench.write(Table::L7Port, index, row);
        assert_eq!(bench.read(Table::L7Port, index).len(), 4);
    }
    for module in 0..target.modules as u32 {
        let quota = L7QuotaRow { messages: target.messages as u16 };
        bench.write(Table::L7Quota, module, &quota);
        bench.model.table.set_quota(module as u8, quota.messages);
    }
    for hash in 0..2 {
        let row = L7SecretRow { words: std::array::from_fn(|_| rng.next_u32()) };
        bench.write(Table::L7Secret, hash, &row);
        bench.model.table.set_secret(hash as usize, &row);
    }
    let share = L7ShareRow { packets: 2, beats: 24 };
    (1..4).for_each(|module| bench.write(Table::L7Share, module, &share));
    bench.model.ports = rows.clone();
    rows
}

fn in_lockstep(target: &str, name: &str, rounds: usize, packets: usize) {
    let mut rng = Rng::new(test_seed(name));
    let mut counts = std::collections::BTreeMap::<String, u64>::new();
    for round in 0..rounds {
        let Some(mut bench) = Bench::open(target, rng.next_u64()) else { return };
        let sizes = Target::by_name(target);
        let rows = set_up(&mut bench, sizes, &mut rng);
        let mut traffic = Traffic::new(rng.fork(), rows);
        let gaps = *rng.choose(&[0, 0, 40, 150]).unwrap();
        bench.rtl.set_gaps(0, gaps).unwrap();
        let ready = [Ready::Always, Ready::Random { chance: 150 }, Ready::Bursts { chance: 100, longest: 80 }];
        bench.rtl.set_ready(0, ready[round % 3]).unwrap();
        // A tiny table forgets finished messages, in an order that depends on time: few messages, then a new engine.
        for _ in 0..packets {
            let (module, frame) = traffic.next();
            bench.send(module, frame, 0, stand_in);
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
    println!("{target}: {counts:?}");
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
    ];
    for name in names {
        assert!(counts.get(name).is_some_and(|count| *count > 3), "too few: {name}: {counts:?}");
    }
}

#[test]
fn tiny_engine_in_lockstep() {
    in_lockstep("tiny", "l7_tiny_lockstep", 30, 150);
}

#[test]
fn default_engine_in_lockstep() {
    in_lockstep("default", "l7_default_lockstep", 6, 1_000);
}

/// What is no message leaves at most 3 cycles after it came (256 bit: 5).
#[test]
fn a_frame_that_is_no_message_leaves_soon() {
    for (target, most) in [("default", 3), ("tiny", 5)] {
        let Some(mut bench) = Bench::open(target, 7) else { continue };
        let now = bench.rtl.now();
        let flow = Flow { source: 1, from: 2, to: 3 };
        for n in 0..20 {
            let length = [0, 18, 22, 100, 1400][n as usize % 5];
            bench.send(1, frames::raw(flow, &vec![0; length]), now + 1_000 + 500 * n, stand_in);
        }
        bench.settle();
        assert_eq!(bench.passed.len(), 20);
        let worst = bench.passed.iter().map(|(came, left)| left - came).max().unwrap();
        println!("{target}: {worst} cycles");
        assert!(worst <= most, "{target}: {worst} cycles");
    }
}

/// A message's packets wait for it, and others do not wait for them; later ones of a message that nobody began are dropped.
#[test]
fn messages_beyond_the_quota_have_no_state() {
    for target in ["tiny", "default"] {
        let Some(mut bench) = Bench::open(target, 9) else { continue };
        let row = L7PortRow { valid: true, module_id: 2, port: 9000, id: 7, types: 1, ..L7PortRow::default() };
        bench.write(Table::L7Port, 3, &row);
        bench.model.ports = vec![row];
        bench.write(Table::L7Quota, 2, &L7QuotaRow { messages: 5 });
        bench.model.table.set_quota(2, 5);
        let flow = Flow { source: 1, from: 2, to: 9000 };
        let packet = |message, number| {
            let header = Header {
                app_id: 7,
                msg_id: message,
                msg_len_in_pkts: 2,
                pkt_seq_num_in_msg: number,
                ..Header::default()
            };
            frames::packet(flow, header, b"abcdef")
        };
        let sent: Vec<_> = (0..8).map(|message| bench.send(2, packet(message, 0), 0, stand_in).fate).collect();
        assert_eq!(sent.iter().filter(|fate| matches!(fate, Fate::Queue(_))).count(), 5);
        for message in [0, 6] {
            bench.send(2, packet(message, 1), 0, stand_in);
        }
        bench.settle();
        bench.send(2, packet(7, 0), 0, stand_in);
        bench.settle();
        assert_eq!(bench.counts["l7_no_state"], 3);
        bench.compare_counters(4);
    }
}

/// Packets one behind the other: how many beats a cycle go in and out.
fn rate(target: &str, what: &str, least: f64, make: impl Fn(u32) -> Vec<u8>) {
    let Some(mut bench) = Bench::open(target, 11) else { return };
    let otherwise = goal(L7Goal::Queue, 3);
    let row = L7PortRow { valid: true, module_id: 2, port: 9000, id: 7, types: 1, otherwise, ..L7PortRow::default() };
    let raw = L7PortRow { port: 9001, kind: L7PortKind::Raw.code(), ..row };
    (0..).zip([row, raw]).for_each(|(index, row)| bench.write(Table::L7Port, index, &row));
    bench.model.ports = vec![row, raw];
    bench.write(Table::L7Quota, 2, &L7QuotaRow { messages: 32 });
    bench.model.table.set_quota(2, 32);
    let header = Header { app_id: 7, msg_len_in_pkts: 64, ..Header::default() };
    // Messages that are decided when the others come.
    for message in 0..8 {
        bench.send(2, frames::packet(FLOW, Header { msg_id: message, ..header }, b"abcdef"), 0, stand_in);
    }
    bench.settle();
    (bench.span, _) = (None, bench.rtl.set_gaps(0, 0).unwrap());
    let (bytes, mut beats) = (Target::by_name(target).bus_bytes, 0);
    for number in 0..400 {
        let frame = make(number);
        beats += frame.len().div_ceil(bytes);
        bench.send(2, frame, 0, stand_in);
    }
    bench.settle();
    let (first, last) = bench.span.unwrap();
    let rate = beats as f64 / (last - first + 1) as f64;
    println!("{target}, {what}: {rate:.3} beats a cycle");
    assert!(rate >= least, "{target}, {what}: {rate:.3} beats a cycle");
}

const FLOW: Flow = Flow { source: 0x0a00_0001, from: 2, to: 9000 };

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

#[test]
fn a_beat_a_cycle_goes_through() {
    for target in ["default", "tiny"] {
        let other = Flow { to: 1, ..FLOW };
        let ack = Header { app_id: 7, msg_len_in_pkts: 1, pkt_flag: 1, ..Header::default() };
        rate(target, "no messages, 60 bytes", 0.95, |_| frames::raw(other, &[0; 18]));
        rate(target, "no messages, 1,500 bytes", 0.99, |_| frames::raw(other, &[0; 1458]));
        rate(target, "acknowledgements, 64 bytes", 0.95, |n| frames::packet(FLOW, Header { msg_id: n, ..ack }, &[]));
        rate(target, "later packets, 65 bytes", 0.95, |n| later(n, 1));
        rate(target, "later packets, 128 bytes", 0.95, |n| later(n, 64));
        rate(target, "later packets, 1,500 bytes", 0.99, |n| later(n, 1436));
        rate(target, "both by turns, 64 and 129 bytes", 0.95, |n| match n % 2 {
            0 => frames::raw(other, &[0; 22]),
            _ => later(n, 65),
        });
    }
}

/// One packet after the other, so that the order of everything is known: entries are given out, kept, and lost by
/// finished messages exactly as in the model.
#[test]
fn entries_come_and_go_as_in_the_model() {
    let Some(mut bench) = Bench::open("tiny", 13) else { return };
    let mut rng = Rng::new(test_seed("l7_entries"));
    let sizes = Target::by_name("tiny");
    for module in 1..7u8 {
        let row = L7PortRow { valid: true, module_id: module, port: 9000, id: 7, types: 1, ..L7PortRow::default() };
        bench.write(Table::L7Port, module.into(), &row);
        bench.model.ports.push(row);
        let quota = [4, 6, 8, 16, 20, 32][usize::from(module) - 1];
        bench.write(Table::L7Quota, module.into(), &L7QuotaRow { messages: quota });
        bench.model.table.set_quota(module, quota);
    }
    for hash in 0..2 {
        let row = L7SecretRow { words: std::array::from_fn(|_| rng.next_u32()) };
        bench.write(Table::L7Secret, hash, &row);
        bench.model.table.set_secret(hash as usize, &row);
    }
    let (mut messages, mut open, mut full) = (Vec::<(u8, u32, u8)>::new(), Vec::<(usize, u8)>::new(), 0);
    for _ in 0..4_000 {
        let turn = rng.below(10);
        let (module, message, packets, number) = if messages.is_empty() || turn < 4 && open.len() < 40 {
            let (module, packets) = (1 + rng.below(6) as u8, 1 + rng.below(3) as u8);
            // The same identity in several modules.
            let message = messages.len() as u32 / 2;
            open.push((messages.len(), 1));
            messages.push((module, message, packets));
            (module, message, packets, 0)
        } else if turn < 9 && !open.is_empty() {
            let at = rng.index(open.len());
            let (which, number) = open[at];
            let (module, message, packets) = messages[which];
            if number + 1 >= packets {
                open.swap_remove(at);
            } else {
                open[at].1 += 1;
            }
            (module, message, packets, number % packets)
        } else {
            let back = if rng.chance(1, 4) { 400 } else { 30 };
            let at = messages.len() - 1 - rng.index(messages.len().min(back));
            let (module, message, packets) = messages[at];
            (module, message, packets, rng.below(packets.into()) as u8)
        };
        let header = Header { app_id: 7, msg_id: message, msg_len_in_pkts: packets, ..Header::default() };
        let header = Header { pkt_seq_num_in_msg: number, ..header };
        let body = [1 + rng.below(15) as u8, rng.next_u32() as u8];
        bench.send(module, frames::packet(FLOW, header, &body), 0, stand_in);
        while bench.waiting() > 0 {
            bench.run(&Until { max_cycles: 40, ..Until::default() }, &mut None);
        }
        full += usize::from(bench.model.table.live(None) == sizes.messages);
    }
    println!("{:?}, {} evicted, {full} times full", bench.counts, bench.model.table.evicted);
    assert!(bench.model.table.evicted > 100 && full > 10 && bench.counts["l7_no_state"] > 100);
    bench.compare_counters(8);
}
