struct S { bit<8> a; }
header H { bit<8> a; }
control c(inout bit<8> a, in bit<4> b, in int<8> i, in bool t, in S s, in H h) {
    apply {
        a = a + 1; a = 2 * a; a = a & 3; a = a |+| 1; a = a / 2; a = a % 3; a = a << b; a = a >> 2; a = b ++ b;
        bool r = a < 3 && t || !t && a == 4 && s == s && h == h && s == { 1 } && i < 0;
        a = a + b; // error: [E0724] bit<8> and bit<4>
        a = a & t; // error: [E0724] bit<8> and bool
        r = t < t; // error: [E0724]
        r = t && a; // error: [E0724]
        r = a == t; // error: [E0724]
        r = s == h; // error: [E0724]
        r = !a; // error: [E0724]
        r = -t; // error: [E0724]
        a = a << 8s2; a = a << i; // error: [E0724] without sign
        a = 1 << b; // error: [E0724] give the number a width
        a = a ++ 3; // error: [E0724] ++
        bool i2 = (i / 2) == i; // error: [E0724] /
        bool i3 = i == a; // error: [E0724]
    }
}
const bool lists = { 1, 2 } == { 1, 2 }; // error: [E0724]
const bool plus = +false; // error: [E0724]
