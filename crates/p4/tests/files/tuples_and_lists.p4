const list<tuple<bit<8>, bool>> L = { { 1, true }, { 2, false } };
control c(inout tuple<bit<8>, bool> t, out bit<8> x) {
    apply {
        t = { 1, true }; x = t[0]; bool e = t == { 2, true };
        t[1] = false; // error: [E0727] a tuple is written as a whole
        x = t[2]; // error: [E0741] 0 to 1
        x = t[1]; // error: [E0723]
        t = { 1 }; // error: [E0723]
        t = { 1, 2 }; // error: [E0723]
        x = t[x]; // error: [E0740]
    }
}
typedef list<bit<8>> bytes_t;
typedef tuple<bytes_t, bit<8>> bad_t; // error: [E0730] list<bit<8>>
match_kind { exact, ternary }
const tuple<match_kind, match_kind> KINDS = { exact, match_kind.ternary };
