// Counts in an inner map that the host may exchange; the outer map goes on over replacements.
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

struct inner {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} a SEC(".maps"), b SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 2);
	__type(key, __u32);
	__uint(pinning, LIBBPF_PIN_BY_NAME);
	__array(values, struct inner);
} outer SEC(".maps") = { .values = { [0] = &a } };

SEC("xdp")
int nested(struct xdp_md *ctx)
{
	__u32 zero = 0;
	void *inner = bpf_map_lookup_elem(&outer, &zero);
	__u64 *value = inner ? bpf_map_lookup_elem(inner, &zero) : 0;

	if (!value)
		return XDP_DROP;
	*value += 1;
	bpf_printk("packet %d", (int)*value);
	return XDP_TX;
}

char _license[] SEC("license") = "GPL";
