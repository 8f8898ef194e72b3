header H { bit<8> a; }
control c(inout bit<8> x, in H[3] st, in bit<8>[4] arr) {
    apply {
        for (bit<8> i = 0; i < 8; i = i + 1) { if (i == 3) continue; x = x + i; break; }
        for (bit<8> i in 8w0 .. x) x = i;
        for (bit<8> e in arr) x = e;
        for (H h in st) x = h.a;
        for (bit<8> i = 0, bit<8> j = 1; i < j; i += 1, j += 2) { }
        for (bit<16> e in arr) { } // error: [E0723] what the loop gives
        for (bit<8> e in x) { } // error: [E0723] a stack
        for (bit<8> i = 0; i; i = i + 1) { } // error: [E0723] the condition
        continue; // error: [E0709]
    }
}
