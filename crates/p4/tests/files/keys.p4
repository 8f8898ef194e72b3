match_kind { exact, lpm, ternary }
struct S { bit<8> a; bool b; error e; }
header H { bit<8> a; }
action n() { }
control c(in S s, in H h) {
    table good { key = { s.a: exact; s.b: ternary; s.e: exact; h.isValid(): exact; s.a + 1: lpm @name("next"); s.a[3:0]: exact; s.a & 0xf0: exact; } actions = { n; } }
    table computed { key = { s.a + 1: lpm; } actions = { n; } } // error: [E0734] @name
    table kind { key = { s.a: prefix; } actions = { n; } } // error: [E0734] exact, lpm, ternary
    table type { key = { s: exact; } actions = { n; } } // error: [E0723] a key
    table head { key = { h: exact; } actions = { n; } } // error: [E0723] a key
    table same { key = { s.a: exact; } actions = { n; same; } } // error: [E0733] a table, no action
    apply { }
}
control named(in bit<8> t) {
    table t { key = { t: exact; } actions = { n; } } // error: [E0723] found table t
    apply { }
}
