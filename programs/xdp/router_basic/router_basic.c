// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause OR GPL-2.0-only
// IPv4 router with one table: the longest prefix says where a packet goes next.
//
// A route names the next hop's address and the way out. What it does not forward itself goes to the host: anything but
// IPv4, IP options, an expired time to live, and destinations without route. Malformed headers are dropped. The header's
// checksum is updated by difference.
#include "parse.h"
#include "checksum.h"
#include "count.h"

#define PORTS 64

enum counter {
    FORWARDED,
    TO_HOST_OTHER,
    TO_HOST_TTL,
    TO_HOST_NO_ROUTE,
    DROP_MALFORMED,
    // The route's slot has no interface.
    DROP_NO_PORT,
    COUNTERS,
};

struct prefix {
    __u32 bits;
    __be32 address;
};

struct route {
    // The next hop.
    __u8 dest[ETH_ALEN];
    // Slot of `ports`.
    __u16 slot;
    // The router's own address on the way out.
    __u8 source[ETH_ALEN];
    __u16 unused;
};

// By prefix.
struct {
    __uint(type, BPF_MAP_TYPE_LPM_TRIE);
    __uint(max_entries, 4096);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, struct prefix);
    __type(value, struct route);
} routes SEC(".maps");

// Interface index by slot.
struct {
    __uint(type, BPF_MAP_TYPE_DEVMAP);
    __uint(max_entries, PORTS);
    __type(key, __u32);
    __type(value, __u32);
} ports SEC(".maps");

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
int router_basic(struct xdp_md *ctx)
{
    void *end = (void *)(long)ctx->data_end;
    struct eth_header *eth = (void *)(long)ctx->data;
    struct iphdr *ip = (void *)(eth + 1);
    struct prefix prefix = {.bits = 32};
    struct route *route;

    if ((void *)(ip + 1) > end || eth->h_proto != bpf_htons(ETH_P_IP) || ip->version != 4 || ip->ihl != 5)
        return counted(TO_HOST_OTHER, XDP_PASS);
    if (bpf_ntohs(ip->tot_len) < sizeof(*ip) || (void *)ip + bpf_ntohs(ip->tot_len) > end)
        return counted(DROP_MALFORMED, XDP_DROP);
    if (ip->ttl <= 1)
        return counted(TO_HOST_TTL, XDP_PASS);
    prefix.address = ip->daddr;
    route = bpf_map_lookup_elem(&routes, &prefix);
    if (!route)
        return counted(TO_HOST_NO_ROUTE, XDP_PASS);
    if (bpf_redirect_map(&ports, route->slot, XDP_DROP) != XDP_REDIRECT)
        return counted(DROP_NO_PORT, XDP_DROP);
    decrement_ttl(ip);
    copy_mac(eth->h_dest, route->dest);
    copy_mac(eth->h_source, route->source);
    return counted(FORWARDED, XDP_REDIRECT);
}

char _license[] SEC("license") = "Dual BSD/GPL";
