// Mistakes of the grammar are all found.
struct A { bit<8> a bit<8> b; } // error: [E0707] `;`
const bit<8> = 3; // error: [E0707] the name of a constant
control c( { apply { } } // error: [E0707]
control d() { apply { x = ; } } // error: [E0707] an expression
bit<8> variable; // error: [E0707] no variables outside
header h { bit<8> state; bit<8> type; bit<8> key; bit<8> apply; bit<8> list; }
const bit<8> control = 3; // error: [E0707] no word of the language
control e() { inner() i; apply { inner() j; } } // error: [E0707] an instance is declared before
action n(inout bit<8> x) { x + 1 = 3; } // error: [E0707]
action a(bit<8> x) { if (x == 1) bit<8> y; } // error: [E0707] stands in braces
parser p() { state start { transition accept; x = 1; } } // error: [E0707] behind the transition
const bit<-1> w = 1; // error: [E0707] in parentheses
action loop(inout bit<8> x) { bit<8> k; for (k in 8w1 .. 8w3) x = k; } // error: [E0707] found `in`
const h parted = { # }; // error: [E0707] found `#`
const h invalid = {#};
#define TRICK 'a'
const bit<8> q = TRICK; // error: [E0705] begins no word
