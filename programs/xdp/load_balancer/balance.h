// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause OR GPL-2.0-only
// Services, real servers, hash rings and the connection table of the load balancer.
#ifndef SLUICE_BALANCE_H
#define SLUICE_BALANCE_H

#include "parse.h"
#include "count.h"
#include "fed.h"

#define SERVICES 64
#define REALS 1024
// Slots of a ring. A prime: a service's ring uses the first `ring_size` of them.
#define RING 4099
// Slots of the ring that are tried when real servers are not healthy.
#define PROBES 4

// A flow as the client sends it. IPv4 addresses are the first word, the others are 0.
struct flow_key {
    __be32 client[4];
    __be32 service[4];
    __be16 client_port;
    __be16 service_port;
    __u8 protocol;
    // 4 or 6.
    __u8 family;
    __u16 unused;
};

struct service_key {
    __be32 address[4];
    // 0 for all ports that have no service of their own.
    __be16 port;
    __u8 protocol;
    __u8 family;
};

struct service {
    // Place in `rings` and `service_stats`.
    __u32 index;
    // Slots of the ring that are in use.
    __u32 ring_size;
    // SERVICE_*.
    __u32 flags;
};

// The ring is entered by the client's address alone: all its connections go to one real server.
#define SERVICE_STICKY 1
// No entry in the connection table: for protocols that bring their own affinity, and for many short flows.
#define SERVICE_STATELESS 2
// Of an entry for ICMP: pings are answered.
#define SERVICE_ECHO 4

struct real {
    __be32 address[4];
    // 4 or 6: family of the tunnel; 0 where there is no real server.
    __u32 family;
    // 1 while it takes packets.
    __u32 healthy;
};

struct connection {
    __u64 seen;
    __u32 real;
    __u32 unused;
};

struct settings {
    // Sources of the tunnels. The flow's hash goes into the lower half of the last word, so that the real servers'
    // receive queues share the load.
    __be32 source4;
    __be32 source6[4];
    // Where all leaves to, and the largest IP packet on the way, outer header included.
    __u8 gateway_mac[ETH_ALEN];
    __u16 mtu;
};

struct real_stats {
    struct traffic sent;
    // Flows that were given to it.
    __u64 flows;
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

// Real servers by number; 0 is none.
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, REALS);
    __type(key, __u32);
    __type(value, struct real);
} reals SEC(".maps");

// A ring: the number of a real server in each slot.
struct ring {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, RING);
    __type(key, __u32);
    __type(value, __u32);
} ring_0 SEC(".maps"), ring_1 SEC(".maps");

// Rings by the service's index. A new ring takes the place of an old one in one step.
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
    __uint(max_entries, SERVICES);
    __type(key, __u32);
    __array(values, struct ring);
} rings SEC(".maps") = {
    .values = {[0] = &ring_0, [1] = &ring_1},
};

// Real servers of the flows that were seen last.
struct {
    __uint(type, BPF_MAP_TYPE_LRU_HASH);
    __uint(max_entries, 65536);
    __type(key, struct flow_key);
    __type(value, struct connection);
} connections SEC(".maps");

// By the service's index.
struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, SERVICES);
    __type(key, __u32);
    __type(value, struct traffic);
} service_stats SEC(".maps");

// By the number of the real server.
struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, REALS);
    __type(key, __u32);
    __type(value, struct real_stats);
} real_stats SEC(".maps");

// Nanoseconds after which a UDP flow is balanced anew. Set before the program is loaded.
const volatile __u64 timeout_udp = 30ull * 1000000000;

static __always_inline __u32 mix(__u32 hash, __u32 word)
{
    hash = (hash ^ word) * 0x9e3779b1;
    return hash ^ hash >> 15;
}

// Hash of the flow, or of its client alone.
static __always_inline __u32 hash_flow(const struct flow_key *flow, int sticky)
{
    __u32 hash = mix(0x5104ce, flow->client[0]);

    if (flow->family == 6) {
        hash = mix(hash, flow->client[1]);
        hash = mix(hash, flow->client[2]);
        hash = mix(hash, flow->client[3]);
    }
    if (!sticky)
        hash = mix(hash, flow->client_port | (__u32)flow->service_port << 16);
    return mix(hash, flow->protocol);
}

// The real server with this number, if it takes packets.
static __always_inline struct real *usable(__u32 number)
{
    struct real *real = bpf_map_lookup_elem(&reals, &number);

    return real && real->family && real->healthy ? real : NULL;
}

// The real server that the ring gives for a hash; where it is not healthy, the one in the next slots. When one falls
// out, only its own flows move.
static __always_inline struct real *from_ring(const struct service *service, __u32 hash, __u32 *number)
{
    void *ring = bpf_map_lookup_elem(&rings, &service->index);
    __u32 size = service->ring_size;

    if (!ring || !size || size > RING)
        return NULL;
    for (__u32 i = 0; i < PROBES; i++) {
        __u32 slot = (hash + i) % size;
        __u32 *entry = bpf_map_lookup_elem(ring, &slot);
        struct real *real;

        if (!entry)
            return NULL;
        *number = *entry;
        real = usable(*number);
        if (real)
            return real;
    }
    return NULL;
}

// The real server of a flow: the one that it has, or a new one from the ring. A TCP flow that begins (`first`) is
// always balanced anew. Only packets of the flow itself (`own`) are noted in the table, not errors about it.
static __always_inline struct real *choose(const struct service *service, const struct flow_key *flow, __u32 hash,
                                           int first, int own, __u32 *number)
{
    struct connection *known = NULL;
    struct real_stats *stats;
    struct real *real;
    __u64 now = now_ns();

    if (!(service->flags & SERVICE_STATELESS) && !first)
        known = bpf_map_lookup_elem(&connections, flow);
    if (known && (flow->protocol != IPPROTO_UDP || (__s64)(now - known->seen) <= (__s64)timeout_udp)) {
        real = usable(known->real);
        if (real) {
            if (own)
                known->seen = now;
            *number = known->real;
            return real;
        }
    }
    real = from_ring(service, hash, number);
    if (!real || !own)
        return real;
    stats = bpf_map_lookup_elem(&real_stats, number);
    if (stats)
        stats->flows += 1;
    if (!(service->flags & SERVICE_STATELESS)) {
        struct connection new = {.seen = now, .real = *number};

        bpf_map_update_elem(&connections, flow, &new, BPF_ANY);
    }
    return real;
}

#endif
