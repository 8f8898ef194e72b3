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
