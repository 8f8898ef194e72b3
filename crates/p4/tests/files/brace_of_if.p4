// The brace that closes stands further left than the block that it would close.
control c(inout bit<8> x) {
    apply {
        if (x == 1) { // error: [E0707] this block is open
            x = 2;
        x = 3;
    }
}
control d(inout bit<8> x) { apply { } }
