extern packet_in { void extract<T>(out T h); }
header H { bit<8> a; }
parser p(packet_in b, out H h) {
    state start { b.extract(h); transition select(h.a) { 1: next; _: accept; } }
    state next { } // warning: [E0776] state `next` has no transition
    state alone { transition other; } // warning: [E0773] no way from `start` leads to state `alone`
    state other { transition accept; } // warning: [E0773] `other`
}
