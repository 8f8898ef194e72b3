/* What lies outside of the stack and the packet: data sections, locks, per-CPU copies, atomics. */
#include "corners.h"

struct locked {
	__u32 before;
	struct bpf_spin_lock lock;
	__u64 a, b;
};
MAP(lock_hash, BPF_MAP_TYPE_HASH, __u32, struct locked, 6, 0);
MAP(lock_array, BPF_MAP_TYPE_ARRAY, __u32, struct locked, 4, 0);
MAP(cpu_array, BPF_MAP_TYPE_PERCPU_ARRAY, __u32, __u32, 5, 0);
MAP(cpu_hash, BPF_MAP_TYPE_PERCPU_HASH, __u16, __u64, 5, 0);
MAP(cpu_lru, BPF_MAP_TYPE_LRU_PERCPU_HASH, __u32, __u64, 65536, 0);

struct cells { __u64 w[4]; __u32 n[8]; };
MAP(cells, BPF_MAP_TYPE_ARRAY, __u32, struct cells, 2, 0);

/* A map whose values are locked by number. */
#define LOCKED(map, base)								\
	case base: {									\
		__u32 k = o->key % 8;							\
		struct locked *p = bpf_map_lookup_elem(&map, &k);			\
		if (!p) { r = -1; break; }						\
		bpf_spin_lock(&p->lock);						\
		r = p->a * 3 + p->b;							\
		p->a += o->a;								\
		p->b ^= o->x;								\
		p->before++;								\
		bpf_spin_unlock(&p->lock);						\
		break;									\
	}										\
	case base + 1: case base + 2: {							\
		__u32 k = o->key % 8;							\
		ZEROED(struct locked, v);						\
		v.before = o->b; v.a = o->x; v.b = o->a;				\
		r = bpf_map_update_elem(&map, &k, &v, o->a % 8);			\
		break;									\
	}

ENTRY(locks)
{
	RUN_SCRIPT(
	LOCKED(lock_hash, 0)
	LOCKED(lock_array, 3)
	case 6: case 7: {
		__u32 k = o->key % 8;
		struct locked *p = bpf_map_lookup_elem(&lock_hash, &k);
		struct locked *q = 0;
		if (!p) break;
		ZEROED(struct locked, v);
		v.a = 77;
		v.before = o->a;
		r = bpf_map_update_elem(&lock_hash, &k, &v, o->b & 1 ? BPF_F_LOCK | BPF_EXIST : BPF_EXIST);
		q = bpf_map_lookup_elem(&lock_hash, &k);
		if (q)
			r = r * 1000 + p->a * 31 + q->a + (p == q);
		break;
	}
	case 8: { __u32 k = o->key % 8; r = bpf_map_delete_elem(&lock_hash, &k); break; }
	)
	return XDP_PASS;
}

ENTRY(copies)
{
	RUN_SCRIPT(
	case 0: { __u32 k = o->key % 6; __u32 *p = bpf_map_lookup_elem(&cpu_array, &k); if (p) r = *p = *p * 5 + o->a; break; }
	case 1: { __u16 k = o->key % 8; __u64 *p = bpf_map_lookup_elem(&cpu_hash, &k); if (p) r = *p += o->a; else r = -1; break; }
	case 2: { __u32 k = o->key; __u64 *p = bpf_map_lookup_elem(&cpu_lru, &k); if (p) r = *p += o->a; else r = -1; break; }
	case 3: { __u32 k = o->key % 6, v = o->x; r = bpf_map_update_elem(&cpu_array, &k, &v, o->b % 4); break; }
	case 4: { __u16 k = o->key % 8; __u64 v = o->x; r = bpf_map_update_elem(&cpu_hash, &k, &v, o->b % 4); break; }
	case 5: { __u32 k = o->key; __u64 v = o->x; r = bpf_map_update_elem(&cpu_lru, &k, &v, o->b % 4); break; }
	case 6: { __u16 k = o->key % 8; r = bpf_map_delete_elem(&cpu_hash, &k); break; }
	case 7: { __u32 k = o->key; r = bpf_map_delete_elem(&cpu_lru, &k); break; }
	case 8: { __u32 k = o->key % 6; __u32 *p = bpf_map_lookup_percpu_elem(&cpu_array, &k, o->a % 4); if (p) r = (*p)++; else r = -1; break; }
	case 9: { __u16 k = o->key % 8; __u64 *p = bpf_map_lookup_percpu_elem(&cpu_hash, &k, o->a % 4); if (p) r = (*p)++; else r = -1; break; }
	case 10: { __u32 k = o->key; __u64 *p = bpf_map_lookup_percpu_elem(&cpu_lru, &k, o->x); if (p) r = (*p)--; else r = -1; break; }
	)
	return XDP_PASS;
}

ENTRY(atomics)
{
	__u32 k = 1;
	struct cells *c = bpf_map_lookup_elem(&cells, &k);
	__u64 local = 5;
	__u32 local32 = 7;
	if (!c)
		return XDP_ABORTED;
	RUN_SCRIPT(
	case 0: r = __sync_fetch_and_add(&c->w[o->key & 3], (__s64)o->x); break;
	case 1: r = __sync_fetch_and_or(&c->w[o->key & 3], (__s64)o->x << (o->a & 63)); break;
	case 2: r = __sync_fetch_and_and(&c->w[o->key & 3], (__s64)o->x); break;
	case 3: r = __sync_fetch_and_xor(&c->w[o->key & 3], (__s64)o->x * 0x100000001); break;
	case 4: r = __sync_lock_test_and_set(&c->w[o->key & 3], (__s64)o->x); break;
	case 5: r = __sync_val_compare_and_swap(&c->w[o->key & 3], c->w[o->a & 3], (__s64)o->x); break;
	case 6: r = __sync_fetch_and_add(&c->n[o->key & 7], o->x); break;
	case 7: r = __sync_fetch_and_or(&c->n[o->key & 7], o->x); break;
	case 8: r = __sync_fetch_and_and(&c->n[o->key & 7], o->x); break;
	case 9: r = __sync_fetch_and_xor(&c->n[o->key & 7], o->x); break;
	case 10: r = __sync_lock_test_and_set(&c->n[o->key & 7], o->x); break;
	case 11: r = (__u64)__sync_val_compare_and_swap(&c->n[o->key & 7], c->n[o->a & 7], o->x); break;
	case 12: __sync_fetch_and_add(&c->n[o->key & 7], o->x); __sync_fetch_and_or(&c->w[0], 1); __sync_fetch_and_and(&c->w[1], o->x); __sync_fetch_and_xor(&c->n[1], o->x); break;
	case 13: r = __sync_fetch_and_add(&local, o->a) + __sync_fetch_and_xor(&local32, o->x); break;
	case 14: r = (__s32)__sync_fetch_and_add(&c->n[o->key & 7], o->x); r >>= 3; break;
	)
	return (int)local32;
}

static __u32 seen[16];
static volatile __u64 total = 0x1122334455667788ULL;
__u8 bytes[300];
struct { __u16 a; __s8 b; __s64 c; __s32 d[5]; } mixed = { 7, -3, -(1LL << 40), { -1, 2, -3, 4, -5 } };
static const __s16 table[64] = { 1, -1, 300, -300, 32767, -32768, 7, 8, 9, [20] = -20, [63] = 63 };
const volatile __u64 setting = 0x8000000000000001ULL;
static const char words[8][6] = { "alpha", "beta", "gamma", "delta", "eps", "zeta", "eta", "theta" };

static __noinline __u64 five(__u64 a, __s32 b, __u16 c, __s8 d, __u64 *e)
{
	*e += a ^ (__s64)b;
	seen[c & 15]++;
	return a * b + c - d;
}

static __noinline __s64 select(__u32 which, __s64 a, __s64 b)
{
	switch (which % 41) {
	case 0: return a + b;
	case 1: return a - b;
	case 2: return a * b;
	case 3: return b ? (__u64)a / (__u64)b : 1;
	case 4: return b ? (__u64)a % (__u64)b : 2;
	case 5: return (__u32)b ? (__u32)a / (__u32)b : 3;
	case 6: return (__u32)b ? (__u32)a % (__u32)b : 4;
	case 7: return a << (b & 63);
	case 8: return a >> (b & 63);
	case 9: return (__u64)a >> (b & 63);
	case 10: return (__s32)a >> (b & 31);
	case 11: return (__u32)a << (b & 31);
	case 12: return __builtin_bswap64(a);
	case 13: return __builtin_bswap32(a);
	case 14: return __builtin_bswap16(a);
	case 15: return (__s8)a;
	case 16: return (__s16)a;
	case 17: return (__s32)a;
	case 18: return -a;
	case 19: return ~a ^ b;
	case 20: return a < b ? a : b;
	case 21: return (__u64)a < (__u64)b ? a : b;
	case 22: return (__s32)a < (__s32)b ? 1 : -1;
	case 23: return (__u32)a <= (__u32)b ? 10 : -10;
	case 24: return a & 0xffffffff00000000LL;
	case 25: return a | 0x80000000;
	case 26: return a ^ 0x7fffffffffffffffLL;
	case 27: return (__u64)a / 10;
	case 28: return (__u64)a % 1000000007;
	case 29: return (__u32)a / 3;
	case 30: return a * 0xdeadbeefcafeULL;
	case 31: return (a & b) == 0;
	case 32: return a == b;
	case 33: return (__u64)a > 0xffffffff80000000ULL;
	case 34: return a > -2147483648LL;
	case 35: return (__s32)a > -5;
	case 36: return (a & 0x80000000) ? 1 : 2;
	case 37: return (a & 0xffffffff80000000ULL) ? 3 : 4;
	case 38: return __builtin_bswap16(a) + (__builtin_bswap32(b) >> 3);
	case 39: return (__u64)(__u32)a * (__u32)b >> 7;
	default: return __builtin_popcountll(a);
	}
}

ENTRY(globals)
{
	__u64 e = setting;
	RUN_SCRIPT(
	case 0: r = five(total, o->x, o->a, o->b, &e); break;
	case 1: r = ++seen[o->key & 15]; break;
	case 2: total += o->x; r = total; break;
	case 3: r = bytes[BELOW(o->x, 300)] += o->a; break;
	case 4: mixed.a += o->a; mixed.b -= o->b; mixed.c *= o->x; mixed.d[BELOW(o->key, 5)] ^= o->x; r = mixed.c + mixed.b; break;
	case 5: r = table[o->key & 63] * (__s64)setting; break;
	case 6: r = words[o->key & 7][BELOW(o->a, 6)] + words[o->a & 7][2]; break;
	case 7: r = e; e = e * 3 + o->key; break;
	case 8: case 9: case 10: case 11: r = select(o->key, o->b & 1 ? o->x : total, o->b & 2 ? (__s8)o->a : mixed.c); total += r; break;
	case 12: r = *(__u32 *)&bytes[o->a] + *(__u16 *)((__u8 *)&mixed + (o->key & 15)); break;
	)
	return XDP_TX;
}
