// An action's parameters without direction stand last, and are read only.
action good(inout bit<8> x, in bit<8> y, bit<8> z) { x = y + z; }
action order(bit<8> z, inout bit<8> x) { x = z; } // error: [E0731] stand behind
action writes(bit<8> z) { z = 1; } // error: [E0727] without direction
action whole(int x) { } // error: [E0731] with a size
extern X { }
action object(X x) { } // error: [E0731] with a size
