// Registers that are read, written, added to, and read as an entry says.
#include <core.p4>
#include <v1model.p4>
#define LOCALS \
    register<bit<32>>(8) sums; register<bit<8>>(256) last; register<bit<8>>(16) named; register<bit<1>>(16) seen; register<bit<16>>(4) down; \
    action swap(bit<8> at) { named.read(hdr.h.c, (bit<32>) at); named.write((bit<32>) at, hdr.h.b); } \
    table swapped { key = { hdr.h.b: exact; } actions = { swap; NoAction; } size = 16; default_action = NoAction(); }
#define APPLY \
    if (hdr.h.a == 0) { \
        bit<32> sum; \
        sums.read(sum, (bit<32>) hdr.h.b); sum = sum + 3; sums.write((bit<32>) hdr.h.b, sum); hdr.h.c = sum[7:0]; \
    } else if (hdr.h.a == 1) { \
        bit<8> before; \
        last.read(before, (bit<32>) hdr.h.b); last.write((bit<32>) hdr.h.b, hdr.h.c); hdr.h.c = before; \
    } else if (hdr.h.a == 2) { \
        bit<1> bit_seen; \
        seen.read(bit_seen, (bit<32>) hdr.h.b[3:0]); seen.write((bit<32>) hdr.h.b[3:0], 1); \
        if (bit_seen == 1) { hdr.h.c = 0xff; } \
    } else if (hdr.h.a == 3) { \
        bit<16> left; \
        down.read(left, 2); down.write(2, left - 1); hdr.h.c = left[7:0]; \
    } else { \
        swapped.apply(); \
    }
#include <bytes.p4>
