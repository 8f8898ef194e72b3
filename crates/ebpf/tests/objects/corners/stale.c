/* Pointers to values that are kept over deletes and updates, in maps that are full now and then. */
#include "corners.h"

struct value {
	__u64 a, b;
	__u32 c;
	__u8 d[3];
};
struct odd_key {
	__u8 k[7];
};
struct odd_value {
	__u8 a[13];
};

MAP(h, BPF_MAP_TYPE_HASH, __u32, struct value, 6, 0);
MAP(odd, BPF_MAP_TYPE_HASH, struct odd_key, struct odd_value, 5, 0);
MAP(one, BPF_MAP_TYPE_HASH, __u8, __u8, 1, 0);
MAP(array, BPF_MAP_TYPE_ARRAY, __u32, struct value, 5, 0);
MAP(lru, BPF_MAP_TYPE_LRU_HASH, __u32, struct value, 65536, 0);
MAP(ph, BPF_MAP_TYPE_PERCPU_HASH, __u32, struct value, 6, 0);
MAP(pa, BPF_MAP_TYPE_PERCPU_ARRAY, __u32, struct value, 5, 0);
MAP(lazy, BPF_MAP_TYPE_HASH, __u32, struct value, 6, BPF_F_NO_PREALLOC);

#define STALE(name, map, ktype, vtype, setkey, setvalue, get, put)		\
ENTRY(name)									\
{										\
	vtype *p = 0, *q = 0;							\
	RUN_SCRIPT(								\
	case 0: case 1: {							\
		ZEROED(ktype, k); setkey;						\
		p = bpf_map_lookup_elem(&map, &k);				\
		r = p ? get(p) : -1;						\
		break;								\
	}									\
	case 2: {								\
		ZEROED(ktype, k); setkey;						\
		q = bpf_map_lookup_elem(&map, &k);				\
		r = q ? get(q) : -1;						\
		break;								\
	}									\
	case 3: case 4: case 5: {						\
		ZEROED(ktype, k); ZEROED(vtype, v); setkey; setvalue;			\
		r = bpf_map_update_elem(&map, &k, &v, o->b % 8 > 3 ? 0 : o->b % 4); \
		break;								\
	}									\
	case 6: {								\
		ZEROED(ktype, k); setkey;						\
		r = bpf_map_delete_elem(&map, &k);				\
		break;								\
	}									\
	case 7: r = p ? get(p) : -2; break;					\
	case 8: r = q ? get(q) : -2; break;					\
	case 9: if (p) { put(p); } break;					\
	case 10: if (q) { put(q); } break;					\
	case 11: {	/* a value that is written from another value */	\
		ZEROED(ktype, k); setkey;						\
		if (p) r = bpf_map_update_elem(&map, &k, p, 0);			\
		break;								\
	}									\
	case 12: {	/* and from the entry itself */				\
		ZEROED(ktype, k); setkey;						\
		vtype *v = bpf_map_lookup_elem(&map, &k);			\
		if (v) r = bpf_map_update_elem(&map, &k, v, BPF_EXIST);		\
		break;								\
	}									\
	)									\
	return XDP_PASS;							\
}

#define KEY32 k = o->key % 9
#define VALUE v.a = o->x; v.b = (__u64)o->x << 32; v.c = o->a; v.d[2] = o->b
#define GET(p) ((p)->a ^ (p)->b ^ (p)->c ^ ((__u64)(p)->d[2] << 40))
#define PUT(p) r = __sync_fetch_and_add(&(p)->a, 1 + o->a); (p)->c = o->x; (p)->d[2]++

STALE(stale_hash, h, __u32, struct value, KEY32, VALUE, GET, PUT)
STALE(stale_array, array, __u32, struct value, KEY32, VALUE, GET, PUT)
STALE(stale_percpu_hash, ph, __u32, struct value, KEY32, VALUE, GET, PUT)
STALE(stale_percpu_array, pa, __u32, struct value, KEY32, VALUE, GET, PUT)

#define ODD_KEY k.k[0] = o->key % 3; k.k[6] = o->key % 4
#define ODD_VALUE v.a[0] = o->a; v.a[5] = o->x; v.a[12] = o->b
#define ODD_GET(p) ((p)->a[0] | (p)->a[5] << 8 | (p)->a[12] << 16)
#define ODD_PUT(p) (p)->a[12] += o->a; (p)->a[5] ^= o->x
STALE(stale_odd, odd, struct odd_key, struct odd_value, ODD_KEY, ODD_VALUE, ODD_GET, ODD_PUT)
#define ONE_GET(p) (*(p))
#define ONE_PUT(p) *(p) += o->a
STALE(stale_one, one, __u8, __u8, k = o->key % 3, v = o->a, ONE_GET, ONE_PUT)

/* Without preallocation memory goes back to the allocator, and a kernel's LRU map takes free slots
   by lists and batches of its own: there values are used at once. */
#define CHURN(name, map)						\
ENTRY(name)								\
{									\
	RUN_SCRIPT(							\
	case 0: case 1: case 2: case 3: {				\
		__u32 k = o->key % 9;					\
		ZEROED(struct value, v);				\
		VALUE;							\
		r = bpf_map_update_elem(&map, &k, &v, o->b % 4);	\
		break;							\
	}								\
	case 4: case 5: case 6: {					\
		__u32 k = o->key % 9;					\
		struct value *p = bpf_map_lookup_elem(&map, &k);	\
		if (p) {						\
			PUT(p);						\
		}							\
		break;							\
	}								\
	case 7: case 8: {						\
		__u32 k = o->key % 9;					\
		r = bpf_map_delete_elem(&map, &k);			\
		break;							\
	}								\
	)								\
	return XDP_PASS;						\
}

CHURN(churn_lazy, lazy)
CHURN(churn_lru, lru)
