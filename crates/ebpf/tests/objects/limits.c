// Limits of the kernel, and declarations that leave sizes out.
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

struct { __uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY); } events SEC(".maps");
struct { __uint(type, BPF_MAP_TYPE_ARRAY); __uint(max_entries, 4); __type(key, __u32); __type(value, __u64); } results SEC(".maps");
int again(struct xdp_md *ctx);
struct { __uint(type, BPF_MAP_TYPE_PROG_ARRAY); __uint(max_entries, 1); __uint(key_size, 4);
	__array(values, int (struct xdp_md *)); } jumps SEC(".maps") = { .values = { [0] = (void *)&again } };

static void keep(__u32 index, __u64 value) { bpf_map_update_elem(&results, &index, &value, 0); }
static long count(__u32 index, __u64 *sum) { *sum += 1; return index == 5; }

SEC("xdp") int loops(struct xdp_md *ctx)
{
	__u64 sum = 0;
	// Where the verifier puts the loop in the place of the call, the upper half of an error is zero.
	keep(0, (int)bpf_loop((1 << 23) + 1, count, &sum, 0));
	keep(1, bpf_loop(1 << 23, count, &sum, 0));
	keep(2, bpf_loop(3, count, &sum, 0));
	keep(3, sum);
	return XDP_PASS;
}
SEC("xdp") int emits(struct xdp_md *ctx)
{
	__u64 value = 0x1122334455667788;
	bpf_perf_event_output(ctx, &events, BPF_F_CURRENT_CPU, &value, sizeof(value));
	return XDP_PASS;
}
static __attribute__((noinline)) int jump(struct xdp_md *ctx)
{
	__u32 zero = 0;
	__u64 *runs = bpf_map_lookup_elem(&results, &zero);
	if (runs)
		*runs += 1;
	bpf_tail_call(ctx, &jumps, 0);
	return XDP_DROP;
}
SEC("xdp") int again(struct xdp_md *ctx) { return jump(ctx) == XDP_DROP ? XDP_TX : XDP_PASS; }
char _license[] SEC("license") = "GPL";
