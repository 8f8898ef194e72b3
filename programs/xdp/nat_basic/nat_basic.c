// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause OR GPL-2.0-only
// Source NAT for TCP and UDP: clients inside go out with one public address.
//
// The first packet of a flow gets a port of the public address, the one that its hash says or one of the next; both
// directions are then in two tables, and later packets are translated by one lookup. What comes from the outside without
// an entry goes to the host, as do fragments, options, other protocols, an expired time to live, and flows for which no
// port is free. Checksums of IP and TCP or UDP are updated by difference (RFC 1624).
#include "parse.h"
#include "checksum.h"
#include "count.h"

#define FLOWS 32768
// Ports that are tried for a new flow.
#define PROBES 4

enum counter {
    TRANSLATED,
    NEW_FLOW,
    TO_HOST,
    TO_HOST_NO_PORT,
    // The way out has no interface.
    DROP_NO_WAY,
    COUNTERS,
};

// The way to one side.
struct way {
    __u8 dest[ETH_ALEN];
    // Slot of `ports`.
    __u16 slot;
    __u8 source[ETH_ALEN];
    __u16 unused;
};

struct settings {
    __be32 public_address;
    // The interface that the clients are behind.
    __u32 inside;
    // Ports are taken from here on, `port_mask` + 1 of them, a power of two.
    __u16 first_port;
    __u16 port_mask;
    // The ways to the outside, and back to the inside.
    struct way ways[2];
};

// As a packet has it.
struct flow {
    __be32 source;
    __be32 dest;
    __be16 source_port;
    __be16 dest_port;
    __u32 protocol;
};

// What its addresses become.
struct translation {
    __be32 source;
    __be32 dest;
    __be16 source_port;
    __be16 dest_port;
    // Which of the ways it takes.
    __u32 way;
};

// The only entry is the configuration.
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, struct settings);
} settings SEC(".maps");

// Both directions of every flow.
struct {
    __uint(type, BPF_MAP_TYPE_LRU_HASH);
    __uint(max_entries, 2 * FLOWS);
    __type(key, struct flow);
    __type(value, struct translation);
} flows SEC(".maps");

// Interface index by slot.
struct {
    __uint(type, BPF_MAP_TYPE_DEVMAP);
    __uint(max_entries, 64);
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

// A sum of 64 bits as one of less than 2^18.
static __always_inline __u32 shortened(__u64 sum)
{
    sum = (sum & 0xffffffff) + (sum >> 32);
    return (sum & 0xffff) + (sum >> 16);
}

// A checksum after a change, which is a sum of less than 2^20.
static __always_inline __u16 patched(__u16 checksum, __u32 change)
{
    __u32 sum = (__u16)~checksum + change;

    sum = (sum & 0xffff) + (sum >> 16);
    return ~((sum & 0xffff) + (sum >> 16));
}

// Gives a flow of the inside a port and makes both entries. Returns -1 where no port is free.
static __always_inline int begin(const struct flow *flow, const struct settings *set)
{
    __u32 hash = (flow->source ^ flow->dest) * 0x9e3779b1 + (flow->source_port ^ (__u32)flow->dest_port << 16);
    struct translation out = {.source = set->public_address, .dest = flow->dest, .dest_port = flow->dest_port};
    struct translation back = {.source = flow->dest, .dest = flow->source, .source_port = flow->dest_port,
                               .dest_port = flow->source_port, .way = 1};
    struct flow answer = {.source = flow->dest, .dest = set->public_address, .source_port = flow->dest_port,
                          .protocol = flow->protocol};

    hash ^= hash >> 15;
#pragma clang loop unroll(disable)
    for (int i = 0; i < PROBES; i++) {
        answer.dest_port = bpf_htons(set->first_port + ((hash + i) & set->port_mask));
        if (bpf_map_update_elem(&flows, &answer, &back, BPF_NOEXIST))
            continue;
        out.source_port = answer.dest_port;
        return bpf_map_update_elem(&flows, flow, &out, BPF_ANY);
    }
    return -1;
}

SEC("xdp")
int nat_basic(struct xdp_md *ctx)
{
    void *end = (void *)(long)ctx->data_end;
    struct eth_header *eth = (void *)(long)ctx->data;
    struct iphdr *ip = (void *)(eth + 1);
    struct tcphdr *tcp = (void *)(ip + 1);
    struct udphdr *udp = (void *)tcp;
    __u32 ifindex = ctx->ingress_ifindex;
    const struct translation *to;
    struct settings *set;
    struct flow flow;
    __u32 zero = 0;
    struct way *way;
    __u32 change;

    set = bpf_map_lookup_elem(&settings, &zero);
    if (!set || (void *)(udp + 1) > end || eth->h_proto != bpf_htons(ETH_P_IP) || *(__u8 *)ip != 0x45 ||
        ip->frag_off & bpf_htons(IPV4_MORE | IPV4_OFFSET) || ip->ttl <= 1)
        return counted(TO_HOST, XDP_PASS);
    if (ip->protocol != IPPROTO_UDP && (ip->protocol != IPPROTO_TCP || (void *)(tcp + 1) > end))
        return counted(TO_HOST, XDP_PASS);
    flow.source = ip->saddr;
    flow.dest = ip->daddr;
    flow.source_port = udp->source;
    flow.dest_port = udp->dest;
    flow.protocol = ip->protocol;
    to = bpf_map_lookup_elem(&flows, &flow);
    if (!to) {
        if (ifindex != set->inside)
            return counted(TO_HOST, XDP_PASS);
        if (begin(&flow, set))
            return counted(TO_HOST_NO_PORT, XDP_PASS);
        count(&counters, NEW_FLOW);
        to = bpf_map_lookup_elem(&flows, &flow);
        if (!to)
            return counted(TO_HOST_NO_PORT, XDP_PASS);
    }
    way = &set->ways[to->way & 1];
    if (bpf_redirect_map(&ports, way->slot, XDP_DROP) != XDP_REDIRECT)
        return counted(DROP_NO_WAY, XDP_DROP);

    change = shortened(changed32(flow.source, to->source) + changed32(flow.dest, to->dest));
    // One hop less in the low byte of its word: ~m + m' is 0xfffe.
    ip->check = patched(ip->check, change + 0xfffe);
    ip->ttl -= 1;
    ip->saddr = to->source;
    ip->daddr = to->dest;
    change += changed16(flow.source_port, to->source_port) + changed16(flow.dest_port, to->dest_port);
    udp->source = to->source_port;
    udp->dest = to->dest_port;
    if (flow.protocol == IPPROTO_TCP) {
        // It fits, but the verifier does not remember that behind the helpers.
        if ((void *)(tcp + 1) > end)
            return counted(TO_HOST, XDP_PASS);
        tcp->check = patched(tcp->check, change);
    } else if (udp->check)
        udp->check = not_zero(patched(udp->check, change));
    copy_mac(eth->h_dest, way->dest);
    copy_mac(eth->h_source, way->source);
    return counted(TRANSLATED, XDP_REDIRECT);
}

char _license[] SEC("license") = "Dual BSD/GPL";
