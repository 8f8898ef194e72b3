// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause OR GPL-2.0-only
// Bindings of the NAT: which public port stands for which connection, and the pool that they come from.
#ifndef SLUICE_NAT_BINDING_H
#define SLUICE_NAT_BINDING_H

#include "parse.h"
#include "fed.h"

// Most public ports for each of TCP, UDP and echo identifiers.
#define POOL 16384
// Ports that are tried for a new connection before it is refused.
#define PROBES 8

struct settings {
    // The address that the outside sees.
    __be32 address;
    // First public port, and how many: at most POOL.
    __u16 first_port;
    __u16 port_count;
    __u32 inside_ifindex;
    __u32 outside_ifindex;
    // The next hop outside, and the own addresses on both sides.
    __u8 gateway_mac[ETH_ALEN];
    __u8 outside_mac[ETH_ALEN];
    __u8 inside_mac[ETH_ALEN];
    __u16 unused;
};

// A connection as the inside sees it; of an echo the identifier stands for the client's port.
struct flow_key {
    __be32 client;
    __be32 remote;
    __be16 client_port;
    __be16 remote_port;
    // 0 TCP, 1 UDP, 2 echo.
    __u32 class;
};

struct binding {
    __u64 seen;
    struct flow_key flow;
    __u8 client_mac[ETH_ALEN];
    // TCP: ENDED_INSIDE, ENDED_OUTSIDE.
    __u8 ended;
    // 0 until the port is given away for the first time.
    __u8 taken;
};

// That side has sent FIN; a reset ends both.
#define ENDED_INSIDE 1
#define ENDED_OUTSIDE 2
#define ENDED (ENDED_INSIDE | ENDED_OUTSIDE)

// The only entry is the configuration.
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, struct settings);
} settings SEC(".maps");

// Place in `pool` by connection. Never full: there is one for each place at most.
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 3 * POOL);
    __type(key, struct flow_key);
    __type(value, __u32);
} flows SEC(".maps");

// By class * POOL + public port - first_port.
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 3 * POOL);
    __type(key, __u32);
    __type(value, struct binding);
} pool SEC(".maps");

// Nanoseconds of silence after which a binding's port may be given to another. Set before the program is loaded.
const volatile __u64 timeout_tcp = 7200ull * 1000000000;
const volatile __u64 timeout_ended = 10ull * 1000000000;
const volatile __u64 timeout_udp = 120ull * 1000000000;
const volatile __u64 timeout_echo = 30ull * 1000000000;

static __always_inline int in_use(const struct binding *binding, __u64 now)
{
    __u64 timeout = timeout_echo;

    if (!binding->taken)
        return 0;
    if (binding->flow.class == 0)
        timeout = binding->ended == ENDED ? timeout_ended : timeout_tcp;
    else if (binding->flow.class == 1)
        timeout = timeout_udp;
    // Signed: another processor may have seen the connection a moment later.
    return (__s64)(now - binding->seen) <= (__s64)timeout;
}

static __always_inline int same_flow(const struct flow_key *a, const struct flow_key *b)
{
    return a->client == b->client && a->remote == b->remote && a->client_port == b->client_port &&
           a->remote_port == b->remote_port && a->class == b->class;
}

// The binding of a connection from the inside, even if it has been silent for long, or NULL; `place` is where it lies
// in the pool.
static __always_inline struct binding *find_binding(const struct flow_key *key, __u32 *place)
{
    __u32 *known = bpf_map_lookup_elem(&flows, key);
    struct binding *binding;

    if (!known)
        return NULL;
    *place = *known;
    binding = bpf_map_lookup_elem(&pool, place);
    // Another processor may just have given the port away.
    return binding && same_flow(&binding->flow, key) ? binding : NULL;
}

// Takes a free port, or one whose connection has been silent for too long, from a random start.
static __always_inline struct binding *new_binding(const struct settings *set, const struct flow_key *key, __u64 now,
                                                   __u32 *place)
{
    __u32 ports = set->port_count;
    __u32 start;

    if (!ports || ports > POOL)
        return NULL;
    start = random_u32() % ports;
    for (__u32 i = 0; i < PROBES; i++) {
        __u32 index = key->class * POOL + (start + i) % ports;
        struct binding *binding = bpf_map_lookup_elem(&pool, &index);

        if (!binding)
            return NULL;
        if (in_use(binding, now))
            continue;
        if (binding->taken)
            bpf_map_delete_elem(&flows, &binding->flow);
        binding->flow = *key;
        binding->ended = 0;
        binding->taken = 1;
        bpf_map_update_elem(&flows, key, &index, BPF_ANY);
        *place = index;
        return binding;
    }
    return NULL;
}

#endif
