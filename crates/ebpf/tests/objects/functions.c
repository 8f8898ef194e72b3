// Programs that share sections, and functions that they share: static and global, in `.text` and elsewhere.
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#define NOINLINE __attribute__((noinline))

static NOINLINE __u32 leaf(__u32 x) { return x * 3 + 1; }
static NOINLINE __u32 middle(__u32 x) { return leaf(x) ^ leaf(x + 1); }
NOINLINE __u32 shared(__u32 x) { return middle(x) + 5; }
__hidden NOINLINE __u32 unused(__u32 x) { return leaf(x) - 1; }

static NOINLINE __u32 beside(__u32 x) { return shared(x) + 2; }

SEC("xdp") int two_levels(struct xdp_md *ctx) { return shared(ctx->rx_queue_index) & 3; }
SEC("xdp") int plain(struct xdp_md *ctx) { return ctx->rx_queue_index & 1; }
SEC("xdp") int with_static(struct xdp_md *ctx) { return (beside(ctx->rx_queue_index) + leaf(9)) & 3; }

struct state { __u32 sum; };
static long step(__u32 i, struct state *s) { s->sum += leaf(i); return 0; }
SEC("xdp.frags") int callback(struct xdp_md *ctx)
{
	struct state s = {};
	bpf_loop(4, step, &s, 0);
	return s.sum & 3;
}
char _license[] SEC("license") = "GPL";
