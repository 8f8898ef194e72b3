// Faults in the ways that a verifier would refuse, and that an engine must survive.
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} count SEC(".maps");

SEC("xdp")
int fault(struct xdp_md *ctx)
{
	volatile unsigned char *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	__u32 zero = 0, none = 9;
	__u64 *found = bpf_map_lookup_elem(&count, &zero);

	if (found)
		*found += 1;
	switch (data[13]) {
	case 1: // behind the packet
		return *end;
	case 2: // no such value
		return *(volatile __u64 *)bpf_map_lookup_elem(&count, &none);
	case 3: // never ends
		for (volatile int i = 0;; i++)
			data[0] = i;
	case 4: // the context is read only
		*(volatile __u32 *)((void *)ctx) = 1;
	}
	return XDP_TX;
}

char _license[] SEC("license") = "GPL";
