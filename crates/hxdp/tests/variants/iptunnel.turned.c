// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause OR GPL-2.0-only
// iptunnel with its branches turned around: IPv6 is asked first, what goes into a tunnel before what does not, and early
// returns are nested.
#include "as_shipped.h"
#define iptunnel static shipped
#include "iptunnel/iptunnel.c"
#undef iptunnel

static __always_inline int port_of(void *at, void *end, struct service *key)
{
    struct ports *ports = at;

    if (key->protocol == IPPROTO_UDP || key->protocol == IPPROTO_TCP) {
        if ((void *)(ports + 1) <= end) {
            key->port = ports->dest;
            return 0;
        }
        return -1;
    }
    return 0;
}

static __always_inline int of_ipv4(void *at, void *end, struct service *key, struct inner *inner)
{
    struct iphdr *ip = at;

    if ((void *)(ip + 1) <= end && ip->version == 4) {
        __u32 bytes = ip->ihl * 4;

        if ((void *)ip + bytes <= end && bytes >= sizeof(*ip)) {
            if ((void *)ip + bpf_ntohs(ip->tot_len) <= end && bpf_ntohs(ip->tot_len) >= sizeof(*ip)) {
                inner->bytes = bpf_ntohs(ip->tot_len);
                inner->tos = ip->tos;
                inner->protocol = IPPROTO_IPIP;
                key->address[0] = ip->daddr;
                key->protocol = ip->protocol;
                key->family = 4;
                if (!(ip->frag_off & bpf_htons(IPV4_MORE | IPV4_OFFSET)))
                    return port_of((void *)ip + bytes, end, key);
                return 0;
            }
        }
    }
    return -1;
}

static __always_inline int of_ipv6(void *at, void *end, struct service *key, struct inner *inner)
{
    struct ipv6hdr *ip = take_ipv6(&at, end);
    struct upper upper;

    if (ip) {
        if (at + bpf_ntohs(ip->payload_len) <= end) {
            if (!skip_extensions(&at, end, ip->nexthdr, &upper)) {
                inner->bytes = bpf_ntohs(ip->payload_len) + sizeof(*ip);
                inner->tos = ipv6_class(ip);
                inner->protocol = IPPROTO_IPV6;
                __builtin_memcpy(key->address, &ip->daddr, sizeof(key->address));
                key->protocol = upper.protocol;
                key->family = 6;
                if (!upper.fragment)
                    return port_of(at, end, key);
                return 0;
            }
        }
    }
    return -1;
}

static __always_inline int wrapped(struct xdp_md *ctx, const struct inner *inner, struct tunnel *tunnel)
{
    int problem;

    if (tunnel->family != 4) {
        if (inner->bytes + sizeof(struct ipv6hdr) <= tunnel->mtu)
            problem = encapsulate_ipv6(ctx, inner, tunnel->ends.source, tunnel->ends.dest, tunnel->mac);
        else
            return counted(TO_HOST_TOO_BIG, XDP_PASS);
    } else {
        if (inner->bytes + sizeof(struct iphdr) <= tunnel->mtu)
            problem = encapsulate_ipv4(ctx, inner, tunnel->ends.source[0], tunnel->ends.dest[0], tunnel->mac);
        else
            return counted(TO_HOST_TOO_BIG, XDP_PASS);
    }
    if (!problem) {
        count_traffic(&stats, tunnel->index, inner->bytes);
        return XDP_TX;
    }
    return counted(DROP_NO_ROOM, XDP_DROP);
}

SEC("xdp")
__attribute__((used)) int iptunnel(struct xdp_md *ctx)
{
    void *at = (void *)(long)ctx->data;
    void *end = (void *)(long)ctx->data_end;
    struct eth_header *eth = take(&at, end, sizeof(*eth));
    struct service key = {};
    struct tunnel *tunnel;
    struct inner inner;
    int problem;

    if (eth) {
        if (eth->h_proto == bpf_htons(ETH_P_IPV6))
            problem = of_ipv6(at, end, &key, &inner);
        else if (eth->h_proto != bpf_htons(ETH_P_IP))
            return counted(TO_HOST_NO_SERVICE, XDP_PASS);
        else
            problem = of_ipv4(at, end, &key, &inner);
        if (!problem) {
            tunnel = bpf_map_lookup_elem(&services, &key);
            if (!tunnel && key.port) {
                key.port = 0;
                tunnel = bpf_map_lookup_elem(&services, &key);
            }
            if (tunnel)
                return wrapped(ctx, &inner, tunnel);
            return counted(TO_HOST_NO_SERVICE, XDP_PASS);
        }
    }
    return counted(DROP_MALFORMED, XDP_DROP);
}
