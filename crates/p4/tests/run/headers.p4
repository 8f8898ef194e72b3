// Headers: validity, unions, stacks, what is read of what is not valid, equality.
#include <core.p4>
header x_t { bit<8> v; }
header y_t { bit<8> w; }
header_union u_t { x_t x; y_t y; }
struct pair_t { bit<8> one; bit<8> two; }
#define LOCALS
#define APPLY \
    u_t u; x_t[3] s; x_t x; x_t z; bit<8> i; \
    if (hdr.h.c == 0) { \
        u.x.setValid(); u.x.v = 5; u.y.setValid(); \
        hdr.h.a = u.x.isValid() ? 8w1 : 0; hdr.h.b = u.isValid() ? 8w1 : 0; \
    } else if (hdr.h.c == 1) { \
        s[0].setValid(); s[0].v = 1; s[1].setValid(); s[1].v = 2; \
        s.push_front(1); hdr.h.a = s[2].v; hdr.h.b = s[0].isValid() ? 8w1 : 0; \
    } else if (hdr.h.c == 2) { \
        s[0].setValid(); s[0].v = 1; s[2] = s[0]; s.pop_front(2); \
        hdr.h.a = s[0].v; hdr.h.b = s[1].isValid() ? 8w1 : 0; \
    } else if (hdr.h.c == 3) { \
        x.v = 9; hdr.h.a = x.v; hdr.h.b = x == z ? 8w1 : 0; \
    } else if (hdr.h.c == 4) { \
        i = hdr.h.a; s[i] = { 7 }; hdr.h.a = s[1].isValid() ? s[1].v : 0; hdr.h.b = s[i].v; \
    } else if (hdr.h.c == 5) { \
        pair_t p = { two = hdr.h.a, one = hdr.h.b }; pair_t q = { hdr.h.b, hdr.h.a }; \
        hdr.h.a = p.one; hdr.h.b = p == q ? 8w1 : 0; \
    } else if (hdr.h.c == 6) { \
        hdr.h.setInvalid(); hdr.h.a = 3; \
    }
#include <bytes.p4>
