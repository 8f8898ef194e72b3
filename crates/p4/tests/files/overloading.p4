// Functions, methods, constructors and packages of one name differ by the number or the names of their parameters.
extern void f();
extern void f(bit<32> a);
extern void f(bit<16> b);
extern void f(bit<32> a, bit<16> b);
extern void g(bit<32> a);
extern void g(in bit<8> a); // error: [E0721] `g`
control d(out bit<32> x)(bit<32> a) { apply { x = a; } }
control d(out bit<32> x)(bit<32> b) { apply { x = -b; } }
control d(out bit<32> x)(bit<16> b) { apply { x = 0; } } // error: [E0721] `d`
control c() {
    d(b = 2) i;
    d(a = 3) j;
    apply {
        bit<32> z;
        f(); f(a = 2); f(b = 1); f(a = 1, b = 2); f(1, 2); i.apply(z); j.apply(z);
        f(1); // error: [E0726] more than one
    }
}
control proto();
package top(proto p);
package top(proto p1, proto p2);
top(p = c()) t;
top(c(), c()) u;
extern Hash<T> { Hash(bit<8> seed); T get<D>(in D data); }
extern bit<8> seed(bool msb);
control hashes(inout bit<16> x) { apply { x = Hash<bit<16>>(seed(true)).get({ x }); } }
