extern R<T> { R(bit<8> size); R(); T read(in bit<8> i); void write(in T v); void any<S>(in S s, in T t); }
extern N { void run(); }
control c(inout bit<8> x, R<bit<8>> given) {
    R<bit<8>>(4) r;
    R<bit<16>>() s;
    R(4) t; // error: [E0728] type arguments
    R<bit<8>, bit<8>>(4) u; // error: [E0728] takes 1
    N() n; // error: [E0726] no constructor
    R<bit<8>> v; // error: [E0730] an instance has arguments
    apply { }
}
// What has no direction in the architecture is known before the program runs.
extern void known(bit<8> x);
action known_or_not(inout bit<8> y, bit<8> z) {
    known(1);
    known(z);
    known(y); // error: [E0740] needs, for it has no direction
    known(x = y + 1); // error: [E0740] needs, for it has no direction
}
