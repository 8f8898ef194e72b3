// Names for the control plane are told apart.
@name(".one") action a() { }
@name(".one") action b() { }
@name(".one") action e(bit<8> x) { } // error: [E0745] action `one`
@name(".o" ++ "ne") action g(bit<8> y) { } // error: [E0745] action `one`
@name("two") action c() { }
control inner() {
    @name(".whole") table t { actions = { c; } } // error: [E0745] several instances
    table u { actions = { c; a; b; e; g; } }
    apply { t.apply(); u.apply(); }
}
control outer() {
    inner() i;
    inner() j;
    @name(".two") action d() { }
    @name(".two") action f() { return; } // error: [E0745] action `two`
    apply { i.apply(); j.apply(); d(); f(); }
}
