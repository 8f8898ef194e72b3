const int BIG = 1 << 100;
const bit<8> A = 3 + 4 * 2;
const bit<8> B = (bit<8>)(BIG >> 98);
const bool C = static_assert_is_not_called && false; // error: [E0720]
const tuple<bit<8>, bool> T = { 1, true };
const bit<8> D = T[0] + B;
extern bool static_assert(bool check, string message);
const bool E1 = static_assert(A == 11, "A");
const bool E2 = static_assert(D == 5, "D");
const bool E3 = static_assert(8w255 + 1 == 0, "wraps");
const bool E4 = static_assert(8w250 |+| 10 == 255, "saturates");
const bool E5 = static_assert((int<8>)8w255 == -1, "signed");
const bool E6 = static_assert(4w1 ++ 4w2 == 18, "concatenation");
const bool E7 = static_assert(-7 + 3 * 2 == -1 && 10 % 4 == 2 && 7 / 2 == 3, "int");
const bool E8 = static_assert(8w0xF5[7:4] == 15 && ~8w0 == 255, "bits");
const bool E9 = static_assert(A != 11, "this one fails"); // error: [E0744] this one fails
const int F = 10 / 0; // error: [E0741] a divisor
const int G = -10 / 3; // error: [E0741] what is divided
const int H = 1 << -1; // error: [E0741] a distance
const int I = 1 << 1000000; // error: [E0742]
const bit<8> J = "text"; // error: [E0723]
control c(in bit<8> x) {
    const bit<8> y = x; // error: [E0740]
    apply { }
}
const int K = 2w1;
const bool L = static_assert(K + 1 == 2, "int of bits");
const bool M = static_assert(10 - 3 - 2 == 5 && 64 >> 2 >> 1 == 8 && 100 / 10 / 5 == 2, "from the left");
const bool O = static_assert(2 + 3 * 4 == 14 && (1 | 2 ^ 3 & 1) == 3 && 1 << 2 + 1 == 8, "what binds more");
