enum bit<8> E { A = 1 }
enum F { A }
type bit<9> P;
struct S { bit<8> a; }
header H { bit<8> a; }
control c(inout bit<8> a, in int<8> i, in bool t, in E e, in F f, in P p, in H h) {
    apply {
        a = (bit<8>)i; a = (bit<8>)(bit<4>)a; a = (bit<8>)e; bit<1> o = (bit<1>)t; bool u = (bool)a[0:0]; bit<9> q = (bit<9>)p;
        P r = (P)q; E g = (E)a; E w = (E)3; S s = (S){ 1 }; H k = (H){#}; int<8> n = (int<8>)a; u = (bool)1;
        bit<16> x1 = (bit<16>)i; // error: [E0725] the width or the sign
        a = (bit<8>)t; // error: [E0725] bit<1>
        u = (bool)a; // error: [E0725]
        u = (bool)2; // error: [E0725] 0 and 1
        a = (bit<8>)f; // error: [E0725]
        s = (S)h; // error: [E0725]
        a = (bit<8>)h; // error: [E0725]
        a = (void)a; // error: [E0730] void
    }
}
S again(in S s) { return (S)s; } // error: [E0725]
