control c(inout bit<16> x) {
    apply { x ++= x; } // error: [E0707] `++` makes a value longer
}
