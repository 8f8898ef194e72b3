extern E { E(); abstract bit<8> f(in bit<8> x); bit<8> run(in bit<8> x); }
extern O { O(); @optional abstract bit<8> f(in bit<8> x); }
control d() { O() without; apply { } }
extern Q { Q(); abstract void f(inout bit<8> x, @optional out bit<8> y); }
control e() {
    Q() one = { void f(inout bit<8> x) { x = 1; } };
    Q() both = { void f(inout bit<8> x, out bit<8> y) { y = x; } };
    Q() three = { // error: [E0738] does not implement f
        void f(inout bit<8> x, out bit<8> y, in bit<8> z) { y = x; } // error: [E0738] no abstract method
    };
    apply { }
}
control c(inout bit<8> x) {
    bit<8> more = 1;
    E() good = { bit<8> f(in bit<8> v) { return v + more; } };
    E() named = { bit<8> f(in bit<8> x) { return this.run(x) + more; } };
    E() none; // error: [E0738] does not implement f
    E() types = { bit<16> f(in bit<8> x) { return 1; } }; // error: [E0738] other types
    E() other = { bit<8> f(in bit<8> x) { return x; } bit<8> run(in bit<8> x) { return x; } }; // error: [E0738] no abstract method `run`
    apply { x = named.run(x); }
}
package P(E e);
P(E()) p; // error: [E0738] does not implement f
