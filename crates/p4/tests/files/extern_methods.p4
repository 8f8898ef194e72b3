extern R<T> { R(bit<8> size); R(); T read(in bit<8> i); void write(in T v); void any<S>(in S s, in T t); }
control c(inout bit<8> x, R<bit<8>> given) {
    R<bit<16>>() s;
    apply {
        x = given.read(1); given.any(x, 3); given.any<bit<4>>(3, 3); s.write(3);
        x = s.read(1); // error: [E0723] found bit<16>
        given.any<bit<4>, bool>(3, 3); // error: [E0728] found 2
        given.run(); // error: [E0729] `run`
        given.wirte(1); // error: [E0729] did you mean `write`
        s.write(x); // error: [E0723] expected bit<16>
    }
}
