// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause OR GPL-2.0-only
// flow_filter with its branches turned around: what goes to a worker is decided first, and early returns are nested.
#include "as_shipped.h"
#define flow_filter static shipped
#include "flow_filter/flow_filter.c"
#undef flow_filter

static __always_inline int spread(struct flow *flow)
{
    __u32 zero = 0, hash;
    __u32 *count = bpf_map_lookup_elem(&in_use, &zero);

    if (count && *count) {
        hash = (flow->source ^ flow->dest) + (flow->source_port ^ flow->dest_port);
        hash ^= hash >> 16;
        hash *= 0x45d9f3b;
        hash ^= hash >> 16;
        return bpf_redirect_map(&workers, (__u64)hash * *count >> 32, XDP_PASS);
    }
    return XDP_PASS;
}

SEC("xdp")
__attribute__((used)) int flow_filter(struct xdp_md *ctx)
{
    void *end = (void *)(long)ctx->data_end;
    struct eth_header *eth = (void *)(long)ctx->data;
    struct iphdr *ip = (void *)(eth + 1);
    struct ports *ports = (void *)(ip + 1);
    struct flow flow = {};
    struct judged *judged;

    if ((void *)(ports + 1) <= end && ip->ihl == 5 && ip->version == 4 && eth->h_proto == bpf_htons(ETH_P_IP)) {
        if (ip->protocol == IPPROTO_UDP || ip->protocol == IPPROTO_TCP) {
            if (!(ip->frag_off & bpf_htons(IPV4_MORE | IPV4_OFFSET))) {
                flow.protocol = ip->protocol;
                flow.dest_port = ports->dest;
                flow.source_port = ports->source;
                flow.dest = ip->daddr;
                flow.source = ip->saddr;
                judged = bpf_map_lookup_elem(&flows, &flow);
                if (!judged)
                    return spread(&flow);
                judged->packets += 1;
                judged->bytes += end - (void *)eth;
                return XDP_DROP;
            }
        }
    }
    return XDP_PASS;
}
