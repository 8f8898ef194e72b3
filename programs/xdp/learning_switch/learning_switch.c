// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause OR GPL-2.0-only
// Learning switch: frames go to the interface of their station, and to all others while nobody knows it.
//
// A station is known by the interface from which it sent last. Frames for groups, and for stations that have not sent yet,
// go to every interface of the devmap but the one they came from. A frame for a station on its own interface is dropped. Stations
// that were silent for longest are forgotten when the table is full.
#include "parse.h"
#include "count.h"

#define INTERFACES 64

struct station {
    __u8 mac[ETH_ALEN];
    __u16 unused;
};

enum counter {
    FORWARDED,
    FLOODED,
    // The station is where the frame came from.
    DROP_SAME_SIDE,
    COUNTERS,
};

// Interface index by station.
struct {
    __uint(type, BPF_MAP_TYPE_LRU_HASH);
    __uint(max_entries, 512);
    __type(key, struct station);
    __type(value, __u32);
} stations SEC(".maps");

// The interfaces of the switch, each by its own index.
struct {
    __uint(type, BPF_MAP_TYPE_DEVMAP);
    __uint(max_entries, INTERFACES);
    __type(key, __u32);
    __type(value, __u32);
} ports SEC(".maps");

// Packets by `enum counter`.
struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, COUNTERS);
    __type(key, __u32);
    __type(value, __u64);
} counters SEC(".maps");

static __always_inline int is_group(const __u8 *mac)
{
    return mac[0] & 1;
}

SEC("xdp")
int learning_switch(struct xdp_md *ctx)
{
    void *at = (void *)(long)ctx->data;
    void *end = (void *)(long)ctx->data_end;
    struct eth_header *eth = take(&at, end, sizeof(*eth));
    __u32 ifindex = ctx->ingress_ifindex;
    struct station station = {};
    __u32 *known;

    if (!eth)
        return XDP_DROP;
    if (!is_group(eth->h_source)) {
        copy_mac(station.mac, eth->h_source);
        known = bpf_map_lookup_elem(&stations, &station);
        if (!known || *known != ifindex)
            bpf_map_update_elem(&stations, &station, &ifindex, BPF_ANY);
    }
    if (!is_group(eth->h_dest)) {
        copy_mac(station.mac, eth->h_dest);
        known = bpf_map_lookup_elem(&stations, &station);
        if (known && *known == ifindex) {
            count(&counters, DROP_SAME_SIDE);
            return XDP_DROP;
        }
        if (known) {
            count(&counters, FORWARDED);
            return bpf_redirect_map(&ports, *known, XDP_DROP);
        }
    }
    count(&counters, FLOODED);
    return bpf_redirect_map(&ports, 0, BPF_F_BROADCAST | BPF_F_EXCLUDE_INGRESS);
}

char _license[] SEC("license") = "Dual BSD/GPL";
