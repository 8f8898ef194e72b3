// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause OR GPL-2.0-only
// Limits every source to a rate of packets and bytes, with bursts.
//
// A source is an IPv4 address or an IPv6 /64; a class, found by longest prefix, says how much each of its sources may
// send. The bucket of a source is one number, the time when it will be empty: a packet adds its cost in time, and is
// dropped if the bucket would reach further into the future than the burst allows. Sources that were silent for
// longest are forgotten when the table is full, and begin with a full burst. What is not IP passes.
#include "parse.h"
#include "count.h"
#include "fed.h"

#define CLASSES 256

struct class {
    // Cost of a packet and of each byte in picoseconds; both 0 is no limit.
    __u64 packet_cost;
    __u64 byte_cost;
    // How far the bucket may reach into the future, in nanoseconds.
    __u64 burst;
    // 1 drops everything.
    __u32 blocked;
    __u32 unused;
};

struct prefix {
    __u32 bits;
    struct in6_addr address;
};

struct bucket {
    // When it will be empty, in nanoseconds.
    __u64 empty;
    __u64 passed;
    __u64 dropped;
};

enum counter {
    PASSED,
    UNLIMITED,
    NOT_IP,
    DROP_LIMIT,
    DROP_BLOCKED,
    DROP_MALFORMED,
    COUNTERS,
};

// Class 0 is that of all sources without a prefix of their own.
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, CLASSES);
    __type(key, __u32);
    __type(value, struct class);
} classes SEC(".maps");

// Number of the class by prefix; IPv4 addresses as IPv4-mapped ones, so that a /24 has 120 bits here.
struct {
    __uint(type, BPF_MAP_TYPE_LPM_TRIE);
    __uint(max_entries, 4096);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, struct prefix);
    __type(value, __u32);
} prefixes SEC(".maps");

// By source.
struct {
    __uint(type, BPF_MAP_TYPE_LRU_HASH);
    __uint(max_entries, 65536);
    __type(key, struct in6_addr);
    __type(value, struct bucket);
} buckets SEC(".maps");

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

// Reads the source. Returns -1 for a malformed packet, -2 for one that is not IP.
static __always_inline int read_source(void *at, void *end, struct in6_addr *source)
{
    struct eth_header *eth = take(&at, end, sizeof(*eth));
    __be16 type;

    if (!eth)
        return -1;
    type = skip_tags(&at, end, eth->h_proto, 2);
    if (type == bpf_htons(ETH_P_IP)) {
        struct iphdr *ip = take_ipv4(&at, end);

        if (!ip)
            return -1;
        source->s6_addr32[0] = 0;
        source->s6_addr32[1] = 0;
        source->s6_addr32[2] = bpf_htonl(0xffff);
        source->s6_addr32[3] = ip->saddr;
        return 0;
    }
    if (type == bpf_htons(ETH_P_IPV6)) {
        struct ipv6hdr *ip = take_ipv6(&at, end);

        if (!ip)
            return -1;
        *source = ip->saddr;
        return 0;
    }
    return type ? -2 : -1;
}

// Whether the packet fits into the bucket, which it then fills. Two processors may work on one source: the one that
// comes second tries again, and gives up a packet that has come second too often.
static __always_inline int take_tokens(struct bucket *bucket, __u64 now, __u64 cost, __u64 burst)
{
#pragma clang loop unroll(disable)
    for (int i = 0; i < 4; i++) {
        __u64 old = *(volatile __u64 *)&bucket->empty;
        __u64 from = (__s64)(old - now) < 0 ? now : old;

        if (from + cost - now > burst)
            break;
        if (__sync_val_compare_and_swap(&bucket->empty, old, from + cost) == old) {
            __sync_fetch_and_add(&bucket->passed, 1);
            return 1;
        }
    }
    __sync_fetch_and_add(&bucket->dropped, 1);
    return 0;
}

SEC("xdp")
int rate_limit(struct xdp_md *ctx)
{
    void *at = (void *)(long)ctx->data;
    void *end = (void *)(long)ctx->data_end;
    struct prefix prefix;
    __u64 now = now_ns();
    struct bucket *bucket;
    struct class *class;
    __u32 number = 0;
    __u32 *known;
    __u64 cost;
    int problem;

    prefix.bits = 128;
    problem = read_source(at, end, &prefix.address);
    if (problem)
        return problem == -2 ? counted(NOT_IP, XDP_PASS) : counted(DROP_MALFORMED, XDP_DROP);
    known = bpf_map_lookup_elem(&prefixes, &prefix);
    if (known)
        number = *known;
    class = bpf_map_lookup_elem(&classes, &number);
    if (!class)
        return counted(UNLIMITED, XDP_PASS);
    if (class->blocked)
        return counted(DROP_BLOCKED, XDP_DROP);
    cost = (class->packet_cost + class->byte_cost * (__u64)(end - at)) / 1000;
    if (!cost)
        return counted(UNLIMITED, XDP_PASS);

    // Of IPv6 a host has a whole /64.
    if (prefix.address.s6_addr32[0] || prefix.address.s6_addr32[1]) {
        prefix.address.s6_addr32[2] = 0;
        prefix.address.s6_addr32[3] = 0;
    }
    bucket = bpf_map_lookup_elem(&buckets, &prefix.address);
    if (!bucket) {
        struct bucket new = {.empty = now};

        bpf_map_update_elem(&buckets, &prefix.address, &new, BPF_NOEXIST);
        bucket = bpf_map_lookup_elem(&buckets, &prefix.address);
        // Forgotten at once: that many sources are there.
        if (!bucket)
            return counted(PASSED, XDP_PASS);
    }
    if (!take_tokens(bucket, now, cost, class->burst))
        return counted(DROP_LIMIT, XDP_DROP);
    return counted(PASSED, XDP_PASS);
}

char _license[] SEC("license") = "Dual BSD/GPL";
