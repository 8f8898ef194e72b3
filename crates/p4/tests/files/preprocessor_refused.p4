#define F(x) x
#nonsense // error: [E0702] nonsense
#if 1 + // error: [E0702] end of the line
#endif
#include missing // error: [E0702]
#include "not/there.p4" // error: [E0700] not/there.p4
#error in words // error: [E0703] in words
const bit<8> x = F(1, 2); // error: [E0704] found 2 arguments
#else // error: [E0702] without
#ifdef X // error: [E0702] no `#endif`
