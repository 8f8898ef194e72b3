type bit<9> port_t;
type port_t other_t;
typedef bit<9> plain_t;
const port_t flood = 511;
struct S { bit<8> a; }
type S bad_t; // error: [E0730]
type tuple<bit<8>> list_t; // error: [E0730]
type int whole_t; // error: [E0730]
control c(inout port_t p, inout plain_t q) {
    apply {
        q = (bit<9>)p; p = (port_t)q; p = (port_t)3; bool t = p == (port_t)4;
        q = q << p; p = q; // error: [E0723]
        p = 9w3; // error: [E0723]
        p = 3;
        p = p + p; // error: [E0724]
        q = p; // error: [E0723]
    }
}
typedef bit<2> two_t;
type bit<1> one_t;
one_t narrowed(in two_t x) { return (one_t)x; } // error: [E0725]
bit<16> widened(in port_t x) { return (bit<16>)x; } // error: [E0725]
