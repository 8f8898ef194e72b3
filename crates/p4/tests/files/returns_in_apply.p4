control c(inout bit<8> x) {
    apply {
        if (x == 1) { return; }
        return x; // error: [E0737] a value
    }
}
