struct I { bit<8> a; bool b; }
struct S { I i; bit<8> c; }
control c(out S s) {
    apply {
        s = { ... }; s = { { 1, ... }, ... }; s = { c = 1, ... }; S t = ...; s.i = { b = true, ... };
        bit<8> x = { ... }; // error: [E0723]
        bool e = s == { ... }; // error: [E0724]
        s = { ..., 1 }; // error: [E0709]
    }
}
