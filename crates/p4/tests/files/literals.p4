const bit<8> A = 8w0xFF;
const int<8> B = -8s0b101;
const int C = 1_000_000;
const bit<12> D = 12w0o7_7;
const bit<8> E = 0d10;
const bit<8> F = 8w0xG; // error: [E0706] base 16
const bit<8> G = 8x12; // error: [E0706] base 10
const bit<8> H = 0b12; // error: [E0706] base 2
