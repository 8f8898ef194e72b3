enum E { A, B }
enum bit<4> F { A = 1, B = 2, C = 3 }
enum bit<4> Ref { a = 1, b = a, c = (bit<4>)b + 1 }
enum bit<4> G { A } // error: [E0707] a value
enum H { A = 1 } // error: [E0707] without value
enum bool I { A = true } // error: [E0730] bit<W>
control c(inout F f, out bit<4> x, out E e) {
    apply {
        e = E.A; x = f; x = F.B; f = (F)x; bool t = f == F.A && e != E.B && f == 3;
        bit<2> part = 4w5[F.C:F.B]; x = x << f; x = -f; part = f[1:0]; x = f | 3;
        e = E.C; // error: [E0729] `C`
        f = 3; // error: [E0723]
        x = E.A; // error: [E0723]
        t = e == f; // error: [E0724]
        e = (E)1; // error: [E0725]
    }
}
