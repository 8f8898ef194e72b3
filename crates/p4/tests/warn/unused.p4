// What nothing uses. A name that begins with `_` says so itself, and @noWarn asks for silence.
match_kind { exact }
action NoAction() { }
action never() { } // warning: [E0772] action `never`
action data(bit<8> value) { } // warning: [E0775] parameter `value` of action `data`
bit<8> sum(in bit<8> a, in bit<8> b) { return a; } // warning: [E0775] parameter `b` of function `sum`
control inner(inout bit<8> x, in bit<8> y, in bit<8> _z) { apply { x = 1; } } // warning: [E0775] parameter `y` of `inner`
control outer(inout bit<8> x, in bit<8> unread)(bit<8> given) { // warning: [E0775] parameter `given`
    inner() i;
    bit<8> local; // warning: [E0774] variable `local` is never used
    bit<8> set = 1; // warning: [E0774] variable `set` is assigned, but never read
    bit<8> _quiet;
    @noWarn("unused") bit<8> silent;
    action used(bit<8> _ignored) { bit<8> t; t = x; } // warning: [E0774] variable `t` is assigned, but never read
    @noWarn("unused-action") action kept() { }
    table runs { key = { x: exact; } actions = { used; data; NoAction; } }
    table idle { key = { x: exact; } actions = { NoAction; } } // warning: [E0771] table `idle`
    apply { set = 2; runs.apply(); i.apply(x, 1, 2); x = sum(x, 3); }
}
