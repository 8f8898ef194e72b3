// Nothing below shows where the brace is missing but the end of the file.
control d(inout bit<8> x) { apply { } }
control c(inout bit<8> x) { // error: [E0707] found the end of the file
    apply { x = 3; }
