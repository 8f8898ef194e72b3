//! Programs of the kinds that users write, each of several features at once, on frames with VLANs, MPLS labels and an IP-like header.
//! What is accepted gives the packets of the reference, as a tenant, alone and on the long pipeline.

use crate::compare::{ALONE, LONG, PORTS, TENANT};
use crate::pieces::{Pieces, all_agree, program};
use sluice_formats::random::{Rng, test_seed};

/// Packets for each program.
const PACKETS: usize = 800;

const FRAME: &str = "#include <core.p4>
#include <v1model.p4>
header e_t { bit<8> to; bit<8> from; bit<16> kind; }
header v_t { bit<3> pri; bit<1> dei; bit<12> id; bit<16> kind; }
header m_t { bit<7> label; bit<1> last; bit<8> ttl; }
header ip_t { bit<4> version; bit<4> ihl; bit<8> tos; bit<8> ttl; bit<8> proto; bit<16> src; bit<16> dst; bit<16> sum; }
header t_t { bit<16> from; bit<16> to; bit<8> flags; bit<8> window; }
header d_t { bit<16> from; bit<16> to; bit<16> size; }
header_union l4_t { t_t t; d_t d; }
struct two_t { bit<16> x; bit<8> y; }
struct pack_t { ip_t ip; bit<8> n; }
struct headers_t { e_t e; v_t[2] v; m_t[3] m; ip_t outer; ip_t ip; l4_t l4; }
struct meta_t { @field_list(1) bit<8> a; @field_list(1) bit<16> b; bit<9> port; bool t; two_t two; bit<48> time; }
error { Odd }
TOP
parser P(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
    INSIDE
    state start { packet.extract(hdr.e); FIRST }
    state vlan { packet.extract(hdr.v.next); VLAN }
    state mpls { packet.extract(hdr.m.next); transition select(hdr.m.last.last) { 0: mpls; default: accept; } }
    state outer { packet.extract(hdr.outer); transition ip; }
    state ip { packet.extract(hdr.ip); IP }
    state t { packet.extract(hdr.l4.t); transition accept; }
    state d { packet.extract(hdr.l4.d); transition accept; }
}
control V(inout headers_t hdr, inout meta_t meta) { apply { VERIFY } }
TOP2
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) { LOCALS apply { sm.egress_spec = 1; APPLY } }
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) { LEAVING apply { LEAVE } }
control C(inout headers_t hdr, inout meta_t meta) { apply { SUMS } }
control D(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
";

const PROGRAMS: &[Pieces] = &[
    // 0: a union is an argument of a parser.
    program!(TOP: "parser Q(packet_in packet, inout l4_t l4, in bit<8> proto) { state start { transition select(proto) { 1: t; 2: d; default: accept; } } state t { packet.extract(l4.t); transition accept; } state d { packet.extract(l4.d); verify(l4.d.size != 3, error.Odd); transition accept; } }",
        INSIDE: "Q() q;", IP: "q.apply(packet, hdr.l4, hdr.ip.proto); transition accept;",
        APPLY: "if (hdr.l4.t.isValid()) { hdr.ip.tos = hdr.l4.t.flags; } else if (hdr.l4.d.isValid()) { hdr.ip.tos = 2; } if (sm.parser_error == error.Odd) { hdr.e.to = 77; }"),
    // 1: a union is an argument of a control.
    program!(IP: "transition select(hdr.ip.proto) { 1: t; 2: d; default: accept; }", TOP2: "control Q(inout l4_t l4, out bit<8> n) { apply { n = 0; if (l4.d.isValid()) { n = 1; l4.t.setValid(); l4.t = { 1, 2, 3, 4 }; } else if (l4.isValid()) { n = 2; } } }",
        LOCALS: "Q() q;", APPLY: "q.apply(hdr.l4, meta.a); hdr.e.to = meta.a;"),
    // 2, 3: clones of egress, with a label popped, or a tag made invalid.
    program!(FIRST: "transition select(hdr.e.kind) { 3: mpls; default: accept; }", APPLY: "if (hdr.m[0].isValid()) { hdr.m.pop_front(1); if (!hdr.m[0].isValid()) { hdr.e.kind = 2; } }", LEAVE: "if (sm.instance_type == 0) { clone(CloneType.E2E, 5); }", ENTRIES: "mirroring_add 5 6"),
    program!(FIRST: "transition select(hdr.e.kind) { 1: vlan; default: accept; }", APPLY: "sm.egress_spec = 2;", LEAVE: "if (sm.instance_type == 0) { if (hdr.v[0].isValid()) { hdr.e.kind = hdr.v[0].kind; hdr.v.pop_front(1); } if (hdr.e.to == 3) { clone(CloneType.E2E, 5); mark_to_drop(sm); } }", ENTRIES: "mirroring_add 5 6"),
    // 4: a clone of ingress in the place of its original, which egress cuts.
    program!(IP: "transition select(hdr.ip.proto) { 1: t; 2: d; default: accept; }", APPLY: "if (hdr.ip.isValid() && hdr.ip.ttl == 1) { clone(CloneType.I2E, 5); hdr.ip.ttl = 9; mark_to_drop(sm); }", LEAVE: "if (sm.instance_type == 1) { hdr.e.to = 99; hdr.l4.t.setInvalid(); hdr.l4.d.setInvalid(); }", ENTRIES: "mirroring_add 5 3"),
    // 5: a clone that keeps metadata by its name, with what egress makes of them in both.
    program!(LOCALS: "action mark(bit<8> v) { meta.a = v; } table t { key = { hdr.e.to: exact; } actions = { mark; NoAction; } default_action = NoAction(); }", APPLY: "t.apply(); clone_preserving_field_list(CloneType.I2E, 5, 1);", LEAVE: "if (meta.a != 0) { hdr.e.from = meta.a; }", ENTRIES: "mirroring_add 5 6\nadd t hdr.e.to:1 mark(v:9)\nadd t hdr.e.to:2 mark(v:8)"),
    program!(APPLY: "meta.a = hdr.e.to; meta.two.y = hdr.e.from; clone3(CloneType.I2E, 5, { meta.a, meta.two });", LEAVE: "if (meta.two.y == 3) { hdr.e.to = 50; } hdr.e.from = meta.a;", ENTRIES: "mirroring_add 5 6"),
    // 7: a value set without values, and ways of other lengths.
    program!(INSIDE: "value_set<bit<16>>(4) some;", FIRST: "transition select(hdr.e.kind) { some: ip; 1: vlan; 2: look; default: accept; } ", VLAN: "transition select(packet.lookahead<bit<16>>(), hdr.v.last.pri) { (1, _): vlan; (_, 0): ip; default: look; } } state look { transition select(packet.lookahead<bit<4>>()) { 0: ip; 1 .. 3: accept; default: reject; }", APPLY: "if (hdr.ip.isValid()) { hdr.e.to = hdr.ip.ttl; }"),
    // 8, 9: keys that are parts, prefixes and constant entries.
    program!(LOCALS: "action to(bit<9> port) { sm.egress_spec = port; hdr.ip.ttl = hdr.ip.ttl - 1; } action drop() { mark_to_drop(sm); } table t { key = { hdr.ip.dst[7:0]: lpm @name(\"k\"); hdr.ip.tos[1:0]: exact; } actions = { to; drop; } const entries = { (0x00 &&& 0xfe, 1): to(2); (0x02, 0): to(3); (0x02 &&& 0xfe, 0): to(4); (0 &&& 0, 2): drop(); } default_action = to(5); }", APPLY: "if (hdr.ip.isValid()) { t.apply(); }"),
    program!(LOCALS: "action a(bit<8> v) { hdr.ip.tos = v; } table t { key = { hdr.ip.src[11:1]: range @name(\"k\"); hdr.ip.proto: optional; hdr.ip.isValid(): exact; } actions = { a; NoAction; } largest_priority_wins = false; entries = { priority = 20: (0 .. 2, _, true): a(1); priority = 10: (1 .. 5, 1, true): a(2); priority = 30: (_, 2, true): a(3); priority = 5: (_, 3, false): a(4); } default_action = NoAction(); }", APPLY: "switch (t.apply().action_run) { a: { hdr.e.to = hdr.ip.tos; } }"),
    // 10, 11: registers on both sides.
    program!(LOCALS: "register<bit<16>>(16) r;", APPLY: "bit<16> v; if (hdr.ip.isValid()) { r.read(v, (bit<32>)hdr.ip.src[3:0]); r.write((bit<32>)hdr.ip.src[3:0], v + 1); hdr.ip.dst = v; } else { r.read(v, (bit<32>)hdr.e.to); r.write((bit<32>)hdr.e.to, v + 1); hdr.e.kind = v; }"),
    program!(FIRST: "transition select(hdr.e.kind) { 1: vlan; default: accept; }", LOCALS: "register<bit<8>>(8) r; register<bit<8>>(8) q;", APPLY: "bit<8> v = 0; if (hdr.v[0].isValid()) { r.write((bit<32>)hdr.v[0].pri, hdr.e.to); } else { r.read(v, (bit<32>)hdr.e.to[2:0]); if (v == 3) { q.write(0, hdr.e.from); exit; } } hdr.e.from = v;"),
    // 12: a key of a header that is not there.
    program!(VLAN: "transition select(hdr.v.last.kind) { 2: ip; default: accept; }", FIRST: "transition select(hdr.e.kind) { 1: vlan; 2: ip; default: accept; }", LOCALS: "action a(bit<8> v) { hdr.e.from = v; } table t { key = { hdr.ip.ttl: ternary; hdr.v[0].id: ternary; hdr.v[0].isValid(): exact; } actions = { a; NoAction; } default_action = a(9); }", APPLY: "if (t.apply().miss) { hdr.e.to = 8; }", ENTRIES: "add t 1 hdr.ip.ttl:0&&&0xff hdr.v[0].$valid$:0 a(v:1)\nadd t 2 hdr.v[0].id:1&&&3 hdr.v[0].$valid$:1 a(v:2)\nadd t 3 hdr.ip.ttl:1&&&1 hdr.v[0].$valid$:1 a(v:3)"),
    // 13, 14: tags pushed and popped.
    program!(FIRST: "transition select(hdr.e.kind) { 1: vlan; default: accept; }", APPLY: "if (hdr.e.to == 1) { hdr.v.push_front(1); hdr.v[0].setValid(); hdr.v[0].kind = hdr.e.kind; hdr.v[0].pri = 2; hdr.v[0].dei = 0; hdr.v[0].id = 5; hdr.e.kind = 1; } else if (hdr.v[0].isValid() && hdr.e.to == 2) { hdr.e.kind = hdr.v[0].kind; hdr.v.pop_front(1); }"),
    program!(FIRST: "transition select(hdr.e.kind) { 3: mpls; default: accept; }", LOCALS: "action swap(bit<7> label) { hdr.m[0].label = label; hdr.m[0].ttl = hdr.m[0].ttl - 1; } action pop() { if (hdr.m[1].isValid()) { hdr.m[1].ttl = hdr.m[0].ttl; } else { hdr.e.kind = 2; } hdr.m.pop_front(1); } action push(bit<7> label) { hdr.m.push_front(1); hdr.m[0].setValid(); hdr.m[0] = { label, 0, 64 }; } table t { key = { hdr.m[0].label: exact; } actions = { swap; pop; push; NoAction; } default_action = NoAction(); }", APPLY: "if (hdr.m[0].isValid()) { t.apply(); }", ENTRIES: "add t hdr.m[0].label:0 swap(label:3)\nadd t hdr.m[0].label:1 pop()\nadd t hdr.m[0].label:2 push(label:7)"),
    // 15: exits in actions of a block within a block.
    program!(TOP2: "control R(inout headers_t hdr, out bool found) { action out_of() { hdr.e.from = 7; exit; } action on() { found = true; } table t { key = { hdr.e.to: ternary; } actions = { out_of; on; NoAction; } const entries = { 1 &&& 3: out_of(); 2 &&& 2: on(); } default_action = NoAction(); } apply { found = false; switch (t.apply().action_run) { on: { if (hdr.e.from == 1) { return; } } NoAction: { found = true; return; } } hdr.e.to = 5; } } control Q(inout headers_t hdr, inout bit<8> n) { R() r; bool f; apply { r.apply(hdr, f); if (f) { n = 3; return; } n = 4; } }",
        LOCALS: "Q() q;", APPLY: "q.apply(hdr, meta.a); hdr.e.kind = (bit<16>)meta.a;", LEAVE: "if (meta.a == 4) { hdr.e.to = 6; }"),
    // 16: headers change places.
    program!(FIRST: "transition select(hdr.e.kind) { 1: vlan; default: accept; }", APPLY: "if (hdr.e.to < 3) { v_t h = hdr.v[0]; hdr.v[0] = hdr.v[1]; hdr.v[1] = h; } if (hdr.v[0] == hdr.v[1]) { hdr.e.from = 3; }"),
    // 17: all headers kept and given back.
    program!(VLAN: "transition select(hdr.v.last.kind) { 2: ip; default: accept; }", FIRST: "transition select(hdr.e.kind) { 1: vlan; 2: ip; default: accept; }", APPLY: "headers_t was = hdr; hdr.e.to = hdr.e.from; hdr.ip.setInvalid(); if (hdr.v[0].isValid()) { hdr.v[0].id = 3; } if (was.e.to == 1) { hdr = was; } else if (was.ip.isValid()) { hdr.e.from = was.ip.ttl; }"),
    // 18: a function that returns a header, another a struct.
    program!(TOP2: "ip_t turned(in ip_t ip) { ip_t o = ip; o.src = ip.dst; o.dst = ip.src; if (ip.ttl == 1) { o.setInvalid(); } return o; } two_t both(in ip_t ip, inout e_t e) { e.to = e.from; if (!ip.isValid()) { return { 1, 2 }; } return { ip.src, ip.ttl }; }", APPLY: "hdr.ip = turned(hdr.ip); meta.two = both(hdr.ip, hdr.e); hdr.e.kind = meta.two.x; hdr.e.from = meta.two.y;"),
    // 19: a struct with a header as argument.
    program!(TOP2: "control Q(inout pack_t p, in ip_t old) { apply { if (p.ip.isValid()) { p.n = p.ip.ttl; p.ip.ttl = p.ip.ttl - 1; if (old.ttl == 2) { p.ip.setInvalid(); } } else { p.n = 9; } } }", LOCALS: "Q() q;", APPLY: "pack_t p; p.ip = hdr.ip; p.n = 1; q.apply(p, hdr.ip); hdr.ip = p.ip; hdr.e.from = p.n;"),
    // 20: a header is every argument at once.
    program!(TOP2: "control Q(in e_t x, inout e_t y, out e_t z) { apply { y.to = x.from; z.setValid(); z = y; z.from = x.to; if (x.kind == 2) { exit; } z.kind = y.kind + 1; } }", LOCALS: "Q() q;", APPLY: "e_t o; q.apply(hdr.e, hdr.e, o); hdr.e.from = o.from; if (hdr.e.to == 2) { hdr.e = o; }"),
    // 21: a sum over what was changed.
    program!(LOCALS: "action nat(bit<16> src) { hdr.ip.src = src; hdr.ip.ttl = hdr.ip.ttl - 1; } table t { key = { hdr.ip.src: exact; hdr.l4.t.isValid(): exact; } actions = { nat; NoAction; } default_action = NoAction(); }", IP: "transition select(hdr.ip.proto) { 1: t; 2: d; default: accept; }", APPLY: "if (hdr.ip.isValid() && hdr.ip.ttl > 1) { t.apply(); if (hdr.l4.t.isValid()) { hdr.l4.t.to = 80; } } else { mark_to_drop(sm); }", SUMS: "update_checksum(hdr.ip.isValid(), { hdr.ip.version, hdr.ip.ihl, hdr.ip.tos, hdr.ip.ttl, hdr.ip.proto, hdr.ip.src, hdr.ip.dst }, hdr.ip.sum, HashAlgorithm.csum16);", ENTRIES: "add t hdr.ip.src:1 hdr.l4.t.$valid$:1 nat(src:500)\nadd t hdr.ip.src:2 hdr.l4.t.$valid$:0 nat(src:2)"),
    // 22, 23: tunnels.
    program!(FIRST: "transition select(hdr.e.kind) { 2: ip; 4: outer; default: accept; }", APPLY: "if (hdr.ip.isValid() && !hdr.outer.isValid() && hdr.e.to == 1) { hdr.outer = hdr.ip; hdr.outer.proto = 4; hdr.outer.dst = 0x0909; hdr.e.kind = 4; } else if (hdr.outer.isValid() && hdr.e.to == 2) { hdr.ip.tos = hdr.outer.tos; hdr.outer.setInvalid(); hdr.e.kind = 2; }"),
    program!(FIRST: "transition select(hdr.e.kind) { 2: ip; 4: outer; default: accept; }", APPLY: "if (hdr.outer.isValid() && hdr.ip.isValid()) { ip_t swap = hdr.outer; hdr.outer = hdr.ip; hdr.ip = swap; } else if (hdr.outer.isValid()) { hdr.ip = hdr.outer; hdr.outer.setInvalid(); hdr.ip.ttl = 3; }"),
    // 24: copies of a group, and what was put in for all of them.
    program!(FIRST: "transition select(hdr.e.kind) { 1: vlan; default: accept; }", LOCALS: "action group(bit<16> g) { sm.mcast_grp = g; } action to(bit<9> port) { sm.egress_spec = port; } table t { key = { hdr.e.to: exact; } actions = { group; to; } default_action = group(1); }", APPLY: "t.apply(); if (hdr.v[0].isValid()) { hdr.v[0].id = 7; }", LEAVE: "if (sm.egress_port == sm.ingress_port) { mark_to_drop(sm); } hdr.e.from = 4;", ENTRIES: "mc_mgrp_create 1\nmc_node_create 0 1 2 3\nmc_node_associate 1 0\nadd t hdr.e.to:1 to(port:3)\nadd t hdr.e.to:2 to(port:0)"),
    // 25: counters where something was found, and where not.
    program!(LOCALS: "counter(8, CounterType.packets_and_bytes) c; direct_counter(CounterType.packets) dc; action a(bit<3> n) { meta.a = (bit<8>)n; } table t { key = { hdr.ip.dst: lpm; } actions = { a; NoAction; } counters = dc; default_action = NoAction(); }", APPLY: "if (t.apply().hit) { c.count((bit<32>)meta.a); hdr.e.to = meta.a; } else { c.count(7); return; } hdr.e.from = 1;", ENTRIES: "add t hdr.ip.dst:0x0100/8 a(n:1)\nadd t hdr.ip.dst:0x0101/16 a(n:2)\nadd t hdr.ip.dst:0/0 a(n:3)"),
    // 26: which element was the last.
    program!(FIRST: "transition select(hdr.e.kind) { 1: vlan; default: accept; }", VLAN: "transition select(hdr.v.lastIndex, hdr.v.last.kind) { (0, 1): vlan; (1, 1): reject; default: accept; }", APPLY: "if (hdr.v[1].isValid()) { hdr.e.to = (bit<8>)hdr.v[1].pri; }"),
    // 27: a parser with another element each time.
    program!(TOP: "parser Q(packet_in packet, out v_t v, inout bit<8> n) { state start { packet.extract(v); n = n + 1; transition select(v.pri) { 0: accept; 1: reject; default: more; } } state more { v.id = 9; transition accept; } }", INSIDE: "Q() q;", FIRST: "meta.a = 1; transition select(hdr.e.kind) { 1: one; default: accept; } } state one { q.apply(packet, hdr.v.next, meta.a); transition select(hdr.v.last.kind) { 1: two; 2: ip; default: accept; } } state two { q.apply(packet, hdr.v.next, meta.a); transition select(meta.a) { 3: ip; default: accept; }", APPLY: "hdr.e.to = meta.a;"),
    // 28: a header that is looked at before it is taken.
    program!(FIRST: "v_t ahead = packet.lookahead<v_t>(); meta.b = ahead.kind; transition select(hdr.e.kind, ahead.id) { (1, 0 .. 1): vlan; (1, _): accept; (2, _): ip; default: accept; }", APPLY: "hdr.e.from = meta.b[7:0]; if (meta.b[15:8] == 0) { hdr.e.to = 7; }"),
    // 29: a meter's colour.
    program!(LOCALS: "meter(4, MeterType.packets) m; bit<2> colour;", APPLY: "m.execute_meter((bit<32>)hdr.e.to[1:0], colour); switch (colour) { 0: { hdr.e.from = 1; } 1: 2: { mark_to_drop(sm); } }"),
    // 30: numbers with a sign.
    program!(APPLY: "int<8> left = (int<8>)hdr.ip.ttl - 3; if (hdr.ip.isValid() && left < 0) { hdr.ip.ttl = (bit<8>)(-left); hdr.e.to = 1; } else if (left >= 1 && left <= 2) { hdr.ip.tos = hdr.ip.tos |-| 2; }"),
    // 31: the time between packets.
    program!(LOCALS: "register<bit<48>>(4) r;", APPLY: "r.write((bit<32>)hdr.e.to, sm.ingress_global_timestamp); if (sm.ingress_global_timestamp > 1000) { hdr.e.from = 9; }"),
    // 32: errors of the parser and of the sum.
    program!(VERIFY: "verify_checksum(hdr.ip.isValid(), { hdr.ip.version, hdr.ip.ihl, hdr.ip.tos, hdr.ip.ttl, hdr.ip.proto, hdr.ip.src, hdr.ip.dst }, hdr.ip.sum, HashAlgorithm.csum16);", IP: "verify(hdr.ip.version != 3, error.Odd); transition accept;", APPLY: "if (sm.parser_error == error.Odd || sm.checksum_error == 1) { hdr.e.from = 1; if (hdr.e.to == 2) { exit; } } if (sm.parser_error != error.NoError && !hdr.ip.isValid()) { hdr.e.to = 9; }"),
    // 33: an element that the packet names.
    program!(FIRST: "transition select(hdr.e.kind) { 3: mpls; default: accept; }", LOCALS: "action a(bit<8> v) { hdr.e.from = v; } table t { key = { hdr.m[1].label: exact; hdr.m[1].ttl: ternary; } actions = { a; NoAction; } default_action = NoAction(); }", APPLY: "if (hdr.e.to < 3) { if (hdr.m[hdr.e.to].isValid()) { hdr.m[hdr.e.to].ttl = hdr.m[hdr.e.to].ttl - 1; } } t.apply();", ENTRIES: "add t 1 hdr.m[1].label:1 hdr.m[1].ttl:0xff a(v:1)\nadd t 2 hdr.m[1].label:1 a(v:2)"),
    // 34: what a first table says is part of the second one's key.
    program!(LOCALS: "action say(bool t, bit<9> port) { meta.t = t; meta.port = port; } action to() { sm.egress_spec = meta.port; } action drop() { mark_to_drop(sm); } table one { key = { hdr.ip.dst: lpm; } actions = { say; } default_action = say(false, 4); } table two { key = { meta.t: exact; meta.port: ternary; hdr.ip.tos[3:0]: range @name(\"tos\"); } actions = { to; drop; } default_action = drop(); }", APPLY: "if (hdr.ip.isValid()) { one.apply(); two.apply(); }", ENTRIES: "add one hdr.ip.dst:0x0100/8 say(t:1,port:3)\nadd one hdr.ip.dst:0x0200/8 say(t:1,port:2)\nadd two 1 meta.t:1 tos:0->2 to()\nadd two 2 meta.t:1 meta.port:2&&&2 tos:1->5 drop()\nadd two 3 meta.t:0 tos:0->15 to()"),
    // 35: labels counted in a loop.
    program!(FIRST: "transition select(hdr.e.kind) { 3: mpls; default: accept; }", APPLY: "bit<8> n = 0; for (bit<8> i in 0 .. 2) { if (!hdr.m[i].isValid()) { break; } if (hdr.m[i].ttl == 1) { continue; } n = n + 1; } hdr.e.to = n; if (n == 3) { exit; } hdr.e.from = 2;"),
    // 36: a union's members, one in the place of the other, with a sum.
    program!(IP: "transition select(hdr.ip.proto) { 1: t; 2: d; default: accept; }", APPLY: "if (hdr.l4.t.isValid() && hdr.e.to == 1) { bit<16> from = hdr.l4.t.from; hdr.l4.d.setValid(); hdr.l4.d = { from, 53, 8 }; hdr.ip.proto = 2; } else if (hdr.l4.d.isValid() && hdr.l4.d.size == 2) { hdr.l4.d.setInvalid(); hdr.ip.proto = 0; } if (hdr.l4.isValid()) { hdr.e.from = 5; }", SUMS: "update_checksum(hdr.ip.isValid(), { hdr.ip.version, hdr.ip.ihl, hdr.ip.tos, hdr.ip.ttl, hdr.ip.proto, hdr.ip.src, hdr.ip.dst }, hdr.ip.sum, HashAlgorithm.csum16);"),
    // 37: a union kept, and given back.
    program!(IP: "transition select(hdr.ip.proto) { 1: t; 2: d; default: accept; }", APPLY: "l4_t was = hdr.l4; hdr.l4.t.setValid(); hdr.l4.t = { 1, 2, 3, 4 }; if (was.d.isValid()) { hdr.l4 = was; hdr.e.to = 8; } else if (!was.isValid()) { hdr.l4.t.setInvalid(); }"),
    // 38: an access of both sides to one array, behind a table.
    program!(LOCALS: "register<bit<8>>(8) seen; action slot(bit<8> n) { meta.a = n; } table t { key = { hdr.ip.src: exact; } actions = { slot; NoAction; } default_action = NoAction(); }", APPLY: "if (hdr.ip.isValid()) { if (t.apply().hit) { bit<8> v; seen.read(v, (bit<32>)meta.a); if (v == 2) { mark_to_drop(sm); } seen.write((bit<32>)meta.a, hdr.ip.ttl); } }", ENTRIES: "add t hdr.ip.src:1 slot(n:1)\nadd t hdr.ip.src:2 slot(n:9)"),
    // 39: all at once: stacks as arguments, a struct that is returned, exits, and a clone behind them.
    program!(FIRST: "transition select(hdr.e.kind) { 2: ip; 3: mpls; default: accept; }", TOP2: "control Q(inout m_t[3] m, inout e_t e, in ip_t ip) { apply { if (m[0].isValid() && m[0].ttl == 1) { m.pop_front(1); e.to = 3; return; } if (ip.isValid() && ip.ttl == 0) { e.from = 8; exit; } m.push_front(1); m[0].setValid(); m[0] = { 5, 1, ip.ttl }; } }", LOCALS: "Q() q;", APPLY: "q.apply(hdr.m, hdr.e, hdr.ip); hdr.e.kind = 3;", LEAVE: "if (sm.instance_type == 0 && hdr.e.to == 3) { clone(CloneType.E2E, 5); }", ENTRIES: "mirroring_add 5 6"),
    // 40: ranges in which nothing lies.
    program!(FIRST: "transition select(hdr.e.kind, hdr.e.to) { (1, 9 .. 0): accept; (1, _): vlan; (2, _): ip; default: accept; }", LOCALS: "action a(bit<8> v) { hdr.e.from = v; } table t { key = { hdr.e.to: range; } actions = { a; NoAction; } const entries = { 2 .. 1: a(7); 1 .. 2: a(8); } default_action = a(9); }", APPLY: "t.apply();"),
];

fn program(pieces: Pieces) -> (String, String) {
    let piece = |name: &str| pieces.iter().find(|(piece, _)| *piece == name).map(|(_, text)| *text);
    let mut text = FRAME.to_string();
    for name in
        ["TOP2", "TOP", "INSIDE", "FIRST", "VLAN", "IP", "VERIFY", "LOCALS", "APPLY", "LEAVING", "LEAVE", "SUMS"]
    {
        let usual = match name {
            "FIRST" => "transition select(hdr.e.kind) { 2: ip; default: accept; }",
            "VLAN" => "transition select(hdr.v.last.kind) { 1: vlan; default: accept; }",
            "IP" => "transition accept;",
            _ => "",
        };
        let given = piece(name).unwrap_or(usual);
        text = text.replacen(&format!("{name}\n"), &format!("{given}\n"), 1);
        text = text.replacen(&format!(" {name} "), &format!(" {given} "), 1);
    }
    (text, piece("ENTRIES").unwrap_or_default().to_string())
}

/// A frame that takes one of the parser's ways, with small numbers.
fn frame(rng: &mut Rng) -> Vec<u8> {
    let small = |rng: &mut Rng| rng.below(4) as u8;
    let mut kind = rng.below(6) as u8;
    let mut bytes = vec![small(rng), small(rng), 0, kind];
    while kind == 1 && bytes.len() < 14 {
        kind = 1 + rng.below(4) as u8;
        bytes.extend([(rng.below(3) as u8) << 5, small(rng), 0, kind]);
    }
    while kind == 3 && bytes.len() < 24 {
        let last = u8::from(rng.chance(1, 2));
        bytes.extend([small(rng) << 1 | last, small(rng)]);
        kind = if last == 1 { 2 } else { 3 };
    }
    for _ in 0..if kind == 4 { 2 } else { 1 } {
        let begin = bytes.len();
        bytes.extend([0x45, small(rng), small(rng), small(rng), small(rng), small(rng), small(rng), small(rng)]);
        if rng.chance(1, 4) {
            bytes[begin] = small(rng) << 4;
        }
        let word = |two: &[u8]| u32::from(two[0]) << 8 | u32::from(two[1]);
        let sum: u32 = bytes[begin..].chunks(2).map(word).sum();
        let sum = !(((sum & 0xffff) + (sum >> 16)) as u16);
        bytes.extend(if rng.chance(3, 4) { sum.to_be_bytes() } else { [0, small(rng)] });
    }
    (0..rng.below(12)).for_each(|_| bytes.push(small(rng)));
    if rng.chance(1, 5) {
        bytes.truncate(1 + rng.index(bytes.len()));
    }
    bytes
}

#[test]
fn programs_of_several_features_give_the_references_packets() {
    let mut rng = Rng::new(test_seed("mixed"));
    let packets: Vec<(u16, Vec<u8>)> = (0..PACKETS).map(|number| (number as u16 % PORTS, frame(&mut rng))).collect();
    all_agree(PROGRAMS, program, &[("tenant", TENANT), ("alone", ALONE), ("wide", LONG)], &packets, 95);
}
