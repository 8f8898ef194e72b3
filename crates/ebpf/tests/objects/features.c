// One program for each feature that a report names.
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

struct value { struct bpf_spin_lock lock; __u64 count; };
struct { __uint(type, BPF_MAP_TYPE_ARRAY); __uint(max_entries, 1); __type(key, __u32); __type(value, struct value); } values SEC(".maps");

SEC("xdp") int atomic(struct xdp_md *ctx)
{
	__u32 key = 0;
	struct value *v = bpf_map_lookup_elem(&values, &key);
	if (v)
		__sync_fetch_and_add(&v->count, 1);
	return XDP_PASS;
}
SEC("xdp") int lock(struct xdp_md *ctx)
{
	__u32 key = 0;
	struct value *v = bpf_map_lookup_elem(&values, &key);
	if (!v)
		return XDP_PASS;
	bpf_spin_lock(&v->lock);
	v->count++;
	bpf_spin_unlock(&v->lock);
	return XDP_DROP;
}
SEC("xdp") int loop(struct xdp_md *ctx)
{
	volatile int n = 0;
#pragma clang loop unroll(disable)
	for (int i = 0; i < 10; i++)
		n += i;
	return n & 3;
}
SEC("xdp") int none(struct xdp_md *ctx) { return XDP_DROP; }
char _license[] SEC("license") = "GPL";
