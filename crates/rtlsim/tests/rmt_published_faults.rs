//! What the published pipeline's RTL gets wrong, one test each. Every packet is also compared with the fast model, so a
//! test that only lets packets flow fails on any byte, drop or copy that differs.

use sluice_formats::rmt::tables::Event;
use sluice_formats::rmt::target::{DEFAULT, TINY, Target};
use sluice_formats::rows::SidebandRow;
use sluice_formats::{Node, Table};
use sluice_object::linker::rmt::Placer;
use sluice_rmt::fast::Fast;
use sluice_rmt::text;
use sluice_rtlsim::plugin::Until;
use sluice_rtlsim::rmt::{End, Lockstep, ModuleFile, RmtOffer, RmtRtl, RowSink, Tenants};
use sluice_rtlsim::{Ready, RtlError, RtlOptions};

struct Bench {
    target: Target,
    lockstep: Lockstep<Fast>,
    tenants: Tenants,
    sent: u32,
}

/// Every packet's bytes 14 to 17 in c4[0] and back; what is between is the module's.
fn source(name: &str, stages: &str) -> String {
    format!(
        "module {name}\ncontainer a = c4[0], b = c4[1], c = c4[2], i = c2[0]\nparser {{\n select 0:1 {{\n * -> all\n }}\n \
         path all {{\n take a @14, b @18, i @22\n least 30\n }}\n}}\n{stages}\n\
         deparser {{\n row r {{\n put a @14, b @18, c @24\n }}\n}}\n"
    )
}

impl Bench {
    fn open(target: Target) -> Option<Self> {
        let rtl = match RmtRtl::open(&target, &RtlOptions::default()) {
            Ok(rtl) => rtl,
            Err(error @ RtlError::Missing { .. }) => {
                assert!(std::env::var_os("SLUICE_REQUIRE_PLUGINS").is_none(), "{error}");
                println!("skipped: {error}");
                return None;
            }
            Err(error) => panic!("{error}"),
        };
        let lockstep = Lockstep::new(rtl, Fast::new(target));
        let mut bench = Self { target, lockstep, tenants: Tenants::new(Placer::new(target)), sent: 0 };
        let owners = bench.tenants.placer().stage_owners();
        RowSink::write(&mut bench.lockstep, &owners).unwrap();
        Some(bench)
    }

    fn file(&self, name: &str, stages: &str) -> ModuleFile {
        let text = source(name, stages);
        let unit = text::read(name, &text, &self.target).unwrap_or_else(|e| panic!("{e}\n{text}"));
        ModuleFile::of(unit, &self.target).unwrap()
    }

    fn admit(&mut self, module: u8, name: &str, stages: &str) {
        let file = self.file(name, stages);
        self.tenants.admit(&mut self.lockstep, module, name, file.quota(&self.target)).unwrap();
        self.tenants.load(&mut self.lockstep, module, &file.part).unwrap();
    }

    fn offer(&mut self, module: u8, mut bytes: Vec<u8>, length: usize) {
        bytes.resize(length.max(bytes.len()), 0x5a);
        self.sent += 1;
        let sideband = SidebandRow {
            id: self.sent,
            module_id: module,
            tenant: module.into(),
            length: bytes.len() as u16,
            ..SidebandRow::default()
        };
        self.lockstep.offer(&[RmtOffer { sideband, bytes, at: 0 }]).unwrap();
    }

    /// Bytes of the packets that left, in order, and the reasons of those that did not.
    fn finish(&mut self) -> (Vec<Vec<u8>>, Vec<Event>) {
        self.lockstep.finish().unwrap();
        let (mut left, mut dropped) = (Vec::new(), Vec::new());
        for agreed in self.lockstep.ended.drain(..) {
            match agreed.passage.end {
                End::Sent { bytes, .. } => left.push(bytes),
                End::Dropped(reason) => dropped.push(reason),
            }
        }
        (left, dropped)
    }
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
    let Some(mut bench) = Bench::open(TINY) else { return };
    bench.admit(
        1,
        "drops",
        "stage 1 {\n key a\n exact { 7 -> no }\n default out\n action no { discard }\n action out { send port0 }\n}",
    );
    bench.admit(2, "forward", FORWARD);
    for n in 0..200u32 {
        bench.offer(1, packet(if n % 3 == 0 { 7 } else { n + 100 }, n, 0), 40 + n as usize % 200);
        bench.offer(2, packet(0xaaaa_0000 + n, n, 0), 60 + n as usize % 90);
    }
    let (left, dropped) = bench.finish();
    assert_eq!((left.len(), dropped.len()), (333, 67));
}

#[test]
fn a_tenant_neither_reads_nor_writes_a_neighbours_memory() {
    let Some(mut bench) = Bench::open(TINY) else { return };
    // Raw indices, not cut to the memory: 1,024 words are asked for, 64 are there.
    let wild = ADD.replace("words 64", "words 1024").replace("memory", "pages 1\n memory");
    let text = source("wild", &wild);
    assert!(text::read("wild", &text, &TINY).is_err(), "the checker refuses words beyond the pages");
    bench.admit(1, "low", ADD);
    bench.admit(2, "high", ADD);
    for i in [0u16, 1, 62, 63] {
        bench.offer(1, packet(1000 + u32::from(i), 0, i), 60);
        bench.offer(2, packet(1, 0, i), 60);
    }
    let (left, _) = bench.finish();
    let sums: Vec<u32> = left.iter().map(|p| u32::from_be_bytes([p[24], p[25], p[26], p[27]])).collect();
    assert_eq!(sums, [1000, 1, 1001, 1, 1062, 1, 1063, 1]);
}

#[test]
fn nothing_is_taken_while_not_ready_and_nothing_overflows_when_sizes_mix() {
    let Some(mut bench) = Bench::open(TINY) else { return };
    bench.admit(1, "forward", FORWARD);
    bench.lockstep.rtl.set_ready(Ready::Never).unwrap();
    for n in 0..400usize {
        bench.offer(1, packet(n as u32, 0, 0), [40, 1500, 64, 333, 65, 9000][n % 6]);
    }
    // The input stands long before all is in.
    bench.lockstep.run(&Until { max_cycles: 3_000, ..Until::default() }).unwrap();
    assert!(bench.lockstep.ended.is_empty());
    bench.lockstep.rtl.set_ready(Ready::Always).unwrap();
    assert_eq!(bench.finish().0.len(), 400);
}

#[test]
fn backpressure_loses_nothing() {
    let Some(mut bench) = Bench::open(TINY) else { return };
    bench.admit(1, "forward", FORWARD);
    bench.lockstep.rtl.set_gaps(60).unwrap();
    bench.lockstep.rtl.set_ready(Ready::Bursts { chance: 90, longest: 60 }).unwrap();
    (0..600).for_each(|n| bench.offer(1, packet(n, 0, 0), 40 + (n as usize * 37) % 300));
    assert_eq!(bench.finish().0.len(), 600);
}

#[test]
fn packets_of_a_module_under_update_are_all_old_or_all_new_and_none_is_lost() {
    let Some(mut bench) = Bench::open(TINY) else { return };
    let version = |b: u32| {
        format!(
            "stage 1 {{\n key i\n exact {{ 5 -> out }}\n default no\n action no {{ discard }}\n action out {{ b = {b}; send port0 }}\n}}"
        )
    };
    bench.admit(1, "changes", &version(1));
    bench.admit(2, "forward", FORWARD);
    for round in 2..12u32 {
        for n in 0..60 {
            bench.offer(1, packet(n, 0, 5), 60);
            bench.offer(2, packet(n, 99, 0), 60);
        }
        bench.lockstep.run(&Until { max_cycles: 30, ..Until::default() }).unwrap();
        let file = bench.file("changes", &version(round));
        bench.tenants.load(&mut bench.lockstep, 1, &file.part).unwrap();
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
    let Some(mut bench) = Bench::open(TINY) else { return };
    bench.admit(1, "changes", FORWARD);
    let file = bench.file("changes", FORWARD);
    let next = 1 - bench.tenants.generation(1);
    let placed = bench.tenants.placer().clone().place(1, next, &file.part).unwrap();
    (0..200).for_each(|n| bench.offer(1, packet(n, 0, 0), 60));
    // The model has no mixture to show: it sees rows and commits between packets only.
    bench.lockstep.compare = false;
    bench.lockstep.run(&Until { max_cycles: 40, ..Until::default() }).unwrap();
    RowSink::commit(&mut bench.lockstep, 1, next).unwrap();
    RowSink::write(&mut bench.lockstep, &placed.rows).unwrap();
    let (left, dropped) = bench.finish();
    assert!(!left.is_empty() && dropped.contains(&Event::NoModule), "{} left, {dropped:?}", left.len());
}

#[test]
fn a_packet_to_the_configuration_port_is_dropped_and_counted_and_rewrites_nothing() {
    let Some(mut bench) = Bench::open(TINY) else { return };
    bench.admit(1, "forward", FORWARD);
    let events = Event::Reconfig as u32 + 16;
    let before = bench.lockstep.rtl.counter(Node::Deparser, Table::Events, events).unwrap();
    // Ethernet, IPv4 (no options), UDP to 0xf1f2, a configuration message as payload.
    let mut bytes = vec![0; 12];
    bytes.extend([0x08, 0x00, 0x45, 0, 0, 60, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
    bytes.extend([0x12, 0x34, 0xf1, 0xf2, 0, 40, 0, 0]);
    let offered = {
        bench.offer(1, bytes.clone(), 80);
        bench.lockstep.compare = false; // The model begins behind the entrance, which drops it.
        bench.finish()
    };
    assert_eq!((offered.0.len(), offered.1), (0, vec![Event::Reconfig]));
    assert_eq!(bench.lockstep.rtl.counter(Node::Deparser, Table::Events, events).unwrap(), before + 1);
    bench.lockstep.compare = true;
    bench.offer(1, packet(1, 2, 3), 60);
    assert_eq!(bench.finish().0.len(), 1);
}

#[test]
fn a_payload_that_looks_like_a_configuration_message_is_a_payload() {
    let Some(mut bench) = Bench::open(TINY) else { return };
    bench.admit(1, "forward", FORWARD);
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
    let before = bench.lockstep.rtl.generation(1).unwrap().current;
    bench.offer(1, bytes, 64);
    assert_eq!(bench.finish().0.len(), 1);
    assert_eq!(bench.lockstep.rtl.generation(1).unwrap().current, before);
}

#[test]
fn module_33_does_not_run_as_module_1() {
    let Some(mut bench) = Bench::open(DEFAULT) else { return };
    let mark = |b: u32| format!("stage 1 {{\n default out\n action out {{ b = {b}; send port0 }}\n}}");
    for module in [1, 33, 63] {
        bench.admit(module, &format!("tenant{module}"), &mark(module.into()));
    }
    [33, 1, 63, 33].into_iter().for_each(|m| bench.offer(m, packet(0, 0, 0), 60));
    let marks: Vec<u8> = bench.finish().0.iter().map(|p| p[21]).collect();
    assert_eq!(marks, [33, 1, 63, 33]);
}

#[test]
fn consecutive_packets_count_each() {
    let Some(mut bench) = Bench::open(TINY) else { return };
    bench.admit(1, "sums", ADD);
    (0..100).for_each(|_| bench.offer(1, packet(1, 0, 9), 40));
    let (left, _) = bench.finish();
    let sums: Vec<u8> = left.iter().map(|p| p[27]).collect();
    assert_eq!(sums, (1..=100).collect::<Vec<u8>>());
}

#[test]
fn every_one_of_several_entries_is_there() {
    let Some(mut bench) = Bench::open(DEFAULT) else { return };
    let entries: String = (0..40).map(|k| format!(" {k} -> out({})\n", k + 1000)).collect();
    let stages = format!(
        "stage 1 {{\n key i\n exact {{\n{entries} }}\n default no\n action no {{ discard }}\n action out(v: 4) {{ b = v; send port0 }}\n}}"
    );
    bench.admit(1, "many", &stages);
    (0..40).for_each(|k| bench.offer(1, packet(0, 0, k), 60));
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
