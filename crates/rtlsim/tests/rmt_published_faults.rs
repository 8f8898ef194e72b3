//! What the published pipeline's RTL gets wrong, one test each. Every packet is also compared with the model, so a
//! test that only lets packets flow fails on any byte, drop or copy that differs.

use crate::pipeline::{Pipeline, object};
use crate::support;
use sluice_device::Device;
use sluice_formats::rmt::target::{DEFAULT, TINY, Target};
use sluice_formats::row::Row;
use sluice_formats::rows::GenerationRow;
use sluice_formats::{Node, Reason, Table};
use sluice_object::linker::unsafe_order;
use sluice_object::{Object, TenantSpec};
use sluice_rmt::text;
use sluice_rtlsim::{Comparison, Ready, RtlNic, RtlOptions, Stalls, Variant, top};

/// Every packet's bytes 14 to 17 in c4[0] and back; what is between is the module's.
fn source(name: &str, stages: &str) -> String {
    format!(
        "module {name}\ncontainer a = c4[0], b = c4[1], c = c4[2], i = c2[0]\nparser {{\n select 0:1 {{\n * -> all\n }}\n \
         path all {{\n take a @14, b @18, i @22\n least 30\n }}\n}}\n{stages}\n\
         deparser {{\n row r {{\n put a @14, b @18, c @24\n }}\n}}\n"
    )
}

fn options() -> RtlOptions {
    RtlOptions { top: &top::RMT, ..RtlOptions::default() }
}

/// RTL and model, or None where there is no plug-in.
fn open(target: Target) -> Option<Pipeline<Comparison>> {
    support::has_top(&top::RMT, target.name, Variant::Test)
        .then(|| Pipeline::new(Comparison::open(target.name, options(), support::waves_folder()).unwrap()))
}

fn of<D: Device>(bench: &Pipeline<D>, name: &str, stages: &str) -> Object {
    object(&source(name, stages), bench.target)
}

/// A module with its first program, and its part of all cells.
fn admit<D: Device>(bench: &mut Pipeline<D>, module: u8, name: &str, stages: &str) {
    let object = of(bench, name, stages);
    // Of the cells each module gets enough for the longest frame.
    bench.admit(module, &[&object], if bench.target.cells > 1024 { 4 } else { 2 });
    bench.load(module, &object);
}

/// A packet that is filled up to a length.
fn long(mut bytes: Vec<u8>, length: usize) -> Vec<u8> {
    bytes.resize(length.max(bytes.len()), 0x5a);
    bytes
}

/// A packet with three 4-byte words behind the Ethernet header.
fn packet(a: u32, b: u32, i: u16) -> Vec<u8> {
    let mut bytes = vec![0x11; 14];
    bytes.extend(a.to_be_bytes());
    bytes.extend(b.to_be_bytes());
    bytes.extend(i.to_be_bytes());
    bytes.extend([0; 16]);
    bytes
}

const FORWARD: &str = "stage 1 {\n default out\n action out { send port0 }\n}";
/// Adds the packet's `a` to word `i` of 64 and shows the sum in `c`.
const ADD: &str =
    "stage 1 {\n memory sums words 64\n default add\n action add { sums[i] += a -> new c; send port0 }\n}";

#[test]
fn a_dropped_packet_moves_no_header_onto_another_packet() {
    let Some(mut bench) = open(TINY) else { return };
    admit(
        &mut bench,
        1,
        "drops",
        "stage 1 {\n key a\n exact { 7 -> no }\n default out\n action no { discard }\n action out { send port0 }\n}",
    );
    admit(&mut bench, 2, "forward", FORWARD);
    for n in 0..200u32 {
        bench.offer([(1, long(packet(if n % 3 == 0 { 7 } else { n + 100 }, n, 0), 40 + n as usize % 200), 0)]);
        bench.offer([(2, long(packet(0xaaaa_0000 + n, n, 0), 60 + n as usize % 90), 0)]);
    }
    let (left, dropped) = bench.finish();
    assert_eq!((left.len(), dropped.len()), (333, 67));
}

#[test]
fn a_tenant_neither_reads_nor_writes_a_neighbours_memory() {
    let Some(mut bench) = open(TINY) else { return };
    // Raw indices, not cut to the memory: 1,024 words are asked for, 64 are there.
    let wild = ADD.replace("words 64", "words 1024").replace("memory", "pages 1\n memory");
    let text = source("wild", &wild);
    assert!(text::read("wild", &text, &TINY).is_err(), "the checker refuses words beyond the pages");
    admit(&mut bench, 1, "low", ADD);
    admit(&mut bench, 2, "high", ADD);
    for i in [0u16, 1, 62, 63] {
        bench.offer([(1, long(packet(1000 + u32::from(i), 0, i), 60), 0)]);
        bench.offer([(2, long(packet(1, 0, i), 60), 0)]);
    }
    let (left, _) = bench.finish();
    let sums: Vec<u32> = left.iter().map(|p| u32::from_be_bytes([p[24], p[25], p[26], p[27]])).collect();
    assert_eq!(sums, [1000, 1, 1001, 1, 1062, 1, 1063, 1]);
}

#[test]
fn nothing_is_taken_while_not_ready_and_nothing_overflows_when_sizes_mix() {
    let Some(mut bench) = open(TINY) else { return };
    admit(&mut bench, 1, "forward", FORWARD);
    bench.nic.set_stalls(Stalls { ready: Ready::Never, ..Stalls::default() }).unwrap();
    for n in 0..400usize {
        bench.offer([(1, long(packet(n as u32, 0, 0), [40, 1500, 64, 333, 65, 9000][n % 6]), 0)]);
    }
    // The input stands long before all is in.
    bench.nic.advance(3_000).unwrap();
    assert!(bench.take().is_empty());
    bench.nic.set_stalls(Stalls::default()).unwrap();
    assert_eq!(bench.finish().0.len(), 400);
}

#[test]
fn backpressure_loses_nothing() {
    let Some(mut bench) = open(TINY) else { return };
    admit(&mut bench, 1, "forward", FORWARD);
    let ready = Ready::Bursts { chance: 90, longest: 60 };
    bench.nic.set_stalls(Stalls { port_gaps: 60, ready, ..Stalls::default() }).unwrap();
    bench.offer((0..600).map(|n| (1, long(packet(n, 0, 0), 40 + (n as usize * 37) % 300), 0)));
    assert_eq!(bench.finish().0.len(), 600);
}

#[test]
fn packets_of_a_module_under_update_are_all_old_or_all_new_and_none_is_lost() {
    let Some(mut bench) = open(TINY) else { return };
    let version = |b: u32| {
        format!(
            "stage 1 {{\n key i\n exact {{ 5 -> out }}\n default no\n action no {{ discard }}\n action out {{ b = {b}; send port0 }}\n}}"
        )
    };
    admit(&mut bench, 1, "changes", &version(1));
    admit(&mut bench, 2, "forward", FORWARD);
    for round in 2..12u32 {
        for n in 0..60 {
            bench.offer([(1, long(packet(n, 0, 5), 60), 0)]);
            bench.offer([(2, long(packet(n, 99, 0), 60), 0)]);
        }
        bench.nic.advance(30).unwrap();
        let next = of(&bench, "changes", &version(round));
        let load = bench.replacement(1, &next);
        bench.run(&load);
    }
    let (left, dropped) = bench.finish();
    assert_eq!((left.len(), dropped.len()), (1200, 0));
    let seen: Vec<u32> =
        left.iter().map(|p| u32::from_be_bytes([p[18], p[19], p[20], p[21]])).filter(|b| *b != 99).collect();
    assert!(seen.windows(2).all(|w| w[0] <= w[1]), "an old program came back: {seen:?}");
    assert!(seen.contains(&1) && *seen.last().unwrap() > 1, "replaced under traffic: {seen:?}");
}

#[test]
fn an_unsafe_order_of_commit_shows_in_the_packets() {
    if !support::has_top(&top::RMT, TINY.name, Variant::Test) {
        return;
    }
    // Without the model, which has no mixture to show: it sees rows and commits between packets only.
    let mut bench = Pipeline::new(RtlNic::open(TINY.name, options()).unwrap());
    admit(&mut bench, 1, "changes", FORWARD);
    let next = of(&bench, "changes", FORWARD);
    let load = unsafe_order(&bench.replacement(1, &next));
    bench.offer((0..200).map(|n| (1, long(packet(n, 0, 0), 60), 0)));
    bench.nic.advance(40).unwrap();
    bench.run(&load);
    let (left, dropped) = bench.finish();
    assert!(!left.is_empty() && dropped.contains(&Reason::NoModule), "{} left, {dropped:?}", left.len());
}

#[test]
fn a_packet_to_the_configuration_port_is_dropped_and_counted_and_rewrites_nothing() {
    let Some(mut bench) = open(TINY) else { return };
    admit(&mut bench, 1, "forward", FORWARD);
    // Ethernet, IPv4 (no options), UDP to 0xf1f2, a configuration message as payload.
    let mut bytes = vec![0; 12];
    bytes.extend([0x08, 0x00, 0x45, 0, 0, 60, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
    bytes.extend([0x12, 0x34, 0xf1, 0xf2, 0, 40, 0, 0]);
    let before = bench.nic.snapshot().unwrap();
    bench.offer([(1, long(bytes, 80), 0)]);
    assert_eq!(bench.finish(), (vec![], vec![Reason::Reconfig]));
    let after = bench.nic.snapshot().unwrap();
    assert_eq!(before.iter().zip(&after).find(|(before, after)| before != after), None);
    assert_eq!(bench.nic.counters().unwrap().modules[&1].dropped[&Reason::Reconfig], 1);
    bench.offer([(1, long(packet(1, 2, 3), 60), 0)]);
    assert_eq!(bench.finish().0.len(), 1);
}

/// The generation that module 1 runs.
fn current(bench: &mut Pipeline<Comparison>) -> bool {
    let words = bench.nic.read_row(Node::Stamp, Table::Generation, 1).unwrap();
    GenerationRow::unpack(&words).unwrap().current
}

#[test]
fn a_payload_that_looks_like_a_configuration_message_is_a_payload() {
    let Some(mut bench) = open(TINY) else { return };
    admit(&mut bench, 1, "forward", FORWARD);
    let message = sluice_formats::Message {
        op: sluice_formats::Op::Write,
        status: sluice_formats::Status::Ok,
        node: Node::Stamp.number(),
        sequence: 1,
        table: Table::Generation.number(),
        index: 1,
        data: vec![0],
    };
    let mut bytes = vec![0x22; 14];
    message.encode().iter().for_each(|w| bytes.extend(w.to_le_bytes()));
    let before = current(&mut bench);
    bench.offer([(1, long(bytes, 64), 0)]);
    assert_eq!(bench.finish().0.len(), 1);
    assert_eq!(current(&mut bench), before);
}

#[test]
fn module_33_does_not_run_as_module_1() {
    let Some(mut bench) = open(DEFAULT) else { return };
    let mark = |b: u32| format!("stage 1 {{\n default out\n action out {{ b = {b}; send port0 }}\n}}");
    for module in 1..64 {
        match module {
            1 | 33 | 63 => admit(&mut bench, module, &format!("tenant{module}"), &mark(module.into())),
            _ => drop(bench.linker.admit(TenantSpec::new(module.into(), format!("tenant{module}"))).unwrap()),
        }
    }
    bench.offer([33, 1, 63, 33].map(|m| (m, long(packet(0, 0, 0), 60), 0)));
    let marks: Vec<u8> = bench.finish().0.iter().map(|p| p[21]).collect();
    assert_eq!(marks, [33, 1, 63, 33]);
}

#[test]
fn consecutive_packets_count_each() {
    let Some(mut bench) = open(TINY) else { return };
    admit(&mut bench, 1, "sums", ADD);
    bench.offer((0..100).map(|_| (1, long(packet(1, 0, 9), 40), 0)));
    let (left, _) = bench.finish();
    let sums: Vec<u8> = left.iter().map(|p| p[27]).collect();
    assert_eq!(sums, (1..=100).collect::<Vec<u8>>());
}

#[test]
fn every_one_of_several_entries_is_there() {
    let Some(mut bench) = open(DEFAULT) else { return };
    let entries: String = (0..40).map(|k| format!(" {k} -> out({})\n", k + 1000)).collect();
    let stages = format!(
        "stage 1 {{\n key i\n exact {{\n{entries} }}\n default no\n action no {{ discard }}\n action out(v: 4) {{ b = v; send port0 }}\n}}"
    );
    admit(&mut bench, 1, "many", &stages);
    bench.offer((0..40).map(|k| (1, long(packet(0, 0, k), 60), 0)));
    let values: Vec<u32> = bench.finish().0.iter().map(|p| u32::from_be_bytes([p[18], p[19], p[20], p[21]])).collect();
    assert_eq!(values, (1000..1040).collect::<Vec<u32>>());
}

#[test]
fn what_a_tenant_may_not_write_is_refused_before_it_is_loaded() {
    for (what, stages) in [
        ("its tenant ID", "stage 1 {\n default out\n action out { tenant = 5; send port0 }\n}"),
        ("statistics of the system module", "stage 1 {\n default out\n action out { queue_depth = 5; send port0 }\n}"),
        ("a system stage", "stage 0 {\n default out\n action out { send port0 }\n}"),
    ] {
        let text = source("tenant", stages);
        assert!(text::read("tenant", &text, &DEFAULT).is_err(), "{what}");
    }
}
