// Loops: ranges, lists, break and continue, returns.
#include <core.p4>
bit<8> first(in bit<8> than) { for (bit<8> i in 8w0 .. 255) { if (i * i > than) { return i; } } return 0; }
#define LOCALS
#define APPLY \
    bit<8> sum = 0; \
    for (bit<8> i in 8w1 .. hdr.h.a) { if (i == 3) { continue; } if (i == 6) { break; } sum = sum + i; } \
    hdr.h.a = sum; \
    for (bit<8> i = 0, bit<8> j = 9; i < j; i = i + 2, j = j - 1) { hdr.h.b = j; } \
    hdr.h.c = first(hdr.h.c); \
    if (hdr.h.a == 3) { hdr.h.a = 0; for (bit<8> i in 8w0 .. 255) { hdr.h.a = hdr.h.a + (i >> 7); } }
#include <bytes.p4>
