/* Keys and values in the packet, functions that are checked alone, memory handed through frames. */
#include "corners.h"

struct big_key { __u8 k[101]; };
struct big_value { __u8 v[1500]; };
MAP(by_bytes, BPF_MAP_TYPE_HASH, struct { __u8 k[6]; }, struct { __u8 v[12]; }, 16, 0);
MAP(large, BPF_MAP_TYPE_HASH, struct big_key, struct big_value, 4, 0);
MAP(odd_cpu, BPF_MAP_TYPE_PERCPU_HASH, __u8, struct { __u8 v[13]; }, 7, 0);
MAP(only_read, BPF_MAP_TYPE_ARRAY, __u32, __u64, 4, BPF_F_RDONLY_PROG);
MAP(hash_write, BPF_MAP_TYPE_HASH, __u32, __u64, 4, BPF_F_WRONLY_PROG);
MAP(only_write, BPF_MAP_TYPE_ARRAY, __u32, __u64, 4, BPF_F_WRONLY_PROG);
struct { __uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY); __uint(key_size, 4); __uint(value_size, 4); } events SEC(".maps");

struct args { __u64 a, b; __u32 c; __s16 d; __u8 e[10]; };

/* Checked by itself: any numbers, a pointer that may be null. */
__noinline int alone(struct args *args, __u32 x, __s64 y, __u8 z)
{
	if (!args)
		return -1;
	args->a += x * y;
	args->b ^= args->a >> (z & 63);
	args->e[z % 8 & 7]++;
	args->d = args->d * 3 - z;
	return (__s32)(args->a ^ args->d);
}

__noinline int deeper(struct xdp_md *ctx, struct args *args)
{
	__u8 own[32] = {};
	if (!args)
		return 0;
	if (bpf_xdp_load_bytes(ctx, args->c & 63, own, 20))
		return -2;
	args->b += own[args->c & 15] + own[3];
	return alone(args, own[0], args->b, own[19]) + alone(0, 1, 2, 3);
}

static __noinline long store(__u8 *to, __u32 at, __u64 value, struct args *args, __u32 *n)
{
	if (at < 60)
		*(__u32 *)(to + (at & ~3)) = value;
	args->c += value;
	return ++*n;
}

struct walk { __u8 cells[64]; __u64 sum; struct args *args; };

static long step(__u32 i, struct walk *w)
{
	w->cells[(w->cells[i & 63] + i) & 63] += i + 1;
	w->sum = w->sum * 7 + w->cells[i * 5 & 63];
	w->args->b += w->sum;
	return w->cells[i & 63] == 77;
}

static long put(void *map, __u32 *key, __u64 *value, __u32 *n)
{
	*value = *key * 5;
	*n += 1;
	return 0;
}

ENTRY(functions)
{
	ZEROED(struct args, args);
	ZEROED(struct walk, w);
	__u8 cells[64] = {};
	__u32 n = 0;
	args.c = 5;
	w.args = &args;
	RUN_SCRIPT(
	case 0: r = alone(&args, o->x, (__s64)o->x << o->a % 32, o->b); break;
	case 1: args.c = o->a; r = deeper(ctx, &args); break;
	case 2: r = store(cells, o->a, o->x, &args, &n); break;
	case 3: r = cells[o->a & 63] ^ args.a ^ args.b << 1 ^ args.c ^ args.e[3] ^ n; break;
	case 4: r = bpf_loop(o->a, step, &w, 0); r = r * 31 + w.sum; break;
	case 5: r = __sync_fetch_and_add(&w.sum, o->x) + __sync_val_compare_and_swap(&args.c, o->a, o->x); break;
	case 6: case 7: case 8: {	/* key and value in the packet, at any place */
		void *data = (void *)(long)ctx->data + (o->a & 15);
		void *value = data + (o->b & 3);
		if (data + 20 > (void *)(long)ctx->data_end || value + 20 > (void *)(long)ctx->data_end) break;
		*(__u32 *)(data + 1) = o->key & 7;
		*(__u16 *)(data + 4) = 0;
		*(__u8 *)data = 0;
		if (o->code == 6) r = bpf_map_update_elem(&by_bytes, data, value + 3, o->b >> 6);
		else if (o->code == 7) r = bpf_map_delete_elem(&by_bytes, data);
		else { __u8 *p = bpf_map_lookup_elem(&by_bytes, data); r = p ? *(__u64 *)(p + 3) : -1; if (p) __builtin_memcpy(p, data + 8, 12); }
		break;
	}
	case 9: {
		void *data = (void *)(long)ctx->data;
		void *value = data + (o->a & 63);
		if (data + 101 > (void *)(long)ctx->data_end || value + 1500 > (void *)(long)ctx->data_end) break;
		__builtin_memset(data, o->key & 3, 101);
		if (o->b & 1) r = bpf_map_update_elem(&large, data, value, o->b >> 6);
		else { __u8 *p = bpf_map_lookup_elem(&large, data); r = p ? p[o->x & 1023] + p[1499]++ : -1; }
		break;
	}
	case 10: {
		__u8 k = o->key & 7;
		__u8 *p = bpf_map_lookup_elem(&odd_cpu, &k);
		if (p) { r = *(__u32 *)(p + 9); p[o->a & 7] ^= o->b; p[12]++; }
		else r = bpf_map_update_elem(&odd_cpu, &k, s_, BPF_ANY);
		break;
	}
	case 11: { __u32 k = o->key & 7; __u64 *p = bpf_map_lookup_elem(&only_read, &k); if (p) r = *p; break; }
	case 12: { __u32 k = o->key & 7; __u64 *p = bpf_map_lookup_elem(&only_write, &k); if (p) *p = o->x; __u64 v = 6; r = bpf_map_update_elem(&only_write, &k, &v, o->a & 3); break; }
	case 16: { __u32 k = o->key & 7; __u64 *p = bpf_map_lookup_elem(&hash_write, &k); r = !p; if (p) *p = o->x; __u64 v = 6; r |= bpf_map_update_elem(&hash_write, &k, &v, o->a & 3) * 2; break; }
	case 17: r = bpf_for_each_map_elem(&hash_write, put, &n, 0); break;
	case 18: {	/* helpers whose memory is a value */
		ZEROED(struct big_key, key);
		__builtin_memset(key.k, o->key & 3, 101);
		__u8 *p = bpf_map_lookup_elem(&large, &key);
		if (!p) { r = -1; break; }
		r = o->b & 1 ? bpf_xdp_load_bytes(ctx, o->x & 2047, p + (o->a & 63), (o->x & 1023) + 1)
			     : bpf_xdp_store_bytes(ctx, o->x & 2047, p + (o->a & 63), (o->x & 1023) + 1);
		r += (__u64)bpf_csum_diff(0, 0, (__be32 *)(p + (o->a & 60)), 128, o->x) << 16;
		break;
	}
	case 13: r = bpf_perf_event_output(ctx, &events, (o->key & 1 ? BPF_F_CURRENT_CPU : (o->key >> 1 & 1) * 9000) | (__u64)(o->x & 0xfff) << 32, cells, (o->a & 63) + 1); break;
	case 14: r = bpf_xdp_load_bytes(ctx, o->x, cells, (o->a & 31) + 1); break;
	case 15: r = bpf_xdp_store_bytes(ctx, o->x, cells, (o->a & 31) + 1); break;
	)
	return alone(&args, 1, 1, 1);
}
