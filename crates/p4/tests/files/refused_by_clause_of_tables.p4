// What the specification forbids of tables and names, by its sections; each was accepted once.
match_kind { exact, lpm, ternary, range }
action NoAction() { }
enum bit<8> Wide { first = 1 }
enum Plain { A, B }
type bit<8> new_t;
// 14.2: keys, actions, entries and their priorities.
action a() { }
action b(bit<8> v) { }
control tables(inout bit<8> x, in bool t, in error e, in Plain p, in Wide w, in new_t n) {
    action c() { }
    table numbers { key = { x: lpm; w: range; n: range; } actions = { c; } }
    table flag { key = { t: lpm; } actions = { c; } } // error: [E0734] it compares numbers
    table failure { key = { e: range; } actions = { c; } } // error: [E0734] it compares numbers
    table member { key = { p: lpm; } actions = { c; } } // error: [E0734] it compares numbers
    table before { entries = { 1: c(); } key = { x: exact; } actions = { c; } } // error: [E0732] `entries` stand behind `key`
    table named { key = { x: exact @name("k"); t: exact @name("k"); } actions = { c; } } // error: [E0745] key `k`
    table delta { key = { x: ternary; } actions = { c; } priority_delta = -1; } // error: [E0741] 1 and more
    table step { key = { x: ternary; } actions = { c; } priority_delta = 0; } // error: [E0741] 1 and more
    table runs { key = { x: ternary; } actions = { c; } priority_delta = x; } // error: [E0740] `priority_delta`
    table wins { key = { x: ternary; } actions = { c; } largest_priority_wins = 1; } // error: [E0723] `largest_priority_wins`
    table late { key = { x: ternary; } actions = { c; } largest_priority_wins = t; } // error: [E0740] `largest_priority_wins`
    table ordered { key = { x: ternary; } actions = { c; } const entries = { priority = 1: 1: c(); } } // error: [E0732] none is given
    table first { key = { x: ternary; } actions = { c; } entries = { 1: c(); priority = 1: 2: c(); } } // error: [E0732] the first one
    table less { actions = { c; } size = -1; } // error: [E0741] 0 and more
    table below { key = { x: ternary; } actions = { c; } priority_delta = 100; entries = { priority = 3: 5: c(); 6: c(); } } // error: [E0741] is -97
    table above { key = { x: ternary; } actions = { c; } largest_priority_wins = false; entries = { priority = 2147483647: 5: c(); 6: c(); } } // error: [E0741] is 2147483648
    table unordered { key = { x: exact; x: lpm @name("l"); } actions = { c; } entries = { priority = 4: (5, _): c(); } } // error: [E0732] exact or prefixes
    table good { key = { x: ternary; } actions = { c; } priority_delta = 10; largest_priority_wins = false; entries = { priority = 3: 1: c(); 2: c(); } }
    table redundant { key = { x: exact; } actions = { c; } const entries = { const 1: c(); 2: c(); } }
    apply { }
}
control hides(in bit<8> x) {
    action a() { }
    table t { actions = { a; .a; } } // error: [E0733] an action of that name
    apply { }
}
// 15.2: what is applied twice without an instance has its names twice.
control owner() { table t { actions = { a; } } apply { t.apply(); } }
control plain_one() { apply { } }
control applies() {
    apply {
        plain_one.apply(); plain_one.apply();
        owner.apply();
        owner.apply(); // error: [E0745] `owner`
    }
}
// 18.3: names for the control plane, of whatever has one.
extern Counter { Counter(bit<32> size); }
control counts() {
    @name("one") Counter(8) first;
    @name("two") Counter(8) third;
    @name table t { actions = { a; } } // error: [E0707] a name in parentheses
    apply { }
}
