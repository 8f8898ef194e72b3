extern X { X(); }
control inner() { apply { } }
package P(inner i);
control c() {
    X() good;
    inner() i;
    P(inner()) p; // error: [E0739]
    action a() { bit<8> x; }
    apply { i.apply(); }
}
parser q() { inner() i; state start { } } // error: [E0739] among the declarations of a parser
X() top;
inner() wrong; // error: [E0739]
bit<8> plain() { return 0; }
