control c(inout bit<8> x, in bool t) {
    apply {
        x = t ? x : 3; x = t ? 8w1 : 2; x = true ? 1 : 2;
        x = t ? 1 : 2; // error: [E0723] one with a width
        x = x ? 8w1 : 2; // error: [E0723] the condition
        x = t ? x : true; // error: [E0723]
    }
}
