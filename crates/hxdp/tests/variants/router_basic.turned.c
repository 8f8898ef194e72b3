// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause OR GPL-2.0-only
// router_basic with its branches turned around: what is forwarded is decided first, and early returns are nested.
#include "as_shipped.h"
#define router_basic static shipped
#include "router_basic/router_basic.c"
#undef router_basic

static __always_inline int routed(struct eth_header *eth, struct iphdr *ip)
{
    struct prefix prefix = {.bits = 32, .address = ip->daddr};
    struct route *route = bpf_map_lookup_elem(&routes, &prefix);

    if (route) {
        if (bpf_redirect_map(&ports, route->slot, XDP_DROP) == XDP_REDIRECT) {
            decrement_ttl(ip);
            copy_mac(eth->h_dest, route->dest);
            copy_mac(eth->h_source, route->source);
            return counted(FORWARDED, XDP_REDIRECT);
        }
        return counted(DROP_NO_PORT, XDP_DROP);
    }
    return counted(TO_HOST_NO_ROUTE, XDP_PASS);
}

SEC("xdp")
__attribute__((used)) int router_basic(struct xdp_md *ctx)
{
    void *end = (void *)(long)ctx->data_end;
    struct eth_header *eth = (void *)(long)ctx->data;
    struct iphdr *ip = (void *)(eth + 1);

    if ((void *)(ip + 1) <= end && ip->ihl == 5 && ip->version == 4 && eth->h_proto == bpf_htons(ETH_P_IP)) {
        if ((void *)ip + bpf_ntohs(ip->tot_len) <= end && bpf_ntohs(ip->tot_len) >= sizeof(*ip)) {
            if (ip->ttl > 1)
                return routed(eth, ip);
            return counted(TO_HOST_TTL, XDP_PASS);
        }
        return counted(DROP_MALFORMED, XDP_DROP);
    }
    return counted(TO_HOST_OTHER, XDP_PASS);
}
