// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause OR GPL-2.0-only
// L4 load balancer with a connection table, in the way of Katran: flows of a service go to its real servers.
//
// A service is an address with a port and protocol, IPv4 or IPv6. A flow keeps the real server that the connection table
// has; one that begins (TCP SYN), or that the table does not know, gets the one that its hash finds in the service's part
// of the ring, and an entry. The packet goes to the real server in an IPv4 tunnel whose source carries the flow's hash,
// and back by the interface that it came from; the server answers the client directly. Fragments, IP options,
// extension headers, and what belongs to no service go to the host.
#include "parse.h"
#include "checksum.h"
#include "count.h"
#include "tunnel.h"
#include "hash.h"

#define SERVICES 512
#define REALS 4096
// Slots of the ring that one service has: a prime.
#define SLOTS 251

enum counter {
    ESTABLISHED,
    NEW_FLOW,
    TO_HOST_NO_SERVICE,
    DROP_MALFORMED,
    DROP_NO_REAL,
    // No headroom for the outer header.
    DROP_NO_ROOM,
    COUNTERS,
};

#define TCP_SYN 0x02

// Words of a flow that go into its hash: addresses and ports. The protocol is in the service's number.
#define FLOW_WORDS 9

// A flow as the client sends it. IPv4 addresses are the first word, the others are 0.
struct flow {
    __be32 client[4];
    __be32 service[4];
    __be16 client_port;
    __be16 service_port;
    __u32 protocol;
};

struct service_key {
    __be32 address[4];
    __be16 port;
    __u16 protocol;
};

// Number of a service: its part of the ring, and its place in `service_stats`.
struct service {
    __u32 number;
};

struct real {
    // 0 where there is none.
    __be32 address;
};

struct settings {
    // Source of the tunnels; the flow's hash goes into its lower half.
    __be32 source;
    // Where all leaves to.
    __u8 gateway_mac[ETH_ALEN];
    __u16 unused;
};

// The only entry is the configuration.
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, struct settings);
} settings SEC(".maps");

// By address, port and protocol.
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, SERVICES);
    __type(key, struct service_key);
    __type(value, struct service);
} services SEC(".maps");

// The number of a real server in each slot, one service's slots after the other's.
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, SERVICES * SLOTS);
    __type(key, __u32);
    __type(value, __u32);
} ring SEC(".maps");

// Real servers by number; 0 is none.
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, REALS);
    __type(key, __u32);
    __type(value, struct real);
} reals SEC(".maps");

// The number of the real server that each flow has.
struct {
    __uint(type, BPF_MAP_TYPE_LRU_HASH);
    __uint(max_entries, 65536);
    __type(key, struct flow);
    __type(value, __u32);
} connections SEC(".maps");

// Packets and bytes by the service's number.
struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, SERVICES);
    __type(key, __u32);
    __type(value, struct traffic);
} service_stats SEC(".maps");

// Packets and bytes by the number of the real server.
struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, REALS);
    __type(key, __u32);
    __type(value, struct traffic);
} real_stats SEC(".maps");

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

// Reads addresses and protocol into a flow of zeros, and what the tunnel's header takes over. Moves `*at` behind the
// header. Returns XDP_PASS for what goes to the host, XDP_DROP for a malformed packet, otherwise 0.
static __always_inline int read_addresses(struct eth_header *eth, void **at, void *end, struct flow *flow,
                                          struct inner *inner)
{
    if (eth->h_proto == bpf_htons(ETH_P_IP)) {
        struct iphdr *ip = take(at, end, sizeof(*ip));

        if (!ip || ip->version != 4 || bpf_ntohs(ip->tot_len) > end - (void *)ip)
            return XDP_DROP;
        if (ip->ihl != 5 || ip->frag_off & bpf_htons(IPV4_MORE | IPV4_OFFSET))
            return XDP_PASS;
        flow->client[0] = ip->saddr;
        flow->service[0] = ip->daddr;
        flow->protocol = ip->protocol;
        inner->protocol = IPPROTO_IPIP;
        inner->tos = ip->tos;
        inner->bytes = bpf_ntohs(ip->tot_len);
    } else if (eth->h_proto == bpf_htons(ETH_P_IPV6)) {
        struct ipv6hdr *ip = take_ipv6(at, end);

        if (!ip || bpf_ntohs(ip->payload_len) > end - *at)
            return XDP_DROP;
        __builtin_memcpy(flow->client, &ip->saddr, sizeof(flow->client));
        __builtin_memcpy(flow->service, &ip->daddr, sizeof(flow->service));
        flow->protocol = ip->nexthdr;
        inner->protocol = IPPROTO_IPV6;
        inner->tos = ipv6_class(ip);
        inner->bytes = bpf_ntohs(ip->payload_len) + sizeof(*ip);
    } else {
        return XDP_PASS;
    }
    return 0;
}

SEC("xdp")
int balancer(struct xdp_md *ctx)
{
    void *at = (void *)(long)ctx->data;
    void *end = (void *)(long)ctx->data_end;
    struct eth_header *eth = take(&at, end, sizeof(*eth));
    __u32 number, *known = NULL, hash, zero = 0;
    struct service_key key = {};
    struct service *service;
    struct settings *set;
    struct flow flow = {};
    struct inner inner;
    struct udphdr *udp;
    struct real *real;
    int first = 0;
    int verdict;

    set = bpf_map_lookup_elem(&settings, &zero);
    if (!eth || !set)
        return counted(DROP_MALFORMED, XDP_DROP);
    verdict = read_addresses(eth, &at, end, &flow, &inner);
    if (verdict == XDP_DROP)
        return counted(DROP_MALFORMED, XDP_DROP);
    if (verdict || (flow.protocol != IPPROTO_TCP && flow.protocol != IPPROTO_UDP))
        return counted(TO_HOST_NO_SERVICE, XDP_PASS);
    udp = at;
    if ((void *)(udp + 1) > end)
        return counted(DROP_MALFORMED, XDP_DROP);
    if (flow.protocol == IPPROTO_TCP) {
        if (at + sizeof(struct tcphdr) > end)
            return counted(DROP_MALFORMED, XDP_DROP);
        first = ((__u8 *)at)[13] & TCP_SYN;
    }
    flow.client_port = udp->source;
    flow.service_port = udp->dest;

    __builtin_memcpy(key.address, flow.service, sizeof(key.address));
    key.port = flow.service_port;
    key.protocol = flow.protocol;
    service = bpf_map_lookup_elem(&services, &key);
    if (!service)
        return counted(TO_HOST_NO_SERVICE, XDP_PASS);
    count_traffic(&service_stats, service->number, inner.bytes);

    hash = hash_words((__u32 *)&flow, FLOW_WORDS, service->number);
    if (!first)
        known = bpf_map_lookup_elem(&connections, &flow);
    if (known) {
        number = *known;
        count(&counters, ESTABLISHED);
    } else {
        __u32 slot = service->number * SLOTS + hash % SLOTS;
        __u32 *chosen = bpf_map_lookup_elem(&ring, &slot);

        if (!chosen)
            return counted(DROP_NO_REAL, XDP_DROP);
        number = *chosen;
        bpf_map_update_elem(&connections, &flow, &number, BPF_ANY);
        count(&counters, NEW_FLOW);
    }
    real = bpf_map_lookup_elem(&reals, &number);
    if (!real || !real->address)
        return counted(DROP_NO_REAL, XDP_DROP);
    count_traffic(&real_stats, number, inner.bytes);
    if (encapsulate_ipv4(ctx, &inner, set->source ^ bpf_htonl(hash & 0xffff), real->address, set->gateway_mac))
        return counted(DROP_NO_ROOM, XDP_DROP);
    return XDP_TX;
}

char _license[] SEC("license") = "Dual BSD/GPL";
