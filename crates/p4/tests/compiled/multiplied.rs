//! What stands before, beside and behind a table does not multiply its rows: an exact table has as many entries as it would have alone, and packets are
//! those of the reference whatever way that was had.
//!
//! SLUICE_SEED repeats a run, SLUICE_PROGRAMS is the number of programs, SLUICE_SAMPLE=N runs one of them alone.

use crate::compare::{ALONE, Came, LONG, PORTS, Place, TENANT, compare_and};
use crate::generate::{Size, guarded, guarded_packet, shrunk};
use sluice_formats::random::{Rng, test_is_long, test_seed};
use sluice_p4::{Allowed, Reader, Undefined};
use sluice_rmt::target::WIDE;
use std::collections::BTreeMap;
use std::path::Path;

/// Packets for each program.
const PACKETS: usize = 100;
/// The most programs of a hundred that may be refused.
const MOST_REFUSED: usize = 35;
/// Each way to have fewer rows is in so many programs of a hundred at least.
const LEAST_CUT: usize = 2;

/// What comes of a program, and what was done to have fewer rows.
fn run(program: &str, entries: &str, place: Place, packets: &[(u16, Vec<u8>)]) -> (Came, Vec<&'static str>) {
    let mut cuts = Vec::new();
    let came = match Reader::new().text("random.p4", program).check(Path::new("random.p4")) {
        Ok(mut checked) => {
            checked.allow(Allowed::default().with_target_hash());
            compare_and(&checked, entries, place, packets, &mut |compiled| cuts = compiled.cuts())
        }
        Err(errors) => Came::NoProgram(errors.to_string()),
    };
    (came, cuts)
}

#[test]
fn tables_with_something_beside_them_give_the_references_packets() {
    let seed = test_seed("multiplied");
    let variable = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<usize>().ok());
    let programs = variable("SLUICE_PROGRAMS").unwrap_or(if test_is_long() { 2_000 } else { 80 });
    let only = variable("SLUICE_SAMPLE");
    let (mut reached, mut refused, mut sent, mut wrong) = (BTreeMap::new(), BTreeMap::new(), 0, Vec::new());
    for number in only.map_or(0..programs, |only| only..only + 1) {
        let mut rng = Rng::new(seed.wrapping_add(number as u64));
        let sample = guarded(&mut rng, Size::Default);
        let place = [TENANT, ALONE, LONG][number % 3];
        let packets: Vec<(u16, Vec<u8>)> =
            (0..PACKETS).map(|_| (rng.below(PORTS.into()) as u16, guarded_packet(&mut rng))).collect();
        if only.is_some() {
            println!("{}\n{}", sample.program, sample.entries);
        }
        let (came, cuts) = run(&sample.program, &sample.entries, place, &packets);
        match came {
            Came::Agreed(out) => {
                sent += out;
                cuts.into_iter().for_each(|cut| *reached.entry(cut).or_insert(0) += 1);
            }
            Came::Refused(why) => {
                let first = why.lines().next().unwrap_or_default();
                *refused.entry(first.to_string()).or_insert(0) += 1;
            }
            Came::Wrong(why) => {
                println!("program {number} is wrong: {why}");
                // One is made smaller; where there are many, there is one cause.
                if wrong.is_empty() {
                    let is_wrong = |program: &str, entries: &str| {
                        matches!(run(program, entries, place, &packets).0, Came::Wrong(_))
                    };
                    let entries = shrunk(&sample.entries, &mut |entries| is_wrong(&sample.program, entries));
                    let program = shrunk(&sample.program, &mut |program| is_wrong(program, &entries));
                    wrong.push(format!("{program}\n// Entries:\n{entries}"));
                }
                wrong.push(format!("program {number} of seed {seed}: {why}"));
            }
            Came::NoProgram(why) => {
                panic!("program {number} of seed {seed}: {why}\n{}\n{}", sample.program, sample.entries)
            }
        }
    }
    let count: usize = refused.values().sum();
    println!("seed {seed}: {programs} programs, {count} refused, {PACKETS} packets each, {sent} sent");
    refused.iter().for_each(|(why, count)| println!("  refused {count}: {why}"));
    reached.iter().for_each(|(cut, count)| println!("  {count}: {cut}"));
    assert!(wrong.is_empty(), "{} programs give wrong packets\n{}", wrong.len() - 1, wrong.join("\n"));
    if only.is_none() && programs >= 80 {
        let rare: Vec<_> =
            CUTS.iter().filter(|cut| reached.get(*cut).copied().unwrap_or(0) * 100 < LEAST_CUT * programs).collect();
        assert!(rare.is_empty(), "seldom in a program that compiles: {rare:?}");
        assert!(count * 100 <= programs * MOST_REFUSED, "{count} of {programs} are refused");
    }
}

const CUTS: [&str; 7] = [
    "visits that do the same are one",
    "ways to a table share its rows",
    "what several rows say is said by one, or by exact ones",
    "what is decided before a table is a visit of its own",
    "what is decided behind a table is a visit of its own",
    "the action of an entry is a visit of its own",
    "visits wait for a stage in which no exact table is",
];

/// A frame with two headers that only some packets have, three tables and state.
const TABLES: &str = "#include <core.p4>
#include <v1model.p4>
header e_t { bit<48> dst; bit<48> src; bit<16> type; }
header x_t { bit<32> a; bit<32> b; bit<16> c; bit<16> next; }
struct headers_t { e_t e; x_t x; x_t y; }
struct meta_t { bit<16> m; bit<16> n; }
parser P(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    state start { packet.extract(hdr.e); transition select(hdr.e.type) { 0x800: x; default: accept; } }
    state x { packet.extract(hdr.x); transition select(hdr.x.next) { 7: y; default: accept; } }
    state y { packet.extract(hdr.y); transition accept; }
}
control V(inout headers_t hdr, inout meta_t meta) { apply { } }
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    counter(256, CounterType.packets) of_all;
    counter(8, CounterType.packets) of_ports;
    register<bit<32>>(64) seen;
    direct_counter(CounterType.packets_and_bytes) hits;
    action to(bit<9> port) { standard.egress_spec = port; }
    action drop() { mark_to_drop(standard); }
    action mark(bit<16> v) { meta.n = v; standard.egress_spec = 2; }
    action flood() { standard.mcast_grp = 1; }
    table t { key = { hdr.e.dst: exact; } actions = { to; drop; mark; flood; } size = 1024; default_action = drop(); }
    table u { key = { hdr.e.src: exact; } actions = { to; drop; mark; } size = 1024; default_action = drop(); }
    table c { key = { hdr.e.dst: exact; } actions = { to; drop; } size = 1024; default_action = drop(); counters = hits; }
    apply { APPLY }
}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) { apply { LEAVE } }
control U(inout headers_t hdr, inout meta_t meta) { apply { } }
control D(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr); } }
V1Switch(P(), V(), I(), E(), U(), D()) main;
";

const PRUNE: &str = "if (standard.egress_port == standard.ingress_port) { mark_to_drop(standard); }";

/// What ingress and egress do.
const BESIDE: &[(&str, &str)] = &[
    ("t.apply();", ""),
    // Guards, with something else where they do not hold.
    ("if (hdr.x.isValid()) { t.apply(); }", ""),
    ("if (hdr.x.isValid()) { t.apply(); } else { standard.egress_spec = 3; }", ""),
    ("if (hdr.e.isValid()) { t.apply(); }", PRUNE),
    ("if (hdr.e.type == 0x86dd) { t.apply(); }", ""),
    ("if (hdr.e.type < 0x600) { t.apply(); }", ""),
    ("if (hdr.e.dst < hdr.e.src) { t.apply(); }", ""),
    ("if (hdr.e.dst == hdr.e.src) { drop(); } else { t.apply(); }", ""),
    // What was decided before is looked at behind the table.
    ("if (hdr.e.type == 5) { meta.m = 1; } else { meta.m = 2; } t.apply(); hdr.e.type = meta.m;", ""),
    // Headers that only some ways have.
    ("t.apply(); if (hdr.x.isValid()) { hdr.x.b = hdr.x.b - 1; }", ""),
    ("t.apply(); if (hdr.y.isValid()) { hdr.y.a = 5; } else if (hdr.x.isValid()) { hdr.x.a = 6; }", ""),
    ("t.apply(); hdr.x.setInvalid();", ""),
    ("if (!hdr.x.isValid()) { hdr.x.setValid(); hdr.x.a = 1; } t.apply();", ""),
    // State in front of it.
    ("of_all.count((bit<32>)hdr.e.type[7:0]); t.apply();", ""),
    ("of_all.count((bit<32>)hdr.e.type); t.apply();", ""),
    ("of_ports.count((bit<32>)standard.ingress_port); c.apply();", ""),
    ("bit<32> v; seen.read(v, (bit<32>)hdr.e.type[5:0]); seen.write((bit<32>)hdr.e.type[5:0], v + 1); t.apply();", ""),
    ("hash(meta.m, HashAlgorithm.crc16, (bit<16>)0, { hdr.e.src }, 16w8); t.apply(); hdr.e.type = meta.m;", ""),
    // Conditions behind it.
    ("t.apply();", PRUNE),
    ("t.apply(); if (hdr.e.type == 9) { hdr.e.type = meta.n; }", ""),
    ("t.apply(); if (meta.n > hdr.e.type) { hdr.e.type = 1; }", ""),
    // Two tables.
    ("if (hdr.x.isValid()) { t.apply(); } else { u.apply(); }", ""),
    ("if (hdr.e.type < 0x600) { t.apply(); } else { u.apply(); }", ""),
    ("t.apply(); u.apply();", ""),
    ("if (t.apply().hit) { u.apply(); } else { standard.egress_spec = 1; }", ""),
];

#[test]
fn an_exact_table_has_as_many_entries_whatever_stands_beside_it() {
    for (apply, leave) in BESIDE {
        let text = TABLES.replace("APPLY", apply).replace("LEAVE", leave);
        let mut program = Reader::new().text("p.p4", text).check(Path::new("p.p4")).unwrap();
        program.allow(Allowed::default().with_target_hash());
        let own = program.reference(Undefined::Zero, 1).unwrap();
        for ((target, first, last), wanted) in [(TENANT, 96), (ALONE, 384), ((&WIDE, 1, 10), 96)] {
            let compiled = program.compile(target, first, last).unwrap_or_else(|errors| panic!("{apply}: {errors}"));
            let reserved = compiled.reservations(&own).unwrap();
            assert!(!reserved.is_empty());
            let all: Vec<(&str, u32)> = reserved.iter().map(|r| (&*r.table, r.reserved)).collect();
            assert!(all.iter().all(|(_, entries)| *entries == wanted), "{apply} {leave} {}: {all:?}", target.name);
        }
    }
}
