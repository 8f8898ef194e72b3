struct K { bit<8> a; bit<16> b; }
struct Deep { bit<8> a; K k; }
parser p(in bit<8> a, in bit<16> b) {
    value_set<K>(4) pairs;
    value_set<bit<8>>(4) one;
    value_set<Deep>(4) three;
    value_set<tuple<bit<8>, bit<16>>>(4) tuples;
    state start { transition select(a, b) { pairs: accept; tuples: accept; (one, _): accept; default: reject; } }
    state two { transition select(a) { one: accept; } }
    state flat { transition select(a, a, b) { three: accept; } }
    state bad { transition select(b) { one: accept; } } // error: [E0723]
    state worse { transition select(a, b) { one: accept; } } // error: [E0723]
}
header V { varbit<8> v; bit<8> a; }
parser q(in V h) {
    state start { transition select(h.v) { _: accept; } } // error: [E0723] what is selected by
    state two { transition select(h.a, h.v) { (_, _): accept; } } // error: [E0723] what is selected by
    state list { transition select({ h.a, h.v }) { (1, _): accept; } } // error: [E0723] what is selected by
}
