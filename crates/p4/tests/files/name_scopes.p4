const bit<8> x = 1;
control c(out bit<8> y) {
    bit<16> x = 2;
    action a() { y = .x; }
    apply {
        y = .x; a(); { bit<8> x = 3; y = x; }
        y = x; // error: [E0723] bit<16>
        y = .z; // error: [E0720]
        y = later; // error: [E0720]
        later = 1; // error: [E0720]
        bit<8> value1 = 0;
        y = vaule1; // error: [E0720] did you mean `value1`
        unknown_t t; // error: [E0720] unknown_t
    }
}
const bit<8> later = 1;
control shadow(inout bit<8> p) {
    action a() { bit<8> p = 1; } // error: [E0721] parameter `p`
    apply { bit<8> p = 1; } // error: [E0721] parameter `p`
}
control level(inout bit<8> p) { bit<8> p = 1; action a() { bit<8> p = 1; } apply { } }
