// What user space sets before it loads an object: variables by name, and the template of a map of maps.
#include <linux/bpf.h>
#include <stdbool.h>
#include <bpf/bpf_helpers.h>

enum mode { MODE_OFF, MODE_COUNT = 7, MODE_BELOW = -1 };
struct address { __u8 mac[6]; __u16 vlan; };
struct policy { __u32 rate; struct address to[2]; __s16 bias; __u8 low : 3, high : 5; const char *name; };

const volatile __u32 limit = 7;
const volatile __s8 offset = -3;
const volatile bool strict = true;
const volatile enum mode mode = MODE_COUNT;
const volatile char label[8] = "label";
static const volatile __u64 hidden = 40;
const volatile __u16 tuned SEC(".rodata.tune") = 99;
volatile struct policy policy = { .rate = 1000, .bias = -5 };
volatile __u32 table[4] = { 1, 2, 3, 4 };
volatile __u64 total;

struct { __uint(type, BPF_MAP_TYPE_HASH_OF_MAPS); __uint(max_entries, 4); __type(key, __u32); __type(value, __u32); }
	tenants SEC(".maps");
struct { __uint(type, BPF_MAP_TYPE_ARRAY); __uint(max_entries, 2); __type(key, __u32); __type(value, __u64); }
	tenant SEC(".maps");
struct { __uint(type, BPF_MAP_TYPE_ARRAY); __uint(max_entries, 2); __type(key, __u32); __type(value, __u64);
	__uint(pinning, 16); } shared SEC(".maps");

SEC("xdp") int settings(struct xdp_md *ctx)
{
	__u32 key = 0;
	void *inner = bpf_map_lookup_elem(&tenants, &key);
	__u64 *count = inner ? bpf_map_lookup_elem(inner, &key) : 0;

	if (count)
		(*count)++;
	total += hidden + tuned + table[2] + policy.to[1].vlan + label[0] + bpf_get_smp_processor_id();
	bpf_map_update_elem(&shared, &key, (const void *)&total, 0);
	bpf_map_update_elem(&tenant, &key, (const void *)&total, 0);
	if (strict && mode == MODE_COUNT && offset < 0)
		return limit;
	return policy.rate == 1000 ? XDP_PASS : XDP_DROP;
}
char _license[] SEC("license") = "GPL";
