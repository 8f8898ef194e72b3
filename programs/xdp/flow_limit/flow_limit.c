// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause OR GPL-2.0-only
// Limits every flow to a rate of packets with a token bucket, whose numbers change together under a spin lock.
//
// A flow is an IPv4 source, destination and protocol. Its bucket fills with time: a packet costs so many nanoseconds of it, and
// is dropped where there are too few. Credit, time and counts of a bucket belong together, so that each packet, on whichever
// processor, holds the lock from the first to the last of them. Flows that find no room in the table pass; so does what is not IPv4.
#include "parse.h"
#include "fed.h"

struct limit {
    // Cost of a packet and most credit, in nanoseconds; a cost of 0 is no limit.
    __u64 cost;
    __u64 burst;
};

struct flow {
    __be32 source;
    __be32 dest;
    __u32 protocol;
};

struct bucket {
    struct bpf_spin_lock lock;
    __u32 dropped;
    // Nanoseconds that packets may still cost, and when that was.
    __u64 credit;
    __u64 last;
    __u64 passed;
};

// One entry.
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, struct limit);
} limits SEC(".maps");

// By flow.
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 256);
    __type(key, struct flow);
    __type(value, struct bucket);
} buckets SEC(".maps");

// Whether the packet's cost is in the bucket, which it then takes out.
static __always_inline int take_credit(struct bucket *bucket, const struct limit *limit, __u64 now)
{
    __u64 cost = limit->cost;
    __u64 burst = limit->burst;
    __u64 credit;
    int passes;

    bpf_spin_lock(&bucket->lock);
    credit = bucket->credit;
    // A packet that was stamped later may have been here before.
    if ((__s64)(now - bucket->last) > 0) {
        credit += now - bucket->last;
        bucket->last = now;
    }
    if (credit > burst)
        credit = burst;
    passes = credit >= cost;
    if (passes) {
        credit -= cost;
        bucket->passed += 1;
    } else {
        bucket->dropped += 1;
    }
    bucket->credit = credit;
    bpf_spin_unlock(&bucket->lock);
    return passes;
}

SEC("xdp")
int flow_limit(struct xdp_md *ctx)
{
    void *at = (void *)(long)ctx->data;
    void *end = (void *)(long)ctx->data_end;
    struct eth_header *eth = take(&at, end, sizeof(*eth));
    struct bucket *bucket;
    struct limit *limit;
    struct flow flow;
    struct iphdr *ip;
    __u64 now = now_ns();
    __u32 zero = 0;

    if (!eth)
        return XDP_DROP;
    if (eth->h_proto != bpf_htons(ETH_P_IP))
        return XDP_PASS;
    ip = take_ipv4(&at, end);
    if (!ip)
        return XDP_DROP;
    limit = bpf_map_lookup_elem(&limits, &zero);
    if (!limit || !limit->cost)
        return XDP_PASS;
    flow.source = ip->saddr;
    flow.dest = ip->daddr;
    flow.protocol = ip->protocol;
    bucket = bpf_map_lookup_elem(&buckets, &flow);
    if (!bucket) {
        struct bucket full = {.credit = limit->burst, .last = now};

        // Another packet of the flow may have been faster.
        bpf_map_update_elem(&buckets, &flow, &full, BPF_NOEXIST);
        bucket = bpf_map_lookup_elem(&buckets, &flow);
        if (!bucket)
            return XDP_PASS;
    }
    return take_credit(bucket, limit, now) ? XDP_PASS : XDP_DROP;
}

char _license[] SEC("license") = "Dual BSD/GPL";
