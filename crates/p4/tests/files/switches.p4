enum E { A, B }
control c(inout bit<8> x, in E e, in bool[2] s) {
    action a() { } action b() { }
    table t { actions = { a; b; } }
    apply {
        switch (t.apply().action_run) { a: b: { x = 1; } default: { } }
        switch (x) { 1: 2: { } 8w3: { } default: { } }
        switch (e) { E.A: { } E.B: { } }
        switch (t.apply().action_run) { z: { } } // error: [E0736] no action of the table
        switch (t.apply().action_run) { a: { } a: { } } // error: [E0736] twice
        switch (t.apply().action_run) { default: { } a: { } } // error: [E0736] last
        switch (x) { 1: { } 1: { } } // error: [E0736] twice
        switch (x) { x: { } } // error: [E0740]
        switch (x) { true: { } } // error: [E0723]
        switch (s) { default: { } } // error: [E0723] what a switch goes by
        switch (t.apply()) { default: { } } // error: [E0723]
    }
}
