/* Variables that the compiler takes apart: their type information then has sizes that the kernel refuses. */
#include "corners.h"

static __u32 runs[4];
static __u64 wide[3] = { 5, 6, 7 };
static struct { __u32 a; __u64 b; __u8 c; } parts = { 1, 2, 3 };

static __noinline int bump(struct xdp_md *ctx, __u32 x)
{
	runs[1] += x;
	wide[2] ^= runs[1];
	parts.c += 3;
	return parts.c + ctx->rx_queue_index;
}

ENTRY(split)
{
	RUN_SCRIPT(
	case 0: r = runs[0]++ + runs[2]; break;
	case 1: r = bump(ctx, o->a); break;
	case 2: wide[1] += o->x; r = wide[1] + wide[2]; break;
	case 3: parts.b += parts.c; parts.a ^= o->x; r = parts.b + parts.a; break;
	case 4: runs[2] += wide[2]; break;
	)
	return XDP_PASS;
}
