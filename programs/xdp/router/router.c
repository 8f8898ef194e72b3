// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause OR GPL-2.0-only
// IPv4 router: an exact table of neighbours, longest-prefix routes behind it, and the host for what is rare.
//
// A destination that is itself a neighbour is sent to it with one exact lookup; the others take their route to a
// gateway, which is a neighbour too. The host gets what needs more than forwarding: frames that are not for the
// router's own MAC address, IP options, an expired time to live, packets larger than the way out takes,
// destinations of its own, destinations without route, and neighbours that it has yet to ask for. It answers these
// with ICMP or ARP as ever. The header's checksum is updated by difference; a wrong one stays wrong and is found
// by the receiver.
#include "parse.h"
#include "checksum.h"
#include "count.h"

#define INTERFACES 64

enum counter {
    FORWARDED,
    TO_HOST_NOT_OURS,
    TO_HOST_OPTIONS,
    TO_HOST_TTL,
    TO_HOST_NO_ROUTE,
    TO_HOST_LOCAL,
    TO_HOST_UNRESOLVED,
    TO_HOST_TOO_BIG,
    DROP_MALFORMED,
    // A source that no packet may have.
    DROP_MARTIAN,
    DROP_BLACKHOLE,
    // The neighbour's slot has no interface.
    DROP_NO_PORT,
    COUNTERS,
};

struct interface {
    // The router's own address on this interface; zeros where it does not route.
    __u8 mac[ETH_ALEN];
    __u16 unused;
};

struct neighbour {
    __u8 dest[ETH_ALEN];
    // Largest IP packet on the way to it.
    __u16 mtu;
    // The router's own address on the way out.
    __u8 source[ETH_ALEN];
    // Slot of `ports`.
    __u16 slot;
};

struct prefix {
    __u32 bits;
    __be32 address;
};

enum kind {
    // To `gateway`, or where that is 0 to the destination itself.
    ROUTE_FORWARD,
    // An address of the host.
    ROUTE_LOCAL,
    ROUTE_BLACKHOLE,
};

struct route {
    __be32 gateway;
    __u32 kind;
};

// By interface index.
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, INTERFACES);
    __type(key, __u32);
    __type(value, struct interface);
} interfaces SEC(".maps");

// By IPv4 address.
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 4096);
    __type(key, __be32);
    __type(value, struct neighbour);
} neighbours SEC(".maps");

// By prefix.
struct {
    __uint(type, BPF_MAP_TYPE_LPM_TRIE);
    __uint(max_entries, 16384);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, struct prefix);
    __type(value, struct route);
} routes SEC(".maps");

// Interface index by slot.
struct {
    __uint(type, BPF_MAP_TYPE_DEVMAP);
    __uint(max_entries, INTERFACES);
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

static __always_inline int same_mac(const __u8 *a, const __u8 *b)
{
    return *(__u32 *)a == *(__u32 *)b && *(__u16 *)(a + 4) == *(__u16 *)(b + 4);
}

// 0/8, 127/8 and everything from 224/4 on.
static __always_inline int martian_source(__be32 address)
{
    __u8 first = address & 0xff;

    return first == 0 || first == 127 || first >= 224;
}

SEC("xdp")
int router(struct xdp_md *ctx)
{
    void *at = (void *)(long)ctx->data;
    void *end = (void *)(long)ctx->data_end;
    struct eth_header *eth = take(&at, end, sizeof(*eth));
    __u32 ifindex = ctx->ingress_ifindex;
    struct iphdr *ip = at;
    struct neighbour *neighbour;
    struct interface *own;
    int verdict;

    if (!eth || eth->h_proto != bpf_htons(ETH_P_IP))
        return counted(TO_HOST_NOT_OURS, XDP_PASS);
    own = bpf_map_lookup_elem(&interfaces, &ifindex);
    if (!own || !same_mac(eth->h_dest, own->mac))
        return counted(TO_HOST_NOT_OURS, XDP_PASS);
    if ((void *)(ip + 1) > end || ip->version != 4 || ip->ihl < 5 || bpf_ntohs(ip->tot_len) < sizeof(*ip) ||
        (void *)ip + bpf_ntohs(ip->tot_len) > end)
        return counted(DROP_MALFORMED, XDP_DROP);
    if (martian_source(ip->saddr))
        return counted(DROP_MARTIAN, XDP_DROP);
    if (ip->ihl != 5)
        return counted(TO_HOST_OPTIONS, XDP_PASS);

    neighbour = bpf_map_lookup_elem(&neighbours, &ip->daddr);
    if (!neighbour) {
        struct prefix prefix = {.bits = 32, .address = ip->daddr};
        struct route *route = bpf_map_lookup_elem(&routes, &prefix);

        if (!route)
            return counted(TO_HOST_NO_ROUTE, XDP_PASS);
        if (route->kind == ROUTE_LOCAL)
            return counted(TO_HOST_LOCAL, XDP_PASS);
        if (route->kind == ROUTE_BLACKHOLE)
            return counted(DROP_BLACKHOLE, XDP_DROP);
        neighbour = bpf_map_lookup_elem(&neighbours, &route->gateway);
        if (!neighbour)
            return counted(TO_HOST_UNRESOLVED, XDP_PASS);
    }
    if (ip->ttl <= 1)
        return counted(TO_HOST_TTL, XDP_PASS);
    if (bpf_ntohs(ip->tot_len) > neighbour->mtu)
        return counted(TO_HOST_TOO_BIG, XDP_PASS);
    verdict = bpf_redirect_map(&ports, neighbour->slot, XDP_DROP);
    if (verdict != XDP_REDIRECT)
        return counted(DROP_NO_PORT, XDP_DROP);
    decrement_ttl(ip);
    copy_mac(eth->h_dest, neighbour->dest);
    copy_mac(eth->h_source, neighbour->source);
    return counted(FORWARDED, XDP_REDIRECT);
}

char _license[] SEC("license") = "Dual BSD/GPL";
