// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause OR GPL-2.0-only
// Drops every frame and counts it by what it carries.
//
// Two VLAN tags, IPv4 options and up to six IPv6 extension headers are stepped over. Packets and bytes are
// counted by IP protocol number (0 to 255), and behind these for ARP, for other EtherTypes and for frames that
// end in a header or contradict themselves.
#include "parse.h"
#include "count.h"

#define OTHER_ARP 256
#define OTHER_ETHERTYPE 257
#define OTHER_MALFORMED 258

// By IP protocol number, and behind these OTHER_ARP, OTHER_ETHERTYPE and OTHER_MALFORMED.
struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 259);
    __type(key, __u32);
    __type(value, struct traffic);
} protocols SEC(".maps");

// The index in `protocols` that a frame is counted under.
static __always_inline __u32 classify(void *at, void *end)
{
    struct eth_header *eth = take(&at, end, sizeof(*eth));
    __be16 type;

    if (!eth)
        return OTHER_MALFORMED;
    type = skip_tags(&at, end, eth->h_proto, 2);
    if (type == bpf_htons(ETH_P_IP)) {
        struct iphdr *ip = take_ipv4(&at, end);

        return ip ? ip->protocol : OTHER_MALFORMED;
    }
    if (type == bpf_htons(ETH_P_IPV6)) {
        struct ipv6hdr *ip = take_ipv6(&at, end);
        struct upper upper;

        if (!ip || skip_extensions(&at, end, ip->nexthdr, &upper))
            return OTHER_MALFORMED;
        return upper.protocol;
    }
    if (type == bpf_htons(ETH_P_ARP))
        return OTHER_ARP;
    return type ? OTHER_ETHERTYPE : OTHER_MALFORMED;
}

SEC("xdp")
int drop(struct xdp_md *ctx)
{
    void *at = (void *)(long)ctx->data;
    void *end = (void *)(long)ctx->data_end;
    __u64 bytes = end - at;

    count_traffic(&protocols, classify(at, end), bytes);
    return XDP_DROP;
}

char _license[] SEC("license") = "Dual BSD/GPL";
