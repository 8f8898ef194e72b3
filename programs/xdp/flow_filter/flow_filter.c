// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause OR GPL-2.0-only
// Filter in front of an intrusion detection: drops the flows that it has judged, and spreads the others over its workers.
//
// The detection writes the flows that it wants to see no more into a table, by addresses, ports and protocol; what they
// still send is counted and dropped. Both directions of any other flow go to one worker, a processor of the cpumap, by
// a hash in which sender and receiver may change places. What is not TCP or UDP over IPv4 in one piece goes to the host.
#include "parse.h"

#define WORKERS 64

struct flow {
    __be32 source;
    __be32 dest;
    __be16 source_port;
    __be16 dest_port;
    __u32 protocol;
};

// What a judged flow has sent since then.
struct judged {
    __u64 packets;
    __u64 bytes;
};

// Flows that are dropped.
struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_HASH);
    __uint(max_entries, 32768);
    __type(key, struct flow);
    __type(value, struct judged);
} flows SEC(".maps");

// How many entries of `workers` are in use; the only entry.
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, __u32);
} in_use SEC(".maps");

// Queue length by processor.
struct {
    __uint(type, BPF_MAP_TYPE_CPUMAP);
    __uint(max_entries, WORKERS);
    __type(key, __u32);
    __type(value, __u32);
} workers SEC(".maps");

SEC("xdp")
int flow_filter(struct xdp_md *ctx)
{
    void *end = (void *)(long)ctx->data_end;
    struct eth_header *eth = (void *)(long)ctx->data;
    struct iphdr *ip = (void *)(eth + 1);
    struct ports *ports = (void *)(ip + 1);
    __u32 *count, zero = 0, hash;
    struct flow flow = {};
    struct judged *judged;

    if ((void *)(ports + 1) > end || eth->h_proto != bpf_htons(ETH_P_IP) || ip->version != 4 || ip->ihl != 5)
        return XDP_PASS;
    if (ip->frag_off & bpf_htons(IPV4_MORE | IPV4_OFFSET))
        return XDP_PASS;
    if (ip->protocol != IPPROTO_TCP && ip->protocol != IPPROTO_UDP)
        return XDP_PASS;
    flow.source = ip->saddr;
    flow.dest = ip->daddr;
    flow.source_port = ports->source;
    flow.dest_port = ports->dest;
    flow.protocol = ip->protocol;
    judged = bpf_map_lookup_elem(&flows, &flow);
    if (judged) {
        judged->packets += 1;
        judged->bytes += end - (void *)eth;
        return XDP_DROP;
    }
    count = bpf_map_lookup_elem(&in_use, &zero);
    if (!count || !*count)
        return XDP_PASS;
    hash = (flow.source ^ flow.dest) + (flow.source_port ^ flow.dest_port);
    hash ^= hash >> 16;
    hash *= 0x45d9f3b;
    hash ^= hash >> 16;
    // As a share of 2^32, for which no division is needed. A worker that is missing leaves its packets to the host.
    return bpf_redirect_map(&workers, (__u64)hash * *count >> 32, XDP_PASS);
}

char _license[] SEC("license") = "Dual BSD/GPL";
