// Constants of which a type keeps the low bits only.
match_kind { exact, ternary, range, lpm }
action NoAction() { }
typedef bit<8> byte_t;
type bit<4> nibble_t;
const bit<8> large = 300; // warning: [E0779] constant 300 does not fit bit<8>: 44 is left
const byte_t fits = 255;
const int<8> as_bits = 0xFF;
const int<8> least = -128;
const int<8> below = -129; // warning: [E0779] constant -129
const bit<4> literal = 4w17; // warning: [E0779] constant 17 does not fit bit<4>: 1 is left
const bit<8> minus = -1;
control c(inout bit<8> x, inout nibble_t n) {
    table t { key = { x: exact; } actions = { NoAction; } const entries = { 256: NoAction(); 255: NoAction(); } } // warning: [E0779] 256
    table u { key = { x: ternary; n: range; } actions = { NoAction; } const entries = {
        (0xFF &&& 0x1FF, _): NoAction(); // warning: [E0779] constant 511 does not fit bit<8>: 255 is left
        (0x1F0 &&& 0xF0, 1 .. 2): NoAction(); // warning: [E0779] constant 496
        (8w1 &&& 0x101, 3 .. 0xC): NoAction(); // warning: [E0779] constant 257
        (1 &&& -1, 4 .. 15): NoAction();
        (2, 5 .. 0x20): NoAction(); // warning: [E0779] constant 32 does not fit nibble_t: 0 is left
    } }
    table w { key = { x: lpm; } actions = { NoAction; } const entries = {
        0x110 &&& 0xF0: NoAction(); // warning: [E0779] constant 272 does not fit bit<8>: 16 is left
        0x120: NoAction(); // warning: [E0779] constant 288
        0 &&& 0x180: NoAction(); // warning: [E0779] constant 384 does not fit bit<8>: 128 is left
    } }
    apply {
        x = x + 256; // warning: [E0779] constant 256 does not fit bit<8>: 0 is left
        if (x == 1 << 9) { x = 1; } // warning: [E0779] constant 512
        x = (bit<8>)1000; // warning: [E0779] constant 1000
        x = x << 300;
        n = 16; // warning: [E0779] does not fit nibble_t
        t.apply();
        u.apply();
        w.apply();
    }
}
parser p(in bit<8> x) {
    state start { transition select(x) {
        0xFE .. 0x101: accept; // warning: [E0779] constant 257
        1 &&& 0x700: accept; // warning: [E0779] constant 1792
        2 .. 255: accept;
        _: reject;
    } }
}
