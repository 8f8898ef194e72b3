// `static` functions where programs are, and the address of a value that may be null given to helpers.
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#define NOINLINE __attribute__((noinline))

struct { __uint(type, BPF_MAP_TYPE_HASH); __uint(max_entries, 8); __type(key, __u32); __type(value, __u64); } seen SEC(".maps");

SEC("xdp") static NOINLINE int twice(int number) { return number + number; }
SEC("xdp") __attribute__((used)) static int forgotten(struct xdp_md *ctx) { return XDP_DROP; }

SEC("xdp") int program(struct xdp_md *ctx) { return twice(1) + (ctx->rx_queue_index & 1) * 0; }

SEC("xdp/unchecked") int unchecked(struct xdp_md *ctx)
{
	__u32 key = ctx->rx_queue_index;
	__u64 *count = bpf_map_lookup_elem(&seen, &key);

	key = 9;
	bpf_map_update_elem(&seen, &key, count, 0);
	return XDP_PASS;
}

SEC("xdp/checked") int checked(struct xdp_md *ctx)
{
	__u32 key = ctx->rx_queue_index;
	__u64 *count = bpf_map_lookup_elem(&seen, &key);

	key = 9;
	if (count)
		bpf_map_update_elem(&seen, &key, count, 0);
	return XDP_PASS;
}
char _license[] SEC("license") = "GPL";
