// Where a name is, that is not known where it is used.
control c(inout bit<8> x, packet_in p) { // error: [E0720] core.p4 declares it: is `#include <core.p4>` missing?
    action first() { second(); } // error: [E0720] declared further down
    action second() { x = later; } // error: [E0720] declared further down
    bit<8> later = 1;
    table t { key = { x: ternary; } actions = { second; } default_action = second(); } // error: [E0734] is `#include <core.p4>` missing?
    apply { }
}
bit<8> again(in bit<8> x) { return again(x); } // error: [E0739] there is no recursion
bit<8> one(in bit<8> x) { return two(x); } // error: [E0720] so there is no recursion
bit<8> two(in bit<8> x) { return one(x); }
control std(inout standard_metadata_t m) { // error: [E0720] is `#include <v1model.p4>` missing?
    apply { mark_to_drop(m); } // error: [E0720] v1model.p4 declares it
}
