// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause OR GPL-2.0-only
// balancer with its branches turned around: IPv6 is asked first, UDP before TCP, what is balanced before what is not, and
// early returns are nested.
#include "as_shipped.h"
#define balancer static shipped
#include "balancer/balancer.c"
#undef balancer

static __always_inline int addresses(struct eth_header *eth, void **at, void *end, struct flow *flow,
                                     struct inner *inner)
{
    if (eth->h_proto == bpf_htons(ETH_P_IPV6)) {
        struct ipv6hdr *ip = take_ipv6(at, end);

        if (ip && bpf_ntohs(ip->payload_len) <= end - *at) {
            inner->bytes = bpf_ntohs(ip->payload_len) + sizeof(*ip);
            inner->tos = ipv6_class(ip);
            inner->protocol = IPPROTO_IPV6;
            flow->protocol = ip->nexthdr;
            __builtin_memcpy(flow->service, &ip->daddr, sizeof(flow->service));
            __builtin_memcpy(flow->client, &ip->saddr, sizeof(flow->client));
            return 0;
        }
        return XDP_DROP;
    }
    if (eth->h_proto == bpf_htons(ETH_P_IP)) {
        struct iphdr *ip = take(at, end, sizeof(*ip));

        if (ip && bpf_ntohs(ip->tot_len) <= end - (void *)ip && ip->version == 4) {
            if (!(ip->frag_off & bpf_htons(IPV4_MORE | IPV4_OFFSET)) && ip->ihl == 5) {
                inner->bytes = bpf_ntohs(ip->tot_len);
                inner->tos = ip->tos;
                inner->protocol = IPPROTO_IPIP;
                flow->protocol = ip->protocol;
                flow->service[0] = ip->daddr;
                flow->client[0] = ip->saddr;
                return 0;
            }
            return XDP_PASS;
        }
        return XDP_DROP;
    }
    return XDP_PASS;
}

static __always_inline int sent(struct xdp_md *ctx, struct flow *flow, const struct inner *inner, int first,
                                struct settings *set)
{
    __u32 number, *known = NULL, hash;
    struct service_key key = {};
    struct service *service;
    struct real *real;

    __builtin_memcpy(key.address, flow->service, sizeof(key.address));
    key.port = flow->service_port;
    key.protocol = flow->protocol;
    service = bpf_map_lookup_elem(&services, &key);
    if (service) {
        count_traffic(&service_stats, service->number, inner->bytes);
        hash = hash_words((__u32 *)flow, FLOW_WORDS, service->number);
        if (!first)
            known = bpf_map_lookup_elem(&connections, flow);
        if (!known) {
            __u32 slot = service->number * SLOTS + hash % SLOTS;
            __u32 *chosen = bpf_map_lookup_elem(&ring, &slot);

            if (!chosen)
                return counted(DROP_NO_REAL, XDP_DROP);
            number = *chosen;
            bpf_map_update_elem(&connections, flow, &number, BPF_ANY);
            count(&counters, NEW_FLOW);
        } else {
            number = *known;
            count(&counters, ESTABLISHED);
        }
        real = bpf_map_lookup_elem(&reals, &number);
        if (real && real->address) {
            count_traffic(&real_stats, number, inner->bytes);
            if (!encapsulate_ipv4(ctx, inner, set->source ^ bpf_htonl(hash & 0xffff), real->address, set->gateway_mac))
                return XDP_TX;
            return counted(DROP_NO_ROOM, XDP_DROP);
        }
        return counted(DROP_NO_REAL, XDP_DROP);
    }
    return counted(TO_HOST_NO_SERVICE, XDP_PASS);
}

SEC("xdp")
__attribute__((used)) int balancer(struct xdp_md *ctx)
{
    void *at = (void *)(long)ctx->data;
    void *end = (void *)(long)ctx->data_end;
    struct eth_header *eth = take(&at, end, sizeof(*eth));
    struct settings *set;
    struct flow flow = {};
    struct inner inner;
    struct udphdr *udp;
    __u32 zero = 0;
    int first = 0;
    int verdict;

    set = bpf_map_lookup_elem(&settings, &zero);
    if (set && eth) {
        verdict = addresses(eth, &at, end, &flow, &inner);
        if (!verdict) {
            udp = at;
            if (flow.protocol == IPPROTO_UDP || flow.protocol == IPPROTO_TCP) {
                if ((void *)(udp + 1) <= end) {
                    if (flow.protocol != IPPROTO_UDP) {
                        if (at + sizeof(struct tcphdr) > end)
                            return counted(DROP_MALFORMED, XDP_DROP);
                        first = ((__u8 *)at)[13] & TCP_SYN;
                    }
                    flow.service_port = udp->dest;
                    flow.client_port = udp->source;
                    return sent(ctx, &flow, &inner, first, set);
                }
                return counted(DROP_MALFORMED, XDP_DROP);
            }
            return counted(TO_HOST_NO_SERVICE, XDP_PASS);
        }
        if (verdict == XDP_PASS)
            return counted(TO_HOST_NO_SERVICE, XDP_PASS);
    }
    return counted(DROP_MALFORMED, XDP_DROP);
}
