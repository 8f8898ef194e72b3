// Maps of section `maps`, in the forms the struct had over the years: -DFORM gives its bytes.
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

struct map {
	__u32 type, key_size, value_size, max_entries;
#if FORM >= 20
	__u32 flags;
#endif
#if FORM == 24
	__u32 inner_map_idx;
#elif FORM == 28
	__u32 inner_map_idx, numa_node;
#elif FORM == 36
	__u32 id, pinning, inner_id, inner_idx;
#elif FORM > 36
	__u32 pinning;
	char namespace[FORM - 24];
#endif
};

struct map SEC("maps") flows = { .type = BPF_MAP_TYPE_HASH, .key_size = 8, .value_size = 16, .max_entries = 100,
#if FORM >= 20
	.flags = BPF_F_NO_PREALLOC,
#endif
#if FORM >= 36
	.pinning = 2,
#endif
};
struct map SEC("maps") inner = { .type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = 4, .max_entries = 2,
#if FORM == 36
	.id = 42, .inner_idx = 1,
#endif
};
#if FORM == 24 || FORM == 28 || FORM == 36
struct map SEC("maps") outer = { .type = BPF_MAP_TYPE_ARRAY_OF_MAPS, .key_size = 4, .value_size = 4, .max_entries = 2,
#if FORM == 36
	.inner_id = 42,
#else
	.inner_map_idx = 1,
#endif
};
#endif
struct map SEC("maps") jumps = { .type = BPF_MAP_TYPE_PROG_ARRAY, .key_size = 4, .value_size = 4, .max_entries = 2,
#if FORM == 36
	.id = 7,
#endif
};

SEC("xdp_prog1") int main_program(struct xdp_md *ctx)
{
	__u64 key = 0;
	if (bpf_map_lookup_elem(&flows, &key) || bpf_map_lookup_elem(&inner, &key))
		return XDP_DROP;
#if FORM == 24 || FORM == 28 || FORM == 36
	if (bpf_map_lookup_elem(&outer, &key))
		return XDP_TX;
#endif
	bpf_tail_call(ctx, &jumps, 1);
	return XDP_PASS;
}
#if FORM == 36
SEC("7/1") int tail_program(struct xdp_md *ctx) { return XDP_TX; }
#endif
char _license[] SEC("license") = "GPL";
