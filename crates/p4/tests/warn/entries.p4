// Entries and cases that never match.
match_kind { exact, ternary, lpm, range }
action NoAction() { }
action a() { }
enum bit<8> Kind { one = 1, two = 2 }
control c(in bit<8> x, in bit<8> y, in Kind k) {
    table twice { key = { x: exact; } actions = { a; } const entries = {
        1: a();
        2: a();
        8w1: a(); // warning: [E0783] this entry never matches
    } }
    table masks { key = { x: ternary; y: ternary; } actions = { a; } const entries = {
        (0x10 &&& 0xf0, _): a();
        (0x12, 3): a(); // warning: [E0783]
        (0x10 &&& 0xff, 1 &&& 3): a(); // warning: [E0783]
        (_, 4): a();
        (0x20, 4): a(); // warning: [E0783]
        _: a();
        (1, 1): a(); // warning: [E0783]
    } }
    table prefixes { key = { x: lpm; } actions = { a; } const entries = {
        0x10 &&& 0xf0: a();
        0x12: a();
        0 &&& 0: a();
        0x1f &&& 0xf0: a(); // warning: [E0783]
    } }
    table ranges { key = { x: range; } actions = { a; } const entries = {
        1 .. 9: a();
        3 .. 5: a(); // warning: [E0783]
        8 .. 10: a();
        9 .. 3: a(); // warning: [E0783] its range ends before it begins
        20 .. 30: a();
    } }
    table annotated { key = { x: ternary; } actions = { a; } const entries = {
        _: a() @priority(10);
        7: a() @priority(1);
        8: a() @priority(11); // warning: [E0783]
    } }
    table in_order { key = { x: lpm; } actions = { a; } const entries = {
        7: a() @priority(10);
        7: a() @priority(1); // warning: [E0783]
    } }
    table ordered { key = { x: ternary; } actions = { a; } entries = {
        priority = 1: 1: a(); // warning: [E0783]
        priority = 5: _: a();
        priority = 9: 2: a();
    } }
    table least { key = { x: ternary; } actions = { a; } largest_priority_wins = false; entries = {
        priority = 1: 1: a();
        priority = 5: _: a();
        priority = 9: 2: a(); // warning: [E0783]
    } }
    table named { key = { k: exact; } actions = { a; } const entries = { Kind.one: a(); Kind.two: a(); } }
    apply { twice.apply(); masks.apply(); prefixes.apply(); ranges.apply(); ordered.apply(); least.apply(); annotated.apply(); in_order.apply(); named.apply(); }
}
parser p(in bit<8> x, in bit<8> y) {
    value_set<bit<8>>(4) set;
    state start { transition select(x) {
        set: accept;
        1: next;
        set: accept;
        1: accept; // warning: [E0783] this case never matches
        _: accept;
        2: next; // warning: [E0783] this case never matches
        9 .. 3: next; // warning: [E0783] its range ends before it begins
    } }
    state next { transition select(x, y) { (1, _): accept; (1, 2): reject; default: accept; } } // warning: [E0783] this case
}
