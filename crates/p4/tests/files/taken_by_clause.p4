// What the specification allows; each was refused once.
match_kind { exact, ternary }
action NoAction() { }
struct Pair { bit<8> a; bit<16> b; }
header H { bit<8> a; }
extern bit<8> lookup(in bit<8> x);
bit<8> lookup(in bool x) { return 1; }
bit<8> lookup(in bit<8> x, in bit<8> y) { return lookup(x) + y; }
extern Box<T> { Box(); void put<T>(in T t); }
@name("a text of
# three
# if lines") const bit<8> quoted = 1;
const bit<2 + 2> narrow = 15;
const int<4 * 2> wide = -128;
struct Arrays { bit<8> a[16]; H h[2]; bit<4> m[2][3]; }
void annotated() @note { return; }
control c(inout bit<8> x, inout Arrays s, in bool t) {
    bit<8> local[4];
    action composed(Pair p, H h) @note { x = p.a; x = h.a; }
    table first { key = { x: exact; } actions = { composed; } default_action = composed({ 1, 2 }, { 3 }); }
    bool found = first.apply().hit;
    table second { key = { first.apply().hit: exact @name("hit"); x: exact; } actions = { NoAction; } }
    apply @note {
        local[1] = s.a[3] + s.h[1].a + (bit<8>)s.m[1][2]; x = lookup(x) + lookup(true) + lookup(x, 1);
        @note { second.apply(); }
        bool both = second.apply().hit && first.apply().miss;
        bit<8> inner[2];
    }
}
parser p(in bit<8> a) {
    state start { transition select() { default: accept; } }
    state none { transition select() { } }
}
