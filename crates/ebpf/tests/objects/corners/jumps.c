/* Redirects with all flags, and tail calls out of functions whose callers have stack. */
#include "corners.h"

struct devmap_value { __u32 ifindex; };
MAP(ports, BPF_MAP_TYPE_DEVMAP, __u32, __u32, 6, 0);
MAP(wide_ports, BPF_MAP_TYPE_DEVMAP, __u32, struct bpf_devmap_val, 6, 0);
MAP(hashed, BPF_MAP_TYPE_DEVMAP_HASH, __u32, __u32, 6, 0);
MAP(cpus, BPF_MAP_TYPE_CPUMAP, __u32, __u32, 4, 0);
MAP(sockets, BPF_MAP_TYPE_XSKMAP, __u32, __u32, 4, 0);

#define FLAGS (o->b & 1 ? o->a : o->a & 3)
#define SEND(map) r = bpf_redirect_map(&map, o->x & 0x100 ? o->x : o->key & 7, FLAGS | (o->b & 2 ? 0 : (__u64)(o->b >> 7) << 32))

ENTRY(redirects)
{
	__u64 last = 0;
	RUN_SCRIPT(
	case 0: case 1: SEND(ports); last = r; break;
	case 2: case 3: SEND(hashed); last = r; break;
	case 4: SEND(cpus); last = r; break;
	case 5: SEND(sockets); last = r; break;
	case 6: r = bpf_redirect(o->key, o->b & 7 ? 0 : o->a); last = r; break;
	case 7: { __u32 k = o->key & 7; __u32 *p = bpf_map_lookup_elem(&ports, &k); r = p ? *p : -1; break; }
	case 8: { __u32 k = o->key & 7; struct bpf_devmap_val *p = bpf_map_lookup_elem(&wide_ports, &k); r = p ? p->ifindex : -1; break; }
	case 9: { __u32 k = o->key & 7; __u32 *p = bpf_map_lookup_elem(&hashed, &k); r = p ? *p : -1; break; }
	)
	return s_->ops[0].a & 1 ? last : s_->ops[0].b - 20;
}

int tail_short(struct xdp_md *ctx);
int tail_long(struct xdp_md *ctx);
int tail_again(struct xdp_md *ctx);
struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 5);
	__uint(key_size, 4);
	__array(values, int (struct xdp_md *));
} targets SEC(".maps") = { .values = { [0] = (void *)&tail_short, [1] = (void *)&tail_long, [3] = (void *)&tail_again } };

static volatile __u32 runs[4];

static __noinline int through(struct xdp_md *ctx, __u32 to, __u64 *sum)
{
	volatile __u64 local[6];
	for (int i = 0; i < 6; i++)
		local[i] = *sum + i;
	*sum += 3;
	if (to & 1)
		*sum ^= local[to & 3];
	bpf_tail_call(ctx, &targets, to);
	*sum += local[2];
	return -1;
}

static __noinline int twice(struct xdp_md *ctx, __u32 to, __u64 *sum)
{
	__u64 own[3] = { *sum, to, 5 };
	int r = through(ctx, to, &own[0]);
	r = r * 3 + through(ctx, to / 2, &own[1]);
	*sum += own[0] * own[1] + own[2];
	return r;
}

ENTRY(tail_short)
{
	runs[0]++;
	return 11;
}

ENTRY(tail_long)
{
	volatile __u64 mess[40];
	runs[1]++;
	for (int i = 0; i < 40; i++)
		mess[i] = 0xdddddddddddddddd;
	return mess[runs[1] % 40 & 31] & 0xff;
}

ENTRY(tail_again)
{
	__u64 sum = 9;
	runs[2]++;
	int r = through(ctx, runs[2] & 3, &sum);
	return r + sum;
}

ENTRY(dispatch)
{
	__u64 sum = 1;
	RUN_SCRIPT(
	case 0: case 1: r = through(ctx, o->key & 7, &sum); break;
	case 2: case 3: r = twice(ctx, o->key & 7, &sum); break;
	case 4: r = sum ^ runs[0] ^ runs[1] << 8 ^ runs[2] << 16; break;
	case 5: if (o->a < 20) bpf_tail_call(ctx, &targets, (__u64)o->b << 32 | (o->key & 3)); r = -5; break;
	)
	return sum;
}
