/* Maps of maps of every kind that real programs put there, and callbacks over an inner map. */
#include "corners.h"

#define OUTER(outer, inner)					\
	struct {						\
		__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);	\
		__uint(max_entries, 3);				\
		__type(key, __u32);				\
		__array(values, struct inner);			\
	} outer SEC(".maps")

struct prefix { __u32 bits; __u8 a[4]; };
struct lru { __uint(type, BPF_MAP_TYPE_LRU_HASH); __uint(max_entries, 65536); __type(key, __u32); __type(value, __u64); } lru0 SEC(".maps"), lru1 SEC(".maps");
struct trie { __uint(type, BPF_MAP_TYPE_LPM_TRIE); __uint(max_entries, 8); __uint(map_flags, BPF_F_NO_PREALLOC); __type(key, struct prefix); __type(value, __u64); } trie0 SEC(".maps"), trie1 SEC(".maps");
struct ring { __uint(type, BPF_MAP_TYPE_RINGBUF); __uint(max_entries, 4096); } ring0 SEC(".maps");
struct { __uint(type, BPF_MAP_TYPE_RINGBUF); __uint(max_entries, 8192); } ring1 SEC(".maps");
struct cpus { __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY); __uint(max_entries, 4); __type(key, __u32); __type(value, __u64); } cpus0 SEC(".maps"), cpus1 SEC(".maps");
struct lens { __uint(type, BPF_MAP_TYPE_ARRAY); __uint(max_entries, 3); __uint(map_flags, BPF_F_INNER_MAP); __type(key, __u32); __type(value, __u64); } lens0 SEC(".maps");
MAP(lens1, BPF_MAP_TYPE_ARRAY, __u32, __u64, 11, BPF_F_INNER_MAP);
MAP(lens2, BPF_MAP_TYPE_ARRAY, __u32, __u64, 1, BPF_F_INNER_MAP);
OUTER(lrus, lru) = { .values = { [0] = &lru0, [1] = &lru1 } };
OUTER(tries, trie) = { .values = { [0] = &trie0, [1] = &trie1 } };
OUTER(rings, ring) = { .values = { [0] = &ring0 } };
OUTER(counts, cpus) = { .values = { [0] = &cpus0, [1] = &cpus1 } };
OUTER(lengths, lens) = { .values = { [0] = &lens0 } };

struct state { __u64 sum; __u32 n, stop; };

static long visit(void *map, __u32 *key, __u64 *value, struct state *s)
{
	__u32 other = *key / 2;
	__u64 *p = bpf_map_lookup_elem(map, &other);
	s->sum = s->sum * 31 + *value + *key;
	*value += 3;
	if (p)
		s->sum ^= *p;
	return ++s->n == s->stop;
}

#define INNER(outer)					\
	__u32 k = o->b % 4, i = o->key % 10;		\
	void *m = bpf_map_lookup_elem(&outer, &k);	\
	if (!m) { r = -100; break; }

ENTRY(nested)
{
	RUN_SCRIPT(
	case 0: { INNER(lrus) __u64 v = o->x; r = bpf_map_update_elem(m, &i, &v, o->a % 4); break; }
	case 1: { INNER(lrus) __u64 *p = bpf_map_lookup_elem(m, &i); r = p ? __sync_fetch_and_add(p, 3) : -1; break; }
	case 2: { INNER(lrus) r = bpf_map_delete_elem(m, &i); break; }
	case 3: { INNER(tries) ZEROED(struct prefix, t); t.bits = o->a % 34; t.a[0] = o->key & 0xc0; t.a[3] = i; __u64 v = o->x; r = bpf_map_update_elem(m, &t, &v, 0); break; }
	case 4: { INNER(tries) ZEROED(struct prefix, t); t.bits = 32; t.a[0] = o->key & 0xc0; t.a[3] = i; __u64 *p = bpf_map_lookup_elem(m, &t); r = p ? *p : -1; break; }
	case 5: { INNER(rings) r = bpf_ringbuf_output(m, o, sizeof(*o), i == 9); break; }
	case 6: { INNER(rings) __u64 *p = bpf_ringbuf_reserve(m, 1024, 0); if (!p) { r = -1; break; }
		if (bpf_xdp_load_bytes(ctx, 0, p, 1024)) { bpf_ringbuf_discard(p, 0); r = -2; break; }
		r = __sync_fetch_and_add(p + 1, 5); *(__u32 *)(p + 2) = i; bpf_ringbuf_submit(p, 0); break; }
	case 7: { INNER(rings) r = bpf_ringbuf_query(m, i % 5); break; }
	case 8: { INNER(counts) __u64 *p = bpf_map_lookup_elem(m, &i); r = p ? (*p += o->a) : -1; break; }
	case 9: { INNER(counts) __u64 v = o->x; r = bpf_map_update_elem(m, &i, &v, o->a % 4); break; }
	case 10: { INNER(lengths) ZEROED(struct state, s); s.stop = i; r = bpf_for_each_map_elem(m, visit, &s, 0); r = r * 1000003 + s.sum; break; }
	case 11: { INNER(lengths) __u64 v = o->x; r = bpf_map_update_elem(m, &i, &v, o->a % 4); break; }
	)
	return XDP_PASS;
}
