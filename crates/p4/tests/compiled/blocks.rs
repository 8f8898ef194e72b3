//! Programs of what the random ones do not make: parsers, controls, actions and functions with arguments of their own, exits within
//! them, unions, lists, signed and saturating numbers. What is accepted gives the packets of the reference.

use crate::compare::{ALONE, LONG, PORTS};
use crate::pieces::{Pieces, all_agree, program};
use sluice_formats::random::{Rng, test_seed};

/// Packets for each program.
const PACKETS: usize = 1_000;

const FRAME: &str = "#include <core.p4>
#include <v1model.p4>
header h_t { bit<8> a; bit<8> b; bit<8> c; bit<8> d; }
header w_t { bit<16> x; int<8> y; bit<8> z; }
header_union u_t { h_t h; w_t w; }
enum bit<8> Kind { One = 1, Two = 2, Five = 5 }
struct pair_t { bit<8> one; bit<8> two; }
struct headers_t { h_t h; h_t g; h_t[3] s; u_t u; w_t w; }
struct meta_t { bit<8> a; bit<16> b; bit<8> c; pair_t p; bool t; int<8> i; }
error { Odd }
TOP
parser P(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
    INSIDE
    state start { packet.extract(hdr.h); PARSE }
    state more { MORE }
}
control V(inout headers_t hdr, inout meta_t meta) { apply {} }
TOP2
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) { LOCALS apply { sm.egress_spec = 1; APPLY } }
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) { LEAVING apply { LEAVE } }
control C(inout headers_t hdr, inout meta_t meta) { apply {} }
control D(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
";

const PROGRAMS: &[Pieces] = &[
    // Sub-parsers.
    program!(TOP: "parser Q(packet_in packet, out h_t x, inout bit<8> n) { state start { packet.extract(x); n = x.a; verify(x.b != 3, error.Odd); transition select(x.c) { 0: again; 1: reject; default: accept; } } state again { n = x.d; transition accept; } }",
        INSIDE: "Q() q;", PARSE: "meta.a = 9; q.apply(packet, hdr.g, meta.a); transition select(meta.a) { 2: more; default: accept; }",
        MORE: "q.apply(packet, hdr.s.next, meta.c); transition accept;",
        APPLY: "hdr.h.b = meta.a; hdr.h.c = meta.c; if (sm.parser_error == error.Odd) { hdr.h.d = 77; }"),
    program!(TOP: "parser Q(packet_in packet, inout h_t[3] s, out bit<8> n) { state start { n = 0; transition loop; } state loop { packet.extract(s.next); n = s.last.b; transition select(s.last.a) { 0: loop; 1: accept; 2: reject; default: accept; } } }",
        INSIDE: "Q() q;", PARSE: "q.apply(packet, hdr.s, meta.a); transition select(meta.a) { 1: more; default: accept; }", MORE: "packet.extract(hdr.s.next); transition accept;",
        APPLY: "hdr.h.b = meta.a; if (sm.parser_error == error.StackOutOfBounds) { hdr.h.d = 77; }"),
    program!(TOP: "parser Q(packet_in packet, out bit<8> n, in bit<8> m) { state start { n = packet.lookahead<bit<8>>(); packet.advance(8); transition select(m) { 0..2: accept; default: two; } } state two { packet.advance(8); n = packet.lookahead<bit<8>>(); transition accept; } }",
        INSIDE: "Q() q;", PARSE: "q.apply(packet, meta.a, hdr.h.a); transition more;", MORE: "packet.extract(hdr.g); transition accept;", APPLY: "hdr.h.b = meta.a;"),
    program!(INSIDE: "bit<8> v; value_set<bit<8>>(4) some;", PARSE: "v = hdr.h.b; transition select(v) { some: more; default: accept; }", MORE: "packet.extract(hdr.g); v = v + 1; transition select(v, hdr.g.a) { (3, _): accept; (_, 2): reject; }", APPLY: "if (sm.parser_error == error.NoMatch) { hdr.h.d = 77; }", ENTRIES: "pvs_add P.some 2\npvs_add P.some 5"),
    program!(PARSE: "transition select(hdr.h.a[1:0] ++ hdr.h.b[0:0], hdr.h.c) { (3w2, 0 .. 3): more; (3w1 &&& 3w5, _): reject; default: accept; }", MORE: "packet.extract(hdr.u.h); transition select(hdr.u.h.a) { 1: reject; default: accept; }", APPLY: "if (hdr.u.h.isValid()) { hdr.u.w.setValid(); hdr.u.w.x = 5; hdr.u.w.y = -3; hdr.u.w.z = 1; }"),
    program!(PARSE: "transition select(hdr.h.a) { 0: more; 1: more; default: accept; }", MORE: "packet.extract(hdr.u.w); transition accept;", APPLY: "if (hdr.h.b == 1) { hdr.u.h.setValid(); hdr.u.h.a = hdr.h.a; hdr.u.h.b = 1; hdr.u.h.c = 2; hdr.u.h.d = 3; } if (hdr.u.isValid()) { hdr.h.d = 99; } if (hdr.u.w.isValid()) { hdr.h.c = hdr.u.w.z; hdr.u.w.setInvalid(); }"),
    program!(PARSE: "transition select(packet.lookahead<bit<16>>()) { 0x0102: more; 0x0000 &&& 0xff00: accept; default: reject; }", MORE: "pair_t q = packet.lookahead<pair_t>(); meta.p = q; packet.extract(hdr.w); transition accept;", APPLY: "hdr.h.b = meta.p.two; hdr.h.c = meta.p.one;"),
    // Sub-controls.
    program!(TOP2: "control Q(in bit<8> x, out bit<8> y, inout bit<8> z) { bit<8> l; apply { l = x + 1; if (x == 2) { y = 7; exit; } y = l; if (z == 1) { z = 5; return; } z = z ^ x; } }",
        LOCALS: "Q() q;", APPLY: "q.apply(hdr.h.a, hdr.h.a, hdr.h.b); q.apply(hdr.h.b, hdr.h.c, hdr.h.b); hdr.h.d = 1;"),
    program!(TOP2: "control Q(inout bit<8> x, inout bit<8> y) { apply { x = x + 1; y = y + 2; if (y == 4) { exit; } x = y; } }",
        LOCALS: "Q() q; Q() r;", APPLY: "q.apply(hdr.h.a, hdr.h.a); r.apply(hdr.h.b, hdr.h.a); hdr.h.d = hdr.h.a;"),
    program!(TOP2: "control Q(inout headers_t hdr, out bit<8> n) { action one() { n = 1; hdr.h.c = 4; } action two(bit<8> v) { n = v; exit; } table t { key = { hdr.h.a: exact; } actions = { one; two; NoAction; } const entries = { 1: one(); 2: two(5); 3: two(6); } default_action = NoAction(); } apply { n = 3; switch (t.apply().action_run) { one: { hdr.h.b = n; return; } NoAction: { n = 8; if (hdr.h.b == 1) { exit; } } } hdr.h.d = n; } }",
        LOCALS: "Q() q;", APPLY: "q.apply(hdr, meta.a); hdr.h.c = meta.a;", LEAVE: "hdr.h.a = meta.a;"),
    program!(TOP2: "control R(inout bit<8> a) { apply { if (a == 1) { return; } if (a == 2) { exit; } a = a + 3; } } control Q(inout h_t h) { R() r; apply { r.apply(h.b); h.c = 1; r.apply(h.d); if (h.b == 1) { return; } h.a = 6; } }",
        LOCALS: "Q() q;", APPLY: "q.apply(hdr.h); hdr.h.a = hdr.h.a + 1;"),
    program!(TOP2: "control Q(in h_t x, out h_t y) { apply { y = x; y.a = x.b; y.b = x.a; } }", LOCALS: "Q() q;", APPLY: "q.apply(hdr.h, hdr.h); h_t o; q.apply(hdr.h, o); if (o.isValid()) { hdr.h.d = o.a; }"),
    program!(TOP2: "control Q(inout h_t[3] s, in bit<8> n) { apply { s.push_front(1); s[0].setValid(); s[0] = { n, 1, 2, 3 }; if (s[1].isValid() && s[1].a == 2) { s.pop_front(2); } } }",
        PARSE: "packet.extract(hdr.s.next); transition select(hdr.h.a) { 1: more; default: accept; }", MORE: "packet.extract(hdr.s.next); transition accept;", LOCALS: "Q() q;", APPLY: "q.apply(hdr.s, hdr.h.b);"),
    program!(TOP2: "control Q(out bit<4> hi, out bit<4> lo, in bit<8> x) { apply { hi = x[3:0]; lo = x[7:4]; if (x == 5) { exit; } hi = hi + 1; } }", LOCALS: "Q() q;", APPLY: "q.apply(hdr.h.a[7:4], hdr.h.a[3:0], hdr.h.a); q.apply(hdr.h.b[5:2], hdr.h.c[7:4], hdr.h.b); hdr.h.d = 0;"),
    program!(TOP2: "control Q(inout bit<8> x)(bit<8> by) { apply { x = x + by; if (x == 6) { exit; } } }", LOCALS: "Q(2) q; Q(5) r;", APPLY: "q.apply(hdr.h.a); r.apply(hdr.h.a);"),
    // Actions and functions.
    program!(LOCALS: "action f(inout bit<8> x, in bit<8> y, out bit<8> z) { z = x; x = y; if (y == 3) { return; } z = z + 1; }", APPLY: "f(hdr.h.a, hdr.h.b, hdr.h.c); f(hdr.h.a, hdr.h.a, hdr.h.a); f(hdr.h.d, hdr.h.d + 1, hdr.h.b);"),
    program!(LOCALS: "action f(inout bit<8> x, bit<8> v) { x = x + v; if (v == 2) { exit; } x = x ^ 1; } table t { key = { hdr.h.a: ternary; } actions = { f(hdr.h.b); NoAction; } default_action = NoAction(); } ", APPLY: "t.apply(); hdr.h.c = hdr.h.b;", ENTRIES: "add t 1 hdr.h.a:1 f(v:2)\nadd t 2 hdr.h.a:2&&&3 f(v:7)"),
    program!(TOP: "bit<8> f(inout bit<8> x, in bit<8> y) { if (x == 1) { x = 9; return y; } bit<8> o = x; x = y; return o + 1; }", APPLY: "hdr.h.c = f(hdr.h.a, hdr.h.b) + f(hdr.h.a, hdr.h.a); hdr.h.d = f(hdr.h.d, hdr.h.d);"),
    program!(TOP: "bool f(inout bit<8> x) { x = x + 1; return x == 3; }", APPLY: "if (f(hdr.h.a) || f(hdr.h.a)) { hdr.h.b = 1; } if (f(hdr.h.c) && f(hdr.h.a)) { hdr.h.d = 4; }"),
    program!(TOP: "bit<8> f(in bit<8> x) { switch (x) { 1: { return 3; } 2: 4: { return 5; } default: {} } return x; } void g(out bit<8> y, in bit<8> x) { y = f(f(x)); if (x == 4) { return; } y = y + 1; }", APPLY: "g(hdr.h.a, hdr.h.a); g(hdr.h.c, f(hdr.h.b));"),
    program!(TOP: "bit<8> f(inout bit<8> x) { x = x + 1; return x; }", APPLY: "hdr.h.b = hdr.h.a + f(hdr.h.a) + hdr.h.a; hdr.h.c = f(hdr.h.c) - f(hdr.h.c); hdr.h.a[3:0] = f(hdr.h.a)[3:0];"),
    program!(TOP: "pair_t f(in bit<8> x, in bit<8> y) { if (x < y) { return { x, y }; } return { y, x }; }", APPLY: "pair_t p = f(hdr.h.a, hdr.h.b); hdr.h.a = p.one; hdr.h.b = p.two; if (p == { 1, 2 }) { hdr.h.c = 9; }"),
    program!(PARSE: "packet.extract(hdr.s.next); packet.extract(hdr.s.next); transition accept;", TOP: "bit<8> f(inout bit<8> i) { i = 1 - i; return i; }", APPLY: "if (hdr.h.a < 2) { hdr.s[hdr.h.a].b = f(hdr.h.a); } "),
    program!(PARSE: "packet.extract(hdr.s.next); packet.extract(hdr.s.next); transition accept;", LOCALS: "action f(out bit<8> x, inout bit<8> i) { i = 1; x = 5; }", APPLY: "if (hdr.h.a < 2) { f(hdr.s[hdr.h.a].b, hdr.h.a); }"),
    // Numbers.
    program!(APPLY: "hdr.h.a = hdr.h.a |+| 250; hdr.h.b = hdr.h.b |-| 3; hdr.h.c = hdr.h.c |-| hdr.h.d;"),
    program!(PARSE: "packet.extract(hdr.w); transition accept;", APPLY: "hdr.w.y = hdr.w.y |-| 126; if (hdr.w.y < -2) { hdr.h.a = 1; } hdr.w.x = (bit<16>)(int<16>)(int<8>)hdr.h.b;"),
    program!(PARSE: "packet.extract(hdr.w); transition accept;", APPLY: "if (hdr.w.y > 2) { hdr.w.y = hdr.w.y >> 1; } else { hdr.w.y = -hdr.w.y; } meta.i = hdr.w.y - 5; if (meta.i < (int<8>)hdr.h.a) { hdr.h.b = (bit<8>)(meta.i >> 1); } "),
    program!(APPLY: "hdr.h.a = hdr.h.a << hdr.h.b; hdr.h.c = hdr.h.c >> hdr.h.d;"),
    program!(APPLY: "hdr.h.a = (bit<8>)((int<8>)(hdr.h.a ^ 0x80) >> hdr.h.b[1:0]); bit<16> w = hdr.h.c ++ hdr.h.d; w = w + 0x00ff; hdr.h.c = w[15:8]; hdr.h.d = w[7:0];"),
    program!(APPLY: "Kind k = (Kind)hdr.h.a; if (k == Kind.Two) { hdr.h.b = 1; } switch (k) { Kind.One: { hdr.h.c = (bit<8>)Kind.Five; } Kind.Five: { k = Kind.One; } default: { hdr.h.c = 0; } } hdr.h.a = k;"),
    program!(APPLY: "tuple<bit<8>, bool> l = { hdr.h.a, hdr.h.b == 1 }; hdr.h.a = 3; if (l == { 2, true }) { hdr.h.c = l[0]; } pair_t p = { hdr.h.c, hdr.h.d }; pair_t q = p; p.one = 4; if (q == p) { hdr.h.d = 8; } meta.p = q; hdr.h.c = meta.p.two; "),
    program!(APPLY: "{ bit<8> t = hdr.h.a; hdr.h = { hdr.h.b, t, hdr.h.d, hdr.h.c }; } hdr.g = hdr.h; hdr.h.setInvalid(); hdr.h.setValid(); hdr.h = hdr.g; hdr.g.setInvalid();"),
    // State, time, copies.
    program!(LOCALS: "register<bit<8>>(8) r;", APPLY: "bit<8> v; r.read(v, (bit<32>)hdr.h.a); r.write((bit<32>)hdr.h.a, hdr.h.b); hdr.h.c = v;"),
    program!(LOCALS: "register<bit<16>>(4) r;", APPLY: "bit<16> v; r.read(v, 1); v = v + 3; if (hdr.h.a == 1) { r.write(1, v); } hdr.h.c = v[7:0];", LEAVING: "register<bit<8>>(8) q;", LEAVE: "bit<8> x; q.read(x, (bit<32>)hdr.h.b); q.write((bit<32>)hdr.h.b, x + 1); hdr.h.d = x;"),
    program!(TOP2: "control Q(inout bit<8> x) { register<bit<8>>(2) r; counter(4, CounterType.packets_and_bytes) c; apply { bit<8> v; r.read(v, 0); r.write(0, v + x); x = v; c.count((bit<32>)x); } }", LOCALS: "Q() q; Q() p;", APPLY: "q.apply(hdr.h.a); p.apply(hdr.h.b);"),
    program!(APPLY: "clone(CloneType.I2E, 5); hdr.h.a = 3;", ENTRIES: "mirroring_add 5 3"),
    program!(APPLY: "if (hdr.h.a == 1) { clone(CloneType.I2E, 5); }", ENTRIES: "mirroring_add 5 3"),
    program!(LEAVE: "if (hdr.h.a == 1) { clone(CloneType.E2E, 5); } hdr.h.b = 4;", ENTRIES: "mirroring_add 5 3"),
    program!(APPLY: "sm.mcast_grp = 1; if (hdr.h.a == 1) { sm.mcast_grp = 0; } if (hdr.h.a == 2) { mark_to_drop(sm); }", LEAVE: "if (sm.egress_port == sm.ingress_port) { mark_to_drop(sm); } hdr.h.c = 5;", ENTRIES: "mc_mgrp_create 1\nmc_node_create 0 1 2 3\nmc_node_associate 1 0"),
    program!(APPLY: "mark_to_drop(sm); if (hdr.h.a == 1) { sm.egress_spec = 2; exit; } if (hdr.h.a == 2) { return; } sm.egress_spec = (bit<9>)hdr.h.b;", LEAVE: "if (sm.egress_port == 2) { hdr.h.c = 1; exit; } if (hdr.h.b == 4) { mark_to_drop(sm); return; } hdr.h.d = (bit<8>)sm.egress_port;"),
    // Tables.
    program!(TOP2: "control Q(inout headers_t hdr, inout bit<8> n) { action set(bit<8> v) { n = v; } table t { key = { hdr.h.a & 3: exact; n: exact; } actions = { set; NoAction; } const entries = { (1, 2): set(3); (2, 3): set(4); (0, 1): set(2); } default_action = NoAction(); } apply { if (!t.apply().hit) { hdr.h.d = 1; } } }",
        LOCALS: "Q() q; Q() p;", APPLY: "meta.a = hdr.h.b; q.apply(hdr, meta.a); if (meta.a == 3) { p.apply(hdr, hdr.h.b); } hdr.h.c = meta.a;"),
    program!(LOCALS: "action a(bit<8> v) { hdr.h.b = v; } action b() { hdr.h.c = 3; exit; } table t { key = { hdr.h.a: ternary; hdr.h.b: lpm; } actions = { a; b; NoAction; } const default_action = b(); }", APPLY: "switch (t.apply().action_run) { a: { hdr.h.d = hdr.h.b; } b: { hdr.h.d = 9; } NoAction: { hdr.h.a = 0; } }", LEAVE: "hdr.h.a = hdr.h.a + 1;", ENTRIES: "add t 1 hdr.h.a:1&&&1 hdr.h.b:2/7 a(v:6)\nadd t 2 hdr.h.a:2&&&2 hdr.h.b:4/6 NoAction()"),
    program!(LOCALS: "action a(bit<8> v) { hdr.h.b = v; } table t { key = { hdr.g.a: exact; hdr.g.isValid(): exact; } actions = { a; NoAction; } default_action = a(7); }", PARSE: "transition select(hdr.h.a) { 1: more; default: accept; }", MORE: "packet.extract(hdr.g); transition accept;", APPLY: "bool hit = t.apply().hit; if (hit && hdr.h.b == 6) { hdr.g.setInvalid(); }", ENTRIES: "add t hdr.g.a:1 hdr.g.$valid$:1 a(v:6)\nadd t hdr.g.a:0 hdr.g.$valid$:0 a(v:3)"),
    program!(TOP2: "control Q(in bit<8> k, out bool hit) { action a() {} table t { key = { k: exact; } actions = { a; NoAction; } const entries = { 2: a(); 3: NoAction(); } default_action = NoAction(); } apply { hit = false; switch (t.apply().action_run) { a: { hit = true; } default: { if (k == 5) { exit; } } } } }", LOCALS: "Q() q;", APPLY: "bool x; q.apply(hdr.h.a + 1, x); if (x) { hdr.h.b = 1; } else { hdr.h.b = 2; }"),
    // Variables without a value, twice.
    program!(TOP2: "control Q(in bit<8> x, inout bit<8> y) { bit<8> l = 1; h_t m; apply { if (x == 1) { l = 5; m.setValid(); m = { 1, 2, 3, 4 }; } y = y + l; if (m.isValid()) { y = m.c; } } }", LOCALS: "Q() q;", APPLY: "q.apply(hdr.h.a, hdr.h.b); q.apply(hdr.h.c, hdr.h.d);"),
    program!(APPLY: "for (bit<8> i in 0 .. 3) { if (hdr.h.a == i) { break; } if (i == hdr.h.b) { continue; } hdr.h.c = hdr.h.c + i; } hdr.h.d = hdr.h.c;"),
];

fn program(pieces: Pieces) -> (String, String) {
    let piece = |name: &str| pieces.iter().find(|(piece, _)| *piece == name).map(|(_, text)| *text);
    let mut text = FRAME.to_string();
    for name in ["TOP2", "TOP", "INSIDE", "PARSE", "MORE", "LOCALS", "APPLY", "LEAVING", "LEAVE"] {
        let usual = if ["PARSE", "MORE"].contains(&name) { "transition accept;" } else { "" };
        text = text.replacen(&format!("{name} "), &format!("{} ", piece(name).unwrap_or(usual)), 1);
        text = text.replacen(&format!("{name}\n"), &format!("{}\n", piece(name).unwrap_or(usual)), 1);
    }
    (text, piece("ENTRIES").unwrap_or_default().to_string())
}

#[test]
fn what_random_programs_do_not_make_gives_the_references_packets() {
    let mut rng = Rng::new(test_seed("blocks"));
    let mut bytes = || (0..1 + rng.below(20)).map(|_| rng.below(6) as u8).collect();
    let packets: Vec<(u16, Vec<u8>)> = (0..PACKETS).map(|number| (number as u16 % PORTS, bytes())).collect();
    all_agree(PROGRAMS, program, &[("default", ALONE), ("wide", (LONG.0, 1, 10))], &packets, 50);
}
