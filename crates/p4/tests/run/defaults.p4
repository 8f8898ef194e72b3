// Defaults of parameters, in calls, entries, default actions and scripts; arguments by their names; constructors.
#include <core.p4>
bit<8> f(in bit<8> x, in bit<8> y = 7) { return x + y; }
control Add(inout bit<8> to)(bit<8> what, bool twice) {
    action once() { to = to + what; }
    apply { once(); if (twice) { once(); } }
}
#define LOCALS \
    Add(5, true) ten; \
    Add(what = 1, twice = false) one; \
    action set(bit<8> x, bit<8> y = 9) { hdr.h.a = x; hdr.h.b = y; } \
    table t { key = { hdr.h.c: exact; } actions = { set; } default_action = set(1); \
        const entries = { 1: set(2); 2: set(3, 4); 3: set(y = 6, x = 5); } } \
    table u { key = { hdr.h.c: exact; } actions = { set; NoAction; } }
#define APPLY \
    if (hdr.h.c < 0x10) { t.apply(); } \
    else if (hdr.h.c < 0x20) { u.apply(); } \
    else if (hdr.h.c == 0x20) { set(8); hdr.h.c = f(1) + f(y = 2, x = 1); } \
    else { ten.apply(hdr.h.a); one.apply(to = hdr.h.b); }
#include <bytes.p4>
