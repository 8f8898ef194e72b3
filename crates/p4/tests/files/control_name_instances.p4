// Names for the control plane belong to the instances that a program is made of.
match_kind { exact }
action NoAction() { }
control sub(inout bit<8> x) {
    action f() { x = 1; } // error: [E0745] action `ingress.b.f`
    table t { key = { x: exact; } actions = { f; } } // error: [E0745] table `ingress.b.t`
    apply { t.apply(); }
}
control used(inout bit<8> x) {
    @name(".tt") table t { key = { x: exact; } actions = { NoAction; } }
    apply { t.apply(); }
}
control not_used(inout bit<8> x) {
    @name(".tt") table t { key = { x: exact; } actions = { NoAction; } }
    apply { t.apply(); }
}
control direct(inout bit<8> x) {
    @name(".tt") table t { key = { x: exact; } actions = { NoAction; } } // error: [E0745] table `tt`
    apply { t.apply(); }
}
control ingress(inout bit<8> x) {
    sub() a;
    used() c;
    @name("a.f") action g() { x = 2; } // error: [E0745] action `ingress.a.f`
    @name("a.t") table y { key = { x: exact; } actions = { g; } } // error: [E0745] table `ingress.a.t`
    @name("b.f") action h() { x = 3; }
    @name("b.t") table z { key = { x: exact; } actions = { h; } }
    sub() b;
    @name("same") action one() { x = 4; }
    @name("same") action two() { x = 5; }
    apply { a.apply(x); y.apply(); b.apply(x); z.apply(); c.apply(x); direct.apply(x); one(); }
}
control C(inout bit<8> x);
package P(C c);
P(ingress()) main;
