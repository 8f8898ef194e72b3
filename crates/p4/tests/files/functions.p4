bit<8> max(in bit<8> a, in bit<8> b) { if (a > b) { return a; } else { return b; } }
T same<T>(in T x) { return x; }
void nothing() { }
bit<8> open(in bool t) { if (t) { return 1; } } // error: [E0737] not every way
bit<8> typed() { return true; } // error: [E0723]
void valued() { return 1; } // error: [E0737]
bit<8> unvalued() { return; } // error: [E0737]
bit<8> itself(in bit<8> x) { return itself(x); } // error: [E0739] recursion
T made<T>() { T x; return x; }
control c(inout bit<8> x) {
    apply {
        x = max(x, 3); x = same(x); x = same<bit<8>>(3); nothing(); x = made<bit<8>>();
        x = made(); // error: [E0728] `T`
        x = same<bit<8>, bool>(x); // error: [E0728] found 2
        x = nothing(); // error: [E0723] void
        x = max; // error: [E0722] a function
        x = same(3); // error: [E0723] with a width
    }
}
int whole() { return 1; } // error: [E0730] a function
extern T given<T>(T x);
extern void texts<T>(in T data, string s);
void text() { texts(8w1, "a"); texts("b", "c"); } // error: [E0723] a type with a size
extern T both<T>(in T x, in T y);
bit<8> from_second(in bit<8> x) { return both(1, x) + both(x, 2); }
bit<8> differ(in bit<8> x, in bit<16> y) { return both(x, y); } // error: [E0723] bit<16>
bit<8> literal() { return given(255); } // error: [E0723] with a width
