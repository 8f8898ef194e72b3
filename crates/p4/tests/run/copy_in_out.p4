// Arguments are copied in from left to right and out again in the same order, however the callee ends.
#define LOCALS \
    action both(inout bit<8> x, inout bit<8> y) { x = x + 1; y = y + 2; hdr.h.a = 0x77; } \
    action leave(inout bit<8> x) { x = 9; exit; } \
    action never(out bit<8> x) {} \
    table t { actions = { leave(hdr.h.b); } default_action = leave(hdr.h.b); }
#define APPLY \
    if (hdr.h.c == 0) { both(hdr.h.a, hdr.h.a); } \
    if (hdr.h.c == 1) { t.apply(); hdr.h.a = 0xee; } \
    if (hdr.h.c == 2) { never(hdr.h.a); }
#include <bytes.p4>
