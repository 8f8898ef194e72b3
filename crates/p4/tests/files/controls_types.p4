// A control without a body is a type; the architecture's package takes one that has the same parameters.
control C<H>(inout H h, in bit<8> x);
control D<H>(inout H h, in bit<8> x, @optional in bit<8> y);
package P<H>(C<H> a, C<H> b);
package Q<H>(D<H> d);
struct S { bit<8> a; }
struct T { bit<8> a; }
control good(inout S h, in bit<8> x) { apply { } }
control other(inout T h, in bit<8> x) { apply { } }
control direction(in S h, in bit<8> x) { apply { } }
control fewer(inout S h) { apply { } }
P(good(), good()) p1;
Q(good()) q1;
P(good(), other()) p2; // error: [E0723] argument for `b`
P(good(), direction()) p3; // error: [E0723] argument for `b`
P(fewer(), good()) p4; // error: [E0723] argument for `a`
P(good()) p5; // error: [E0726] `b`
C() c1; // error: [E0722] without body
good() c2; // error: [E0739] outside of parsers and controls
control generic<X>(inout X x) { apply { } }
control user(inout bit<8> x, inout bool y) {
    generic<bit<8>>() g;
    apply { g.apply(x); generic<bool>.apply(y); generic.apply(x); }
}
control bad(inout bit<8> x) {
    generic<bool>() g;
    apply { g.apply(x); } // error: [E0723]
}
control any<H>(inout H h, in bit<8> x) { apply { } }
package X<H>(C<H> c = any<H>(), C<H> d);
X(d = good()) x1;
package Y<H>(C<H> c = any<>(), C<H> d);
Y(d = good()) y1;
package R<H>(C<H> c = good());
R<_>() r1;
R() r2;
package V<H>(C<H> c = other(), bit<8> n = 3 + 4);
V(good(), n = 4) v1; // error: [E0726] all arguments have names or none
V(c = good(), n = 4) v2;
V(n = 4) v3;
package W<H>(P<H> p, Q<_> q);
W(p1, q1) w1;
