// Numbers: overflow, saturation, signs, shifts, slices, casts.
#define LOCALS
#define APPLY \
    int<8> s = (int<8>) hdr.h.a; \
    if (hdr.h.c == 0) { hdr.h.b = hdr.h.a |+| 200; } \
    if (hdr.h.c == 1) { hdr.h.b = (bit<8>) (s |-| 100); } \
    if (hdr.h.c == 2) { hdr.h.b = (bit<8>) (s >> 1); } \
    if (hdr.h.c == 3) { hdr.h.b = hdr.h.a << 9; } \
    if (hdr.h.c == 4) { hdr.h.b = (bit<8>) (bit<16>) (int<16>) s; } \
    if (hdr.h.c == 5) { hdr.h.b[5:2] = hdr.h.a[3:0]; } \
    if (hdr.h.c == 6) { hdr.h.b = s < 0 ? 8w1 : 2; } \
    if (hdr.h.c == 7) { hdr.h.b = (bit<8>) ((int<16>) s)[15:8]; } \
    if (hdr.h.c == 8) { hdr.h.b = (hdr.h.a ++ hdr.h.b)[11:4]; } \
    if (hdr.h.c == 9) { bit<200> w = (bit<200>) hdr.h.a << 190; hdr.h.b = (bit<8>) (w >> 192); } \
    if (hdr.h.c == 10) { hdr.h.b -= hdr.h.a; } \
    if (hdr.h.c == 11) { hdr.h.b = -hdr.h.a; } \
    if (hdr.h.c == 13) { hdr.h.b = hdr.h.a |-| hdr.h.b; } \
    if (hdr.h.c == 14) { hdr.h.b = hdr.h.b > 3 && hdr.h.a > 3 ? 8w1 : 0; } \
    if (hdr.h.c == 12) { hdr.h.b = ~hdr.h.a; }
#include <bytes.p4>
