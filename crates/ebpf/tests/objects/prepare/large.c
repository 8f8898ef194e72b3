// Arrays of millions of entries, as load balancers declare them: a few packets touch a few of them.
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

struct { __uint(type, BPF_MAP_TYPE_ARRAY); __uint(max_entries, 33554944); __type(key, __u32); __type(value, __u32); }
	rings SEC(".maps");
struct { __uint(type, BPF_MAP_TYPE_ARRAY); __uint(max_entries, 16777214); __type(key, __u32); __type(value, __u32); }
	servers SEC(".maps");
struct { __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY); __uint(max_entries, 4000000); __type(key, __u32); __type(value, __u64); }
	packets SEC(".maps");

SEC("xdp") int large(struct xdp_md *ctx)
{
	__u32 length = ctx->data_end - ctx->data, slot = length * 20000, *ring, *server;
	__u64 *seen;

	ring = bpf_map_lookup_elem(&rings, &slot);
	if (ring)
		(*ring)++;
	server = bpf_map_lookup_elem(&servers, &length);
	if (server)
		*server = slot;
	seen = bpf_map_lookup_elem(&packets, &length);
	if (seen)
		(*seen)++;
	return XDP_PASS;
}
char _license[] SEC("license") = "GPL";
