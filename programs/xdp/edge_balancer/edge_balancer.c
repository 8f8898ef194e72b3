// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause OR GPL-2.0-only
// L4 load balancer for IPv4 with services of all ports, clients that have a real server of their own, and a limit on
// how many connections begin.
//
// A service is an address, a protocol and a port, or port 0 for all ports that are no service of their own. A
// connection that begins (TCP SYN), or that the connection table does not know, goes to the real server that the
// longest prefix of its client has; else to the one that its hash finds in the service's part of the ring. It then has
// an entry, which its later packets follow. In an interval of 2^30 ns at most `new_limit` connections begin on each
// processor; the others are dropped. Packets go to the real server in an IPv4 tunnel whose source carries the
// connection's hash, and back by the interface that they came from. Fragments, IP options, and what belongs to no
// service go to the host.
#include "parse.h"
#include "checksum.h"
#include "count.h"
#include "fed.h"
#include "tunnel.h"
#include "hash.h"

#define SERVICES 512
#define REALS 4096
// Slots of the ring that one service has: a prime.
#define SLOTS 251
// An interval of the limit is 2^30 ns: 1.07 s.
#define INTERVAL 30
#define TCP_SYN 0x02

enum counter {
    ESTABLISHED,
    BY_CLIENT,
    BY_RING,
    TO_HOST_NO_SERVICE,
    DROP_MALFORMED,
    DROP_TOO_MANY,
    DROP_NO_REAL,
    // No headroom for the outer header.
    DROP_NO_ROOM,
    COUNTERS,
};

struct service_key {
    __be32 address;
    __be16 port;
    __u16 protocol;
};

// Number of a service: its part of the ring, and its place in `service_stats`.
struct service {
    __u32 number;
};

struct prefix {
    __u32 bits;
    __be32 address;
};

struct connection {
    __be32 client;
    __be32 service;
    __be16 client_port;
    __be16 service_port;
    __u32 protocol;
};

struct settings {
    // Source of the tunnels; the connection's hash goes into its lower half.
    __be32 source;
    // Where all leaves to.
    __u8 gateway_mac[ETH_ALEN];
    __u16 unused;
    // Connections that may begin in an interval, on each processor.
    __u32 new_limit;
};

struct begun {
    // Interval in which `connections` began.
    __u64 interval;
    __u64 connections;
};

struct real {
    // 0 where there is none.
    __be32 address;
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

// Number of the real server that clients of a prefix have.
struct {
    __uint(type, BPF_MAP_TYPE_LPM_TRIE);
    __uint(max_entries, 1024);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, struct prefix);
    __type(value, __u32);
} clients SEC(".maps");

// Number of the real server that each connection has.
struct {
    __uint(type, BPF_MAP_TYPE_LRU_HASH);
    __uint(max_entries, 65536);
    __type(key, struct connection);
    __type(value, __u32);
} connections SEC(".maps");

// Connections that began in this interval.
struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, struct begun);
} begun SEC(".maps");

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

// Counts a connection that begins. Returns whether there are too many of this interval.
static __always_inline int too_many(__u32 limit)
{
    __u64 interval = now_ns() >> INTERVAL;
    struct begun *last;
    __u32 zero = 0;

    last = bpf_map_lookup_elem(&begun, &zero);
    if (!last)
        return 1;
    if (last->interval != interval) {
        last->interval = interval;
        last->connections = 0;
    }
    last->connections += 1;
    return last->connections > limit;
}

SEC("xdp")
int edge_balancer(struct xdp_md *ctx)
{
    void *at = (void *)(long)ctx->data;
    void *end = (void *)(long)ctx->data_end;
    struct eth_header *eth = take(&at, end, sizeof(*eth));
    struct iphdr *ip = take(&at, end, sizeof(*ip));
    struct connection connection = {};
    struct prefix prefix = {.bits = 32};
    __u32 number, hash, zero = 0, *known = NULL;
    struct service_key key = {};
    struct service *service;
    struct settings *set;
    struct inner inner;
    struct udphdr *udp = at;
    struct real *real;
    int first = 0;

    set = bpf_map_lookup_elem(&settings, &zero);
    if (!eth || !set)
        return counted(DROP_MALFORMED, XDP_DROP);
    if (eth->h_proto != bpf_htons(ETH_P_IP))
        return counted(TO_HOST_NO_SERVICE, XDP_PASS);
    if (!ip || ip->version != 4 || (void *)ip + bpf_ntohs(ip->tot_len) > end)
        return counted(DROP_MALFORMED, XDP_DROP);
    if (ip->ihl != 5 || ip->frag_off & bpf_htons(IPV4_MORE | IPV4_OFFSET) ||
        (ip->protocol != IPPROTO_TCP && ip->protocol != IPPROTO_UDP))
        return counted(TO_HOST_NO_SERVICE, XDP_PASS);
    if ((void *)(udp + 1) > end)
        return counted(DROP_MALFORMED, XDP_DROP);
    if (ip->protocol == IPPROTO_TCP) {
        if (at + sizeof(struct tcphdr) > end)
            return counted(DROP_MALFORMED, XDP_DROP);
        first = ((__u8 *)at)[13] & TCP_SYN;
    }
    inner.protocol = IPPROTO_IPIP;
    inner.tos = ip->tos;
    inner.bytes = bpf_ntohs(ip->tot_len);

    key.address = ip->daddr;
    key.port = udp->dest;
    key.protocol = ip->protocol;
    service = bpf_map_lookup_elem(&services, &key);
    if (!service) {
        key.port = 0;
        service = bpf_map_lookup_elem(&services, &key);
    }
    if (!service)
        return counted(TO_HOST_NO_SERVICE, XDP_PASS);
    count_traffic(&service_stats, service->number, inner.bytes);

    connection.client = ip->saddr;
    connection.service = ip->daddr;
    connection.client_port = udp->source;
    connection.service_port = udp->dest;
    connection.protocol = ip->protocol;
    hash = hash_words((__u32 *)&connection, 3, service->number);
    if (!first)
        known = bpf_map_lookup_elem(&connections, &connection);
    if (known) {
        number = *known;
        count(&counters, ESTABLISHED);
    } else {
        __u32 *chosen;

        if (too_many(set->new_limit))
            return counted(DROP_TOO_MANY, XDP_DROP);
        prefix.address = ip->saddr;
        chosen = bpf_map_lookup_elem(&clients, &prefix);
        if (chosen) {
            count(&counters, BY_CLIENT);
        } else {
            __u32 slot = service->number * SLOTS + hash % SLOTS;

            chosen = bpf_map_lookup_elem(&ring, &slot);
            if (!chosen)
                return counted(DROP_NO_REAL, XDP_DROP);
            count(&counters, BY_RING);
        }
        number = *chosen;
        bpf_map_update_elem(&connections, &connection, &number, BPF_ANY);
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
