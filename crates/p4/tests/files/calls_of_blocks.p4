control inner(inout bit<8> x)(bit<8> k) { apply { x = k; } }
control direct(inout bit<8> x) { apply { } }
parser sub(inout bit<8> x) { state start { transition accept; } }
control c(inout bit<8> x) {
    inner(3) i;
    inner() none; // error: [E0726] `k`
    inner(x) running; // error: [E0740] `k`
    sub() p; // error: [E0739] among the declarations of a control
    action a() { i.apply(x); } // error: [E0739] in an action
    apply {
        i.apply(x);
        direct.apply(x);
        inner.apply(x); // error: [E0726] constructor has parameters
        sub.apply(x); // error: [E0739] in `apply`
        i.apply(); // error: [E0726] `x`
        i.run(x); // error: [E0729] run
        c.apply(x); // error: [E0739] recursion
    }
}
