/* Longest prefix match with all prefix lengths and with keys of odd sizes. */
#include "corners.h"

struct key4 { __u32 bits; __u8 a[4]; };
struct key16 { __u32 bits; __u8 a[16]; };
struct key1 { __u32 bits; __u8 a[1]; } __attribute__((packed));
struct key3 { __u32 bits; __u8 a[3]; } __attribute__((packed));
struct key9 { __u32 bits; __u8 a[9]; } __attribute__((packed));

MAP(t4, BPF_MAP_TYPE_LPM_TRIE, struct key4, __u32, 40, BPF_F_NO_PREALLOC);
MAP(t16, BPF_MAP_TYPE_LPM_TRIE, struct key16, __u64, 100, BPF_F_NO_PREALLOC);
MAP(t1, BPF_MAP_TYPE_LPM_TRIE, struct key1, __u8, 20, BPF_F_NO_PREALLOC);
MAP(t3, BPF_MAP_TYPE_LPM_TRIE, struct key3, __u32, 12, BPF_F_NO_PREALLOC);
MAP(t9, BPF_MAP_TYPE_LPM_TRIE, struct key9, __u32, 60, BPF_F_NO_PREALLOC);

/* Few bits differ, so that prefixes lie in each other; `more` allows lengths beyond the key. */
#define TRIE(name, map, ktype, vtype, bytes)						\
ENTRY(name)										\
{											\
	RUN_SCRIPT(									\
	case 0: case 1: case 2: case 3: case 4: case 5: case 6: case 7: case 8: {	\
		ktype k = { .bits = o->a % (bytes * 8 + 2) };				\
		_Pragma("unroll") for (int n = 0; n < bytes; n++)			\
			k.a[n] = (o->key >> n % 8 & 1) ? 0xff : 0;			\
		k.a[0] ^= o->b & 0x81; 							\
		k.a[bytes - 1] ^= o->b & 3;						\
		vtype v = o->x;								\
		if (o->code < 4)							\
			r = bpf_map_update_elem(&map, &k, &v, o->x & 3);		\
		else if (o->code < 5)							\
			r = bpf_map_delete_elem(&map, &k);				\
		else {									\
			vtype *p;							\
			if (o->code > 6)						\
				k.bits = bytes * 8;					\
			p = bpf_map_lookup_elem(&map, &k);				\
			r = p ? *p : -1;						\
			if (p)								\
				*p += 1;						\
		}									\
		break;									\
	}										\
	)										\
	return XDP_PASS;								\
}

TRIE(trie4, t4, struct key4, __u32, 4)
TRIE(trie16, t16, struct key16, __u64, 16)
TRIE(trie1, t1, struct key1, __u8, 1)
TRIE(trie3, t3, struct key3, __u32, 3)
TRIE(trie9, t9, struct key9, __u32, 9)
