// Two registers that lie in one stage are apart.
#include <core.p4>
#include <v1model.p4>
#define LOCALS register<bit<8>>(4) first; register<bit<8>>(4) second;
#define APPLY \
    if (hdr.h.a == 0) { \
        first.write(1, hdr.h.b); \
    } else if (hdr.h.a == 1) { \
        second.write(1, hdr.h.b); \
    } else if (hdr.h.a == 2) { \
        first.read(hdr.h.c, 1); \
    } else { \
        second.read(hdr.h.c, 1); \
    }
#include <bytes.p4>
