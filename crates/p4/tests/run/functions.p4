// Functions: results, generics, effects of arguments in their order, short circuits.
#include <core.p4>
bit<8> bump(inout bit<8> x) { x = x + 1; return x; }
bool told(inout bit<8> x) { x = x + 1; return x > 2; }
T second<T>(in T x, in T y) { return y; }
bit<8> most(in bit<8> x, in bit<8> y) { if (x > y) { return x; } return y; }
#define LOCALS
#define APPLY \
    bit<8> n = 0; \
    hdr.h.a = bump(n) ++ bump(n) == 16w0x0102 ? 8w1 : 8w0; \
    if (told(n) || told(n)) { hdr.h.b = n; } \
    if (!(told(n) && hdr.h.b == 99 && told(n))) { hdr.h.c = second(n, most(most(1, hdr.h.c), 3)); }
#include <bytes.p4>
