package P(@optional bit<8> a);
parser R(@optional in bit<8> a);
control C(in bit<8> b, @optional in bit<8> a);
extern void f(@optional in bit<8> a);
extern E { E(@optional bit<8> a); void g(@optional in bit<8> a); }
control d(in bit<8> b) { apply { f(); f(b); } }
package top(C c);
top(d()) main;
control made()(@optional bit<8> a) { apply { } } // error: [E0731] what is extern
parser taken()(bit<8> b, @optional bit<8> a) { state start { } } // error: [E0731] what is extern
action n(@optional bit<8> a) { } // error: [E0731] what is extern
bit<8> h(@optional in bit<8> a) { return a; } // error: [E0731] what is extern
