// Actions are called in `apply` and in actions, with all of their arguments.
action a(inout bit<8> x, bit<8> y) { x = y; }
action b(inout bit<8> x) { a(x, 3); }
action missing(inout bit<8> x) { a(x); } // error: [E0726] `y`
action place(in bit<8> x) { a(x, 3); } // error: [E0727] `in` parameter
action again() { again(); } // error: [E0739] recursion
bit<8> f(inout bit<8> x) { a(x, 3); return x; } // error: [E0739] in a function
control d(inout bit<8> x) {
    table t { actions = { b(x); } default_action = b(x); }
    action y(in bit<8> v) { }
    apply { y(t.apply().hit ? x : 8w1); } // error: [E0739] in an argument of an action
}
control names(inout bit<8> x) {
    action b(inout bit<8> y) { y = 1; }
    table t { actions = { b(x); } default_action = .b(x); } // error: [E0733] not among
    apply { t.apply(); }
}
