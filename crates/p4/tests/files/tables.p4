match_kind { exact, ternary, range }
action n() { }
action d(bit<8> v) { }
action m(inout bit<8> x, bit<8> v) { x = v; }
const int SIZE = 16;
control c(inout bit<8> x, inout bit<16> y) {
    table good {
        key = { x: exact; y: ternary @name("y"); }
        actions = { n; d; m(x); }
        default_action = m(x, 3);
        size = SIZE * 2;
        const entries = { (1, 5 &&& 7): n(); (2, _): d(8); (3, 4): m(x, 1) @name("e"); _: n; }
    }
    table prio { key = { x: range; } actions = { n; } entries = { const priority = 10: 1 .. 3: n(); priority = 5: _: n(); } }
    table noactions { key = { x: exact; } } // error: [E0732] no `actions`
    table twice { actions = { n; } actions = { n; } } // error: [E0721]
    table unlisted { actions = { n; } default_action = d(1); } // error: [E0733] not among
    table data { actions = { d; } default_action = d(); } // error: [E0726] `v`
    table running { actions = { d; } default_action = d(x); } // error: [E0740] data of an action
    table before { default_action = n(); actions = { n; } } // error: [E0732] stands behind
    table listed { actions = { d(3); } } // error: [E0726] found 1 arguments
    table directed { actions = { m; } } // error: [E0726] `x`
    table again { actions = { n; n; } } // error: [E0733] already
    apply { good.apply(); if (good.apply().hit) { } bool h = good.apply().miss; }
}
