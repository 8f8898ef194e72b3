// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause OR GPL-2.0-only
// nat_basic with its branches turned around: what is translated is decided first, UDP before TCP, and early returns are
// nested.
#include "as_shipped.h"
#define nat_basic static shipped
#include "nat_basic/nat_basic.c"
#undef nat_basic

static __always_inline int translated(struct eth_header *eth, void *end, const struct flow *flow,
                                      const struct translation *to, struct settings *set)
{
    struct iphdr *ip = (void *)(eth + 1);
    struct tcphdr *tcp = (void *)(ip + 1);
    struct udphdr *udp = (void *)tcp;
    struct way *way = &set->ways[to->way & 1];
    __u32 change;

    if (bpf_redirect_map(&ports, way->slot, XDP_DROP) == XDP_REDIRECT) {
        change = shortened(changed32(flow->source, to->source) + changed32(flow->dest, to->dest));
        ip->check = patched(ip->check, change + 0xfffe);
        ip->ttl -= 1;
        ip->saddr = to->source;
        ip->daddr = to->dest;
        change += changed16(flow->source_port, to->source_port) + changed16(flow->dest_port, to->dest_port);
        udp->source = to->source_port;
        udp->dest = to->dest_port;
        if (flow->protocol != IPPROTO_TCP) {
            if (udp->check)
                udp->check = not_zero(patched(udp->check, change));
        } else {
            if ((void *)(tcp + 1) <= end)
                tcp->check = patched(tcp->check, change);
            else
                return counted(TO_HOST, XDP_PASS);
        }
        copy_mac(eth->h_dest, way->dest);
        copy_mac(eth->h_source, way->source);
        return counted(TRANSLATED, XDP_REDIRECT);
    }
    return counted(DROP_NO_WAY, XDP_DROP);
}

static __always_inline int looked_up(struct eth_header *eth, void *end, __u32 ifindex, const struct flow *flow,
                                     struct settings *set)
{
    const struct translation *to = bpf_map_lookup_elem(&flows, flow);

    if (to)
        return translated(eth, end, flow, to, set);
    if (ifindex == set->inside) {
        if (!begin(flow, set)) {
            count(&counters, NEW_FLOW);
            to = bpf_map_lookup_elem(&flows, flow);
            if (to)
                return translated(eth, end, flow, to, set);
        }
        return counted(TO_HOST_NO_PORT, XDP_PASS);
    }
    return counted(TO_HOST, XDP_PASS);
}

SEC("xdp")
__attribute__((used)) int nat_basic(struct xdp_md *ctx)
{
    void *end = (void *)(long)ctx->data_end;
    struct eth_header *eth = (void *)(long)ctx->data;
    struct iphdr *ip = (void *)(eth + 1);
    struct tcphdr *tcp = (void *)(ip + 1);
    struct udphdr *udp = (void *)tcp;
    struct settings *set;
    struct flow flow;
    __u32 zero = 0;

    set = bpf_map_lookup_elem(&settings, &zero);
    if ((void *)(udp + 1) <= end && set && *(__u8 *)ip == 0x45 && eth->h_proto == bpf_htons(ETH_P_IP)) {
        if (ip->ttl > 1 && !(ip->frag_off & bpf_htons(IPV4_MORE | IPV4_OFFSET))) {
            if (((void *)(tcp + 1) <= end && ip->protocol == IPPROTO_TCP) || ip->protocol == IPPROTO_UDP) {
                flow.protocol = ip->protocol;
                flow.dest_port = udp->dest;
                flow.source_port = udp->source;
                flow.dest = ip->daddr;
                flow.source = ip->saddr;
                return looked_up(eth, end, ctx->ingress_ifindex, &flow, set);
            }
        }
    }
    return counted(TO_HOST, XDP_PASS);
}
