#include <core.p4>
header F { bit<8> a; }
header V { bit<8> a; varbit<32> v; }
header W { varbit<8> v; varbit<8> w; }
struct S { F f; V v; W w; F[2] st; bit<8> b; }
struct E { F f; V v; F[2] st; }
parser p(packet_in b, out S s) {
    state start {
        b.extract(s.f); b.extract(s.v, 8); b.extract(s.st.next); bit<8> x = b.lookahead<bit<8>>(); b.advance(8); b.extract<F>(_);
        b.extract(s.v); // error: [E0723] varbit
        b.extract(s.f, 8); // error: [E0723] varbit
        b.extract(s.b); // error: [E0723] a header
        b.extract(s.w, 8); // error: [E0723] 2 fields
        V v = b.lookahead<V>(); // error: [E0723] fixed size
        verify(s.f.a == 1, error.NoMatch);
        verify(s.f.a == 1, error.Nothing); // error: [E0729] Nothing
        transition accept;
    }
}
control d(packet_out b, in S s, in E e) {
    apply {
        b.emit(s.f); b.emit(e); b.emit(s.st); b.emit({ s.f, s.v });
        b.emit(s.b); // error: [E0723] a header
        b.emit(s); // error: [E0723] a header
        verify(true, error.NoError); // error: [E0739]
    }
}
header L { bit<8> size; @length((bit<32>)size * 8) varbit<64> rest; }
parser measured(packet_in b, out L l) { state start { b.extract(l); transition accept; } }
