// Externs that neither make copies nor keep registers: hashes, random numbers, messages, direct meters and counters.
#include <core.p4>
#define LOCALS \
    direct_meter<bit<2>>(MeterType.packets) colors; \
    direct_counter(CounterType.bytes) counted; \
    action_profile(16) profile; \
    Checksum16() sum; \
    action color() { bit<2> c; colors.read(c); hdr.h.b = (bit<8>) c; } \
    action set(bit<8> x) { hdr.h.b = x; } \
    table metered { key = { hdr.h.a: exact; } actions = { color; NoAction; } meters = colors; counters = counted; } \
    table shared { key = { hdr.h.a: exact; } actions = { set; NoAction; } implementation = profile; }
#define APPLY \
    bit<32> wide; bit<16> narrow; bit<8> drawn; \
    if (hdr.h.c == 0) { \
        hash(wide, HashAlgorithm.crc32, 32w0, { 72w0x313233343536373839 }, 64w0x100000000); \
        hdr.h.a = wide == 0xcbf43926 ? 8w1 : 0; \
        hash(narrow, HashAlgorithm.crc16, 16w0, { 72w0x313233343536373839 }, 32w0x10000); \
        hdr.h.b = narrow == 0xbb3d ? 8w1 : 0; \
    } else if (hdr.h.c == 1) { \
        hash(wide, HashAlgorithm.identity, 32w100, { hdr.h.a, 4w3 }, 32w0x1000); \
        hdr.h.a = wide == 100 + 0x123 ? 8w1 : 0; \
        hash(wide, HashAlgorithm.xor16, 32w7, { 32w0x12341111 }, 32w0); \
        hdr.h.b = wide == 7 ? 8w1 : 0; \
    } else if (hdr.h.c == 2) { \
        hdr.h.a = 1; \
        for (bit<8> i in 8w1 .. 100) { \
            random(drawn, 8w10, 8w12); \
            if (drawn < 10 || drawn > 12) { hdr.h.a = 0; } \
            hdr.h.b = hdr.h.b | (8w1 << (drawn - 10)); \
        } \
    } else if (hdr.h.c == 3) { \
        log_msg("a is {}", { hdr.h.a }); log_msg("done"); assume(hdr.h.a == 0); assert(hdr.h.a != 0); \
        digest(32w1, { hdr.h.a }); \
    } else if (hdr.h.c == 4) { \
        metered.apply(); \
    } else if (hdr.h.c == 5) { \
        shared.apply(); \
    } else if (hdr.h.c == 6) { \
        narrow = sum.get({ 16w0x0001, 16w0xf203, hdr.h.a }); hdr.h.a = narrow[15:8]; hdr.h.b = narrow[7:0]; \
    }
#include <bytes.p4>
