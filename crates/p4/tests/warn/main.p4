#include <core.p4>
#include <v1model.p4>
control forgotten(inout bit<8> x) { apply { x = 1; } } // warning: [E0782] no `main`
