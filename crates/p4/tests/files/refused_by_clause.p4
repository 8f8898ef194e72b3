// What the specification forbids, by its sections; each was accepted once.
error { NoError }
match_kind { exact, lpm, ternary, range }
match_kind { exact } // error: [E0721] match kind `exact`
action NoAction() { }

// 6.8, 8.3: a parameter has another name than a type parameter.
extern void generic<T>(in bit<8> T); // error: [E0721] `T`
// 7.2.1: what represents an enum, and which numbers it holds.
enum bit<8> Wide { first = 1, last = 300 } // error: [E0741] 300
enum int<4> Signed { least = -8, most = 8 } // error: [E0741] what int<4> holds
type bit<8> new_t;
enum new_t Made { one = 1 } // error: [E0730] bit<W> and int<W>
enum bit<4> Kept { fifteen = 15, low = 4w17 }
// 7.2.5, 7.2.9: what stands in what.
header H { bit<8> a; }
struct Nested { H[2][3] stacks; } // error: [E0730] an element of a stack
struct Errors { error[4] all; } // error: [E0730] an element of a stack
struct Kinds { match_kind kind; } // error: [E0730] types of values
struct Lists { list<bit<8>> all; } // error: [E0730] types of values
struct Whole { tuple<int, bit<8>> both; } // error: [E0730] an element of a tuple
struct Words { tuple<string> words; } // error: [E0730] an element of a tuple
struct Good { bit<8>[2][3] arrays; varbit<8>[2] varying; tuple<error> e; }
typedef string text_t; // error: [E0730] what a name is given to
typedef match_kind kind_t; // error: [E0730] what a name is given to
type varbit<8> varying_t; // error: [E0730] bit<W>, int<W>, bool
type Wide renamed_t; // error: [E0730] bit<W>, int<W>, bool
// 7.2.10: an abstract method is told by its name.
extern Abstract { Abstract(); abstract void f(in bit<8> x); abstract void f(in bit<8> x, in bit<8> y); } // error: [E0721] `f`

// 8.5, 8.6, 8.8: what is divided by, and how far a stack is moved.
control arithmetic(inout bit<8> a, in bit<8> b, inout H[4] s)(bit<8> c) {
    apply {
        a = a / 3; a = a % c; a = a / (bit<8>)2;
        a = a / b; // error: [E0740] `b`
        a = 200 % b; // error: [E0740] `b`
        a /= a; // error: [E0740] `a`
        s.push_front(1);
        s.push_front(0); // error: [E0741] 1 to
        s.pop_front(-1); // error: [E0741] 1 to
    }
}
// 8.22: values of a type parameter are assigned, and no more.
bool same<T>(in T a, in T b) { return a == b; } // error: [E0724] ==
// 9: what has a size.
enum Plain { A, B }
const int sized = Wide.minSizeInBits();
const int plain = Plain.minSizeInBits(); // error: [E0729] minSizeInBits
const int errors = error.minSizeInBits(); // error: [E0729] minSizeInBits
// 6.7: without direction a value is known before.
void known(in bit<8> a, bit<8> b) { }
control callee(in bit<8> a, bit<8> b) { apply { } }
control caller(in bit<8> x) {
    callee() it;
    apply {
        known(x, 1); it.apply(x, 2);
        known(1, x); // error: [E0740] no direction
        it.apply(x, x); // error: [E0740] no direction
    }
}
// 13.4: no loops in parsers. 13.8: packets are read in parsers.
extern packet_in { void extract<T>(out T h); void advance(in bit<32> bits); T lookahead<T>(); bit<32> length(); }
parser loops(packet_in p, out H h) {
    state start {
        p.extract(h);
        for (bit<8> i in 8w0 .. 3) { } // error: [E0709] in a state
        transition accept;
    }
}
control reads(packet_in p, inout H h) {
    apply {
        bit<32> n = p.length();
        p.extract(h); // error: [E0739] in `apply`
        p.advance(8); // error: [E0739] in `apply`
        h = p.lookahead<H>(); // error: [E0739] in `apply`
    }
}
// 13.11: what a value set holds.
parser sets(in bit<8> a) {
    value_set<Wide>(4) good;
    value_set<Plain>(4) bad; // error: [E0730] what a value set holds
    value_set<bool>(4) flags; // error: [E0730] what a value set holds
    state start { transition select(a) { _: accept; } }
}
