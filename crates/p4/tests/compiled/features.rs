//! The table of docs/guide/p4-v1model.md: what of v1model the reference runs, and what is compiled for which target. Each row is a
//! program that is tried.

use crate::compare::{ALONE, Came, LONG, PORTS, Place, run};
use sluice_formats::random::{Rng, test_seed};
use std::fmt::Write;

/// A feature, and the pieces of a program that uses it: those of the frame that are named, others as the frame has them.
struct Feature {
    name: &'static str,
    pieces: &'static [(&'static str, &'static str)],
}

const FRAME: &str = "#include <v1model.p4>
header h_t { bit<8> a; bit<8> b; bit<8> c; bit<8> d; bit<16> sum; }
header v_t { varbit<32> v; }
header_union u_t { h_t one; h_t two; }
struct headers_t { h_t h; h_t[2] s; v_t v; u_t u; }
struct meta_t { @field_list(1) bit<8> a; }
parser Parse(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    VALUE_SET
    state start { packet.extract(hdr.h); PARSE }
    state more { MORE }
}
control Verify(inout headers_t hdr, inout meta_t meta) { apply { VERIFY } }
control In(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) { LOCALS apply { APPLY } }
control Out(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) { apply { LEAVE } }
control Update(inout headers_t hdr, inout meta_t meta) { apply { UPDATE } }
control Deparse(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr); } }
V1Switch(Parse(), Verify(), In(), Out(), Update(), Deparse()) main;
";

/// What pieces are if a feature does not name them.
const USUAL: [(&str, &str); 9] = [
    ("VALUE_SET", ""),
    ("PARSE", "transition accept;"),
    ("MORE", "transition accept;"),
    ("VERIFY", ""),
    ("LOCALS", ""),
    ("APPLY", ""),
    ("LEAVE", ""),
    ("UPDATE", ""),
    ("ENTRIES", ""),
];

const WORDS: &str = "{ hdr.h.a, hdr.h.b, hdr.h.c, hdr.h.d }";

macro_rules! feature {
    ($name:literal, $($piece:ident: $text:literal),*) => {
        Feature { name: $name, pieces: &[$((stringify!($piece), $text)),*] }
    };
}

const FEATURES: &[Feature] = &[
    feature!("`egress_spec`: a constant", APPLY: "standard.egress_spec = 3;"),
    feature!("`egress_spec`: from the packet", APPLY: "standard.egress_spec = (bit<9>)hdr.h.a;"),
    feature!("`ingress_port`", APPLY: "hdr.h.b = (bit<8>)standard.ingress_port;"),
    feature!("`egress_port`", LEAVE: "if (standard.egress_port == 0) { hdr.h.b = 9; }"),
    feature!("`packet_length`", APPLY: "hdr.h.b = standard.packet_length[7:0];"),
    feature!("`instance_type`", APPLY: "hdr.h.b = (bit<8>)standard.instance_type;"),
    feature!("`mcast_grp`", APPLY: "standard.mcast_grp = 1;", ENTRIES: "mc_mgrp_create 1\nmc_node_create 0 2 3\nmc_node_associate 1 0"),
    feature!("`egress_rid`", APPLY: "standard.mcast_grp = 1;", LEAVE: "hdr.h.b = (bit<8>)standard.egress_rid;"),
    feature!("`parser_error`", APPLY: "if (standard.parser_error == error.PacketTooShort) { standard.egress_spec = 2; }"),
    feature!("`checksum_error`",
        VERIFY: "verify_checksum(hdr.h.isValid(), WORDS, hdr.h.sum, HashAlgorithm.csum16);",
        APPLY: "if (standard.checksum_error == 1) { standard.egress_spec = 2; }"),
    feature!("`priority`", APPLY: "standard.priority = 3;"),
    feature!("times", APPLY: "hdr.h.b = standard.ingress_global_timestamp[7:0];"),
    feature!("queue depths", LEAVE: "hdr.h.b = standard.deq_qdepth[7:0];"),
    feature!("`mark_to_drop`", APPLY: "if (hdr.h.a == 1) { mark_to_drop(standard); }"),
    feature!("`mark_to_drop` in egress", LEAVE: "if (hdr.h.a == 1) { mark_to_drop(standard); }"),
    feature!("`clone` of ingress", APPLY: "clone(CloneType.I2E, 5);", ENTRIES: "mirroring_add 5 3"),
    feature!("`clone` of ingress: another packet than its original", APPLY: "hdr.h.a = 1; clone(CloneType.I2E, 5);", ENTRIES: "mirroring_add 5 3"),
    feature!("`clone` of egress", LEAVE: "if (standard.instance_type == 0) { clone(CloneType.E2E, 5); }", ENTRIES: "mirroring_add 5 3"),
    feature!("`clone` of egress: another packet than its original", LEAVE: "if (standard.instance_type == 0) { clone(CloneType.E2E, 5); } else { hdr.h.a = 1; }", ENTRIES: "mirroring_add 5 3"),
    feature!("`clone_preserving_field_list`", APPLY: "clone_preserving_field_list(CloneType.I2E, 5, 1);"),
    feature!("`resubmit_preserving_field_list`", APPLY: "if (meta.a == 0) { meta.a = 1; resubmit_preserving_field_list(1); }"),
    feature!("`recirculate_preserving_field_list`", LEAVE: "if (meta.a == 0) { meta.a = 1; recirculate_preserving_field_list(1); }"),
    feature!("`digest`", APPLY: "digest(1, hdr.h.a);"),
    feature!("`log_msg`", APPLY: "log_msg(\"here\");"),
    feature!("`assert`, `assume`", APPLY: "assert(hdr.h.a >= 0);"),
    feature!("`truncate`", APPLY: "truncate(8);"),
    feature!("`random`", APPLY: "random(hdr.h.b, 8w3, 8w3);"),
    feature!("`counter`", LOCALS: "counter(8, CounterType.packets) c;", APPLY: "c.count((bit<32>)hdr.h.a[2:0]);"),
    feature!("`direct_counter`",
        LOCALS: "direct_counter(CounterType.packets) c; table t { key = { hdr.h.a: exact; } actions = { NoAction; } counters = c; const entries = { 1: NoAction(); } }",
        APPLY: "t.apply();"),
    feature!("`meter` without rates", LOCALS: "meter(8, MeterType.packets) m;", APPLY: "m.execute_meter((bit<32>)hdr.h.a[2:0], hdr.h.b);"),
    feature!("`direct_meter` without rates",
        LOCALS: "direct_meter<bit<8>>(MeterType.packets) m; action r() { m.read(hdr.h.b); } table t { key = { hdr.h.a: exact; } actions = { r; NoAction; } meters = m; const entries = { 1: r(); } }",
        APPLY: "t.apply();"),
    feature!("`register`: read", LOCALS: "register<bit<8>>(8) r;", APPLY: "r.read(hdr.h.b, 3);"),
    feature!("`register`: written", LOCALS: "register<bit<8>>(8) r;", APPLY: "r.write((bit<32>)hdr.h.a[2:0], hdr.h.b);"),
    feature!("`register`: added to",
        LOCALS: "register<bit<32>>(8) r;",
        APPLY: "bit<32> x; r.read(x, (bit<32>)hdr.h.a[2:0]); x = x + 1; r.write((bit<32>)hdr.h.a[2:0], x); hdr.h.b = x[7:0];"),
    feature!("`register`: another operation",
        LOCALS: "register<bit<32>>(8) r;",
        APPLY: "bit<32> x; r.read(x, 1); x = x ^ (bit<32>)hdr.h.a; r.write(1, x);"),
    feature!("`hash`: `crc32`", APPLY: "hash(hdr.h.b, HashAlgorithm.crc32, 8w0, { hdr.h.a }, 16w16);"),
    feature!("`hash`: other algorithms", APPLY: "hash(hdr.h.b, HashAlgorithm.crc16, 8w0, { hdr.h.a }, 16w16);"),
    feature!("`update_checksum`: `csum16`", UPDATE: "update_checksum(hdr.h.isValid(), WORDS, hdr.h.sum, HashAlgorithm.csum16);"),
    feature!("`update_checksum`: other algorithms", UPDATE: "update_checksum(hdr.h.isValid(), WORDS, hdr.h.sum, HashAlgorithm.crc16);"),
    feature!("`update_checksum_with_payload`", UPDATE: "update_checksum_with_payload(hdr.h.isValid(), WORDS, hdr.h.sum, HashAlgorithm.csum16);"),
    feature!("`Checksum16`", LOCALS: "Checksum16() c;", APPLY: "hdr.h.sum = c.get(WORDS);"),
    feature!("`action_profile`",
        LOCALS: "action set(bit<8> x) { hdr.h.b = x; } action_profile(16) p; table t { key = { hdr.h.a: exact; } actions = { set; NoAction; } implementation = p; }",
        APPLY: "t.apply();", ENTRIES: "add t hdr.h.a:1 set(x:5)"),
    feature!("`action_selector`",
        LOCALS: "action set(bit<8> x) { hdr.h.b = x; } action_selector(HashAlgorithm.crc16, 16, 4) p; table t { key = { hdr.h.a: exact; hdr.h.c: selector; } actions = { set; NoAction; } implementation = p; }",
        APPLY: "t.apply();", ENTRIES: "add t hdr.h.a:1 set(x:5)"),
    feature!("value sets", VALUE_SET: "value_set<bit<8>>(4) some;", PARSE: "transition select(hdr.h.a) { some: more; default: accept; }", MORE: "meta.a = 1; transition accept;", APPLY: "hdr.h.b = meta.a;", ENTRIES: "pvs_add Parse.some 1"),
    feature!("keys: exact", LOCALS: "table t { key = { hdr.h.a: exact; } actions = { NoAction; } }", APPLY: "if (t.apply().hit) { hdr.h.b = 1; }", ENTRIES: "add t hdr.h.a:1 NoAction()"),
    feature!("keys: lpm", LOCALS: "table t { key = { hdr.h.a: lpm; } actions = { NoAction; } }", APPLY: "if (t.apply().hit) { hdr.h.b = 1; }", ENTRIES: "add t hdr.h.a:0/7 NoAction()"),
    feature!("keys: ternary", LOCALS: "table t { key = { hdr.h.a: ternary; } actions = { NoAction; } }", APPLY: "if (t.apply().hit) { hdr.h.b = 1; }", ENTRIES: "add t 1 hdr.h.a:1&&&3 NoAction()"),
    feature!("keys: range", LOCALS: "table t { key = { hdr.h.a: range; } actions = { NoAction; } }", APPLY: "if (t.apply().hit) { hdr.h.b = 1; }", ENTRIES: "add t 1 hdr.h.a:1->5 NoAction()"),
    feature!("keys: optional", LOCALS: "table t { key = { hdr.h.a: optional; } actions = { NoAction; } }", APPLY: "if (t.apply().hit) { hdr.h.b = 1; }", ENTRIES: "add t 1 hdr.h.a:1 NoAction()"),
    feature!("`action_run`",
        LOCALS: "action one() { } table t { key = { hdr.h.a: exact; } actions = { one; NoAction; } const entries = { 1: one(); } }",
        APPLY: "switch (t.apply().action_run) { one: { hdr.h.b = 1; } default: { hdr.h.b = 2; } }"),
    feature!("selects: masks and ranges", PARSE: "transition select(hdr.h.a) { 1 &&& 3: more; 8..9: more; default: accept; }", MORE: "meta.a = 1; transition accept;", APPLY: "hdr.h.b = meta.a;"),
    feature!("products with a constant", APPLY: "hdr.h.b = hdr.h.a * 10;"),
    feature!("products of two fields", APPLY: "hdr.h.b = hdr.h.a * hdr.h.b;"),
    feature!("`lookahead`", PARSE: "meta.a = packet.lookahead<bit<8>>(); transition accept;", APPLY: "hdr.h.b = meta.a;"),
    feature!("`advance` after 6 bytes", PARSE: "packet.advance(16); transition accept;"),
    feature!("`verify`", PARSE: "verify(hdr.h.a == 1, error.NoMatch); transition accept;", APPLY: "if (standard.parser_error == error.NoMatch) { hdr.h.b = 1; }"),
    feature!("stacks", PARSE: "transition select(hdr.h.a) { 1: more; default: accept; }", MORE: "packet.extract(hdr.s.next); transition select(hdr.s.last.a) { 1: more; default: accept; }", APPLY: "hdr.s[0].b = hdr.s[1].c;"),
    feature!("unions", PARSE: "transition more;", MORE: "packet.extract(hdr.u.one); transition accept;", APPLY: "hdr.u.one.b = 5;"),
    feature!("`advance` by what the packet says", PARSE: "packet.advance((bit<32>) hdr.h.a[1:0] << 3); transition accept;"),
    feature!("`varbit`", PARSE: "transition more;", MORE: "packet.extract(hdr.v, (bit<32>)(hdr.h.a[1:0] ++ 3w0)); transition accept;"),
    feature!("`varbit`: a length of more than 6 bits", PARSE: "transition more;", MORE: "packet.extract(hdr.v, (bit<32>) hdr.h.a); transition accept;"),
    feature!("`packet_in.length`", PARSE: "meta.a = packet.length()[7:0]; transition accept;", APPLY: "hdr.h.b = meta.a;"),
    feature!("fields of headers that are not valid", APPLY: "hdr.h.b = hdr.s[1].a;"),
];

fn program(feature: &Feature) -> (String, String) {
    let piece = |name: &str| {
        let found = feature.pieces.iter().chain(&USUAL).find(|(piece, _)| *piece == name);
        found.map_or("", |(_, text)| text).replace("WORDS", WORDS)
    };
    let mut text = FRAME.to_string();
    for (name, _) in USUAL.iter().filter(|(name, _)| *name != "ENTRIES") {
        text = text.replacen(name, &piece(name), 1);
    }
    (text, piece("ENTRIES"))
}

/// A cell of the table.
fn cell(feature: &Feature, place: Place, packets: &[(u16, Vec<u8>)]) -> String {
    let (text, entries) = program(feature);
    match run(&text, &entries, place, packets) {
        Came::Agreed(sent) => {
            assert!(sent > 0, "{}: no packet leaves", feature.name);
            "yes".into()
        }
        Came::Refused(why) => {
            let first = why.lines().next().unwrap_or_default();
            let (code, what) = (first.get(6..11).unwrap_or_default(), first.splitn(3, ": ").nth(2).unwrap_or(first));
            format!("{code}: {what}")
        }
        other => panic!("{}: {other:?}\n{text}", feature.name),
    }
}

#[test]
fn the_table_of_the_guide_says_what_is_compiled() {
    let mut rng = Rng::new(test_seed("v1model_features"));
    let mut packet = || {
        let length = rng.range(1, 24) as usize;
        rng.bytes(length).into_iter().map(|byte| if byte % 2 == 0 { byte } else { byte % 8 }).collect()
    };
    let packets: Vec<(u16, Vec<u8>)> = (0..300).map(|number| (number % PORTS, packet())).collect();
    let mut table =
        "| feature | reference | default, stages 0-4 | wide, stages 0-11 |\n| --- | --- | --- | --- |\n".to_string();
    for feature in FEATURES {
        let (default, wide) = (cell(feature, ALONE, &packets), cell(feature, LONG, &packets));
        let wide = if wide == default { "the same".into() } else { wide };
        let _ = writeln!(table, "| {} | yes | {default} | {wide} |", feature.name);
    }
    let guide = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/p4-v1model.md");
    let text = std::fs::read_to_string(guide).unwrap();
    assert!(text.contains(&table), "docs/guide/p4-v1model.md should have\n{table}");
}
