// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause OR GPL-2.0-only
// A patch panel: what comes in by one interface goes out by another, through a devmap.
//
// `patches` says for each incoming interface which slot of the devmap `ports` it is connected to, whether the MAC
// addresses are rewritten, and to what. Interfaces without a patch keep their packets; a patch to an empty slot
// drops them.
#include "parse.h"
#include "count.h"

#define INTERFACES 64

struct patch {
    // PATCHED, REWRITE.
    __u32 flags;
    // Slot of `ports`.
    __u32 slot;
    __u8 dest[ETH_ALEN];
    __u8 source[ETH_ALEN];
};

#define PATCHED 1
#define REWRITE 2

// By interface index.
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, INTERFACES);
    __type(key, __u32);
    __type(value, struct patch);
} patches SEC(".maps");

// Interface index by slot.
struct {
    __uint(type, BPF_MAP_TYPE_DEVMAP);
    __uint(max_entries, INTERFACES);
    __type(key, __u32);
    __type(value, __u32);
} ports SEC(".maps");

// By slot: packets and bytes that were sent towards it.
struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, INTERFACES);
    __type(key, __u32);
    __type(value, struct traffic);
} sent SEC(".maps");

SEC("xdp")
int redirect_map(struct xdp_md *ctx)
{
    struct eth_header *eth = (void *)(long)ctx->data;
    void *end = (void *)(long)ctx->data_end;
    __u32 ifindex = ctx->ingress_ifindex;
    struct patch *patch;
    int verdict;

    if ((void *)(eth + 1) > end)
        return XDP_DROP;
    patch = bpf_map_lookup_elem(&patches, &ifindex);
    if (!patch || !(patch->flags & PATCHED))
        return XDP_PASS;
    if (patch->flags & REWRITE) {
        copy_mac(eth->h_dest, patch->dest);
        copy_mac(eth->h_source, patch->source);
    }
    verdict = bpf_redirect_map(&ports, patch->slot, XDP_DROP);
    if (verdict == XDP_REDIRECT)
        count_traffic(&sent, patch->slot, end - (void *)eth);
    return verdict;
}

char _license[] SEC("license") = "Dual BSD/GPL";
