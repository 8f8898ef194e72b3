//! Cases that say the same are one row: packets are those of the reference, also where the control plane has another default, or where a visit is met
//! behind the parser and behind another visit.

use crate::compare::{Came, PORTS, TENANT, compare_and, framed};
use sluice_formats::random::{Rng, test_seed};
use sluice_p4::{Compiled, Program, Reader, Undefined};
use sluice_rmt::target::DEFAULT;
use std::path::Path;

/// Packets for each program.
const PACKETS: usize = 400;

/// Ternary rows of each stage, with the entries of the program.
fn ternary(compiled: &Compiled, program: &Program) -> Vec<usize> {
    let object = compiled.object("fewer", &program.reference(Undefined::Zero, 1).unwrap()).unwrap();
    object.parts.rmt.unwrap().stages.values().map(|stage| stage.ternary.len()).collect()
}

/// Sends packets of few values, and says how many ternary rows each stage has.
fn agree(program: &Program, entries: &str, packet: fn(&mut Rng) -> Vec<u8>) -> Vec<usize> {
    let mut rng = Rng::new(test_seed("fewer"));
    let packets: Vec<(u16, Vec<u8>)> =
        (0..PACKETS).map(|_| (rng.below(PORTS.into()) as u16, packet(&mut rng))).collect();
    let mut rows = Vec::new();
    let came = compare_and(program, entries, TENANT, &packets, &mut |compiled| rows = ternary(compiled, program));
    match came {
        Came::Agreed(_) => rows,
        other => panic!("{other:?}"),
    }
}

fn bytes(rng: &mut Rng) -> Vec<u8> {
    (0..3).map(|_| rng.below(8) as u8).collect()
}

const ACTIONS: &str = "action to(bit<8> x) { hdr.h.c = x; } action back() { hdr.h.c = 1; }";

/// Programs on three bytes, what the control plane says, and ternary rows.
const SMALL: &[(&str, &str, &str, usize)] = &[
    // Two entries that differ in a bit, and one that the default makes good: the two are one that asks for all that is left of the key.
    (
        "table t { key = { hdr.h.a: ternary; hdr.h.b: ternary; } actions = { to; back; } const default_action = back();
          const entries = { (2, _): to(7); (3, _): to(7); (_, 5 &&& 7): back(); } }",
        "t.apply();",
        "",
        1,
    ),
    // The default is another one while it runs.
    (
        "table t { key = { hdr.h.a: ternary; hdr.h.b: ternary; } actions = { to; back; } default_action = back();
          const entries = { (2, _): to(7); (3, _): to(7); (_, 5 &&& 7): back(); } }",
        "t.apply();",
        "setdefault t to(x:9)",
        3,
    ),
    // What stands between two entries takes packets of the second one, but not of the first.
    (
        "table t { key = { hdr.h.a: ternary; hdr.h.b: ternary; } actions = { to; back; } const default_action = to(3);
          const entries = { (2, 0 &&& 1): to(7); (3 &&& 3, _): back(); (_, 1): back(); (3, 0 &&& 1): to(7); (2, _): back(); } }",
        "t.apply();",
        "",
        5,
    ),
    // What stands between them takes packets of both.
    (
        "table t { key = { hdr.h.a: ternary; hdr.h.b: ternary; } actions = { to; back; } const default_action = to(3);
          const entries = { (2, _): to(7); (_, 1): back(); (3, _): to(7); } }",
        "t.apply();",
        "",
        4,
    ),
    // Each entry is counted: they stay what they are, two exact rows.
    (
        "direct_counter(CounterType.packets) c;
         table t { key = { hdr.h.a: ternary; hdr.h.b: ternary; } actions = { to; back; } const default_action = back();
          counters = c; const entries = { (2, _): to(7); (3, _): to(7); } }",
        "t.apply();",
        "",
        2,
    ),
];

#[test]
fn what_several_entries_say_is_said_by_one_row() {
    let rows = |(locals, apply, entries, _): &(&str, &str, &str, usize)| {
        agree(&framed(&format!("{ACTIONS} {locals}"), apply), entries, bytes)
    };
    let found: Vec<Vec<usize>> = SMALL.iter().map(rows).collect();
    let meant: Vec<Vec<usize>> = SMALL.iter().map(|(.., rows)| vec![*rows]).collect();
    assert_eq!(found, meant);
}

/// A frame with a header that only some packets have. Packets without it are counted and dropped by the visit that does so for those, too, that a
/// table has sent there.
const TWICE: &str = "#include <core.p4>
#include <v1model.p4>
header e_t { bit<8> kind; bit<8> next; }
header x_t { bit<16> a; bit<16> b; }
struct headers_t { e_t e; x_t x; }
struct meta_t { }
parser P(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    state start { packet.extract(hdr.e); transition select(hdr.e.kind) { 1: x; default: accept; } }
    state x { packet.extract(hdr.x); transition accept; }
}
control V(inout headers_t hdr, inout meta_t meta) { apply { } }
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    counter(4, CounterType.packets) dropped;
    counter(4, CounterType.packets) seen;
    action drop() { mark_to_drop(standard); }
    action to(bit<9> port) { standard.egress_spec = port; }
    action look() { seen.count(1); }
    table first { key = { hdr.x.a: exact; } actions = { look; NoAction; } const default_action = look();
        const entries = { 1: look(); 2: NoAction(); } }
    table then { key = { hdr.x.b: exact; } actions = { to; drop; } const default_action = drop();
        const entries = { 1: to(1); 2: to(2); 3: to(3); } }
    apply {
        if (hdr.x.isValid()) {
            if (first.apply().hit) { then.apply(); } else { dropped.count(2); drop(); }
        } else { dropped.count(2); drop(); }
    }
}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) { apply { } }
control U(inout headers_t hdr, inout meta_t meta) { apply { } }
control D(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr); } }
V1Switch(P(), V(), I(), E(), U(), D()) main;
";

#[test]
fn a_visit_behind_the_parser_and_behind_another_one_asks_for_no_container() {
    let program = Reader::new().text("p.p4", TWICE).check(Path::new("p.p4")).unwrap();
    agree(&program, "", |rng| vec![rng.below(2) as u8, 0, 0, rng.below(4) as u8, 0, rng.below(4) as u8]);
}

/// What is decided nowhere is an exact row where the parser has left nothing in the containers of the key.
#[test]
fn visits_that_decide_nothing_are_exact_rows() {
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/p4");
    for (name, expected) in
        [("calc", vec![1]), ("eight/qos", vec![1]), ("eight/source_routing", vec![1]), ("eight/netchain", vec![1, 0])]
    {
        let program = Reader::new().check(&programs.join(name).with_extension("p4")).unwrap();
        let compiled = program.compile(&DEFAULT, 1, 3).unwrap();
        assert_eq!(ternary(&compiled, &program), expected, "{name}");
        assert!(compiled.cuts().contains(&"what several rows say is said by one, or by exact ones"), "{name}");
    }
}
