// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause OR GPL-2.0-only
// Stateful firewall: the inside may talk to the outside, the outside only answer.
//
// `interfaces` says which interfaces are inside and which outside, and where each sends to. TCP flows are opened by
// a SYN from the inside and followed until both ends have said FIN, one has reset, or they fall silent; UDP and
// echo requests open a flow that lasts as long as packets are seen. ICMP errors pass when the packet that they
// quote belongs to a flow. IPv4 options and IPv6 extension headers are stepped over. A fragment cannot be
// judged without its first part: from the inside it goes to the host, from the outside it is dropped. ARP and
// IPv6 neighbour discovery pass both ways. Every drop is counted by its reason.
#include "parse.h"
#include "count.h"
#include "fed.h"
#include "flow.h"

#define INTERFACES 64

enum side {
    SIDE_NONE,
    SIDE_INSIDE,
    SIDE_OUTSIDE,
};

struct interface {
    // enum side; packets of interfaces without a side go to the host.
    __u32 side;
    // Slot of `ports` that packets leave by.
    __u32 slot;
};

enum reason {
    DROP_MALFORMED,
    DROP_PROTOCOL,
    DROP_FRAGMENT,
    // From the outside, and no flow asked for it; or TCP from the inside that begins without SYN.
    DROP_NO_FLOW,
    // The flow's timeout has passed.
    DROP_EXPIRED,
    // TCP from the outside that does not answer the SYN.
    DROP_STATE,
    REASONS,
};

// By interface index.
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, INTERFACES);
    __type(key, __u32);
    __type(value, struct interface);
} interfaces SEC(".maps");

// Interface index by slot.
struct {
    __uint(type, BPF_MAP_TYPE_DEVMAP);
    __uint(max_entries, INTERFACES);
    __type(key, __u32);
    __type(value, __u32);
} ports SEC(".maps");

// IPv4.
struct {
    __uint(type, BPF_MAP_TYPE_LRU_HASH);
    __uint(max_entries, 65536);
    __type(key, struct flow_key);
    __type(value, struct flow);
} flows SEC(".maps");

// IPv6.
struct {
    __uint(type, BPF_MAP_TYPE_LRU_HASH);
    __uint(max_entries, 65536);
    __type(key, struct flow_key6);
    __type(value, struct flow);
} flows6 SEC(".maps");

// Dropped packets by `enum reason`.
struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, REASONS);
    __type(key, __u32);
    __type(value, __u64);
} drops SEC(".maps");

static __always_inline int refuse(__u32 reason)
{
    count(&drops, reason);
    return XDP_DROP;
}

// A packet's upper header, as far as a flow is found by it.
struct upper_part {
    // Ports, or the identifier of an echo twice, in network order.
    __be16 source;
    __be16 dest;
    // Flags of TCP.
    __u8 flags;
    // The packet may begin a flow, if it comes from the inside.
    __u8 begins;
    // An ICMP error: it quotes a packet of the flow that it is about.
    __u8 quotes;
    // Neighbour discovery and multicast listeners: passes both ways.
    __u8 link;
};

// Reads the upper header. Returns -1 for one that is malformed, -2 for one that is not let through at all.
static __always_inline int read_upper(void *at, void *end, __u32 protocol, int v6, struct upper_part *part)
{
    part->flags = 0;
    part->begins = 1;
    part->quotes = 0;
    part->link = 0;
    if (protocol == IPPROTO_TCP) {
        struct tcphdr *tcp = at;

        if ((void *)(tcp + 1) > end || tcp->doff < 5)
            return -1;
        part->source = tcp->source;
        part->dest = tcp->dest;
        part->flags = ((__u8 *)tcp)[13];
        part->begins = (part->flags & (TCP_SYN | TCP_ACK | TCP_RST | TCP_FIN)) == TCP_SYN;
        return 0;
    }
    if (protocol == IPPROTO_UDP) {
        struct udphdr *udp = at;

        if ((void *)(udp + 1) > end)
            return -1;
        part->source = udp->source;
        part->dest = udp->dest;
        return 0;
    }
    if (protocol == (v6 ? IPPROTO_ICMPV6 : IPPROTO_ICMP)) {
        struct icmp *icmp = at;

        if ((void *)(icmp + 1) > end)
            return -1;
        part->source = icmp->id;
        part->dest = icmp->id;
        if (icmp->type == (v6 ? ICMP6_ECHO : ICMP_ECHO))
            return 0;
        part->begins = 0;
        if (icmp->type == (v6 ? ICMP6_ECHO_REPLY : ICMP_ECHO_REPLY))
            return 0;
        part->quotes = v6 ? icmp->type < ICMP6_ERRORS
                          : icmp->type == ICMP_UNREACHABLE || icmp->type == ICMP_TIME_EXCEEDED ||
                                icmp->type == ICMP_PARAMETER_PROBLEM;
        part->link = v6 && icmp->type >= 130 && icmp->type <= 143;
        return part->quotes || part->link ? 0 : -2;
    }
    return -2;
}

// Ports of a quoted packet: all that an error must quote are eight bytes.
static __always_inline int read_quoted(void *at, void *end, __u32 protocol, struct upper_part *part)
{
    struct icmp *icmp = at;
    struct ports *both = at;

    if ((void *)(icmp + 1) > end)
        return -1;
    if (protocol == IPPROTO_TCP || protocol == IPPROTO_UDP) {
        part->source = both->source;
        part->dest = both->dest;
        return 0;
    }
    part->source = icmp->id;
    part->dest = icmp->id;
    return 0;
}

// The verdict on a packet of a flow, or of none. `map` and `key` are of one address family.
static __always_inline int judge(void *map, void *key, struct upper_part *part, __u32 protocol, int inside,
                                 __u32 slot)
{
    struct flow *flow = bpf_map_lookup_elem(map, key);
    __u64 now = now_ns();

    if (flow && !expired(flow, protocol, now)) {
        enum step step;

        // An echo request from the outside has the identifier of a flow by chance only.
        if (!inside && (protocol == IPPROTO_ICMP || protocol == IPPROTO_ICMPV6) && part->begins)
            return refuse(DROP_NO_FLOW);
        // A port used again: the SYN begins anew what was about to end.
        if (inside && flow->state == STATE_CLOSING && part->begins)
            goto begin;
        step = advance(flow, part->flags, inside, now);
        if (step == STEP_REFUSE)
            return refuse(DROP_STATE);
        if (step == STEP_END)
            bpf_map_delete_elem(map, key);
        return bpf_redirect_map(&ports, slot, XDP_DROP);
    }
    if (!inside || !part->begins) {
        if (!flow)
            return refuse(DROP_NO_FLOW);
        bpf_map_delete_elem(map, key);
        return refuse(DROP_EXPIRED);
    }
begin:;
    struct flow new = {
        .seen = now,
        .state = protocol == IPPROTO_TCP ? STATE_SYN_SENT : STATE_OPEN,
        .packets = 1,
    };

    bpf_map_update_elem(map, key, &new, BPF_ANY);
    return bpf_redirect_map(&ports, slot, XDP_DROP);
}

// An ICMP error: passes when the quoted packet's flow is known. The quoted packet went the other way.
static __always_inline int judge_error(void *map, void *key, __u32 slot)
{
    if (!bpf_map_lookup_elem(map, key))
        return refuse(DROP_NO_FLOW);
    return bpf_redirect_map(&ports, slot, XDP_DROP);
}

static __always_inline void key_ipv4(struct flow_key *key, struct iphdr *ip, struct upper_part *part, int outward)
{
    key->inside = outward ? ip->saddr : ip->daddr;
    key->outside = outward ? ip->daddr : ip->saddr;
    key->inside_port = outward ? part->source : part->dest;
    key->outside_port = outward ? part->dest : part->source;
    key->protocol = ip->protocol;
}

static __always_inline void key_ipv6(struct flow_key6 *key, struct ipv6hdr *ip, struct upper_part *part,
                                     __u32 protocol, int outward)
{
    key->inside = outward ? ip->saddr : ip->daddr;
    key->outside = outward ? ip->daddr : ip->saddr;
    key->inside_port = outward ? part->source : part->dest;
    key->outside_port = outward ? part->dest : part->source;
    key->protocol = protocol;
}

static __always_inline int ipv4(void *at, void *end, int inside, __u32 slot)
{
    struct iphdr *ip = take_ipv4(&at, end);
    struct upper_part part;
    struct flow_key key;
    int problem;

    if (!ip)
        return refuse(DROP_MALFORMED);
    if (ip->frag_off & bpf_htons(IPV4_MORE | IPV4_OFFSET))
        return inside ? XDP_PASS : refuse(DROP_FRAGMENT);
    problem = read_upper(at, end, ip->protocol, 0, &part);
    if (problem)
        return refuse(problem == -1 ? DROP_MALFORMED : DROP_PROTOCOL);
    if (part.quotes) {
        at += sizeof(struct icmp);
        ip = take_ipv4(&at, end);
        if (!ip || read_quoted(at, end, ip->protocol, &part))
            return refuse(DROP_MALFORMED);
        key_ipv4(&key, ip, &part, !inside);
        return judge_error(&flows, &key, slot);
    }
    key_ipv4(&key, ip, &part, inside);
    return judge(&flows, &key, &part, key.protocol, inside, slot);
}

static __always_inline int ipv6(void *at, void *end, int inside, __u32 slot)
{
    struct ipv6hdr *ip = take_ipv6(&at, end);
    struct upper_part part;
    struct flow_key6 key;
    struct upper upper;
    int problem;

    if (!ip || skip_extensions(&at, end, ip->nexthdr, &upper))
        return refuse(DROP_MALFORMED);
    if (upper.fragment)
        return inside ? XDP_PASS : refuse(DROP_FRAGMENT);
    problem = read_upper(at, end, upper.protocol, 1, &part);
    if (problem)
        return refuse(problem == -1 ? DROP_MALFORMED : DROP_PROTOCOL);
    if (part.link)
        return bpf_redirect_map(&ports, slot, XDP_DROP);
    if (part.quotes) {
        at += sizeof(struct icmp);
        ip = take_ipv6(&at, end);
        if (!ip || read_quoted(at, end, ip->nexthdr, &part))
            return refuse(DROP_MALFORMED);
        key_ipv6(&key, ip, &part, ip->nexthdr, !inside);
        return judge_error(&flows6, &key, slot);
    }
    key_ipv6(&key, ip, &part, upper.protocol, inside);
    return judge(&flows6, &key, &part, upper.protocol, inside, slot);
}

SEC("xdp")
int firewall(struct xdp_md *ctx)
{
    void *at = (void *)(long)ctx->data;
    void *end = (void *)(long)ctx->data_end;
    __u32 ifindex = ctx->ingress_ifindex;
    struct eth_header *eth = take(&at, end, sizeof(*eth));
    struct interface *from;
    __u32 side, slot;

    if (!eth)
        return refuse(DROP_MALFORMED);
    from = bpf_map_lookup_elem(&interfaces, &ifindex);
    if (!from || from->side == SIDE_NONE)
        return XDP_PASS;
    side = from->side;
    slot = from->slot;
    if (eth->h_proto == bpf_htons(ETH_P_IP))
        return side == SIDE_INSIDE ? ipv4(at, end, 1, slot) : ipv4(at, end, 0, slot);
    if (eth->h_proto == bpf_htons(ETH_P_IPV6))
        return ipv6(at, end, side == SIDE_INSIDE, slot);
    if (eth->h_proto == bpf_htons(ETH_P_ARP))
        return bpf_redirect_map(&ports, slot, XDP_DROP);
    return refuse(DROP_PROTOCOL);
}

char _license[] SEC("license") = "Dual BSD/GPL";
