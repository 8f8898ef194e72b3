// Text in quotes may go over lines, as restrictions of entries do.
extern void log(string words);
control c() {
    @restriction("
        // 'a' is not 0
        a != 0;
    ") action a() { }
    apply {
        log("one
two");
        a();
        unknown(); // error: [E0720] `unknown`
    }
}
