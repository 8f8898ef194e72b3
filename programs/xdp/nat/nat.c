// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause OR GPL-2.0-only
// Dynamic source NAT: clients inside share one public address, each connection by a port of its own.
//
// TCP, UDP and echo connections from the inside get a port from the pool (binding.h) and leave with it and the
// public address; what answers from exactly the remote end that was addressed comes back to the client. ICMP errors
// follow the connection that they quote, in both directions, with the quoted header translated. Addresses, ports
// and identifiers are part of checksums, which follow by difference; a UDP checksum of 0 stays 0. The NAT is a hop:
// the time to live counts down, and MAC addresses are written anew, the client's as it was last seen. To the host
// go what is not IPv4, an expired time to live, packets to the inside that ask for the public address itself, and
// what comes from the outside to ports beyond the pool. Fragments are dropped: only the first has ports.
#include "parse.h"
#include "checksum.h"
#include "count.h"
#include "binding.h"

enum counter {
    TRANSLATED_OUT,
    TRANSLATED_IN,
    TRANSLATED_ERROR,
    TO_HOST,
    DROP_MALFORMED,
    DROP_PROTOCOL,
    DROP_FRAGMENT,
    // From the outside, and no connection asked for it; or an error about no connection.
    DROP_NO_BINDING,
    // No free port among those that were tried.
    DROP_EXHAUSTED,
    COUNTERS,
};

#define CLASS_TCP 0
#define CLASS_UDP 1
#define CLASS_ECHO 2

#define TCP_FIN 0x01
#define TCP_SYN 0x02
#define TCP_RST 0x04

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

// The upper header of a packet: what names its connection, and where its checksum lies.
struct transport {
    __u32 class;
    // Ports; of an echo both are the identifier.
    __be16 source;
    __be16 dest;
    // Flags of TCP.
    __u8 flags;
};

// Reads the upper header of a packet that is no ICMP error. Returns 0 or the counter of why not.
static __always_inline int read_transport(void *at, void *end, __u8 protocol, int outward, struct transport *found)
{
    found->flags = 0;
    if (protocol == IPPROTO_TCP) {
        struct tcphdr *tcp = at;

        if ((void *)(tcp + 1) > end)
            return DROP_MALFORMED;
        found->class = CLASS_TCP;
        found->source = tcp->source;
        found->dest = tcp->dest;
        found->flags = ((__u8 *)tcp)[13];
        return 0;
    }
    if (protocol == IPPROTO_UDP) {
        struct udphdr *udp = at;

        if ((void *)(udp + 1) > end)
            return DROP_MALFORMED;
        found->class = CLASS_UDP;
        found->source = udp->source;
        found->dest = udp->dest;
        return 0;
    }
    if (protocol == IPPROTO_ICMP) {
        struct icmp *icmp = at;

        if ((void *)(icmp + 1) > end)
            return DROP_MALFORMED;
        found->class = CLASS_ECHO;
        found->source = icmp->id;
        found->dest = icmp->id;
        if (icmp->type == (outward ? ICMP_ECHO : ICMP_ECHO_REPLY))
            return 0;
    }
    return DROP_PROTOCOL;
}

// Ports in a quoted packet, of which eight bytes are there for sure.
static __always_inline int read_quoted(void *at, void *end, __u8 protocol, struct transport *found)
{
    struct icmp *icmp = at;
    struct ports *ports = at;

    if ((void *)(icmp + 1) > end)
        return DROP_MALFORMED;
    if (protocol == IPPROTO_TCP || protocol == IPPROTO_UDP) {
        found->class = protocol == IPPROTO_TCP ? CLASS_TCP : CLASS_UDP;
        found->source = ports->source;
        found->dest = ports->dest;
        return 0;
    }
    found->class = CLASS_ECHO;
    found->source = icmp->id;
    found->dest = icmp->id;
    return protocol == IPPROTO_ICMP ? 0 : DROP_PROTOCOL;
}

// Writes a new address over one of the two in an IPv4 header and counts the hop, if `hop`.
static __always_inline void write_address(struct iphdr *ip, __be32 *which, __be32 address, int hop)
{
    ip->check = checksum_of(sum_of(ip->check) + changed32(*which, address));
    *which = address;
    if (hop)
        decrement_ttl(ip);
}

// Writes a new source (or destination) port or identifier; the address of that side changes from `from` to `to`.
static __always_inline void write_port(void *at, __u32 class, int source, __be16 port, __be32 from, __be32 to)
{
    __u64 change = changed32(from, to);

    if (class == CLASS_TCP) {
        struct tcphdr *tcp = at;
        __be16 *which = source ? &tcp->source : &tcp->dest;

        tcp->check = checksum_of(sum_of(tcp->check) + change + changed16(*which, port));
        *which = port;
    } else if (class == CLASS_UDP) {
        struct udphdr *udp = at;
        __be16 *which = source ? &udp->source : &udp->dest;

        if (udp->check)
            udp->check = not_zero(checksum_of(sum_of(udp->check) + change + changed16(*which, port)));
        *which = port;
    } else {
        struct icmp *icmp = at;

        // No pseudo-header: the addresses do not count.
        icmp->check = not_zero(checksum_of(sum_of(icmp->check) + changed16(icmp->id, port)));
        icmp->id = port;
    }
}

// Notes the packet in its binding.
static __always_inline void touch(struct binding *binding, __u64 now, __u8 flags, __u8 side)
{
    binding->seen = now;
    if (flags & TCP_SYN)
        binding->ended = 0;
    if (flags & (TCP_FIN | TCP_RST))
        binding->ended |= flags & TCP_RST ? ENDED : side;
}

// From a client to the outside.
static __always_inline int outward(const struct settings *set, struct eth_header *eth, struct iphdr *ip, void *at,
                                   void *end)
{
    struct transport found;
    struct flow_key key;
    struct binding *binding;
    __u64 now = now_ns();
    __be16 public_port;
    __u32 place = 0;
    int problem;

    if (ip->daddr == set->address)
        return counted(TO_HOST, XDP_PASS);
    problem = read_transport(at, end, ip->protocol, 1, &found);
    if (problem)
        return counted(problem, XDP_DROP);
    key.client = ip->saddr;
    key.remote = ip->daddr;
    key.client_port = found.source;
    key.remote_port = found.class == CLASS_ECHO ? 0 : found.dest;
    key.class = found.class;
    binding = find_binding(&key, &place);
    if (!binding)
        binding = new_binding(set, &key, now, &place);
    if (!binding)
        return counted(DROP_EXHAUSTED, XDP_DROP);
    touch(binding, now, found.flags, ENDED_INSIDE);
    copy_mac(binding->client_mac, eth->h_source);
    public_port = bpf_htons(set->first_port + (place & (POOL - 1)));

    write_port(at, found.class, 1, public_port, ip->saddr, set->address);
    write_address(ip, &ip->saddr, set->address, 1);
    copy_mac(eth->h_dest, set->gateway_mac);
    copy_mac(eth->h_source, set->outside_mac);
    count(&counters, TRANSLATED_OUT);
    return bpf_redirect(set->outside_ifindex, 0);
}

// The binding of a public port, if it is in use for this remote end.
static __always_inline struct binding *bound(const struct settings *set, __u32 class, __be16 public_port,
                                             __be32 remote, __be16 remote_port, __u64 now)
{
    __u32 offset = (__u32)bpf_ntohs(public_port) - set->first_port;
    __u32 place = class * POOL + offset;
    struct binding *binding;

    if (offset >= set->port_count || offset >= POOL)
        return NULL;
    binding = bpf_map_lookup_elem(&pool, &place);
    if (!binding || binding->flow.remote != remote || binding->flow.remote_port != remote_port ||
        !in_use(binding, now))
        return NULL;
    return binding;
}

// From the outside to a client.
static __always_inline int inward(const struct settings *set, struct eth_header *eth, struct iphdr *ip, void *at,
                                  void *end)
{
    struct transport found;
    struct binding *binding;
    __u64 now = now_ns();
    int problem;

    problem = read_transport(at, end, ip->protocol, 0, &found);
    // Pings for the public address itself are the host's.
    if (problem == DROP_PROTOCOL)
        return counted(TO_HOST, XDP_PASS);
    if (problem)
        return counted(problem, XDP_DROP);
    if ((__u32)bpf_ntohs(found.dest) - set->first_port >= set->port_count)
        return counted(TO_HOST, XDP_PASS);
    binding = bound(set, found.class, found.dest, ip->saddr, found.class == CLASS_ECHO ? 0 : found.source, now);
    if (!binding)
        return counted(DROP_NO_BINDING, XDP_DROP);
    touch(binding, now, found.flags, ENDED_OUTSIDE);

    write_port(at, found.class, 0, binding->flow.client_port, ip->daddr, binding->flow.client);
    write_address(ip, &ip->daddr, binding->flow.client, 1);
    copy_mac(eth->h_dest, binding->client_mac);
    copy_mac(eth->h_source, set->inside_mac);
    count(&counters, TRANSLATED_IN);
    return bpf_redirect(set->inside_ifindex, 0);
}

// Writes a quoted port. The quoted transport checksum stays as it was: it cannot be checked in a quotation, and only
// the changed port counts in the error's own, because the quoted IP header still sums up to the same.
static __always_inline void write_quoted(struct icmp *icmp, void *at, __u32 class, int source, __be16 port)
{
    struct ports *ports = at;
    struct icmp *echo = at;
    __be16 *which = class == CLASS_ECHO ? &echo->id : source ? &ports->source : &ports->dest;

    icmp->check = checksum_of(sum_of(icmp->check) + changed16(*which, port));
    *which = port;
}

// An ICMP error from the outside quotes what a client sent, translated; one from the inside what a client got.
static __always_inline int error(const struct settings *set, struct eth_header *eth, struct iphdr *ip, void *at, void *end,
                                 int from_inside)
{
    struct icmp *icmp = at;
    struct transport found;
    struct binding *binding;
    struct iphdr *quoted;
    __u64 now = now_ns();
    __u32 place = 0;
    int problem;

    at += sizeof(*icmp);
    quoted = take_ipv4(&at, end);
    if (!quoted)
        return counted(DROP_MALFORMED, XDP_DROP);
    problem = read_quoted(at, end, quoted->protocol, &found);
    if (problem)
        return counted(problem, XDP_DROP);
    if (from_inside) {
        struct flow_key key = {
            .client = quoted->daddr,
            .remote = quoted->saddr,
            .client_port = found.dest,
            .remote_port = found.class == CLASS_ECHO ? 0 : found.source,
            .class = found.class,
        };

        binding = find_binding(&key, &place);
        if (!binding || !in_use(binding, now))
            return counted(DROP_NO_BINDING, XDP_DROP);
        write_quoted(icmp, at, found.class, 0, bpf_htons(set->first_port + (place & (POOL - 1))));
        write_address(quoted, &quoted->daddr, set->address, 0);
        write_address(ip, &ip->saddr, set->address, 1);
        copy_mac(eth->h_dest, set->gateway_mac);
        copy_mac(eth->h_source, set->outside_mac);
        count(&counters, TRANSLATED_ERROR);
        return bpf_redirect(set->outside_ifindex, 0);
    }
    binding = bound(set, found.class, found.source, quoted->daddr, found.class == CLASS_ECHO ? 0 : found.dest, now);
    if (!binding)
        return counted(DROP_NO_BINDING, XDP_DROP);
    write_quoted(icmp, at, found.class, 1, binding->flow.client_port);
    write_address(quoted, &quoted->saddr, binding->flow.client, 0);
    write_address(ip, &ip->daddr, binding->flow.client, 1);
    copy_mac(eth->h_dest, binding->client_mac);
    copy_mac(eth->h_source, set->inside_mac);
    count(&counters, TRANSLATED_ERROR);
    return bpf_redirect(set->inside_ifindex, 0);
}

static __always_inline int is_error(struct iphdr *ip, void *at, void *end)
{
    struct icmp *icmp = at;

    if (ip->protocol != IPPROTO_ICMP || (void *)(icmp + 1) > end)
        return 0;
    return icmp->type == ICMP_UNREACHABLE || icmp->type == ICMP_TIME_EXCEEDED || icmp->type == ICMP_PARAMETER_PROBLEM;
}

SEC("xdp")
int nat(struct xdp_md *ctx)
{
    void *at = (void *)(long)ctx->data;
    void *end = (void *)(long)ctx->data_end;
    struct eth_header *eth = take(&at, end, sizeof(*eth));
    __u32 zero = 0;
    struct settings *set = bpf_map_lookup_elem(&settings, &zero);
    struct iphdr *ip;
    int from_inside;

    if (!eth || !set)
        return XDP_ABORTED;
    from_inside = ctx->ingress_ifindex == set->inside_ifindex;
    if (eth->h_proto != bpf_htons(ETH_P_IP) || eth->h_dest[0] & 1 ||
        (!from_inside && ctx->ingress_ifindex != set->outside_ifindex))
        return counted(TO_HOST, XDP_PASS);
    ip = take_ipv4(&at, end);
    if (!ip)
        return counted(DROP_MALFORMED, XDP_DROP);
    if (ip->ttl <= 1 || (!from_inside && ip->daddr != set->address))
        return counted(TO_HOST, XDP_PASS);
    if (ip->frag_off & bpf_htons(IPV4_MORE | IPV4_OFFSET))
        return counted(DROP_FRAGMENT, XDP_DROP);
    if (is_error(ip, at, end))
        return error(set, eth, ip, at, end, from_inside);
    return from_inside ? outward(set, eth, ip, at, end) : inward(set, eth, ip, at, end);
}

char _license[] SEC("license") = "Dual BSD/GPL";
