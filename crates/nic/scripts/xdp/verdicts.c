// Does what the UDP destination port asks for: every way a program can end.
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <linux/udp.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 4);
	__type(key, __u32);
	__type(value, __u64);
} packets SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} bytes SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16);
	__type(key, __u32);
	__type(value, __u64);
} flows SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_DEVMAP);
	__uint(max_entries, 8);
	__type(key, __u32);
	__type(value, __u32);
} ports SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_CPUMAP);
	__uint(max_entries, 8);
	__type(key, __u32);
	__type(value, __u32);
} cpus SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_XSKMAP);
	__uint(max_entries, 8);
	__type(key, __u32);
	__type(value, __u32);
} sockets SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} records SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(key_size, 4);
	__uint(value_size, 4);
} perf SEC(".maps");

SEC("xdp")
int verdicts(struct xdp_md *ctx)
{
	void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	struct ethhdr *eth = data;
	struct iphdr *ip = (void *)(eth + 1);
	struct udphdr *udp = (void *)(ip + 1);
	__u32 zero = 0, length = end - data;
	__u64 *packet = bpf_map_lookup_elem(&packets, &zero), *byte = bpf_map_lookup_elem(&bytes, &zero);

	if (packet)
		__sync_fetch_and_add(packet, 1);
	if (byte)
		*byte += length;
	// Without room for the headers it passes: runts too are somebody's.
	if ((void *)(udp + 1) > end || eth->h_proto != bpf_htons(ETH_P_IP) || ip->protocol != 17)
		return XDP_PASS;

	__u32 source = ip->saddr;
	__u64 one = 1, *flow = bpf_map_lookup_elem(&flows, &source);
	if (flow)
		__sync_fetch_and_add(flow, 1);
	else
		bpf_map_update_elem(&flows, &source, &one, BPF_NOEXIST);

	__u32 port = bpf_ntohs(udp->dest);
	if (port >= 100 && port < 200)
		return bpf_redirect(port - 100, 0);
	switch (port) {
	case 1:
		return XDP_DROP;
	case 2:
		return XDP_PASS;
	case 3:
		return XDP_TX;
	case 4:
		return XDP_ABORTED;
	case 5:
		return 77;
	case 6:
		// Where it came in, for the script to see.
		eth->h_source[5] = ctx->ingress_ifindex;
		eth->h_source[4] = ctx->rx_queue_index;
		return XDP_PASS;
	case 10:
		return bpf_redirect_map(&ports, 0, BPF_F_BROADCAST);
	case 11:
		return bpf_redirect_map(&ports, 0, BPF_F_BROADCAST | BPF_F_EXCLUDE_INGRESS);
	case 12:
		return bpf_redirect_map(&ports, 1, XDP_DROP);
	case 13:
		return bpf_redirect_map(&cpus, 5, XDP_DROP);
	case 14:
		return bpf_redirect_map(&sockets, 2, XDP_PASS);
	case 15:
		return XDP_REDIRECT;
	case 20:
		return bpf_xdp_adjust_head(ctx, -4) ? XDP_ABORTED : XDP_TX;
	case 21:
		return bpf_xdp_adjust_head(ctx, 14) ? XDP_ABORTED : XDP_PASS;
	case 22:
		return bpf_xdp_adjust_tail(ctx, 50) ? XDP_ABORTED : XDP_TX;
	case 23:
		return bpf_xdp_adjust_tail(ctx, -8) ? XDP_ABORTED : XDP_PASS;
	case 30: {
		__u64 event[2] = { 0x1122334455667788ull, length };
		bpf_ringbuf_output(&records, event, sizeof(event), 0);
		return XDP_DROP;
	}
	case 31: {
		__u32 event = length;
		bpf_perf_event_output(ctx, &perf, BPF_F_CURRENT_CPU, &event, sizeof(event));
		return XDP_DROP;
	}
	}
	return XDP_PASS;
}

char _license[] SEC("license") = "GPL";
