// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause OR GPL-2.0-only
// Router by the host's own routes: interfaces, routes and neighbours are those that the host's routing has.
//
// IPv4 and IPv6 packets go where the routing says, with the neighbour's addresses and one hop less. The host gets
// what needs more than that: the last hop, no route, a neighbour that it has yet to ask for, packets larger than the
// way out takes, IP options and what is not IP. What a route refuses is dropped.
#include "parse.h"
#include "checksum.h"
#include "count.h"
#include <bpf/bpf_helpers.h>

#define AF_INET 2
#define AF_INET6 10

enum counter {
    FORWARDED,
    TO_HOST_NOT_IP,
    TO_HOST_OPTIONS,
    TO_HOST_TTL,
    TO_HOST_NO_ROUTE,
    TO_HOST_UNRESOLVED,
    TO_HOST_TOO_BIG,
    DROP_MALFORMED,
    // A route says so: blackhole, unreachable, prohibited.
    DROP_REFUSED,
    COUNTERS,
};

// Packets by `enum counter`.
struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, COUNTERS);
    __type(key, __u32);
    __type(value, __u64);
} counters SEC(".maps");

static __always_inline int counted(__u32 counter, int verdict)
{
    count(&counters, counter);
    return verdict;
}

SEC("xdp")
int fib_router(struct xdp_md *ctx)
{
    void *at = (void *)(long)ctx->data;
    void *end = (void *)(long)ctx->data_end;
    struct eth_header *eth = take(&at, end, sizeof(*eth));
    struct bpf_fib_lookup to = {.ifindex = ctx->ingress_ifindex};
    struct ipv6hdr *ip6 = at;
    struct iphdr *ip = at;
    __u32 mtu = 0;

    if (!eth)
        return counted(DROP_MALFORMED, XDP_DROP);
    if (eth->h_proto == bpf_htons(ETH_P_IP)) {
        if ((void *)(ip + 1) > end || ip->version != 4 || ip->ihl < 5)
            return counted(DROP_MALFORMED, XDP_DROP);
        if (ip->ihl != 5)
            return counted(TO_HOST_OPTIONS, XDP_PASS);
        if (ip->ttl <= 1)
            return counted(TO_HOST_TTL, XDP_PASS);
        to.family = AF_INET;
        to.tos = ip->tos;
        to.tot_len = bpf_ntohs(ip->tot_len);
        to.ipv4_src = ip->saddr;
        to.ipv4_dst = ip->daddr;
    } else if (eth->h_proto == bpf_htons(ETH_P_IPV6)) {
        if ((void *)(ip6 + 1) > end || ip6->version != 6)
            return counted(DROP_MALFORMED, XDP_DROP);
        if (ip6->hop_limit <= 1)
            return counted(TO_HOST_TTL, XDP_PASS);
        to.family = AF_INET6;
        to.tot_len = bpf_ntohs(ip6->payload_len) + sizeof(*ip6);
        __builtin_memcpy(to.ipv6_src, &ip6->saddr, sizeof(ip6->saddr));
        __builtin_memcpy(to.ipv6_dst, &ip6->daddr, sizeof(ip6->daddr));
    } else {
        return counted(TO_HOST_NOT_IP, XDP_PASS);
    }

    switch (bpf_fib_lookup(ctx, &to, sizeof(to), 0)) {
    case BPF_FIB_LKUP_RET_SUCCESS:
        break;
    case BPF_FIB_LKUP_RET_BLACKHOLE:
    case BPF_FIB_LKUP_RET_UNREACHABLE:
    case BPF_FIB_LKUP_RET_PROHIBIT:
        return counted(DROP_REFUSED, XDP_DROP);
    case BPF_FIB_LKUP_RET_NO_NEIGH:
        bpf_printk("no neighbour by interface %u", to.ifindex);
        return counted(TO_HOST_UNRESOLVED, XDP_PASS);
    case BPF_FIB_LKUP_RET_FRAG_NEEDED:
        return counted(TO_HOST_TOO_BIG, XDP_PASS);
    default:
        return counted(TO_HOST_NO_ROUTE, XDP_PASS);
    }
    // The frame may be longer than its IP packet.
    if (bpf_check_mtu(ctx, to.ifindex, &mtu, 0, 0))
        return counted(TO_HOST_TOO_BIG, XDP_PASS);

    if (to.family == AF_INET)
        decrement_ttl(ip);
    else
        ip6->hop_limit--;
    copy_mac(eth->h_dest, to.dmac);
    copy_mac(eth->h_source, to.smac);
    count(&counters, FORWARDED);
    return bpf_redirect(to.ifindex, 0);
}

char _license[] SEC("license") = "Dual BSD/GPL";
