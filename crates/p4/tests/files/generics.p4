struct P<T> { T a; T b; }
header H<T> { T x; }
struct Q { P<bit<8>> p; H<bit<16>>[2] h; }
typedef P<bool> PB;
extern bit<8> first<T>(in P<T> p);
control c(inout Q q, out bit<8> o) {
    apply {
        q.p = { 1, 2 }; q.p.a = 3; PB b = { true, false }; o = first(q.p); o = first<bool>(b); q.h[0].x = 16w1;
        P x; // error: [E0728] takes 1
        P<bit<8>, bool> y; // error: [E0728] takes 1
        H<bool> z = { true };
        H<int> w; // error: [E0730] a field of a header
        Q<bit<8>> v; // error: [E0728] takes 0
        o = first(3); // error: [E0723]
        b = q.p; // error: [E0723]
    }
}
