//! Programs that once gave another packet on the pipeline than the reference does, each as small as it shows.

use crate::compare::{ALONE, Came, LONG, PORTS, compare, framed};
use sluice_formats::random::{Rng, test_seed};
use sluice_p4::{Allowed, Program, Reader};
use std::path::Path;

/// Packets for each program.
const PACKETS: usize = 2_000;

/// Sends packets of a few bytes through a program: `apply` works on a header of three, `locals` are its control's own.
fn agree(locals: &str, apply: &str, entries: &str) {
    same(&framed(locals, apply), entries);
}

/// The same with a parser of these states; there are two headers of three bytes, and metadata.
fn parsed(states: &str, apply: &str) {
    let frame = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/run/bytes.p4");
    let text = std::fs::read_to_string(frame).unwrap();
    let (begin, rest) = text.split_once("    state start {").unwrap();
    let (_, end) = rest.split_once("    }\n").unwrap();
    let text = format!("{begin}{states}{end}")
        .replace("h_t h;", "h_t h; h_t g; h_t[2] s;")
        .replace("struct meta_t {}", "struct meta_t { bit<8> a; bit<16> b; bit<8> c; }")
        .replace("packet.emit(hdr.h);", "packet.emit(hdr);");
    let reader = Reader::new().define("LOCALS", "").define("APPLY", apply).text("frame.p4", text);
    same(&reader.check(Path::new("frame.p4")).unwrap_or_else(|errors| panic!("{errors}")), "");
}

fn same(program: &Program, entries: &str) {
    let mut rng = Rng::new(test_seed("wrong_packets"));
    // Values are small, as those that the programs compare with.
    let mut bytes = || (0..1 + rng.below(12)).map(|_| rng.below(8) as u8).collect();
    let packets: Vec<(u16, Vec<u8>)> = (0..PACKETS).map(|number| (number as u16 % PORTS, bytes())).collect();
    match compare(program, entries, ALONE, &packets) {
        Came::Agreed(sent) => assert!(sent > 0),
        other => panic!("{other:?}"),
    }
}

#[test]
fn ways_whose_keys_lie_in_different_places_are_not_one() {
    let locals = "action flip() { hdr.h.b = hdr.h.b ^ 4; }
        table first { actions = { flip; } }
        action nine() { hdr.h.c = 9; }
        table second {
            key = { hdr.h.b: exact; }
            actions = { nine; NoAction; }
            const entries = { 5: nine(); }
        }";
    agree(locals, "first.apply(); second.apply();", "");
    agree(locals, "first.apply(); second.apply();", "setdefault first flip()");
}

#[test]
fn a_key_that_stands_twice_is_not_two_values() {
    let states = "state start {
            packet.extract(hdr.h);
            transition select(hdr.h.a[0:0], hdr.h.a[0:0]) { (1, 0): reject; default: g; }
        }
        state g { packet.extract(hdr.g); transition accept; }
    ";
    parsed(states, "hdr.g.setInvalid();");
}

#[test]
fn ways_that_hold_other_values_are_not_one() {
    let locals = "action nine() { hdr.h.c = 9; }
        table first { key = { hdr.h.c: exact; } actions = { nine; NoAction; } const entries = { 2: nine(); } }
        table second {
            key = { (hdr.h.a == 1 ? hdr.h.b ^ 4 : hdr.h.b): exact @name(\"k\"); }
            actions = { nine; NoAction; }
            const entries = { 5: nine(); }
        }";
    agree(locals, "first.apply(); second.apply();", "");
}

#[test]
fn the_two_sides_of_a_condition_are_two_places() {
    agree(
        "",
        "if ((hdr.h.a == 1 && hdr.h.b + hdr.h.c == 5) || (hdr.h.b + hdr.h.c == 5 && hdr.h.c == 2)) { hdr.h.c = 99; }",
        "",
    );
}

#[test]
fn a_value_whose_sign_is_looked_at_is_kept_for_what_comes_next() {
    let swap = "bit<8> x = hdr.h.a; hdr.h.a = hdr.h.b; hdr.h.b = x;";
    agree(
        "",
        &format!("{swap} bit<16> w = (bit<16>)(int<16>)(int<8>)(hdr.h.a + 126); hdr.h.c = w[15:8] ^ w[7:0];"),
        "",
    );
}

#[test]
fn bytes_that_two_ways_look_at_in_other_widths_are_kept_on_both() {
    let states = "state start {
            packet.extract(hdr.h);
            transition select(hdr.h.a) { 1: one; 2: two; default: accept; }
        }
        state one { meta.a = packet.lookahead<bit<8>>(); transition accept; }
        state two { meta.b = packet.lookahead<bit<16>>(); transition accept; }";
    parsed(states, "hdr.h.b = meta.a; hdr.h.c = meta.b[7:0];");
    parsed(states, "if (meta.a == 5) { hdr.h.b = 9; } if (meta.b == 0x0304) { hdr.h.c = 9; }");
}

#[test]
fn constants_of_more_than_128_bits_are_not_cut() {
    // Refused today: it must not become a product with zero, or a quotient by the lower bits.
    for apply in [
        "bit<200> x = (bit<200>)hdr.h.a; x = x * (200w1 << 130); hdr.h.b = x[137:130];",
        "bit<200> x = (bit<200>)hdr.h.a << 130; x = x / ((200w1 << 130) + 4); hdr.h.b = x[7:0];",
    ] {
        let program = framed("", apply);
        let packets: Vec<(u16, Vec<u8>)> = (0..100).map(|number| (0, vec![number, 1, 2])).collect();
        let came = compare(&program, "", ALONE, &packets);
        assert!(matches!(came, Came::Agreed(_) | Came::Refused(_)), "{came:?}");
    }
}

/// What was tried against the compiler and did not show anything: it stays right.
#[test]
fn corners_of_the_language_are_those_of_the_reference() {
    for (locals, apply, entries) in [
        // Leaving an action by `exit` copies its values out.
        (
            "action go(inout bit<8> x) { x = 7; if (hdr.h.b == 1) { exit; } x = 8; }",
            "go(hdr.h.a); hdr.h.c = 3;",
            "",
        ),
        // Labels without a body have that of the next.
        (
            "action one() { } action two() { } action three() { }
            table t {
                key = { hdr.h.a: exact; }
                actions = { one; two; three; NoAction; }
                const entries = { 1: one(); 2: two(); 3: three(); }
            }",
            "switch (t.apply().action_run) { one: two: { hdr.h.b = 1; } three: { hdr.h.b = 2; } }",
            "",
        ),
        // One table on two ways, with what is known of each.
        (
            "action set(bit<8> x) { hdr.h.c = x; }
            table t { key = { hdr.h.a: exact; hdr.h.b: ternary; } actions = { set; NoAction; } }",
            "if (hdr.h.b == 1) { hdr.h.a = 5; t.apply(); } else { hdr.h.b = 2; t.apply(); hdr.h.a = 0; }",
            "add t 1 hdr.h.a:5 hdr.h.b:1 set(x:9)\nadd t 2 hdr.h.a:5 hdr.h.b:2 set(x:8)\nadd t 3 hdr.h.a:1 set(x:7)",
        ),
        // A table twice.
        (
            "action more() { hdr.h.a = hdr.h.a + 1; }
            table t { key = { hdr.h.a: exact; } actions = { more; NoAction; } const entries = { 1: more(); 2: more(); } }",
            "t.apply(); t.apply();",
            "",
        ),
        // Ports that are not there, and the one that drops.
        ("", "standard.egress_spec = hdr.h.a ++ hdr.h.b[0:0];", ""),
        ("", "mark_to_drop(standard); if (hdr.h.a == 1) { standard.egress_spec = 3; }", ""),
        // Loops that end early.
        (
            "action more() { hdr.h.b = hdr.h.b + 1; }
            table t { key = { hdr.h.b: exact; } actions = { more; NoAction; } const entries = { 1: more(); 2: more(); } }",
            "for (bit<8> i in 0..3) { if (i == hdr.h.a) { break; } if (i == hdr.h.c) { continue; } hdr.h.b = hdr.h.b + 1; }",
            "",
        ),
        (
            "action more() { hdr.h.b = hdr.h.b + 1; }
            table t { key = { hdr.h.b: exact; } actions = { more; NoAction; } const entries = { 1: more(); 2: more(); } }",
            "for (bit<8> i in 0..2) { if (!t.apply().hit) { break; } }",
            "",
        ),
        // A copy stays what it was when its origin changes and is looked at.
        (
            "action nine() { hdr.h.c = 9; }
            table t { key = { hdr.h.a: exact; } actions = { nine; NoAction; } const entries = { 2: nine(); } }",
            "hdr.h.b = hdr.h.a; hdr.h.a = hdr.h.a + 1; t.apply();",
            "",
        ),
        // Two registers of one stage.
        (
            "register<bit<8>>(8) r; register<bit<8>>(8) s;",
            "if (hdr.h.a == 1) { r.write(1, hdr.h.b); } else { s.read(hdr.h.c, 1); }",
            "",
        ),
        // What an entry says is looked at.
        (
            "action pick(bit<8> x) { if (x == 2) { hdr.h.c = x + 1; } else { hdr.h.c = hdr.h.b - x; } }
            table t { key = { hdr.h.a: exact; } actions = { pick; NoAction; } default_action = pick(3); }",
            "t.apply();",
            "add t hdr.h.a:1 pick(x:2)\nsetdefault t pick(x:4)",
        ),
    ] {
        println!("{locals} {apply}");
        agree(locals, apply, entries);
    }
    for (states, apply) in [
        // A header that is extracted in two states.
        (
            "state start { packet.extract(hdr.h); transition select(hdr.h.a) { 1: again; 2: more; default: accept; } }
            state again { packet.extract(hdr.g); meta.c = 1; transition accept; }
            state more { packet.extract(hdr.g); transition accept; }",
            "if (hdr.g.isValid()) { hdr.g.b = hdr.h.c; } else { hdr.h.b = 7; }",
        ),
        (
            "state start { packet.extract(hdr.h); meta.a = hdr.h.b;
                transition select(hdr.h.a, hdr.h.b) { (1, 1 &&& 3): more; (2, _): reject; (_, 4): accept; } }
            state more { packet.extract(hdr.g); transition accept; }",
            "hdr.h.c = meta.a; if (standard.parser_error == error.NoMatch) { hdr.h.a = 9; }",
        ),
    ] {
        println!("{states} {apply}");
        parsed(states, apply);
    }
}

#[test]
fn a_group_that_nobody_made_has_no_copies() {
    let group = "if (hdr.h.a == 1) { standard.mcast_grp = 1; } else { standard.mcast_grp = 2; }";
    agree("", group, "mc_mgrp_create 1\nmc_node_create 0 2 3\nmc_node_associate 1 0");
}

/// Egress runs once for each copy, and what it counts with it; the pipeline follows it once for all.
#[test]
fn state_in_egress_of_copies_is_refused() {
    let whole = include_str!("../run/bytes.p4");
    let (begin, rest) = whole.split_once("control Out(").unwrap();
    let (parameters, end) = rest.split_once("{\n    apply {}").unwrap();
    for (locals, leave) in [
        ("counter(2, CounterType.packets) c;", "c.count(1);"),
        ("register<bit<8>>(2) r;", "r.write(1, hdr.h.a);"),
        (
            "direct_counter(CounterType.packets) d;
            table t { key = { hdr.h.a: exact; } actions = { NoAction; } counters = d; }",
            "t.apply();",
        ),
    ] {
        let text = format!("{begin}control Out({parameters}{{ {locals} apply {{ {leave} }}{end}");
        for (apply, is_refused) in [("standard.mcast_grp = 1;", true), ("standard.egress_spec = 1;", false)] {
            let reader = Reader::new().define("LOCALS", "").define("APPLY", apply).text("frame.p4", text.clone());
            let program = reader.check(Path::new("frame.p4")).unwrap_or_else(|errors| panic!("{errors}"));
            let groups = "mc_mgrp_create 1\nmc_node_create 0 2 3\nmc_node_associate 1 0";
            match compare(&program, groups, ALONE, &[(0, vec![1, 2, 3])]) {
                Came::Refused(why) => assert!(is_refused && why.contains("once for each copy"), "{leave}: {why}"),
                Came::Agreed(_) => assert!(!is_refused, "{leave}: {apply}"),
                other => panic!("{leave}: {other:?}"),
            }
        }
    }
}

/// Found by a tester with programs of others: what was declared with constants had no parts, so its fields were zero and writes were lost.
#[test]
fn variables_that_begin_with_constants_have_parts() {
    for apply in [
        "h_t l = { 1, 2, 3 }; l.a = hdr.h.b; hdr.h.c = l.a; hdr.h.b = l.b;",
        "h_t l = { 1, 2, 3 }; l.setInvalid(); l.setValid(); l.b = hdr.h.a; hdr.h.c = l.b;",
        "headers_t l = { { 1, 2, 3 } }; l.h.b = hdr.h.a; if (hdr.h.isValid()) { hdr.h = l.h; }",
        "headers_t l = { { 1, 2, 3 } }; if (hdr.h.a == 1) { l.h.c = 9; } hdr.h.b = l.h.c; hdr.h.c = l.h.a;",
        "tuple<bit<8>, bit<8>> l = { 4, 5 }; hdr.h.b = l[1]; hdr.h.c = l[0];",
        "bit<8> l = 0xff; l[7:4] = hdr.h.a[3:0]; hdr.h.b = l;",
        "h_t l = { 1, 2, 3 }; if (l == hdr.h) { hdr.h.a = 7; } else { hdr.h.b = 8; }",
        "for (bit<8> l in (list<bit<8>>) { 3, 4 }) { hdr.h.a = hdr.h.a + l; }",
        "for (headers_t l in (list<headers_t>) { { { 1, 2, 3 } }, { { 4, 5, 6 } } }) { hdr.h.a = hdr.h.a + l.h.b; }",
    ] {
        println!("{apply}");
        agree("", apply, "");
        agree("", &format!("h_t other = {{ 5, 6, 7 }}; hdr.h.a = other.a; {apply}"), "");
    }
    agree("h_t l = { 1, 2, 3 };", "l.a = hdr.h.b; hdr.h.c = l.a; hdr.h.b = l.b;", "");
}

/// What a table finds is no matter where all of its actions do the same, unless it is counted.
#[test]
fn tables_that_decide_nothing_count_all_the_same() {
    let entries = "add t hdr.h.a:1 NoAction()";
    for locals in [
        "table t { key = { hdr.h.a: exact; } actions = { NoAction; } }",
        "direct_counter(CounterType.packets) d;
        table t { key = { hdr.h.a: exact; } actions = { NoAction; } counters = d; }",
    ] {
        agree(locals, "t.apply(); hdr.h.b = 1;", entries);
        agree(locals, "if (t.apply().hit) { hdr.h.b = 1; }", entries);
    }
    // An index that an entry gives is a cell that is counted.
    let locals = "counter(4, CounterType.packets) c; action a(bit<8> at) { c.count((bit<32>) at); }
        table t { key = { hdr.h.a: exact; } actions = { a; } default_action = a(0); }";
    agree(locals, "t.apply();", "add t hdr.h.a:1 a(2)");
}

/// Ways that differ by the packet's length alone are grouped by it, more of them than one selection has cases.
#[test]
fn ways_of_many_lengths_are_told_apart() {
    let frame = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/run/bytes.p4")).unwrap();
    let (begin, rest) = frame.split_once("    state start {").unwrap();
    let (_, end) = rest.split_once("    }\n").unwrap();
    let text =
        format!("{begin}state start {{ {} transition accept; }}{end}", "packet.extract(hdr.s.next); ".repeat(12))
            .replace("h_t h;", "b_t[12] s;")
            .replace("struct headers_t", "header b_t { bit<8> a; }\nstruct headers_t")
            .replace("packet.emit(hdr.h);", "packet.emit(hdr.s);");
    let apply: Vec<String> =
        (0..12).rev().map(|at| format!("if (hdr.s[{at}].isValid()) {{ hdr.s[{at}].a = {at}; }}")).collect();
    let reader = Reader::new().define("LOCALS", "").define("APPLY", apply.join(" else ")).text("frame.p4", text);
    let program = reader.check(Path::new("frame.p4")).unwrap_or_else(|errors| panic!("{errors}"));
    let mut rng = Rng::new(test_seed("p4_lengths"));
    let packets: Vec<(u16, Vec<u8>)> =
        (0..PACKETS).map(|at| (0, (0..1 + at % 20).map(|_| rng.below(256) as u8).collect())).collect();
    match compare(&program, "", ALONE, &packets) {
        Came::Agreed(sent) => assert_eq!(sent, PACKETS),
        other => panic!("{other:?}"),
    }
}

/// Headers of which a field of one byte and one of three lie at the lower end of their containers, with other bytes before them.
const NARROW: &str = "#include <core.p4>
#include <v1model.p4>
header e_t { bit<48> a; }
header x_t { bit<8> one; bit<24> three; bit<8> last; }
struct headers_t { e_t e; x_t x; }
struct meta_t {}
parser P(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    state start { packet.extract(hdr.e); packet.extract(hdr.x); transition accept; }
}
control V(inout headers_t hdr, inout meta_t meta) { apply {} }
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    register<bit<32>>(1) r;
    apply { bit<32> v; r.read(v, 0); v = v OPERATION; r.write(0, v); standard.egress_spec = 1; }
}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) { apply {} }
control C(inout headers_t hdr, inout meta_t meta) { apply {} }
control D(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
";

#[test]
fn what_lies_beside_a_value_is_not_added_to_a_cell() {
    for operation in ["+ (bit<32>) hdr.x.one", "+ (bit<32>) hdr.x.three", "- 32w7"] {
        let reader = Reader::new().text("narrow.p4", NARROW.replace("OPERATION", operation));
        let program = reader.check(Path::new("narrow.p4")).unwrap_or_else(|errors| panic!("{errors}"));
        let mut rng = Rng::new(test_seed("narrow"));
        let packets: Vec<(u16, Vec<u8>)> = (0..200).map(|_| (0, rng.bytes(11))).collect();
        match compare(&program, "", ALONE, &packets) {
            Came::Agreed(sent) => assert_eq!(sent, 200),
            other => panic!("{operation}: {other:?}"),
        }
    }
}

const ARRAYS: &str = "#include <v1model.p4>
header h_t { bit<16> kind; }
header x_t { bit<9> high; bit<7> low; }
struct headers_t { h_t h; x_t x; }
struct meta_t {}
parser P(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    state start { transition select(packet.lookahead<bit<16>>()) { 8806: more; } }
    state more { packet.extract(hdr.x); transition accept; }
}
control V(inout headers_t hdr, inout meta_t meta) { apply {} }
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    register<bit<32>>(16) one;
    register<bit<8>>(16) two;
    action sum(bit<5> p, bit<32> q) {}
    action put(bit<9> port) { bit<32> v; one.write(8, v); }
    table t { actions = { sum; put; } }
    apply { switch (t.apply().action_run) { sum: { bit<8> v; v = v + (bit<8>)hdr.x.low; two.write(9, v); } } }
}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) { apply { mark_to_drop(standard); } }
control C(inout headers_t hdr, inout meta_t meta) { apply {} }
control D(packet_out packet, in headers_t hdr) { apply {} }
V1Switch(P(), V(), I(), E(), C(), D()) main;
";

/// One visit looks at two arrays, of which another way comes to one further behind: they are not in two stages.
#[test]
fn a_visit_to_two_arrays_is_in_one_stage() {
    let program = Reader::new().text("arrays.p4", ARRAYS).check(Path::new("arrays.p4"));
    let program = program.unwrap_or_else(|errors| panic!("{errors}"));
    match compare(&program, "", ALONE, &[(0, vec![1, 2, 3, 4])]) {
        Came::Agreed(_) | Came::Refused(_) => {}
        other => panic!("{other:?}"),
    }
}

const SUB_PARSERS: &str = "#include <v1model.p4>
header h_t { bit<8> a; bit<8> b; }
header g_t { bit<8> c; bit<8> d; bit<8> e; }
struct headers_t { h_t h; g_t[2] g; h_t last; }
struct meta_t { bit<8> m; }
parser Inner(packet_in packet, inout headers_t hdr, out bit<8> m) {
    state start {
        m = 7;
        packet.extract(hdr.g.next);
        verify(hdr.g.last.c == 2, error.NoMatch);
        m = 6;
        transition accept;
    }
}
parser Middle(packet_in packet, inout headers_t hdr, inout meta_t meta) {
    Inner() inner;
    state start {
        hdr.h.b = 9;
        inner.apply(packet, hdr, meta.m);
        transition select(hdr.g[0].d) { 0: accept; 1: twice; default: reject; }
    }
    state twice { inner.apply(packet, hdr, meta.m); transition accept; }
}
parser P(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    Middle() middle;
    state start {
        meta.m = 5;
        packet.extract(hdr.h);
        transition select(hdr.h.a) { 1: more; default: accept; }
    }
    state more { middle.apply(packet, hdr, meta); packet.extract(hdr.last); transition accept; }
}
control V(inout headers_t hdr, inout meta_t meta) { apply {} }
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    apply { if (standard.parser_error != error.NoError) { hdr.h.a = meta.m; standard.egress_spec = 1; } }
}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) { apply {} }
control C(inout headers_t hdr, inout meta_t meta) { apply {} }
control D(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
";

/// Neither headers nor variables of the caller are other ones after it, at any depth.
#[test]
fn a_sub_parser_that_ends_with_an_error_gives_nothing_back() {
    let program = Reader::new().text("sub.p4", SUB_PARSERS).check(Path::new("sub.p4"));
    let program = program.unwrap_or_else(|errors| panic!("{errors}"));
    let mut rng = Rng::new(test_seed("sub_parsers"));
    let mut bytes = || (0..2 + rng.below(12)).map(|_| rng.below(4) as u8).collect();
    let packets: Vec<(u16, Vec<u8>)> = (0..PACKETS).map(|_| (0, bytes())).collect();
    match compare(&program, "", ALONE, &packets) {
        Came::Agreed(sent) => assert!(sent > 0),
        other => panic!("{other:?}"),
    }
}

const ARGUMENTS: &str = "#include <v1model.p4>
header h_t { bit<8> a; bit<8> b; bit<8> c; }
struct headers_t { h_t h; }
struct meta_t {}
parser Inner(packet_in packet, out bit<8> made, in bit<8> read) {
    state start { made = read + 1; transition accept; }
}
parser P(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    Inner() inner;
    state start { packet.extract(hdr.h); inner.apply(packet, hdr.h.a, hdr.h.a); transition accept; }
}
control V(inout headers_t hdr, inout meta_t meta) { apply {} }
control Swap(out bit<8> one, out bit<8> two, in bit<8> three, in bit<8> four) { apply { one = four; two = three; } }
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    Swap() swap;
    apply { swap.apply(hdr.h.b, hdr.h.c, hdr.h.b, hdr.h.c); }
}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) { apply {} }
control C(inout headers_t hdr, inout meta_t meta) { apply {} }
control D(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
";

#[test]
fn an_argument_has_its_value_before_a_block_makes_it_another() {
    let program = Reader::new().text("arguments.p4", ARGUMENTS).check(Path::new("arguments.p4"));
    same(&program.unwrap_or_else(|errors| panic!("{errors}")), "");
}

/// Elements of one stack are written to and read, whose numbers the packet says; one of them is computed on the way.
#[test]
fn an_index_is_known_where_its_statement_goes_on_behind_a_cut() {
    let states = "state start { packet.extract(hdr.h); packet.extract(hdr.s.next); packet.extract(hdr.s.next); transition accept; }
    ";
    let statements = [
        "hdr.s[hdr.h.a].c = hdr.s[1 - hdr.h.a].c;",
        "hdr.s[hdr.h.a].c = hdr.s[1 - hdr.h.a].c + hdr.h.b;",
        "hdr.s[hdr.h.a & 1].b = hdr.h.b - hdr.h.c == 1 ? hdr.s[hdr.h.b].c : hdr.h.c;",
        "bit<8> i = hdr.h.a - hdr.h.b; hdr.s[hdr.h.a].setValid(); hdr.s[i].a = hdr.s[i ^ 1].b;",
    ];
    statements.iter().for_each(|statement| parsed(states, statement));
}

/// It has a container for each of them: a beat has its bytes at one rotation.
#[test]
fn a_byte_goes_out_at_many_places() {
    agree("", "hdr.h.a = hdr.h.b; hdr.h.c = hdr.h.b;", "");
    let states = "state start { packet.extract(hdr.h); transition accept; }
    ";
    parsed(states, "hdr.g.setValid(); hdr.g.a = hdr.h.b; hdr.g.b = hdr.h.b; hdr.g.c = hdr.h.b; hdr.h.a = hdr.h.b;");
    parsed(states, "hdr.g.setValid(); hdr.g.b = hdr.h.a + 1; hdr.g.a = hdr.g.b; hdr.g.c = hdr.g.b; hdr.h.c = hdr.g.b;");
}

/// A field that ways have from one of two places of the packet is brought by a container, and stays at neither.
#[test]
fn a_byte_goes_out_that_comes_from_one_of_two_places() {
    let states = "state start { meta.a = 5; packet.extract(hdr.h); transition select(hdr.h.a) { 1: more; default: accept; } }
    state more { packet.extract(hdr.s.next); meta.a = hdr.s.last.b; transition select(meta.a) { 0: accept; 1: twice; default: reject; } }
    state twice { packet.extract(hdr.s.next); meta.a = hdr.s.last.b; transition accept; }
    ";
    parsed(states, "hdr.h.a = meta.a;");
}

/// A visit ends while the value is moved: by how many places was not among what ways are compared by.
#[test]
fn a_computed_value_is_moved_by_what_the_packet_says() {
    agree("", "hdr.h.a = (hdr.h.a + 1) >> hdr.h.b;", "");
    agree("", "hdr.h.a = (bit<8>)((int<8>)(hdr.h.a ^ 0x80) >> hdr.h.b[1:0]);", "");
}

/// What such a program does is not defined for the header, but for the parameter: it is a variable of the block (section 6.8).
#[test]
fn a_parameter_keeps_its_value_where_its_argument_is_of_no_valid_header() {
    let blocks = "control Copy(inout bit<8> x, in bit<8> y, out bit<8> z) { apply { x = y; z = x; } }
    control In(";
    let frame = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/run/bytes.p4");
    let text = std::fs::read_to_string(frame).unwrap();
    let text = text.replace("h_t h;", "h_t h; h_t g;").replacen("control In(", blocks, 1);
    // A header that becomes valid has what was written to it before, by a block as by a statement.
    for behind in ["", "hdr.g.setValid(); hdr.h.c = hdr.g.a;"] {
        let apply = format!("copy.apply(hdr.g.a, hdr.h.a, hdr.h.b); {behind}");
        let reader = Reader::new().define("LOCALS", "Copy() copy;").define("APPLY", &apply).text("frame.p4", &text);
        same(&reader.check(Path::new("frame.p4")).unwrap_or_else(|errors| panic!("{errors}")), "");
    }
}

/// A block that makes it valid and then not would have made the other members invalid, which it was not given.
#[test]
fn a_member_of_a_union_is_no_argument_of_a_block() {
    let blocks = "control Twice(inout h_t x) { apply { x.setValid(); x.setInvalid(); } }
    control In(";
    let frame = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/run/bytes.p4");
    let text = std::fs::read_to_string(frame).unwrap();
    let text = text
        .replace("struct headers_t {", "header_union u_t { h_t one; h_t two; }\nstruct headers_t { u_t u;")
        .replace("packet.extract(hdr.h);", "packet.extract(hdr.u.one);")
        .replace("packet.emit(hdr.h);", "packet.emit(hdr);")
        .replacen("control In(", blocks, 1);
    let reader = Reader::new().define("LOCALS", "Twice() twice;").define("APPLY", "twice.apply(hdr.u.two);");
    let program = reader.text("frame.p4", text).check(Path::new("frame.p4"));
    let program = program.unwrap_or_else(|errors| panic!("{errors}"));
    match compare(&program, "", ALONE, &[(0, vec![1, 2, 3, 4])]) {
        Came::Refused(why) => assert!(why.contains("a member of a union as argument of a block"), "{why}"),
        other => panic!("{other:?}"),
    }
}

/// A whole program on headers `h` and `g`, whose parser has these states.
fn of_states(types: &str, states: &str, locals: &str, apply: &str) -> Program {
    let text = format!(
        "#include <core.p4>
        #include <v1model.p4>
        {types}
        struct meta_t {{ bit<8> a; }}
        parser p(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {{ {states} }}
        control v(inout headers_t hdr, inout meta_t meta) {{ apply {{ }} }}
        control i(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {{ {locals} apply {{ {apply} }} }}
        control e(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {{ apply {{ }} }}
        control c(inout headers_t hdr, inout meta_t meta) {{ apply {{ }} }}
        control d(packet_out packet, in headers_t hdr) {{ apply {{ packet.emit(hdr); }} }}
        V1Switch(p(), v(), i(), e(), c(), d()) main;"
    );
    Reader::new().text("states.p4", text).check(Path::new("states.p4")).unwrap_or_else(|errors| panic!("{errors}"))
}

/// The compiler was right, and the verifier of `ends` not: of two ways to put a packet together that are one row, a field stays where it is on
/// both, though a third one brings it, or though it is brought to a second place.
#[test]
fn a_field_that_is_brought_elsewhere_stays_where_two_ways_leave_it() {
    let types =
        "header one_t { bit<8> x; } header two_t { bit<16> x; } struct headers_t { one_t h; two_t f; two_t g; }";
    let states = "state start { packet.extract(hdr.h); transition select(hdr.h.x) { 3: f; default: g; } }
        state f { packet.extract(hdr.f); transition g; }
        state g { packet.extract(hdr.g); packet.advance(16); transition accept; }";
    let apply = "switch (hdr.f.x) { 65535: { hdr.f.setInvalid(); } default: { hdr.h.x = meta.a; } }";
    same(&of_states(types, states, "", apply), "");
    let types = "header one_t { bit<8> x; bit<8> y; } struct headers_t { one_t h; one_t f; one_t g; }";
    let states = "state start { packet.extract(hdr.h); transition select(hdr.h.x) { 3: f; 4: g; default: accept; } }
        state f { packet.extract(hdr.f); transition g; }
        state g { packet.extract(hdr.g); transition accept; }";
    same(&of_states(types, states, "", "if (hdr.g.isValid()) { hdr.h.x = hdr.g.y; }"), "");
}

/// Two visits do the same but for their numbers, which they take out of the hash.
#[test]
fn a_hash_of_what_an_entry_has_written_is_that_of_its_value() {
    let types = "header h_t { bit<64> x; bit<8> y; } struct headers_t { h_t h; }";
    let locals = "action set(bit<8> v) { hdr.h.y = v; meta.a = v; } table one { actions = { set; } }
        action to(bit<9> port) { sm.egress_spec = port; } table two { actions = { to; } }";
    let apply = "one.apply();
        switch (hdr.h.y) { 67: { hash(meta.a, HashAlgorithm.crc16, 8w56, { meta.a, hdr.h.x }, 16w8); } }
        if (meta.a == 153) { two.apply(); }";
    let mut program = of_states(types, "state start { packet.extract(hdr.h); transition accept; }", locals, apply);
    program.allow(Allowed::default().with_target_hash());
    let packets: Vec<(u16, Vec<u8>)> = (0..250).map(|number| (0, vec![1, 2, 3, 4, 5, 6, number, 8, 67, 10])).collect();
    for entries in ["", "setdefault one set(v:67)\n"] {
        match compare(&program, entries, LONG, &packets) {
            Came::Agreed(sent) => assert!(sent > 0),
            other => panic!("{other:?}"),
        }
    }
}
