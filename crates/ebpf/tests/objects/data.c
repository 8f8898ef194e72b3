// Data sections: global and static variables, local statics, strings, sections with suffixes.
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

const volatile __u32 limit = 7;
static const volatile __u64 table[4] = { 10, 20, 30, 40 };
volatile __u32 counter = 5;
static volatile __u16 hidden = 6;
volatile __u64 zeroed;
static volatile __u32 also_zeroed[3];
const volatile __u32 tuned SEC(".rodata.tune") = 99;
__u32 special SEC(".data.special") = 77;

SEC("xdp") int data(struct xdp_md *ctx)
{
	static volatile __u32 calls = 3;
	__u32 at = ctx->rx_queue_index & 3;

	calls++;
	zeroed += table[at] + limit;
	also_zeroed[2] += tuned;
	counter += hidden + special;
	hidden = 1;
	bpf_printk("queue %u", at);
	return calls + also_zeroed[1] > 3 ? XDP_PASS : XDP_DROP;
}
char _license[] SEC("license") = "GPL";
