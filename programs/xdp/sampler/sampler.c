// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause OR GPL-2.0-only
// Shows the host one packet in so many: its beginning, when and where it came in, how long it was.
//
// Samples go into a ring buffer, or into the perf event buffers of the processors, as `config` says. Every packet
// passes, whether it is sampled or not; samples that find no room are counted. One in N is drawn at random, so that no
// pattern in the traffic hides from it; the host multiplies by N.
#include "parse.h"
#include "count.h"
#include "fed.h"

// Most bytes of a packet in a sample.
#define CAPTURE 128

struct config {
    // One packet in so many; 0 samples none.
    __u32 one_in;
    // Bytes of the packet, at most CAPTURE.
    __u32 bytes;
    // 0 the ring buffer, 1 perf events.
    __u32 perf;
    // Only packets of this EtherType in network order, behind up to two tags; 0 for all.
    __u32 type;
};

struct sample {
    __u64 time;
    __u32 ifindex;
    __u32 queue;
    // Bytes of the packet, and how many of them follow.
    __u32 length;
    __u32 captured;
    __u8 data[CAPTURE];
};

// What stands before the packet's bytes in a perf event.
struct perf_head {
    __u64 time;
    __u32 ifindex;
    __u32 queue;
    __u32 length;
    __u32 captured;
};

enum counter {
    SEEN,
    SAMPLED,
    // No room in the buffer.
    LOST,
    COUNTERS,
};

// The only entry is the configuration.
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, struct config);
} config SEC(".maps");

// `struct sample`.
struct {
    __uint(type, BPF_MAP_TYPE_RINGBUF);
    __uint(max_entries, 65536);
} samples SEC(".maps");

// `struct perf_head`, then bytes of the packet.
struct {
    __uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
    __uint(max_entries, 128);
    __type(key, __u32);
    __type(value, __u32);
} events SEC(".maps");

// Packets by `enum counter`.
struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, COUNTERS);
    __type(key, __u32);
    __type(value, __u64);
} counters SEC(".maps");

static __always_inline int to_ring(struct xdp_md *ctx, __u32 length, __u32 captured)
{
    struct sample *sample = bpf_ringbuf_reserve(&samples, sizeof(*sample), 0);

    if (!sample)
        return -1;
    sample->time = now_ns();
    sample->ifindex = ctx->ingress_ifindex;
    sample->queue = ctx->rx_queue_index;
    sample->length = length;
    sample->captured = captured;
    __builtin_memset(sample->data, 0, sizeof(sample->data));
    if (captured && bpf_xdp_load_bytes(ctx, 0, sample->data, captured)) {
        bpf_ringbuf_discard(sample, 0);
        return -1;
    }
    bpf_ringbuf_submit(sample, 0);
    return 0;
}

static __always_inline int to_perf(struct xdp_md *ctx, __u32 length, __u32 captured)
{
    struct perf_head head = {
        .time = now_ns(),
        .ifindex = ctx->ingress_ifindex,
        .queue = ctx->rx_queue_index,
        .length = length,
        .captured = captured,
    };

    // The upper half of the flags is how many bytes of the packet follow.
    return bpf_perf_event_output(ctx, &events, BPF_F_CURRENT_CPU | (__u64)captured << 32, &head, sizeof(head));
}

SEC("xdp")
int sampler(struct xdp_md *ctx)
{
    void *at = (void *)(long)ctx->data;
    void *end = (void *)(long)ctx->data_end;
    struct eth_header *eth = take(&at, end, sizeof(*eth));
    __u32 zero = 0;
    struct config *set = bpf_map_lookup_elem(&config, &zero);
    __u32 length, captured;
    int problem;

    if (!eth || !set || !set->one_in)
        return XDP_PASS;
    if (set->type && skip_tags(&at, end, eth->h_proto, 2) != (__u16)set->type)
        return XDP_PASS;
    count(&counters, SEEN);
    if (random_u32() % set->one_in)
        return XDP_PASS;

    length = bpf_xdp_get_buff_len(ctx);
    captured = set->bytes;
    if (captured > length)
        captured = length;
    if (captured > CAPTURE)
        captured = CAPTURE;
    problem = set->perf ? to_perf(ctx, length, captured) : to_ring(ctx, length, captured);
    count(&counters, problem ? LOST : SAMPLED);
    return XDP_PASS;
}

char _license[] SEC("license") = "Dual BSD/GPL";
