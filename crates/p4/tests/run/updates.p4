// `op=` computes its place once, and objects are arguments of functions, controls and actions' controls.
#include <core.p4>
#include <v1model.p4>
bit<8> next(inout bit<8> x) { x = x + 1; return x; }
header e_t { bit<8> e; }
control Keep(inout bit<8> x, register<bit<8>> r, bit<8> y) {
    apply { r.read(x, 0); r.write(0, x + y); }
}
control Both(inout bit<8> x, register<bit<8>> r) {
    Keep() inner;
    apply { inner.apply(x, r, 3); }
}
#define LOCALS \
    register<bit<8>>(1) first; register<bit<8>>(1) second; Both() both; e_t[4] stack;
#define APPLY \
    if (hdr.h.a == 0) { \
        bit<8> i = 0; \
        stack[1].setValid(); stack[1].e = 0x10; stack[2].setValid(); stack[2].e = 0x20; \
        stack[next(i)].e += 5; \
        hdr.h.b = stack[1].e; hdr.h.c = i; \
        hdr.h.c[7:4] |= 0xa; \
    } else { \
        both.apply(hdr.h.b, first); both.apply(hdr.h.b, first); both.apply(hdr.h.c, second); \
    }
#include <bytes.p4>
