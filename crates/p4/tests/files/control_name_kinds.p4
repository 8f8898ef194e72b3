// Value sets and instances have names for the control plane, too; those of one kind are told apart.
extern Counter { Counter(bit<32> size); }
action a() { }
control c() {
    @name("n") Counter(8) one;
    @name("n") Counter(8) two; // error: [E0745] instance `c.n`
    @name("n") table t { actions = { a; } default_action = a(); }
    @hidden @name("n") Counter(8) three;
    apply { t.apply(); }
}
parser p(in bit<8> a) {
    @name("s") value_set<bit<8>>(4) one;
    @name("s") value_set<bit<8>>(4) two; // error: [E0745] value set `p.s`
    state start { transition select(a) { one: accept; two: accept; } }
}
