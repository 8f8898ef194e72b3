control c(inout bit<8> x) {
    action a() { exit; }
    action b() { return; }
    action v() { return 3; } // error: [E0737] a value
    apply { if (x == 1) exit; return; break; } // error: [E0709] outside of a loop
}
bit<8> f() { exit; return 1; } // error: [E0709] in a function
parser p() { state start { return; } } // error: [E0709] in a state
action switched(in bit<8> x) { switch (x) { 1: { } } } // error: [E0709] in an action
