// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause OR GPL-2.0-only
// Sends every frame back to where it came from: MAC addresses, IP addresses and ports change places.
//
// No checksum changes by that. Of fragments only the first has ports. Frames to or from a group address would
// come back with a group as their source; they are the host's. Up to two VLAN tags stay as they are.
#include "parse.h"
#include "count.h"

enum counter {
    SENT_BACK,
    TO_HOST,
    MALFORMED,
    COUNTERS,
};

// Packets by `enum counter`.
struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, COUNTERS);
    __type(key, __u32);
    __type(value, __u64);
} counters SEC(".maps");

// Swaps the ports of TCP, UDP, SCTP, UDP-Lite and DCCP. Returns -1 when the frame ends before them.
static __always_inline int swap_ports(void *at, void *end, __u8 protocol)
{
    struct ports *ports = at;
    __be16 source;

    if (protocol != IPPROTO_TCP && protocol != IPPROTO_UDP && protocol != IPPROTO_SCTP &&
        protocol != IPPROTO_UDPLITE && protocol != IPPROTO_DCCP)
        return 0;
    if ((void *)(ports + 1) > end)
        return -1;
    source = ports->source;
    ports->source = ports->dest;
    ports->dest = source;
    return 0;
}

// Returns -1 when the packet is malformed; what was swapped before that stays so, the packet is dropped.
static __always_inline int swap_ipv4(void *at, void *end)
{
    struct iphdr *ip = take_ipv4(&at, end);
    __be32 source;

    if (!ip)
        return -1;
    source = ip->saddr;
    ip->saddr = ip->daddr;
    ip->daddr = source;
    if (ip->frag_off & bpf_htons(IPV4_OFFSET))
        return 0;
    return swap_ports(at, end, ip->protocol);
}

static __always_inline int swap_ipv6(void *at, void *end)
{
    struct ipv6hdr *ip = take_ipv6(&at, end);
    struct in6_addr source;
    struct upper upper;

    if (!ip)
        return -1;
    source = ip->saddr;
    ip->saddr = ip->daddr;
    ip->daddr = source;
    if (skip_extensions(&at, end, ip->nexthdr, &upper))
        return -1;
    if (upper.later_fragment)
        return 0;
    return swap_ports(at, end, upper.protocol);
}

SEC("xdp")
int swap(struct xdp_md *ctx)
{
    void *at = (void *)(long)ctx->data;
    void *end = (void *)(long)ctx->data_end;
    struct eth_header *eth = take(&at, end, sizeof(*eth));
    int result = 0;
    __be16 type;

    if (!eth)
        goto malformed;
    if ((eth->h_dest[0] | eth->h_source[0]) & 1) {
        count(&counters, TO_HOST);
        return XDP_PASS;
    }
    type = skip_tags(&at, end, eth->h_proto, 2);
    if (type == bpf_htons(ETH_P_IP))
        result = swap_ipv4(at, end);
    else if (type == bpf_htons(ETH_P_IPV6))
        result = swap_ipv6(at, end);
    else if (!type)
        goto malformed;
    if (result)
        goto malformed;
    swap_macs(eth);
    count(&counters, SENT_BACK);
    return XDP_TX;

malformed:
    count(&counters, MALFORMED);
    return XDP_DROP;
}

char _license[] SEC("license") = "Dual BSD/GPL";
