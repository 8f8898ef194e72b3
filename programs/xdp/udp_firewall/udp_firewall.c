// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause OR GPL-2.0-only
// Firewall for UDP: the inside may begin flows, the outside only answer.
//
// Each interface is of the inside or the outside and says by which one its packets go on. A packet of the inside makes
// the entry of its flow, by both addresses and ports as the inside sees them; one of the outside goes on where there is
// an entry. Flows that were silent for longest make room for new ones. Only UDP over IPv4 without options goes through.
#include "parse.h"
#include "count.h"

#define INTERFACES 64

enum counter {
    KNOWN_FLOW,
    NEW_FLOW,
    DROP_UNKNOWN,
    DROP_NOT_UDP,
    DROP_NO_SIDE,
    COUNTERS,
};

struct side {
    // 1 inside, 2 outside; 0 where nothing goes through.
    __u32 kind;
    // Slot of `ports` by which its packets go on.
    __u32 slot;
};

struct flow {
    __be32 inside;
    __be32 outside;
    __be16 inside_port;
    __be16 outside_port;
};

// By interface index.
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, INTERFACES);
    __type(key, __u32);
    __type(value, struct side);
} sides SEC(".maps");

// The interface that began each flow.
struct {
    __uint(type, BPF_MAP_TYPE_LRU_HASH);
    __uint(max_entries, 65536);
    __type(key, struct flow);
    __type(value, __u32);
} flows SEC(".maps");

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

SEC("xdp")
int udp_firewall(struct xdp_md *ctx)
{
    void *end = (void *)(long)ctx->data_end;
    struct eth_header *eth = (void *)(long)ctx->data;
    struct iphdr *ip = (void *)(eth + 1);
    struct udphdr *udp = (void *)(ip + 1);
    __u32 ifindex = ctx->ingress_ifindex;
    struct side *side;
    struct flow flow;

    if ((void *)(udp + 1) > end || eth->h_proto != bpf_htons(ETH_P_IP) || *(__u8 *)ip != 0x45 ||
        ip->protocol != IPPROTO_UDP)
        return counted(DROP_NOT_UDP, XDP_DROP);
    side = bpf_map_lookup_elem(&sides, &ifindex);
    if (!side || !side->kind)
        return counted(DROP_NO_SIDE, XDP_DROP);
    if (side->kind == 1) {
        flow.inside = ip->saddr;
        flow.outside = ip->daddr;
        flow.inside_port = udp->source;
        flow.outside_port = udp->dest;
    } else {
        flow.inside = ip->daddr;
        flow.outside = ip->saddr;
        flow.inside_port = udp->dest;
        flow.outside_port = udp->source;
    }
    if (bpf_map_lookup_elem(&flows, &flow)) {
        count(&counters, KNOWN_FLOW);
    } else {
        if (side->kind != 1)
            return counted(DROP_UNKNOWN, XDP_DROP);
        bpf_map_update_elem(&flows, &flow, &ifindex, BPF_ANY);
        count(&counters, NEW_FLOW);
    }
    return bpf_redirect_map(&ports, side->slot, XDP_DROP);
}

char _license[] SEC("license") = "Dual BSD/GPL";
