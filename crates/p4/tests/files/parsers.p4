header H { bit<8> a; bit<16> b; }
parser good(in H h) {
    state start { transition select(h.a, h.b) { (1, 2): later; (1 .. 3, _): reject; (1 &&& 3, 5): accept; default: accept; } }
    state later { bit<8> x = h.a; transition select(x) { 1: start; 8w2: accept; _: reject; } }
    state open { }
}
parser nostart(in H h) { state begin { transition accept; } } // error: [E0735] `start`
parser final(in H h) { state start { } state accept { } } // error: [E0735] `accept`
parser lost(in H h) { state start { transition nowhere; } } // error: [E0735] `nowhere`
parser lost2(in H h) { state start { transition select(h.a) { 1: nowhere; } } } // error: [E0735] `nowhere`
parser width(in H h) { state start { transition select(h.a) { 16w1: accept; } } } // error: [E0723] expected bit<8>
parser count(in H h) { state start { transition select(h.a, h.b) { (1, 2, 3): accept; } } } // error: [E0734] 3 values for 2
parser typed(in H h) { state start { transition select(h) { _: accept; } } } // error: [E0723] what is selected by
parser bool_key(in H h) { state start { transition select(h.a == 1) { true: accept; 1: reject; } } } // error: [E0723]
parser switches(in H h) { state start { switch (h.a) { 1: {} } transition accept; } } // error: [E0709] in a state
parser exits() { state start { exit; } } // error: [E0709] in a state
parser lists(in bit<8> x, in bit<8> y) { state start { transition select(x, { x, y }) { (1, { 2, y }): accept; (_, default): accept; } } }
parser circle() { state start { transition one; } state one { transition two; } state two { transition one; } } // error: [E0735] no way
parser open_select(in bit<8> x) { state start { transition select(x) { 1: start; } } }
parser masks(in bit<8> x, in bit<8> y) { state start { transition select(x) { y &&& 3: accept; } } } // error: [E0740] needs
parser ranges(in bit<8> x) { state start { transition select(x) { 6 .. 5: accept; } } }
bit<8> called() { return 1; }
parser calls(in bit<8> x) { state start { transition select(x) { called(): accept; x: accept; _: reject; } } } // error: [E0740] a value of a key
