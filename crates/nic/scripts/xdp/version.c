// Marks packets with its version: in the main program, and again behind a tail call.
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#ifndef VALUE
#define VALUE __u64
#endif

int second(struct xdp_md *ctx);

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 2);
	__type(key, __u32);
	__array(values, int(void *));
} calls SEC(".maps") = { .values = { [1] = (void *)&second } };

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 2);
	__type(key, __u32);
	__type(value, VALUE);
	__uint(pinning, LIBBPF_PIN_BY_NAME);
} pinned SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} named SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} fresh SEC(".maps");

static __always_inline void count(void *map)
{
	__u32 zero = 0;
	__u64 *value = bpf_map_lookup_elem(map, &zero);
	if (value)
		__sync_fetch_and_add(value, 1);
}

SEC("xdp")
int first(struct xdp_md *ctx)
{
	unsigned char *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	if (data + 14 > end)
		return XDP_ABORTED;
	data[4] = VERSION;
	count(&pinned);
	count(&named);
	bpf_tail_call(ctx, &calls, 1);
	return XDP_ABORTED;
}

SEC("xdp/second")
int second(struct xdp_md *ctx)
{
	unsigned char *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	if (data + 14 > end)
		return XDP_ABORTED;
	data[5] = VERSION;
	count(&fresh);
	return XDP_TX;
}

char _license[] SEC("license") = "GPL";
