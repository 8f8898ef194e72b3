// What the language and both libraries have, each thing once: for the tests of the front end.

#include <core.p4>
#define V1MODEL_VERSION 20200408
#include <v1model.p4>
#include <sluice.p4>
#define PAIR(T, a, b) T a; T b
#define STR(x) #x
#define CAT(a, b) a ## b
enum bit<16> E { A = 1, B = 0x800 }
type bit<9> Port;
typedef bit<8> Byte;
header H { PAIR(bit<8>, x, y); E e; varbit<64> v; }
header F { bit<8> a; bool b; bit<7> c; }
header G<T> { T a; }
header_union U { F f; G<bit<16>> g; }
struct Inner { bit<8> p; bit<8> q; }
struct VS { bit<8> f; Inner i; }
struct M { Byte b; tuple<bit<8>, bool> t; Port p; error err; Inner inner; U[2] us; F[3] fs; bit<8>[4] arr; }
struct Hd { H h; F f; G<bit<8>> g; U u; F[4] st; }
const int N = 1 << 70;
const bit<8> K = (bit<8>)(N >> 68) + 3;
const Inner CI = { 1, 2 };
const Inner CJ = { q = 1, p = CI.q };
const bool OK = static_assert(K == 7, "K");
const tuple<bit<8>, bool> T2 = { 5, true };
extern Virtual { Virtual(); abstract bit<16> f(in bit<16> ix); void run(in bit<16> ix); }
extern X<T> { X(T t); T get<S>(in S s, in T d); void put(in T a); void put(in T a, in T b); }
bit<16> incr(in bit<16> x, bit<8> k) { return x + 1; }
T ident<T>(in T x) { return x; }
bit<8> maxi(in bit<8> a, in bit<8> b) { if (a > b) { return a; } else { return b; } }
action outer(inout bit<8> x, bit<8> d) { x = d; }
parser Sub(packet_in b, inout Hd h)(bit<8> k) { state start { transition select(h.f.a) { k: accept; _: reject; } } }
parser P(packet_in b, out Hd h, inout M m, inout standard_metadata_t s) {
    Sub(3) sub;
    value_set<VS>(4) pvs;
    value_set<bit<8>>(4) one;
    bit<8> loc = 5;
    state start {
        b.extract(h.f);
        sub.apply(b, h);
        b.extract(h.h, (bit<32>)h.f.a * 8);
        b.extract(h.st.next);
        h.st[0] = h.st.last;
        bit<32> li = h.st.lastIndex;
        m.b = b.lookahead<bit<8>>();
        tuple<bit<8>, bit<8>> tt = b.lookahead<tuple<bit<8>, bit<8>>>();
        b.advance(32w8);
        transition select(h.f.a, m.b, (bit<8>)h.f.c) { (1 .. 3, 2 &&& 3, _): next; pvs: accept; default: accept; }
    }
    state next {
        transition select(h.h.e, h.f.b) { (E.A, true): more; (E.B, _): accept; }
    }
    state more {
        transition select(h.f.a) { one: accept; (8w5): accept; 8w1 &&& 8w3: accept; (8w1 .. 8w4): accept; _: reject; }
    }
}
control VC(inout Hd h, inout M m) {
    apply { verify_checksum(true, { h.f.a, 8w0 }, m.inner.p ++ m.inner.q, HashAlgorithm.csum16); }
}
control Other(inout bit<8> a, out bit<16> o)(bit<8> init, Virtual v) { apply { o = 0; v.run(16w1); a = init; } }
control I(inout Hd h, inout M m, inout standard_metadata_t s) {
    bit<16> local = 3;
    Virtual() cntr = { bit<16> f(in bit<16> ix) { return ix + local; } };
    Other(8w3, cntr) other;
    counter<bit<10>>(1024, CounterType.packets) ct;
    register<bit<8>, bit<4>>(16) rg;
    X<bit<8>>(8w1) xx;
    atom(1024) at;
    police(16, MeterType.packets, 64w1000, 32) po;
    action a(inout bit<8> x, in bit<8> y, bit<8> z = 3) { x = y + z; }
    action b() { return; }
    @name(".foo") action c(PortId_t p, bit<8> q) { s.egress_spec = p; exit; }
    table t {
        key = { h.h.e: exact; m.p: ternary; h.f.a[3:0] ++ 4w0 : range @name("r"); m.err : exact; }
        actions = { a(m.b, h.f.a); b; @defaultonly NoAction; .outer(m.inner.p); c(); }
        default_action = a(m.b, h.f.a, 5);
        size = N >> 60;
        implementation = action_profile(32);
        largest_priority_wins = false;
        entries = {
            priority = 10: (E.A, (Port)3, 8w1 .. 8w3, error.NoError) : a(m.b, h.f.a, 1);
            const (E.B, _, _, _) : b() @name("e");
            _ : c(1, 2);
        }
    }
    apply {
        bit<16> r;
        bit<32> o32; bit<32> n32; bit<1> col;
        other.apply(m.b, r);
        other.apply(o = r, a = m.b);
        m.b = ident<bit<8>>(maxi(m.b, 3)) + ident(m.b) + xx.get(16w1, 3);
        xx.put(3); xx.put(a = 1, b = 2);

        r = incr(r, 8w3);
        at.add(32w5, 32w1, o32, n32); po.execute(0, col);
        crc32c(o32, { h.f.a, r });
        m.t = { 3, false }; m.b = m.t[0];
        m.inner = { ... }; m.inner = { p = 1, ... }; m.inner = {8w1, ...};
        m.inner = (Inner){ q = 3, p = 4 };
        if (m.inner == CI && m.inner == { 1, 2 } && h.f == (F){#} || !h.f.isValid()) { h.f = {#}; h.f.setValid(); }
        for (bit<8> i in 8w0 .. 8w5) { if (i == 3) continue; m.b += i; break; }
        for (bit<8> i = 0, bit<8> j = 1; i < 8; i = i + 1, j += 2) { m.b <<= 1; m.b >>= 1; m.b |+|= 3; }
        for (bit<8> e in m.arr) m.b = e;
        switch (h.h.e) { E.A: E.B: { r = 1; } default: { r = 2; } }
        switch (r) { 1: { } 2: {} 16w3: {} }
        switch (t.apply().action_run) { a: b: { } c: { r = 0; } default: { } }
        m.b = (bit<8>)(int<8>)m.b >> 3; m.b = -m.b; m.b = ~m.b ^ 3; m.b[3:0] = m.b[7:4]; m.b[m.b +: 1] = 1w1;
        int<8> sg = -5; sg = sg >> 3w2; sg = 8s3 - sg;
        bool bb = sg < 3 ? true : m.b == 3;
        r = E.A; r = (bit<16>)E.B; h.h.e = (E)16w5; if (h.h.e == 5) {}
        m.p = (Port)s.ingress_port; s.egress_port = (PortId_t)m.p;
        h.st.push_front(1); m.fs[m.b] = h.st[1]; h.st = { {1, true, 3}, {#}, ... };
        { bit<8> CAT(m, 2) = m.b; }
        log_msg(STR(hello "x")); log_msg("a" ++ "b", { r });
        bit<32> sz = (bit<32>)h.f.minSizeInBits() + h.st.size;
        random(r, 16w0, 16w5); hash(r, HashAlgorithm.crc16, 16w0, { h.f.a }, 16w10);
        s.egress_spec = 511; mark_to_drop(s); rg.read(m.b, 4w3); rg.write(3, m.b); ct.count((bit<10>)r);
        h.u.f.setValid(); if (h.u.isValid()) {} 
        multicast(16w1, true); link_statistics_t ls; link_statistics(ls);
        if (8w1 == m.b) if (r == 1) r = 2; else r = 3;
        bit<8> big = 1 + 2 * 3 - (4 - 5) << 2;
        .outer(m.b, 4); a(m.b, 1, 2); b();
        @atomic { r = r |-| 1; }
        m.b = h.h.x < h.h.y ? h.h.x : h.h.y;
        m.b = (h.h.x) + 1; m.b = (h.h.x) & (Byte)3;
    }
}
control Eg(inout Hd h, inout M m, inout standard_metadata_t s) { apply { } }
control CC(inout Hd h, inout M m) { apply { } }
control D(packet_out b, in Hd h) { apply { b.emit(h.f); b.emit(h.u); b.emit(h.st); } }
V1Switch(p = P(), vr = VC(), ig = I(), eg = Eg(), ck = CC(), dep = D()) main;
