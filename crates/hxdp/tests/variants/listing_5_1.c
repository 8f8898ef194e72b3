// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause OR GPL-2.0-only
// The L2 ACL of listing 5.1 (M. Spaziani Brunella, 2023): what it does, written anew.
#include "parse.h"

struct station {
    __u8 mac[ETH_ALEN];
};

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 1024);
    __type(key, struct station);
    __type(value, __u32);
} stations SEC(".maps");

SEC("xdp")
int l2_acl(struct xdp_md *ctx)
{
    void *end = (void *)(long)ctx->data_end;
    struct eth_header *eth = (void *)(long)ctx->data;
    struct station key = {};

    if ((void *)(eth + 1) > end)
        return XDP_DROP;
    if (eth->h_proto == bpf_htons(ETH_P_IP)) {
        copy_mac(key.mac, eth->h_source);
        if (bpf_map_lookup_elem(&stations, &key))
            return XDP_PASS;
        return XDP_DROP;
    } else if (eth->h_proto == bpf_htons(ETH_P_IPV6)) {
        return XDP_DROP;
    } else {
        return XDP_PASS;
    }
}

char _license[] SEC("license") = "Dual BSD/GPL";
