struct S { bit<8> a; }
extern X { X(); }
typedef tuple<bit<8>, S> pair_t;
typedef void nothing_t; // error: [E0730] void
typedef tuple<void> empty_t; // error: [E0730] void
typedef X[3] many_t; // error: [E0730] X
typedef bit<8>[0] none_t; // error: [E0741]
typedef bit<(0 - 1)> minus_t; // error: [E0741]
typedef bit<70000> wide_t; // error: [E0741]
typedef int<0> zero_t; // error: [E0741]
typedef bit<0> allowed_t;
typedef missing_t there_t; // error: [E0720]
const S notype = missing; // error: [E0720]
control c(in int whole, X x) { apply { } } // error: [E0731]
control c2(in X y) { apply { } } // error: [E0731]
control d() {
    int n = 5; // error: [E0730] bit<32>
    string s; // error: [E0730]
    X x; // error: [E0730]
    void v; // error: [E0730]
    apply { }
}
