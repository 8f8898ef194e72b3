// Tables: match kinds, priorities, prefixes, defaults, what action ran, and switches over it.
#define LOCALS \
    action set(bit<8> x) { hdr.h.b = x; } \
    action other() {} \
    table exactly { key = { hdr.h.a: exact; } actions = { set; other; NoAction; } } \
    table prefix { key = { hdr.h.a: lpm; } actions = { set; NoAction; } } \
    table several { key = { hdr.h.a: ternary; hdr.h.c: range; hdr.h.b: optional; } actions = { set; NoAction; } } \
    table given { key = { hdr.h.a: ternary; } actions = { set; NoAction; } \
        entries = { priority = 5: 0x10 &&& 0xf0: set(5); priority = 9: 0x11: set(9); } } \
    table in_order { key = { hdr.h.a: ternary; } actions = { set; NoAction; } \
        const entries = { 0x20 &&& 0xf0: set(1); 0x21: set(2); _: NoAction(); } } \
    table nothing { key = { hdr.h.b: range; } actions = { set; NoAction; } \
        const entries = { 9 .. 3: set(1); 4 .. 5: set(2); } } \
    table older { key = { hdr.h.a: ternary; } actions = { set; NoAction; } \
        const entries = { 0x20 &&& 0xf0: set(1) @priority(3); 0x21: set(2); 0x22: set(4) @priority(5); } }
#define APPLY \
    if (hdr.h.c == 0) { \
        switch (exactly.apply().action_run) { set: { hdr.h.c = 0xa0; } other: default: { hdr.h.c = 0xa1; } } \
    } else if (hdr.h.c == 1) { \
        if (prefix.apply().miss) { hdr.h.c = 0xa2; } \
    } else if (hdr.h.c < 0x20) { \
        several.apply(); \
    } else if (hdr.h.c == 0x20) { \
        given.apply(); \
    } else if (hdr.h.c == 0x60) { \
        nothing.apply(); \
    } else if (hdr.h.c == 0x40) { \
        older.apply(); \
    } else { \
        if (in_order.apply().hit) { hdr.h.c = 0xa3; } \
    }
#include <bytes.p4>
