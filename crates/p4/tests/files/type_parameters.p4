extern X<D> { void f<D>(in D d); }
package S<T, T>(); // error: [E0721] `T`
extern void g<T>(in T t);
struct P<T> { T a; }
extern N<T> { N(); T get(); }
control c(in N<bit<8>> n) { apply { } } // error: [E0731] no direction
control d(N n) { apply { } } // error: [E0728] takes 1
typedef P<bit<8>> p_t;
const P<_> q = { 1 }; // error: [E0730] told whole
extern void two<T>(in tuple<T> t);
control e() {
    apply {
        two<bit<8>>({ 1 });
        two<void>({ 1 }); // error: [E0723]
    }
}
extern P lacks(); // error: [E0728] takes 1
extern P<bit<8>> has();
struct R {
    P<P> p; // error: [E0728] takes 1
    tuple<bit<8>, P> q; // error: [E0728] takes 1
    P<P<bool>> r;
}
extern O { O(list<P> l); } // error: [E0728] takes 1
extern void some<T>();
action calls() {
    some<P<bit<8>>>();
    some<P>(); // error: [E0728] takes 1
}
typedef P none; // error: [E0728] takes 1
extern In<T> { In(); void put(in T t); }
extern Plain<T> { Plain(); void put(T t); }
control objects() {
    In<bit<8>>() one;
    In<In<bit<8>>>() two; // error: [E0730] with a direction
    Plain<In<bit<8>>>() three;
    apply { }
}
