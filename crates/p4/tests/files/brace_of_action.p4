// One brace is missing: that is one mistake, at the block that is open.
header H { bit<8> a; }
control c(inout H h) {
    action a() { // error: [E0707] found `action` at
        h.a = 1;
    action b() { h.a = 2; }
    apply { if (h.a == 1) { a(); } else { b(); } }
}
control d(inout H h) { apply { } }
