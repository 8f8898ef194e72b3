struct I { bit<8> deep; }
struct S { I inner; bit<8> value; }
control c(inout S s) {
    apply {
        s.inner.deep = s.value;
        s.inner.depe = 1; // error: [E0729] did you mean `deep`
        s.other = 1; // error: [E0729] inner, value
        s.value.x = 1; // error: [E0729]
        bit<8> y = S.value; // error: [E0729]
        y = error.Gone; // error: [E0729]
    }
}
