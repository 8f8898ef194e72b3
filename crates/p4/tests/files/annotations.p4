const int SIX = 6;
@number(3) @empty[] @list[1, "text", true, 1 == 2, SIX + 1] @pairs[a = 1, b = "two"] @any(words of * any < kind)
control c() { @name("x") action a() { } @pragma old style of words
    action b() { } apply { @here { } } }
@pairs[a = 1, a = 2] // error: [E0721] `a`
const int A = 1;
@list[missing] // error: [E0720]
const int B = 1;
@name(word) // error: [E0707] in quotes
const int C = 1;
@name("two" "texts") // error: [E0707] in quotes
const int C2 = 1;
@name("one" ++) // error: [E0707] in quotes
const int C3 = 1;
@name("one" ++ "_" ++ "two")
const int C4 = 1;
@two[1] @two[2] // error: [E0721] @two
const int D = 1;
@mixed(1) @mixed[2] // error: [E0721] @mixed
const int E = 1;
@types[a = { 1, 2 }] // error: [E0723] bool or string
const int F = 1;
@twice(1) @twice(2)
const int G = 1;
match_kind { exact }
struct matched_t { @match(exact) bit<8> a; @match(1 + 1) bit<8> b; } // error: [E0734] match kind
