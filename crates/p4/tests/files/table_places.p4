match_kind { exact }
control c(inout bit<8> x) {
    action n() { }
    table t { actions = { n; } }
    action a() { t.apply(); } // error: [E0739] in an action
    table k { key = { t.apply().hit: exact @name("h"); } actions = { n; } }
    apply {
        t.apply();
        t(); // error: [E0722] a table
    }
}

