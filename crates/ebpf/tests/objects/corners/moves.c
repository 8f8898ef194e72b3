/* Head, tail and metadata moved in any order, read and written between. */
#include "corners.h"

#define BUF 64

static __always_inline __s64 adjust(struct xdp_md *ctx, struct op *o)
{
	/* Mostly small steps, sometimes any. */
	__s32 small = (__s32)o->a - 100, by = o->key & 7 ? small : o->x;
	switch (o->b % 4) {
	case 0: return bpf_xdp_adjust_head(ctx, by);
	case 1: return bpf_xdp_adjust_tail(ctx, o->key & 1 ? by * 8 : by);
	case 2: return bpf_xdp_adjust_meta(ctx, by & ~3);
	default: return bpf_xdp_adjust_meta(ctx, by);
	}
}

ENTRY(moves)
{
	__u8 buf[BUF];
	__builtin_memset(buf, 0x5a, sizeof(buf));
	RUN_SCRIPT(
	case 0: case 1: case 2: case 3:
		r = adjust(ctx, o);
		break;
	case 4: {
		void *data = (void *)(long)ctx->data;
		void *end = (void *)(long)ctx->data_end;
		__u32 off = o->x & 0xfff;
		__u64 *p = data + off;
		if ((void *)(p + 1) <= end) {
			r = *p;
			*p = r * 3 + o->a;
		} else
			r = -1;
		break;
	}
	case 5: {
		void *meta = (void *)(long)ctx->data_meta;
		void *data = (void *)(long)ctx->data;
		__u32 off = o->x & 0xff;
		__u32 *p = meta + off;
		if ((void *)(p + 1) <= data) {
			r = *p;
			*p = r + o->x;
		} else
			r = -1;
		break;
	}
	case 6: {
		__u64 n = BELOW(o->a, BUF) + 1;
		if (o->key & 1)
			r = bpf_xdp_load_bytes(ctx, o->x & 0xfff, buf, n);
		else
			r = bpf_xdp_load_bytes(ctx, bpf_xdp_get_buff_len(ctx) - o->key / 2, buf, n);
		break;
	}
	case 7: {
		__u64 n = BELOW(o->a, BUF) + 1;
		if (o->key & 1)
			r = bpf_xdp_store_bytes(ctx, o->x & 0xfff, buf, n);
		else
			r = bpf_xdp_store_bytes(ctx, bpf_xdp_get_buff_len(ctx) - o->key / 2, buf, n);
		break;
	}
	case 8: {
		__u64 n = (o->a & 15) * 4;
		__u64 m = (o->key & 15) * 4;
		r = bpf_csum_diff(n ? (__be32 *)buf : 0, n, m ? (__be32 *)buf : 0, m, o->b & 1 ? o->x : o->b);
		break;
	}
	case 9: {	/* the packet itself as a helper's argument */
		void *data = (void *)(long)ctx->data;
		void *end = (void *)(long)ctx->data_end;
		if (data + 40 <= end) {
			r = bpf_csum_diff(data + 4, 16, data + 20 - 3, 20, o->x);
			bpf_xdp_store_bytes(ctx, o->a % 64, buf, 4);
			r += *(__u16 *)(data + 1);
		}
		break;
	}
	case 10:
		r = bpf_xdp_get_buff_len(ctx) | (__u64)(ctx->data_end - ctx->data) << 16 |
		    (__u64)(ctx->data - ctx->data_meta) << 32;
		break;
	case 11:
		r = (__u64)ctx->ingress_ifindex << 32 | ctx->rx_queue_index;
		break;
	)
	return s_->ops[0].key;
}

/* Pointers that the compiler must keep on the stack over calls. */
static __noinline int disturb(struct xdp_md *ctx, __u64 *a, __u64 *b, __u32 c, __u64 d)
{
	volatile __u64 local[8];
	for (int i = 0; i < 8; i++)
		local[i] = *a + i * d;
	*b += local[c & 7] ^ (__u64)ctx->rx_queue_index;
	*a ^= *b >> (c & 63);
	return (__s32)(*a % 1000) - 500;
}

ENTRY(spilled)
{
	void *data = (void *)(long)ctx->data;
	void *end = (void *)(long)ctx->data_end;
	void *meta = (void *)(long)ctx->data_meta;
	__u64 a = 1, b = 2, c = 0;
	__u8 *p, *q;
	if (data + 34 > end)
		return XDP_DROP;
	p = data + (*(__u8 *)(data + 13) & 15);
	q = data + (*(__u8 *)(data + 14) & 31);
	if ((void *)q + 8 > end || (void *)p + 8 > end)
		return XDP_TX;
#pragma clang loop unroll(disable)
	for (int i = 0; i < 6; i++) {
		c += disturb(ctx, &a, &b, p[i], *(__u64 *)q);
		*(__u64 *)q = a + b;
		p[i + 1] ^= c;
		if (meta + 4 <= data)
			*(__u32 *)meta += c;
	}
	struct results *res = bpf_map_lookup_elem(&results, &zero_key);
	if (res) {
		res->r[0] = a;
		res->r[1] = b;
		res->r[2] = c;
	}
	return (int)c;
}
