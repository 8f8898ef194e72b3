// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause OR GPL-2.0-only
// L4 load balancer: spreads the flows of a service over real servers and sends them there in IP-in-IP tunnels.
//
// A flow keeps its real server by the connection table, and where that has forgotten it or another balancer takes
// over, by consistent hashing: the control plane fills each service's ring so that few flows move when servers come
// and go (balance.h). Real servers answer the clients directly. IPv4 and IPv6 services go through tunnels of either.
// Pings of a service are answered here. ICMP errors about a flow, such as "too big", follow it to its real server.
// IPv4 options and IPv6 extension headers are stepped over. To the host go fragments, what would not fit into the
// tunnel, and what belongs to no service.
#include "parse.h"
#include "checksum.h"
#include "count.h"
#include "tunnel.h"
#include "balance.h"

enum counter {
    FORWARDED,
    ECHO_ANSWERED,
    // ICMP errors among the forwarded.
    ERRORS_FORWARDED,
    TO_HOST_NO_SERVICE,
    TO_HOST_FRAGMENT,
    TO_HOST_TOO_BIG,
    DROP_MALFORMED,
    // The service has no healthy real server.
    DROP_NO_REAL,
    // No headroom for the outer header.
    DROP_NO_ROOM,
    COUNTERS,
};

#define TCP_SYN 0x02
#define TCP_ACK 0x10

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

// What a packet is to the balancer.
enum kind {
    KIND_FLOW,
    KIND_ECHO,
    // An ICMP error that quotes a packet of a flow.
    KIND_ERROR,
    KIND_OTHER,
    KIND_FRAGMENT,
    KIND_MALFORMED,
};

struct packet {
    struct flow_key flow;
    struct inner inner;
    // A TCP packet that begins a flow.
    __u8 first;
};

// Ports of the flow, from an upper header of which `least` bytes must be there.
static __always_inline int read_ports(void *at, void *end, struct packet *packet, int quoted)
{
    struct tcphdr *tcp = at;
    struct udphdr *udp = at;

    if ((void *)(udp + 1) > end)
        return KIND_MALFORMED;
    packet->flow.client_port = quoted ? udp->dest : udp->source;
    packet->flow.service_port = quoted ? udp->source : udp->dest;
    if (packet->flow.protocol != IPPROTO_TCP || quoted)
        return KIND_FLOW;
    if ((void *)(tcp + 1) > end)
        return KIND_MALFORMED;
    packet->first = (((__u8 *)tcp)[13] & (TCP_SYN | TCP_ACK)) == TCP_SYN;
    return KIND_FLOW;
}

static __always_inline int has_ports(__u32 protocol)
{
    return protocol == IPPROTO_TCP || protocol == IPPROTO_UDP;
}

// An ICMP error: the packet that it quotes went from the service to the client.
static __always_inline int read_quoted_ipv4(void *at, void *end, struct packet *packet)
{
    struct iphdr *ip = take_ipv4(&at, end);

    if (!ip)
        return KIND_MALFORMED;
    if (!has_ports(ip->protocol) || ip->frag_off & bpf_htons(IPV4_OFFSET))
        return KIND_OTHER;
    packet->flow.client[0] = ip->daddr;
    packet->flow.service[0] = ip->saddr;
    packet->flow.protocol = ip->protocol;
    return read_ports(at, end, packet, 1) == KIND_FLOW ? KIND_ERROR : KIND_MALFORMED;
}

static __always_inline int read_quoted_ipv6(void *at, void *end, struct packet *packet)
{
    struct ipv6hdr *ip = take_ipv6(&at, end);

    if (!ip)
        return KIND_MALFORMED;
    if (!has_ports(ip->nexthdr))
        return KIND_OTHER;
    __builtin_memcpy(packet->flow.client, &ip->daddr, sizeof(packet->flow.client));
    __builtin_memcpy(packet->flow.service, &ip->saddr, sizeof(packet->flow.service));
    packet->flow.protocol = ip->nexthdr;
    return read_ports(at, end, packet, 1) == KIND_FLOW ? KIND_ERROR : KIND_MALFORMED;
}

static __always_inline int read_ipv4(void *at, void *end, struct packet *packet)
{
    struct iphdr *ip = take_ipv4(&at, end);
    struct icmp *icmp = at;

    if (!ip || bpf_ntohs(ip->tot_len) < sizeof(*ip) || (void *)ip + bpf_ntohs(ip->tot_len) > end)
        return KIND_MALFORMED;
    packet->inner.protocol = IPPROTO_IPIP;
    packet->inner.tos = ip->tos;
    packet->inner.bytes = bpf_ntohs(ip->tot_len);
    packet->flow.family = 4;
    packet->flow.client[0] = ip->saddr;
    packet->flow.service[0] = ip->daddr;
    packet->flow.protocol = ip->protocol;
    if (ip->frag_off & bpf_htons(IPV4_MORE | IPV4_OFFSET))
        return KIND_FRAGMENT;
    if (has_ports(ip->protocol))
        return read_ports(at, end, packet, 0);
    if (ip->protocol != IPPROTO_ICMP)
        return KIND_OTHER;
    if ((void *)(icmp + 1) > end)
        return KIND_MALFORMED;
    if (icmp->type == ICMP_ECHO)
        return ip->ihl == 5 ? KIND_ECHO : KIND_OTHER;
    if (icmp->type == ICMP_UNREACHABLE || icmp->type == ICMP_TIME_EXCEEDED || icmp->type == ICMP_PARAMETER_PROBLEM)
        return read_quoted_ipv4(icmp + 1, end, packet);
    return KIND_OTHER;
}

static __always_inline int read_ipv6(void *at, void *end, struct packet *packet)
{
    struct ipv6hdr *ip = take_ipv6(&at, end);
    struct upper upper;
    struct icmp *icmp;

    if (!ip || at + bpf_ntohs(ip->payload_len) > end || skip_extensions(&at, end, ip->nexthdr, &upper))
        return KIND_MALFORMED;
    packet->inner.protocol = IPPROTO_IPV6;
    packet->inner.tos = ipv6_class(ip);
    packet->inner.bytes = bpf_ntohs(ip->payload_len) + sizeof(*ip);
    packet->flow.family = 6;
    __builtin_memcpy(packet->flow.client, &ip->saddr, sizeof(packet->flow.client));
    __builtin_memcpy(packet->flow.service, &ip->daddr, sizeof(packet->flow.service));
    packet->flow.protocol = upper.protocol;
    if (upper.fragment)
        return KIND_FRAGMENT;
    if (has_ports(upper.protocol))
        return read_ports(at, end, packet, 0);
    icmp = at;
    if (upper.protocol != IPPROTO_ICMPV6)
        return KIND_OTHER;
    if ((void *)(icmp + 1) > end)
        return KIND_MALFORMED;
    if (icmp->type == ICMP6_ECHO)
        return ip->nexthdr == IPPROTO_ICMPV6 ? KIND_ECHO : KIND_OTHER;
    if (icmp->type < ICMP6_ERRORS)
        return read_quoted_ipv6(icmp + 1, end, packet);
    return KIND_OTHER;
}

// The service of a flow: that of its port, else that of all ports.
static __always_inline struct service *find_service(const struct flow_key *flow)
{
    struct service_key key = {.port = flow->service_port, .protocol = flow->protocol, .family = flow->family};
    struct service *service;

    __builtin_memcpy(key.address, flow->service, sizeof(key.address));
    service = bpf_map_lookup_elem(&services, &key);
    if (service || !key.port)
        return service;
    key.port = 0;
    return bpf_map_lookup_elem(&services, &key);
}

// Makes the echo request in the frame its reply. The headers' bounds were checked when it was read.
static __always_inline int answer_echo(struct xdp_md *ctx, int family)
{
    struct eth_header *eth = (void *)(long)ctx->data;
    void *end = (void *)(long)ctx->data_end;

    if (family == 4) {
        struct iphdr *ip = (void *)(eth + 1);
        struct icmp *icmp = (void *)(ip + 1);
        __be32 source;

        if ((void *)(icmp + 1) > end)
            return XDP_DROP;
        icmp->check = not_zero(checksum_of(sum_of(icmp->check) + changed16(ICMP_ECHO, ICMP_ECHO_REPLY)));
        icmp->type = ICMP_ECHO_REPLY;
        ip->check = checksum_of(sum_of(ip->check) + changed16(ip->ttl, TUNNEL_TTL));
        ip->ttl = TUNNEL_TTL;
        source = ip->saddr;
        ip->saddr = ip->daddr;
        ip->daddr = source;
    } else {
        struct ipv6hdr *ip = (void *)(eth + 1);
        struct icmp *icmp = (void *)(ip + 1);
        struct in6_addr source;

        if ((void *)(icmp + 1) > end)
            return XDP_DROP;
        icmp->check = not_zero(checksum_of(sum_of(icmp->check) + changed16(ICMP6_ECHO, ICMP6_ECHO_REPLY)));
        icmp->type = ICMP6_ECHO_REPLY;
        ip->hop_limit = TUNNEL_TTL;
        source = ip->saddr;
        ip->saddr = ip->daddr;
        ip->daddr = source;
    }
    swap_macs(eth);
    return counted(ECHO_ANSWERED, XDP_TX);
}

// Wraps the packet and sends it to its real server.
static __always_inline int forward(struct xdp_md *ctx, const struct settings *set, const struct real *real,
                                   const struct packet *packet, __u32 hash)
{
    int problem;

    if (real->family == 4) {
        if (packet->inner.bytes + sizeof(struct iphdr) > set->mtu)
            return counted(TO_HOST_TOO_BIG, XDP_PASS);
        problem = encapsulate_ipv4(ctx, &packet->inner, set->source4 ^ bpf_htonl(hash & 0xffff), real->address[0],
                                   set->gateway_mac);
    } else {
        __be32 source[4] = {set->source6[0], set->source6[1], set->source6[2],
                            set->source6[3] ^ bpf_htonl(hash & 0xffff)};

        if (packet->inner.bytes + sizeof(struct ipv6hdr) > set->mtu)
            return counted(TO_HOST_TOO_BIG, XDP_PASS);
        problem = encapsulate_ipv6(ctx, &packet->inner, source, real->address, set->gateway_mac);
    }
    if (problem)
        return counted(DROP_NO_ROOM, XDP_DROP);
    return counted(FORWARDED, XDP_TX);
}

SEC("xdp")
int load_balancer(struct xdp_md *ctx)
{
    void *at = (void *)(long)ctx->data;
    void *end = (void *)(long)ctx->data_end;
    struct eth_header *eth = take(&at, end, sizeof(*eth));
    struct packet packet = {};
    struct real_stats *stats;
    struct service *service;
    struct settings *set;
    struct real *real;
    __u32 number = 0;
    __u32 zero = 0;
    __u32 hash;
    int kind;

    set = bpf_map_lookup_elem(&settings, &zero);
    if (!eth || !set)
        return XDP_ABORTED;
    if (eth->h_proto == bpf_htons(ETH_P_IP))
        kind = read_ipv4(at, end, &packet);
    else if (eth->h_proto == bpf_htons(ETH_P_IPV6))
        kind = read_ipv6(at, end, &packet);
    else
        return counted(TO_HOST_NO_SERVICE, XDP_PASS);
    if (kind == KIND_MALFORMED)
        return counted(DROP_MALFORMED, XDP_DROP);
    if (kind == KIND_FRAGMENT)
        return counted(TO_HOST_FRAGMENT, XDP_PASS);
    service = find_service(&packet.flow);
    if (kind == KIND_OTHER || !service)
        return counted(TO_HOST_NO_SERVICE, XDP_PASS);
    if (kind == KIND_ECHO) {
        if (!(service->flags & SERVICE_ECHO))
            return counted(TO_HOST_NO_SERVICE, XDP_PASS);
        return answer_echo(ctx, packet.flow.family);
    }
    if (kind == KIND_ERROR)
        count(&counters, ERRORS_FORWARDED);

    hash = hash_flow(&packet.flow, service->flags & SERVICE_STICKY);
    count_traffic(&service_stats, service->index, packet.inner.bytes);
    real = choose(service, &packet.flow, hash, packet.first, kind == KIND_FLOW, &number);
    if (!real)
        return counted(DROP_NO_REAL, XDP_DROP);
    stats = bpf_map_lookup_elem(&real_stats, &number);
    if (stats) {
        stats->sent.packets += 1;
        stats->sent.bytes += packet.inner.bytes;
    }
    return forward(ctx, set, real, &packet, hash);
}

char _license[] SEC("license") = "Dual BSD/GPL";
