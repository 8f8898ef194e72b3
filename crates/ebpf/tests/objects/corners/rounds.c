/* Callbacks: loops in loops, elements visited and deleted on the way. */
#include "corners.h"

MAP(h, BPF_MAP_TYPE_HASH, __u32, __u64, 40, 0);
MAP(a, BPF_MAP_TYPE_ARRAY, __u32, __u64, 17, 0);
MAP(ph, BPF_MAP_TYPE_PERCPU_HASH, __u32, __u64, 40, 0);
MAP(pa, BPF_MAP_TYPE_PERCPU_ARRAY, __u32, __u64, 9, 0);
MAP(lru, BPF_MAP_TYPE_LRU_HASH, __u32, __u64, 65536, 0);
MAP(copy, BPF_MAP_TYPE_HASH, __u32, __u64, 200, 0);

struct state {
	__u64 sum;
	__u32 n, stop, by, left;
};

/* In order: every step matters. */
static long ordered(void *map, __u32 *key, __u64 *value, struct state *s)
{
	s->sum = s->sum * 31 + *value * 7 + *key;
	*value += s->by;
	return ++s->n == s->stop;
}

/* In any order. */
static long unordered(void *map, __u32 *key, __u64 *value, struct state *s)
{
	__u64 v = *value;
	__u32 k = *key;
	s->sum += (v ^ k) * 0x9e3779b97f4a7c15ULL;
	s->n++;
	if (s->by & 1)
		*value = v * 3 + k;
	if ((s->by & 2) && (k & 1))
		bpf_map_delete_elem(&h, &k);
	if (s->by & 4) {
		v += 5;
		bpf_map_update_elem(&h, &k, &v, BPF_EXIST);
		s->sum += *value;	/* the value from before */
	}
	if (s->by & 8)
		bpf_map_update_elem(&copy, &k, &v, 0);
	return 0;
}

static long inner_visit(void *map, __u32 *key, __u64 *value, struct state *s)
{
	s->sum += *key * *value;
	return 0;
}

static long outer_visit(void *map, __u32 *key, __u64 *value, struct state *s)
{
	s->sum ^= *value;
	s->n += bpf_for_each_map_elem(&a, inner_visit, s, 0);
	return s->n > 100 ? 1 : 0;
}

static long count(__u32 i, struct state *s)
{
	s->sum = s->sum * 5 + i;
	if (s->stop && i == s->stop)
		return 1;
	return 0;
}

static long third(__u32 i, struct state *s)
{
	s->sum += i * 3 + 1;
	s->left += bpf_loop(s->by & 3, count, s, 0);
	return 0;
}

static long second(__u32 i, struct state *s)
{
	s->n += bpf_loop(i, third, s, 0);
	return i > 20;
}

static long first(__u32 i, struct state *s)
{
	s->n += bpf_loop(s->by & 15, second, s, 0);
	return s->n > 400 ? 1 : 0;
}

ENTRY(rounds)
{
	RUN_SCRIPT(
	case 0: case 1: {
		__u32 k = o->key % 60;
		__u64 v = o->x;
		r = bpf_map_update_elem(&h, &k, &v, 0);
		bpf_map_update_elem(&ph, &k, &v, 0);
		bpf_map_update_elem(&lru, &k, &v, 0);
		break;
	}
	case 2: {
		struct state s = { .by = o->b, .stop = o->a % 24 };
		r = bpf_for_each_map_elem(&a, ordered, &s, 0);
		r = r * 7 + s.sum + s.n;
		break;
	}
	case 3: {
		struct state s = { .by = o->b & ~6, .stop = o->a % 12 };
		r = bpf_for_each_map_elem(&pa, ordered, &s, 0);
		r = r * 7 + s.sum + s.n;
		break;
	}
	case 4: {
		struct state s = { .by = o->b };
		r = bpf_for_each_map_elem(&h, unordered, &s, 0);
		r = r * 7 + s.sum + s.n;
		break;
	}
	case 5: {
		struct state s = { .by = o->b & 1 };
		r = bpf_for_each_map_elem(&ph, unordered, &s, 0);
		r = r * 7 + s.sum + s.n;
		break;
	}
	case 6: {
		struct state s = { .by = o->b & 9 };
		r = bpf_for_each_map_elem(&lru, unordered, &s, 0);
		r = r * 7 + s.sum + s.n;
		break;
	}
	case 7: {
		struct state s = {};
		r = bpf_for_each_map_elem(&a, outer_visit, &s, 0);
		r = r * 7 + s.sum + s.n;
		break;
	}
	case 8: {
		struct state s = { .by = o->b };
		r = bpf_loop(o->a % 16, first, &s, 0);
		r = r * 7 + s.sum + s.n + s.left;
		break;
	}
	case 9: {
		struct state s = { .stop = o->x & 0x7ff };
		r = bpf_loop(o->key ? o->a * 8 : o->x, count, &s, o->b == 255);
		r = (int)r * 7 + s.sum;
		break;
	}
	)
	return XDP_PASS;
}

/* As many rounds as the kernel allows, and one more. */
ENTRY(most)
{
	struct state s = {};
	__s64 r = bpf_loop(1 << 23, count, &s, 0);
	struct results *res = bpf_map_lookup_elem(&results, &zero_key);
	if (!res)
		return XDP_ABORTED;
	res->r[0] = r;
	res->r[1] = s.sum;
	/* Cut: docs/design/xdp-oracle.md, what cannot be compared. */
	res->r[2] = (int)bpf_loop((1 << 23) + 1, count, &s, 0);
	res->r[3] = bpf_loop(0, count, &s, 0);
	res->r[4] = s.sum;
	return XDP_DROP;
}
