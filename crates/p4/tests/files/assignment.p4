struct S { bit<8> a; bit<16> b; }
const bit<8> K = 3;
control c(inout bit<8> x, in bit<8> y, out bit<16> z) {
    S s;
    apply {
        x = 5; z = (bit<16>)y; s = { x, z }; s = { b = z, a = 1 }; s.a = y; x[3:0] = 4w1; s = { a = 1, ... }; s = ...;
        x = z; // error: [E0723] found bit<16>, expected bit<8>
        y = 1; // error: [E0727] `in` parameter
        K = 1; // error: [E0727] a constant
    }
}
