control C();
package P(C c);
control good()(C inner) { apply { inner.apply(); } }
control bad(C inner) { apply { } } // error: [E0731] cannot be
control worse()(P p) { apply { } } // error: [E0731] cannot be
void f(C c) { } // error: [E0731] cannot be
void g<T>(T t) { }
control plain() { apply { } }
control d() {
    plain() p;
    good(p) q;
    apply { q.apply(); g(p); } // error: [E0723] a value
}
extern W { W(C c); } // error: [E0731] cannot be
control whole()(plain inner) { apply { inner.apply(); } } // error: [E0731] no type
