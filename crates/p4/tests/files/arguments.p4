extern void f(in bit<8> a, in bit<8> b = 4, @optional in bit<8> c);
extern void g(in bit<8> a);
extern void g(in bit<8> a, in bit<8> b);
extern void constant(bit<8> a);
control c(inout bit<8> x) {
    apply {
        f(1); f(1, 2); f(b = 1, a = x); f(1, 2, 3);
        f(); // error: [E0726] `a`
        f(1, 2, 3, 4); // error: [E0726] found 4 arguments
        f(1, b = 2); // error: [E0726] all arguments have names or none
        f(a = 1, a = 2); // error: [E0726] given twice
        f(a = 1, d = 2); // error: [E0726] no parameter `d`
        g(1); g(1, 2);
        g(1, 2, 3); // error: [E0726] it takes 1 or 2
        constant(5);
        constant(x); // error: [E0740] needs, for it has no direction
        nothing(1); // error: [E0720] nothing
        x(1); // error: [E0722] a variable
    }
}
extern void both(@optional in bit<8> x = 0); // error: [E0731] @optional
