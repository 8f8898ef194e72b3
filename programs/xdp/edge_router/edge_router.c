// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause OR GPL-2.0-only
// IPv4 router at the edge of a network: sources are checked by the reverse path, and the longest prefix says where to.
//
// A packet is forwarded only if the longest prefix of its source lies behind the interface that it came from (RFC 3704,
// strict reverse path). A route names the next hop's address and the interface. What it does not forward itself goes
// to the host: anything but IPv4, IP options, an expired time to live, and destinations without route. Malformed headers
// and sources that lie elsewhere are dropped.
#include "parse.h"
#include "checksum.h"
#include "count.h"

enum counter {
    FORWARDED,
    TO_HOST_OTHER,
    TO_HOST_TTL,
    TO_HOST_NO_ROUTE,
    DROP_MALFORMED,
    // No interface has the source, or another one.
    DROP_SOURCE,
    COUNTERS,
};

struct prefix {
    __u32 bits;
    __be32 address;
};

struct route {
    // The next hop.
    __u8 dest[ETH_ALEN];
    // The router's own address on the way out.
    __u8 source[ETH_ALEN];
    // Index of the interface.
    __u32 interface;
};

// Index of the interface by prefix of the source.
struct {
    __uint(type, BPF_MAP_TYPE_LPM_TRIE);
    __uint(max_entries, 4096);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, struct prefix);
    __type(value, __u32);
} sources SEC(".maps");

// By prefix of the destination.
struct {
    __uint(type, BPF_MAP_TYPE_LPM_TRIE);
    __uint(max_entries, 4096);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, struct prefix);
    __type(value, struct route);
} routes SEC(".maps");

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
int edge_router(struct xdp_md *ctx)
{
    void *end = (void *)(long)ctx->data_end;
    struct eth_header *eth = (void *)(long)ctx->data;
    struct iphdr *ip = (void *)(eth + 1);
    struct prefix prefix = {.bits = 32};
    struct route *route;
    __u32 *interface;

    if ((void *)(ip + 1) > end || eth->h_proto != bpf_htons(ETH_P_IP) || ip->version != 4 || ip->ihl != 5)
        return counted(TO_HOST_OTHER, XDP_PASS);
    if (bpf_ntohs(ip->tot_len) < sizeof(*ip) || (void *)ip + bpf_ntohs(ip->tot_len) > end)
        return counted(DROP_MALFORMED, XDP_DROP);
    prefix.address = ip->saddr;
    interface = bpf_map_lookup_elem(&sources, &prefix);
    if (!interface || *interface != ctx->ingress_ifindex)
        return counted(DROP_SOURCE, XDP_DROP);
    if (ip->ttl <= 1)
        return counted(TO_HOST_TTL, XDP_PASS);
    prefix.address = ip->daddr;
    route = bpf_map_lookup_elem(&routes, &prefix);
    if (!route)
        return counted(TO_HOST_NO_ROUTE, XDP_PASS);
    decrement_ttl(ip);
    copy_mac(eth->h_dest, route->dest);
    copy_mac(eth->h_source, route->source);
    count(&counters, FORWARDED);
    return bpf_redirect(route->interface, 0);
}

char _license[] SEC("license") = "Dual BSD/GPL";
