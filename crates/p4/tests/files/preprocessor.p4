#define TYPE bit<8>
#define ADD(a, b) ((a) + (b))
#define NAME(x) v_ ## x
#define TEXT(x) #x
#if defined(TYPE) && !defined(NONE) && ADD(1, 2) == 3
const TYPE NAME(one) = ADD(1, 2);
#else
what is not read may be anything: ' " /* */
#endif
#ifndef TYPE
also this
#elif 1 < 2
const TYPE two = v_one;
#endif
#undef TYPE
#ifdef TYPE
never
#endif
@name(TEXT(a "b")) action a() { }
const bit<8> bad = ADD(1, true); // error: [E0724]
