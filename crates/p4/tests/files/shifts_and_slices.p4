control c(inout bit<8> x, inout int<8> y, in bit<4> n) {
    apply {
        x = x[7:0]; x[3:0] = y[3:0]; x = x << n; y = y >> 2; x[n +: 2] = 1;
        x = x[8:1]; // error: [E0741] 0 to 7
        x[1:3] = 1; // error: [E0741] its high bit
        x[n:0] = 1; // error: [E0740]
        bool t = x[true:0] == 1; // error: [E0723]
        t = t[0:0] == 1; // error: [E0723] what is sliced
        x = x << -1; // error: [E0741] 0 and more
        x[7 +: 2] = 1; // error: [E0741]
    }
}
