// Registers of more than 32 bits: written, read by words, and exchanged.
#include <core.p4>
#include <v1model.p4>
#define LOCALS register<bit<48>>(4) wide; register<bit<64>>(2) wider; bit<48> old; bit<64> whole;
#define APPLY \
    if (hdr.h.a == 0) { \
        wide.write(1, 48w0x000140000000); \
    } else if (hdr.h.a == 1) { \
        wide.read(old, 1); \
        hdr.h.b = old[39:32]; \
    } else if (hdr.h.a == 2) { \
        wide.read(old, 3); \
        wide.write(3, 48w0x01ffffffff02); \
        hdr.h.c = old[7:0]; \
    } else if (hdr.h.a == 3) { \
        wider.write(1, 64w0x0000000cd0000000); \
    } else { \
        wider.read(whole, 1); \
        hdr.h.c = whole[39:32]; \
    }
#include <bytes.p4>
