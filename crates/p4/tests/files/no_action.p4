// A table without default action runs `NoAction`.
action NoAction(bit<8> x) { }
action n() { }
control c() {
    table named { actions = { n; } default_action = n(); }
    table implicit { actions = { n; } } // error: [E0732] NoAction
    apply { }
}
