struct S { bit<8> a; bit<16> b; }
control c(inout bit<8> x, out bit<16> z) {
    S s;
    bool t;
    apply {
        s = { x }; // error: [E0723] {bit<8>}
        s = { a = 1 }; // error: [E0723] {a = ...}
        s = { a = 1, c = 3 }; // error: [E0723]
        t = 1; // error: [E0723] expected bool
        x = true; // error: [E0723] found bool
        x += 1; x |+|= 3; x <<= 2; x >>= 1; x &= 3;
        x += z; // error: [E0724] bit<8> and bit<16>
        z = 3;
        if (x) { } // error: [E0723] the condition
    }
}
