// What the specification allows and was refused once: arrays whose size stands behind the name, widths that are computed, annotations of
// blocks, structs and headers as data of actions, the hit of a table as a key, and a function of an extern's name.
#include <core.p4>
#include <v1model.p4>
struct pair_t { bit<8> x; bit<8> y; }
header one_t { bit<8> f; }
void mark_to_drop(inout bit<8> x) @note { x = 0xdd; }
bit<8> same(in bit<2 + 6> x) { return x; }
#define LOCALS \
    bit<8> array[4]; \
    action set(pair_t p, one_t o) @note { hdr.h.b = p.x + p.y; hdr.h.c = o.f; } \
    action switched() { if (hdr.h.b == 3) { hdr.h.c = 9; } else { hdr.h.c = 8; } } \
    table first { key = { hdr.h.a: exact; } actions = { set; switched; NoAction; } const entries = { 1: set({ 1, 2 }, { 7 }); 2: switched(); } } \
    action missed() { hdr.h.b = 0xee; } \
    table second { key = { first.apply().hit: exact @name("hit"); } actions = { missed; NoAction; } const entries = { false: missed(); } }
#define APPLY \
    array[2] = hdr.h.c; \
    @note { second.apply(); } \
    if (hdr.h.a == 9) { mark_to_drop(hdr.h.b); hdr.h.c = same(array[2]); }
#include <bytes.p4>
