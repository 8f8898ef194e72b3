// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause OR GPL-2.0-only
// Gate on layer 2: lets in the stations of a table, each by its own interface only.
//
// The source address decides. A station that the table has comes in by the interface that stands there, or by any where
// that is 0; it passes, or is dropped where it is blocked. Unknown ones get the verdict of the interface. Group addresses
// are never a source and are dropped. Packets are counted by what became of them.
#include "parse.h"
#include "count.h"

#define INTERFACES 64

enum counter {
    PASSED,
    PASSED_UNKNOWN,
    DROP_BLOCKED,
    // A station that came by the interface of another one.
    DROP_MOVED,
    DROP_UNKNOWN,
    DROP_GROUP,
    DROP_SHORT,
    COUNTERS,
};

struct station_key {
    __u8 mac[ETH_ALEN];
    __u16 unused;
};

struct station {
    // Where it may come in; 0 for everywhere.
    __u32 ifindex;
    // 1 drops what it sends.
    __u32 blocked;
};

// By source address.
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 8192);
    __type(key, struct station_key);
    __type(value, struct station);
} stations SEC(".maps");

// 1 by interface index where unknown stations may come in.
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, INTERFACES);
    __type(key, __u32);
    __type(value, __u32);
} open SEC(".maps");

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

SEC("xdp")
int mac_gate(struct xdp_md *ctx)
{
    void *end = (void *)(long)ctx->data_end;
    struct eth_header *eth = (void *)(long)ctx->data;
    __u32 ifindex = ctx->ingress_ifindex;
    struct station_key key = {};
    struct station *station;
    __u32 *any;

    if ((void *)(eth + 1) > end)
        return counted(DROP_SHORT, XDP_DROP);
    if (eth->h_source[0] & 1)
        return counted(DROP_GROUP, XDP_DROP);
    copy_mac(key.mac, eth->h_source);
    station = bpf_map_lookup_elem(&stations, &key);
    if (station) {
        if (station->blocked)
            return counted(DROP_BLOCKED, XDP_DROP);
        if (station->ifindex && station->ifindex != ifindex)
            return counted(DROP_MOVED, XDP_DROP);
        return counted(PASSED, XDP_PASS);
    }
    any = bpf_map_lookup_elem(&open, &ifindex);
    if (any && *any)
        return counted(PASSED_UNKNOWN, XDP_PASS);
    return counted(DROP_UNKNOWN, XDP_DROP);
}

char _license[] SEC("license") = "Dual BSD/GPL";
