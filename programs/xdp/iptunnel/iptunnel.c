// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause OR GPL-2.0-only
// IP-in-IP tunnel entry: packets to a service's address are wrapped and sent on to the tunnel that it has.
//
// A service is an address, a protocol and a port, or port 0 for all ports; IPv4 and IPv6 services go through tunnels
// of either. The inner packet is not changed. Fragments have no port and follow the service's port 0. What would not
// fit into the tunnel's MTU is the host's, which knows how to say so to the sender; so is all that belongs to no
// service.
#include "parse.h"
#include "count.h"
#include "tunnel.h"

enum counter {
    TO_HOST_NO_SERVICE,
    TO_HOST_TOO_BIG,
    DROP_MALFORMED,
    // No headroom for the outer header.
    DROP_NO_ROOM,
    COUNTERS,
};

struct service {
    // IPv4: the first word, the others are 0.
    __be32 address[4];
    __be16 port;
    __u8 protocol;
    // 4 or 6.
    __u8 family;
};

struct tunnel {
    struct tunnel_ends ends;
    // Where the tunnel's next hop is on the link.
    __u8 mac[ETH_ALEN];
    // Largest IP packet towards it, outer header included.
    __u16 mtu;
    // Family of the outer header: 4 or 6.
    __u32 family;
    // Index in `stats`.
    __u32 index;
};

// Tunnels by service.
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 1024);
    __type(key, struct service);
    __type(value, struct tunnel);
} services SEC(".maps");

// Packets and inner bytes by the tunnel's index.
struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1024);
    __type(key, __u32);
    __type(value, struct traffic);
} stats SEC(".maps");

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

// The destination port, 0 for protocols without. Returns -1 when the frame ends before it.
static __always_inline int read_port(void *at, void *end, struct service *key)
{
    struct ports *ports = at;

    if (key->protocol != IPPROTO_TCP && key->protocol != IPPROTO_UDP)
        return 0;
    if ((void *)(ports + 1) > end)
        return -1;
    key->port = ports->dest;
    return 0;
}

static __always_inline int read_ipv4(void *at, void *end, struct service *key, struct inner *inner)
{
    struct iphdr *ip = take_ipv4(&at, end);

    if (!ip || bpf_ntohs(ip->tot_len) < sizeof(*ip) || (void *)ip + bpf_ntohs(ip->tot_len) > end)
        return -1;
    inner->protocol = IPPROTO_IPIP;
    inner->tos = ip->tos;
    inner->bytes = bpf_ntohs(ip->tot_len);
    key->family = 4;
    key->protocol = ip->protocol;
    key->address[0] = ip->daddr;
    if (ip->frag_off & bpf_htons(IPV4_MORE | IPV4_OFFSET))
        return 0;
    return read_port(at, end, key);
}

static __always_inline int read_ipv6(void *at, void *end, struct service *key, struct inner *inner)
{
    struct ipv6hdr *ip = take_ipv6(&at, end);
    struct upper upper;

    if (!ip || at + bpf_ntohs(ip->payload_len) > end || skip_extensions(&at, end, ip->nexthdr, &upper))
        return -1;
    inner->protocol = IPPROTO_IPV6;
    inner->tos = ipv6_class(ip);
    inner->bytes = bpf_ntohs(ip->payload_len) + sizeof(*ip);
    key->family = 6;
    key->protocol = upper.protocol;
    __builtin_memcpy(key->address, &ip->daddr, sizeof(key->address));
    if (upper.fragment)
        return 0;
    return read_port(at, end, key);
}

SEC("xdp")
int iptunnel(struct xdp_md *ctx)
{
    void *at = (void *)(long)ctx->data;
    void *end = (void *)(long)ctx->data_end;
    struct eth_header *eth = take(&at, end, sizeof(*eth));
    struct service key = {};
    struct tunnel *tunnel;
    struct inner inner;
    int problem;

    if (!eth)
        return counted(DROP_MALFORMED, XDP_DROP);
    if (eth->h_proto == bpf_htons(ETH_P_IP))
        problem = read_ipv4(at, end, &key, &inner);
    else if (eth->h_proto == bpf_htons(ETH_P_IPV6))
        problem = read_ipv6(at, end, &key, &inner);
    else
        return counted(TO_HOST_NO_SERVICE, XDP_PASS);
    if (problem)
        return counted(DROP_MALFORMED, XDP_DROP);

    tunnel = bpf_map_lookup_elem(&services, &key);
    if (!tunnel && key.port) {
        key.port = 0;
        tunnel = bpf_map_lookup_elem(&services, &key);
    }
    if (!tunnel)
        return counted(TO_HOST_NO_SERVICE, XDP_PASS);
    if (tunnel->family == 4) {
        if (inner.bytes + sizeof(struct iphdr) > tunnel->mtu)
            return counted(TO_HOST_TOO_BIG, XDP_PASS);
        problem = encapsulate_ipv4(ctx, &inner, tunnel->ends.source[0], tunnel->ends.dest[0], tunnel->mac);
    } else {
        if (inner.bytes + sizeof(struct ipv6hdr) > tunnel->mtu)
            return counted(TO_HOST_TOO_BIG, XDP_PASS);
        problem = encapsulate_ipv6(ctx, &inner, tunnel->ends.source, tunnel->ends.dest, tunnel->mac);
    }
    if (problem)
        return counted(DROP_NO_ROOM, XDP_DROP);
    count_traffic(&stats, tunnel->index, inner.bytes);
    return XDP_TX;
}

char _license[] SEC("license") = "Dual BSD/GPL";
