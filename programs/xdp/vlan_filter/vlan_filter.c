// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause OR GPL-2.0-only
// In front of an intrusion detection: filters VLANs, keeps flows away that need no more inspection, and spreads the
// rest over the workers.
//
// Up to two tags, 0x8100 or 0x88a8 in any order, are parsed; their VLAN IDs are part of every flow. `vlans` says what
// becomes of the packets of an outer VLAN. When the detection has decided on a flow, it writes it into `flows4` or
// `flows6`, each direction by itself: its packets are counted, and then dropped (detection on a copy) or forwarded
// (detection in line) as `settings` say. All others go to a worker by a hash that is the same for both directions,
// or to the host where there are no workers. Tunnels are not looked into. Fragments and what has no ports are flows
// with ports 0.
#include "parse.h"
#include "count.h"
#include "fed.h"

enum vlan_action {
    // Look for the flow, then inspect.
    VLAN_INSPECT,
    VLAN_DROP,
    // To the host, without a worker.
    VLAN_IGNORE,
};

enum bypass {
    BYPASS_DROP,
    // To slot `slot` of `ports`.
    BYPASS_FORWARD,
    // Back by the interface that it came from.
    BYPASS_RETURN,
};

struct settings {
    // enum bypass.
    __u32 bypass;
    __u32 slot;
    // Entries of `workers` that are in use; 0 for none.
    __u32 workers;
};

struct flow4 {
    __be32 source;
    __be32 dest;
    __be16 source_port;
    __be16 dest_port;
    // VLAN IDs, 0 without a tag.
    __u16 outer;
    __u16 inner;
    __u32 protocol;
};

struct flow6 {
    struct in6_addr source;
    struct in6_addr dest;
    __be16 source_port;
    __be16 dest_port;
    __u16 outer;
    __u16 inner;
    __u32 protocol;
};

struct bypassed {
    __u64 packets;
    __u64 bytes;
    // When the last packet came, in nanoseconds: the detection forgets a flow that has fallen silent.
    __u64 seen;
};

enum counter {
    TO_WORKER,
    TO_HOST,
    BYPASSED,
    DROP_VLAN,
    MALFORMED,
    COUNTERS,
};

// The only entry is the configuration.
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, struct settings);
} settings SEC(".maps");

// enum vlan_action by outer VLAN ID; 0 stands for untagged frames.
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 4096);
    __type(key, __u32);
    __type(value, __u32);
} vlans SEC(".maps");

// Flows that are not inspected, IPv4.
struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_HASH);
    __uint(max_entries, 32768);
    __type(key, struct flow4);
    __type(value, struct bypassed);
} flows4 SEC(".maps");

// The same, IPv6.
struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_HASH);
    __uint(max_entries, 32768);
    __type(key, struct flow6);
    __type(value, struct bypassed);
} flows6 SEC(".maps");

// Queue length by processor: where packets are inspected.
struct {
    __uint(type, BPF_MAP_TYPE_CPUMAP);
    __uint(max_entries, 64);
    __type(key, __u32);
    __type(value, __u32);
} workers SEC(".maps");

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

// Ports of TCP, UDP and SCTP; none for the others. Returns -1 when the frame ends before them.
static __always_inline int read_ports(void *at, void *end, __u32 protocol, __be16 *source, __be16 *dest)
{
    struct ports *found = at;

    if (protocol != IPPROTO_TCP && protocol != IPPROTO_UDP && protocol != IPPROTO_SCTP)
        return 0;
    if ((void *)(found + 1) > end)
        return -1;
    *source = found->source;
    *dest = found->dest;
    return 0;
}

static __always_inline int bypass(struct bypassed *flow, const struct settings *set, __u64 bytes)
{
    flow->packets += 1;
    flow->bytes += bytes;
    flow->seen = now_ns();
    count(&counters, BYPASSED);
    if (set->bypass == BYPASS_FORWARD)
        return bpf_redirect_map(&ports, set->slot, XDP_DROP);
    return set->bypass == BYPASS_RETURN ? XDP_TX : XDP_DROP;
}

// To a worker. Both directions of a flow have the same `hash`: sums and differences without sign go into it.
static __always_inline int inspect(const struct settings *set, __u32 hash)
{
    __u32 in_use = set->workers;

    if (!in_use)
        return counted(TO_HOST, XDP_PASS);
    hash ^= hash >> 16;
    hash *= 0x45d9f3b;
    hash ^= hash >> 16;
    count(&counters, TO_WORKER);
    // A worker that is missing leaves its packets to the host.
    return bpf_redirect_map(&workers, hash % in_use, XDP_PASS);
}

static __always_inline int ipv4(void *at, void *end, const struct settings *set, struct flow4 *key, __u64 bytes)
{
    struct iphdr *ip = take_ipv4(&at, end);
    struct bypassed *flow;

    if (!ip)
        return counted(MALFORMED, XDP_PASS);
    key->source = ip->saddr;
    key->dest = ip->daddr;
    key->protocol = ip->protocol;
    if (!(ip->frag_off & bpf_htons(IPV4_MORE | IPV4_OFFSET)) &&
        read_ports(at, end, ip->protocol, &key->source_port, &key->dest_port))
        return counted(MALFORMED, XDP_PASS);
    flow = bpf_map_lookup_elem(&flows4, key);
    if (flow)
        return bypass(flow, set, bytes);
    return inspect(set, (ip->saddr ^ ip->daddr) + ip->protocol + key->source_port + key->dest_port);
}

static __always_inline int ipv6(void *at, void *end, const struct settings *set, struct flow6 *key, __u64 bytes)
{
    struct ipv6hdr *ip = take_ipv6(&at, end);
    struct bypassed *flow;
    struct upper upper;
    __u32 hash;

    if (!ip || skip_extensions(&at, end, ip->nexthdr, &upper))
        return counted(MALFORMED, XDP_PASS);
    key->source = ip->saddr;
    key->dest = ip->daddr;
    key->protocol = upper.protocol;
    if (!upper.fragment && read_ports(at, end, upper.protocol, &key->source_port, &key->dest_port))
        return counted(MALFORMED, XDP_PASS);
    flow = bpf_map_lookup_elem(&flows6, key);
    if (flow)
        return bypass(flow, set, bytes);
    hash = ip->saddr.s6_addr32[0] ^ ip->saddr.s6_addr32[1] ^ ip->saddr.s6_addr32[2] ^ ip->saddr.s6_addr32[3] ^
           ip->daddr.s6_addr32[0] ^ ip->daddr.s6_addr32[1] ^ ip->daddr.s6_addr32[2] ^ ip->daddr.s6_addr32[3];
    return inspect(set, hash + upper.protocol + key->source_port + key->dest_port);
}

// Steps over a tag. Returns its VLAN ID, or -1 when the frame ends in it.
static __always_inline int take_tag(void **at, void *end, __be16 *type)
{
    struct vlan_tag *tag = take(at, end, sizeof(*tag));

    if (!tag)
        return -1;
    *type = tag->type;
    return bpf_ntohs(tag->tci) & VLAN_ID_MASK;
}

SEC("xdp")
int vlan_filter(struct xdp_md *ctx)
{
    void *at = (void *)(long)ctx->data;
    void *end = (void *)(long)ctx->data_end;
    __u64 bytes = end - at;
    struct eth_header *eth = take(&at, end, sizeof(*eth));
    int outer = 0, inner = 0;
    struct settings *set;
    __u32 *action, vlan;
    __u32 zero = 0;
    __be16 type;

    set = bpf_map_lookup_elem(&settings, &zero);
    if (!eth || !set)
        return XDP_ABORTED;
    type = eth->h_proto;
    if (is_tag(type)) {
        outer = take_tag(&at, end, &type);
        if (outer >= 0 && is_tag(type))
            inner = take_tag(&at, end, &type);
    }
    // The detection wants to see what is malformed.
    if (outer < 0 || inner < 0)
        return counted(MALFORMED, XDP_PASS);
    vlan = outer;
    action = bpf_map_lookup_elem(&vlans, &vlan);
    if (action && *action == VLAN_DROP)
        return counted(DROP_VLAN, XDP_DROP);
    if (action && *action == VLAN_IGNORE)
        return counted(TO_HOST, XDP_PASS);
    if (type == bpf_htons(ETH_P_IP)) {
        struct flow4 key = {.outer = outer, .inner = inner};

        return ipv4(at, end, set, &key, bytes);
    }
    if (type == bpf_htons(ETH_P_IPV6)) {
        struct flow6 key = {.outer = outer, .inner = inner};

        return ipv6(at, end, set, &key, bytes);
    }
    return counted(TO_HOST, XDP_PASS);
}

char _license[] SEC("license") = "Dual BSD/GPL";
