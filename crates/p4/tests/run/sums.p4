// Sums that stop at their ends, values that wait for others, loops up to what the packet says.
#include <core.p4>
#include <v1model.p4>
bit<8> both(in bit<8> x, in bit<8> y) { return x ^ y; }
#define LOCALS
#define APPLY \
    if (hdr.h.c == 1) { hdr.h.b = hdr.h.a |-| hdr.h.b; } \
    else if (hdr.h.c == 2) { hdr.h.b = both(hdr.h.a + 1, hdr.h.b); } \
    else if (hdr.h.c == 3) { for (bit<8> i in 8w1 .. hdr.h.a) { if (i == 4) { break; } hdr.h.b = i; } }
#include <bytes.p4>
