// Reads of what nothing was written to on any way.
match_kind { exact }
action NoAction() { }
struct S { bit<8> a; bit<8> b; }
header H { bit<8> f; }
extern void get(out bit<8> x);
extern void both(inout bit<8> x);
bit<8> f(out bit<8> o, in bool t) {
    if (t) { o = o + 1; } // warning: [E0777] `o` is read
    o = 2;
    return o;
}
control c(inout bit<8> x, out S s, out bit<8> y, in bool t) {
    bit<8> local;
    bit<8> given;
    bit<8> maybe;
    S part;
    H h;
    action reads() { x = local; } // warning: [E0777] `local` is read
    action writes() { given = 1; }
    action after() { x = given; }
    table one { key = { x: exact; } actions = { reads; writes; NoAction; } }
    table two { key = { maybe: exact; } actions = { after; NoAction; } }
    apply {
        x = y; // warning: [E0777] `y` is read
        one.apply();
        if (t) { maybe = 1; }
        two.apply();
        part.a = 1;
        x = part.a;
        x = part.b; // warning: [E0777] `part.b` is read
        x = s.a; // warning: [E0777] `s.a` is read
        s.a = 1; s.b = s.a; y = x;
        x = h.f;
        bit<8> out_of; get(out_of); x = out_of;
        bit<8> in_and_out; both(in_and_out); x = in_and_out;
        bit<8> round;
        for (bit<8> i in 8w0 .. 3) { if (i > 0) { x = round; } round = i; }
        bit<8> never;
        for (bit<8> i in 8w0 .. 3) { x = never + i; } // warning: [E0777] `never` is read
    }
}
parser p(in bit<8> a, out bit<8> o, out bit<8> q) {
    bit<8> kept;
    state start { kept = a; transition select(kept) { 1: loop; _: other; } }
    state loop { q = o; o = 1; transition loop_end; }
    state loop_end { transition select(a) { 2: loop; _: accept; } }
    state other { q = o; transition accept; } // warning: [E0777] `o` is read
}
