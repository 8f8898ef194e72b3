match_kind { exact, ternary, lpm, range, optional }
action n() { }
action d(bit<8> v) { }
action o() { }
control c(inout bit<8> x, inout bit<16> y) {
    table braces { key = { x: exact; } actions = { n; } const entries = { { 4w1 ++ 4w2 }: n(); } }
    table braced { key = { x: exact; y: exact; } actions = { n; } const entries = { { 1, _ }: n(); } }
    table count { key = { x: exact; y: exact; } actions = { n; } const entries = { (1): n(); } } // error: [E0723]
    table width { key = { x: exact; } actions = { n; } const entries = { 16w1: n(); } } // error: [E0723]
    table nokey { actions = { n; } const entries = { 1: n(); } } // error: [E0732] no key
    table masks { key = { x: exact; } actions = { n; } const entries = { 1 &&& 3: n(); } } // error: [E0734] found a value and a mask
    table spans { key = { x: exact; } actions = { n; } entries = { 1 .. 3: n(); } } // error: [E0734] found a range, expected one value
    table whole { key = { x: optional; } actions = { n; } const entries = { 1 &&& 0xff: n(); } } // error: [E0734] an entry of optional
    table spell { key = { x: optional; y: ternary; } actions = { n; } const entries = { (1 .. 3, _): n(); } } // error: [E0734] an entry of optional
    table fitting { key = { x: ternary; y: optional; } actions = { n; } const entries = { (1 &&& 3, _): n(); (_, 3): n(); } }
    table runs { key = { x: exact; } actions = { n; } const entries = { x: n(); } } // error: [E0740] as entries
    table range { key = { x: range; } actions = { n; } const entries = { 5 .. 3: n(); } }
    table which { key = { x: exact; } actions = { n; } const entries = { 1: d(3); } } // error: [E0733] not among
    table data { key = { x: exact; } actions = { d; } const entries = { 1: d(); } } // error: [E0726] `v`
    table marked { key = { x: exact; } actions = { @defaultonly n; o; } const entries = { 1: n(); } } // error: [E0733] @defaultonly
    table only { actions = { @tableonly n; } default_action = n(); } // error: [E0733] @tableonly
    table sized { actions = { n; } size = x; } // error: [E0740]
    table three { key = { x: exact; y: exact; } actions = { n; } const entries = { (1, 2, 3): n(); } } // error: [E0734]
    table prefixes { key = { x: lpm; } actions = { n; } const entries = { 0x10 &&& 0xf0: n(); 0 &&& 0: n(); 3 &&& 0xff: n(); } }
    table nopre { key = { x: lpm; } actions = { n; } const entries = { 0x10 &&& 0x0f: n(); } } // error: [E0734] ones behind zeros
    table wide { key = { x: lpm; } actions = { n; } const entries = { 0x100: n(); } }
    table wide2 { key = { x: lpm; } actions = { n; } const entries = { 0 &&& 0x1ff: n(); } }
    apply { }
}
