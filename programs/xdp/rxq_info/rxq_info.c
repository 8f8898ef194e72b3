// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause OR GPL-2.0-only
// Statistics of receive queues: which interface, queue and processor the packets come to.
//
// What is then done with them is set in `config`, as is whether packet data is read at all: the difference
// shows what the first touch of a packet costs.
#include "parse.h"
#include "count.h"
#include "fed.h"

#define QUEUES 64
#define PROCESSORS 128

struct config {
    // Verdict for every packet: XDP_DROP (1), XDP_PASS (2) or XDP_TX (3); anything else aborts.
    __u32 verdict;
    // READ_DATA, SWAP_MACS.
    __u32 flags;
};

// Read the EtherType, and count packets that are neither IPv4, IPv6 nor ARP.
#define READ_DATA 1
// Swap the MAC addresses, for XDP_TX through a switch.
#define SWAP_MACS 2

struct queue_stats {
    struct traffic all;
    __u64 not_ip;
};

// The only entry is the configuration.
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, struct config);
} config SEC(".maps");

// By receive queue; the last entry stands for all queues from 64 on.
struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, QUEUES + 1);
    __type(key, __u32);
    __type(value, struct queue_stats);
} queues SEC(".maps");

// By interface index.
struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_HASH);
    __uint(max_entries, 256);
    __type(key, __u32);
    __type(value, struct traffic);
} interfaces SEC(".maps");

// By processor; the last entry stands for all from 128 on.
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, PROCESSORS + 1);
    __type(key, __u32);
    __type(value, __u64);
} processors SEC(".maps");

static __always_inline void count_interface(__u32 ifindex, __u64 bytes)
{
    struct traffic *known = bpf_map_lookup_elem(&interfaces, &ifindex);
    struct traffic first = {.packets = 1, .bytes = bytes};

    if (known) {
        known->packets += 1;
        known->bytes += bytes;
        return;
    }
    // A full map loses the statistics of further interfaces, never a packet.
    bpf_map_update_elem(&interfaces, &ifindex, &first, BPF_ANY);
}

static __always_inline void count_processor(void)
{
    __u32 cpu = cpu_number();
    __u64 *packets;

    if (cpu > PROCESSORS)
        cpu = PROCESSORS;
    packets = bpf_map_lookup_elem(&processors, &cpu);
    if (packets)
        *packets += 1;
}

SEC("xdp")
int rxq_info(struct xdp_md *ctx)
{
    struct eth_header *eth = (void *)(long)ctx->data;
    void *end = (void *)(long)ctx->data_end;
    __u32 queue = ctx->rx_queue_index;
    struct queue_stats *stats;
    __u32 zero = 0;
    struct config *set = bpf_map_lookup_elem(&config, &zero);

    if (!set)
        return XDP_ABORTED;
    if (queue > QUEUES)
        queue = QUEUES;
    stats = bpf_map_lookup_elem(&queues, &queue);
    if (!stats)
        return XDP_ABORTED;
    stats->all.packets += 1;
    stats->all.bytes += end - (void *)eth;
    count_interface(ctx->ingress_ifindex, end - (void *)eth);
    count_processor();

    if (set->flags && (void *)(eth + 1) > end)
        return XDP_ABORTED;
    if (set->flags & READ_DATA && eth->h_proto != bpf_htons(ETH_P_IP) && eth->h_proto != bpf_htons(ETH_P_IPV6) &&
        eth->h_proto != bpf_htons(ETH_P_ARP))
        stats->not_ip += 1;
    if (set->flags & SWAP_MACS)
        swap_macs(eth);
    return set->verdict;
}

char _license[] SEC("license") = "Dual BSD/GPL";
