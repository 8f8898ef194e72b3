// When packets arrive, in ticks of 4 ns: kept, compared, and put into headers.
#include <core.p4>
#include <v1model.p4>
#define LOCALS register<bit<48>>(2) last; bit<48> before;
#define APPLY \
    last.read(before, 0); \
    last.write(0, standard.ingress_global_timestamp); \
    if (hdr.h.a == 0) { \
        hdr.h.b = before[7:0]; \
        hdr.h.c = standard.egress_global_timestamp[7:0]; \
    } else if (hdr.h.a == 1) { \
        hdr.h.b = standard.ingress_global_timestamp[39:32]; \
        hdr.h.c = before[39:32]; \
    } else if (standard.ingress_global_timestamp > 1000) { \
        hdr.h.c = 9; \
    }
#include <bytes.p4>
