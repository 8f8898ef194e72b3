// Iterators that count: sums, edges and refusals; results go to a map.
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#ifndef bpf_for
struct bpf_iter_num { __u64 __opaque[1]; } __attribute__((aligned(8)));
#endif
extern int bpf_iter_num_new(struct bpf_iter_num *it, int start, int end) __ksym;
extern int *bpf_iter_num_next(struct bpf_iter_num *it) __ksym __weak;
extern void bpf_iter_num_destroy(struct bpf_iter_num *it) __ksym;

struct { __uint(type, BPF_MAP_TYPE_ARRAY); __uint(max_entries, 16); __type(key, __u32); __type(value, __s64); } results SEC(".maps");

static __attribute__((noinline)) int keep(__u32 index, __s64 value)
{
	__s64 *to = bpf_map_lookup_elem(&results, &index);
	if (to)
		*to = value;
	return 0;
}

// The sum of what comes, and the number of rounds in the upper half.
static __attribute__((always_inline)) __s64 all(int start, int end)
{
	struct bpf_iter_num it;
	__s64 sum = 0, rounds = 0;
	int *at, error = bpf_iter_num_new(&it, start, end);
	while ((at = bpf_iter_num_next(&it))) {
		sum += *at;
		rounds++;
	}
	bpf_iter_num_destroy(&it);
	return error ? error : (rounds << 32) + sum;
}

SEC("xdp") int sums(struct xdp_md *ctx)
{
	keep(0, all(0, 10));
	keep(1, all(-3, 4));
	keep(2, all(5, 5));
	keep(3, all(5, 4));
	keep(4, all(0, (1 << 23) + 1));
	keep(5, all(-2147483647 - 1, 2147483647));
	keep(6, all(2147483640, 2147483647));
	keep(7, all(-2147483647 - 1, -2147483640));
	return XDP_PASS;
}
SEC("xdp") int nested(struct xdp_md *ctx)
{
	struct bpf_iter_num outer, inner;
	__s64 sum = 0;
	int *i, *j;
	bpf_iter_num_new(&outer, 0, 20);
	while ((i = bpf_iter_num_next(&outer))) {
		bpf_iter_num_new(&inner, 0, *i);
		while ((j = bpf_iter_num_next(&inner)))
			sum += *j * 3 + *i;
		bpf_iter_num_destroy(&inner);
	}
	bpf_iter_num_destroy(&outer);
	keep(8, sum);
	return XDP_TX;
}
SEC("xdp") int reads(struct xdp_md *ctx)
{
	__u8 *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	struct bpf_iter_num it;
	__s64 sum = 0;
	int *at;
	if (!bpf_iter_num_next)
		return XDP_ABORTED;
	bpf_iter_num_new(&it, 0, 60);
	while ((at = bpf_iter_num_next(&it))) {
		__u64 n = (__u32)*at;
		if (n >= 60 || data + n + 1 > end)
			break;
		sum += data[n];
	}
	bpf_iter_num_destroy(&it);
	keep(9, sum);
	return XDP_PASS;
}
char _license[] SEC("license") = "GPL";
