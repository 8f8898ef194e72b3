// Types of a kernel of the tests' own: what core_asks.c asks of has other places, widths and names here.
typedef unsigned int u32;
typedef unsigned long long u64;
typedef unsigned char u8;

struct moved { u64 before; u32 b; int a; u32 many[8]; };
struct wider { u8 before; u64 number; long with_sign; struct moved *pointer; };
struct bits { u32 before : 7; u32 low : 3; int high : 9; };
struct inside { u32 pad; union { struct { u32 pad2; u32 deep; }; u64 both; }; };
struct same { u32 x; struct { u32 y; } in; };
struct other { u64 x; };
struct more { u32 x; u32 y; u32 z; };
enum choice { FIRST = 3, SECOND = 77, THIRD = -1 };
enum wide { LARGE = 0x123456789abcULL };
typedef u32 number_t;
struct open { u32 count; u32 items[]; };

struct moved moved; struct wider wider; struct bits bits; struct inside inside; struct same same; struct other other;
struct more more; enum choice choice; enum wide wide; number_t number; struct open open_end;
