// What the grammar has not, and what is written in its place.
parser late(in bit<8> a) {
    state start { transition accept; }
    bit<8> x; // error: [E0707] before the first state
}
control c(inout bit<8> x, inout bit<16> y) {
    value_set<bit<8>>(4) set; // error: [E0707] value sets are of parsers
    apply {
        y ++= x; // error: [E0707] there is no `++=`
        x++; // error: [E0707] to count up, write `i = i + 1`
        x--; // error: [E0707] to count down
        ++x; // error: [E0707] to count up
        if (x = 0) { } // error: [E0707] `==` compares
        for (bit<8> i = 0; i < 8; i++) { } // error: [E0707] to count up
    }
}
const bit<8> width = 1_2w3; // error: [E0706] its width has a `_`
