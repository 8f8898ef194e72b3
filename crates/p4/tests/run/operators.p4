// Operators that no ALU has.
#include <core.p4>
#include <v1model.p4>
bit<8> both(in bit<8> x, in bit<8> y) { return x ^ y; }
#define LOCALS
#define APPLY \
    int<8> s = (int<8>) hdr.h.a; \
    int<8> t = (int<8>) hdr.h.b; \
    if (hdr.h.c == 0) { if (s < t) { hdr.h.b = 1; } } \
    else if (hdr.h.c == 1) { if (s >= -3) { hdr.h.b = 1; } else { hdr.h.b = 2; } } \
    else if (hdr.h.c == 2) { hdr.h.b = (bit<8>) (s >> 3); } \
    else if (hdr.h.c == 3) { hdr.h.b = hdr.h.a << hdr.h.b[1:0]; } \
    else if (hdr.h.c == 4) { hdr.h.b = (bit<8>) (s >> hdr.h.b[0:0]); } \
    else if (hdr.h.c == 5) { hdr.h.b = hdr.h.a |+| 200; }
#include <bytes.p4>
