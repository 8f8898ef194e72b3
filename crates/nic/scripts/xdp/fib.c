// Sends IPv4 where the routes say, with the neighbour's addresses.
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

SEC("xdp")
int fib(struct xdp_md *ctx)
{
	void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	struct ethhdr *eth = data;
	struct iphdr *ip = (void *)(eth + 1);
	struct bpf_fib_lookup to = {};

	if ((void *)(ip + 1) > end || eth->h_proto != bpf_htons(ETH_P_IP))
		return XDP_PASS;
	to.family = 2; // AF_INET
	to.tot_len = bpf_ntohs(ip->tot_len);
	to.ipv4_src = ip->saddr;
	to.ipv4_dst = ip->daddr;
	to.ifindex = ctx->ingress_ifindex;
	if (bpf_fib_lookup(ctx, &to, sizeof(to), 0) != BPF_FIB_LKUP_RET_SUCCESS)
		return XDP_PASS;
	__builtin_memcpy(eth->h_dest, to.dmac, ETH_ALEN);
	__builtin_memcpy(eth->h_source, to.smac, ETH_ALEN);
	return bpf_redirect(to.ifindex, 0);
}

char _license[] SEC("license") = "GPL";
