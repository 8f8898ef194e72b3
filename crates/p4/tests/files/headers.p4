struct Flat { bit<4> a; bit<4> b; }
enum bit<8> E { A = 1 }
enum F { A }
type bit<8> N;
header Inner { bit<8> a; }
header Good { bit<8> a; int<8> b; bool c; E d; varbit<32> v; Flat f; N n; bit<8>[4] arr; }
struct Many { bit<16> a; bit<8>[4] b; }
header Arrays { Many[2] m; E[3] e; bit<8>[2][2] two; }
header Int { int a; } // error: [E0730]
header Enum { F a; } // error: [E0730]
header Nested { Inner a; } // error: [E0730]
header Text { string a; } // error: [E0730]
header Stack { Inner[2] a; } // error: [E0730]
header Err { error a; } // error: [E0730]
header_union U { Inner a; Good b; }
header_union V { bit<8> a; } // error: [E0730] headers
struct Objects { Int2 a; } // error: [E0720]
struct Whole { int a; } // error: [E0730]
struct Itself { Itself a; } // error: [E0720]
