struct S { bit<8> a; bit<8> a; } // error: [E0721] `a`
header H { bit<8> a; bool a; } // error: [E0721] `a`
enum E { A, A } // error: [E0721] `A`
const bit<8> K = 1;
const bit<8> K = 2; // error: [E0721] `K`
action a(bit<8> x, bit<8> x) { } // error: [E0721] `x`
bit<8> f(in bit<8> x) { return x; }
bit<8> f(in bit<8> x, in bit<8> y) { return x; }
bit<8> f(in bit<8> x) { return 3; } // error: [E0721] `f`
error { Mine }
error { Mine } // error: [E0721] Mine
control c(in bit<8> x) { bit<8> y; bit<16> y; apply { bit<8> y; { bit<8> y; } } } // error: [E0721] `y`
control d(in bit<8> x)(bit<8> x) { apply { } } // error: [E0721] `x`
parser p() { state start { } state start { } } // error: [E0721] `start`
extern X { X(); void m(in bit<8> a); void m(in bit<16> a); } // error: [E0721] `m`
