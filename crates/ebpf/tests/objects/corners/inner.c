/* Maps in maps, exchanged by user space between packets. */
#include "corners.h"

struct inner_hash {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 8);
	__type(key, __u32);
	__type(value, __u64);
};
struct inner_array {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 4);
	__uint(map_flags, BPF_F_INNER_MAP);
	__type(key, __u32);
	__type(value, __u64);
};
struct inner_hash h0 SEC(".maps"), h1 SEC(".maps");
MAP(h2, BPF_MAP_TYPE_HASH, __u32, __u64, 3, 0);
MAP(h3, BPF_MAP_TYPE_HASH, __u32, __u64, 8, BPF_F_NO_PREALLOC);
MAP(h4, BPF_MAP_TYPE_HASH, __u32, __u32, 8, 0);
struct inner_array a0 SEC(".maps");
MAP(a1, BPF_MAP_TYPE_ARRAY, __u32, __u64, 1, BPF_F_INNER_MAP);
MAP(a2, BPF_MAP_TYPE_ARRAY, __u32, __u64, 9, BPF_F_INNER_MAP);
MAP(a3, BPF_MAP_TYPE_ARRAY, __u32, __u64, 4, 0);

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 4);
	__type(key, __u32);
	__array(values, struct inner_hash);
} by_index SEC(".maps") = { .values = { [1] = &h0, [2] = &h1 } };

struct {
	__uint(type, BPF_MAP_TYPE_HASH_OF_MAPS);
	__uint(max_entries, 3);
	__type(key, __u32);
	__array(values, struct inner_array);
} by_key SEC(".maps") = { .values = { [2] = &a0 } };

ENTRY(inner)
{
	void *kept = 0;
	RUN_SCRIPT(
	case 0: case 1: {
		__u32 k = o->b % 5, i = o->key % 10;
		__u64 v = o->x;
		void *m = bpf_map_lookup_elem(&by_index, &k);
		if (!m) { r = -100; break; }
		r = bpf_map_update_elem(m, &i, &v, o->a % 3);
		break;
	}
	case 2: {
		__u32 k = o->b % 5, i = o->key % 10;
		void *m = bpf_map_lookup_elem(&by_index, &k);
		if (!m) { r = -100; break; }
		__u64 *p = bpf_map_lookup_elem(m, &i);
		if (p) r = __sync_fetch_and_xor(p, o->x);
		break;
	}
	case 3: {
		__u32 k = o->b % 5, i = o->key % 10;
		void *m = bpf_map_lookup_elem(&by_index, &k);
		if (!m) { r = -100; break; }
		r = bpf_map_delete_elem(m, &i);
		break;
	}
	case 4: case 5: {
		__u32 k = o->b % 5, i = o->key % 10;
		__u64 v = o->x;
		void *m = bpf_map_lookup_elem(&by_key, &k);
		if (!m) { r = -100; break; }
		r = bpf_map_update_elem(m, &i, &v, o->a % 3);
		break;
	}
	case 6: case 7: {
		__u32 k = o->b % 5, i = o->key % 10;
		void *m = bpf_map_lookup_elem(&by_key, &k);
		if (!m) { r = -100; break; }
		__u64 *p = bpf_map_lookup_elem(m, &i);
		r = p ? *p : -1;
		if (p) *p += o->a;
		break;
	}
	case 8: { __u32 k = o->b % 5; kept = bpf_map_lookup_elem(&by_key, &k); break; }
	case 9: if (kept) { __u32 i = o->key % 10; __u64 *p = bpf_map_lookup_elem(kept, &i); r = p ? *p : -3; } break;
	)
	return XDP_PASS;
}
