//! The l7 engine on its own top does what its model does: filter, staging buffer, message table.

#[path = "support/l7/bench.rs"]
mod bench;
#[path = "support/l7/mod.rs"]
mod l7;

use bench::Bench;
use l7::frames::{self, Flow};
use l7::tenants::{Tenants, quota, secrets};
use l7::traffic::Traffic;
use sluice_formats::Table;
use sluice_formats::l7::codes::{L7Goal, L7PortKind};
use sluice_formats::l7::qnp::Header;
use sluice_formats::l7::rows::{L7GroupRow, L7PortRow, L7TargetPart};
use sluice_formats::l7::target::Target;
use sluice_formats::random::{Rng, test_seed};
use sluice_l7::engine::{Fate, Job};
use sluice_l7::step::Verdict;
use sluice_l7::tables::Tables;
use sluice_rtlsim::Ready;
use sluice_rtlsim::plugin::Until;

/// Of engines whose programs are not asked.
fn no_rules(job: &Job) -> Option<Verdict> {
    job.run(&Tables::default())
}

fn in_lockstep(target: &str, name: &str, rounds: usize, packets: usize) {
    let mut rng = Rng::new(test_seed(name));
    let mut counts = std::collections::BTreeMap::<String, u64>::new();
    for round in 0..rounds {
        let Some(mut bench) = Bench::open(target, rng.next_u64()) else { return };
        let sizes = Target::by_name(target);
        let tenants = Tenants::random(sizes, &mut rng);
        // Not all rules fit into a tiny engine.
        if tenants.ports.is_empty() {
            continue;
        }
        tenants.write(&mut bench, sizes, &mut rng);
        let mut traffic = Traffic::new(rng.fork(), tenants.ports.clone());
        let gaps = *rng.choose(&[0, 0, 40, 150]).unwrap();
        bench.rtl.set_gaps(0, gaps).unwrap();
        let ready = [Ready::Always, Ready::Random { chance: 150 }, Ready::Bursts { chance: 100, longest: 80 }];
        bench.rtl.set_ready(0, ready[round % 3]).unwrap();
        // A tiny table forgets finished messages, in an order that depends on time: few messages, then a new engine.
        for _ in 0..packets {
            let (module, frame) = traffic.next();
            bench.send(module, frame, 0, |job| job.run(&tenants.tables));
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
        assert!(counts.get(name).is_some_and(|count| *count > 0), "too few: {name}: {counts:?}");
    }
}

#[test]
fn tiny_engine_in_lockstep() {
    in_lockstep("tiny", "l7_tiny_lockstep", 30, 150);
}

#[test]
fn default_engine_in_lockstep() {
    in_lockstep("default", "l7_default_lockstep", 10, 600);
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
            bench.send(1, frames::raw(flow, &vec![0; length]), now + 1_000 + 500 * n, no_rules);
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
        let otherwise = L7TargetPart::new(L7Goal::Queue, 9);
        let row = L7PortRow { valid: true, module_id: 2, port: 9000, id: 7, otherwise, ..L7PortRow::default() };
        bench.write(Table::L7Port, 3, &row);
        bench.model.ports = vec![row].into();
        quota(&mut bench, 2, 5);
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
        let endpoint = Flow { to: 9002, ..FLOW };
        rate(target, "acknowledgements, 64 bytes", 0.95, |n| {
            frames::packet(endpoint, Header { msg_id: n, ..ack }, &[])
        });
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
    // The queue says which message it was.
    let group = |module| L7GroupRow { module_id: module, field: 0, slots: std::array::from_fn(|n| n as u8) };
    let tables = Tables { groups: (0..7).map(group).collect(), ..Tables::default() };
    (0..).zip(&tables.groups).for_each(|(index, row)| bench.write(Table::L7Group, index, row));
    for module in 1..7u8 {
        let otherwise = L7TargetPart::new(L7Goal::Group, module.into());
        let row = L7PortRow { valid: true, module_id: module, port: 9000, id: 7, otherwise, ..L7PortRow::default() };
        bench.write(Table::L7Port, module.into(), &row);
        bench.model.ports.push(row);
        quota(&mut bench, module, [4, 6, 8, 16, 20, 32][usize::from(module) - 1]);
    }
    secrets(&mut bench, &mut rng);
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
        // Some of them are malformed.
        let body = [1 + rng.below(100) as u8, rng.next_u32() as u8];
        bench.send(module, frames::packet(FLOW, header, &body), 0, |job| job.run(&tables));
        while bench.waiting() > 0 {
            bench.run(&Until { max_cycles: 40, ..Until::default() }, &mut None);
        }
        full += usize::from(bench.model.table.live(None) == sizes.messages);
    }
    println!("{:?}, {} evicted, {full} times full", bench.counts, bench.model.table.evicted);
    assert!(bench.model.table.evicted > 100 && full > 10 && bench.counts["l7_no_state"] > 100);
    bench.compare_counters(8);
}
