// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause OR GPL-2.0-only
// Filter that decides by headers alone: drops what no sound sender sends, and sends link tests back.
//
// It looks nothing up, so a warp engine decides each of its packets before a core sees it. Frames of the EtherType for link
// tests go back as they came. IPv4 packets with a malformed header, from an address that no single host has, with TCP flags
// that do not go together, or that open a connection to a port of the X window system, are dropped and counted. All else passes.
#include "parse.h"
#include "count.h"

// Ethernet's configuration test.
#define ETH_P_LOOPBACK_TEST 0x9000

#define X11_FIRST 6000
#define X11_LAST 6063

enum counter {
    DROP_MALFORMED,
    // This network, loopback, multicast and beyond as sender.
    DROP_SOURCE,
    // No flag, or SYN with FIN.
    DROP_FLAGS,
    DROP_X11,
    COUNTERS,
};

// Dropped packets by `enum counter`.
struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, COUNTERS);
    __type(key, __u32);
    __type(value, __u64);
} counters SEC(".maps");

#define TCP_FIN 0x01
#define TCP_SYN 0x02
#define TCP_ACK 0x10
#define TCP_FLAGS 0x3f

static __always_inline int dropped(__u32 counter)
{
    count(&counters, counter);
    return XDP_DROP;
}

SEC("xdp")
int header_filter(struct xdp_md *ctx)
{
    void *end = (void *)(long)ctx->data_end;
    struct eth_header *eth = (void *)(long)ctx->data;
    struct iphdr *ip = (void *)(eth + 1);
    struct tcphdr *tcp = (void *)(ip + 1);
    __u8 network, flags;

    if ((void *)(eth + 1) > end)
        return dropped(DROP_MALFORMED);
    if (eth->h_proto == bpf_htons(ETH_P_LOOPBACK_TEST))
        return XDP_TX;
    if (eth->h_proto != bpf_htons(ETH_P_IP))
        return XDP_PASS;
    if ((void *)(ip + 1) > end || ip->version != 4 || ip->ihl < 5)
        return dropped(DROP_MALFORMED);
    network = *(__u8 *)&ip->saddr;
    if (network == 0 || network == 127 || network >= 224)
        return dropped(DROP_SOURCE);
    // Options and fragments are the host's.
    if (ip->ihl != 5 || ip->frag_off & bpf_htons(IPV4_MORE | IPV4_OFFSET) || ip->protocol != IPPROTO_TCP)
        return XDP_PASS;
    if ((void *)(tcp + 1) > end)
        return dropped(DROP_MALFORMED);
    flags = ((__u8 *)tcp)[13] & TCP_FLAGS;
    if (flags == 0 || (flags & (TCP_SYN | TCP_FIN)) == (TCP_SYN | TCP_FIN))
        return dropped(DROP_FLAGS);
    if ((flags & (TCP_SYN | TCP_ACK)) == TCP_SYN && bpf_ntohs(tcp->dest) >= X11_FIRST && bpf_ntohs(tcp->dest) <= X11_LAST)
        return dropped(DROP_X11);
    return XDP_PASS;
}

char _license[] SEC("license") = "Dual BSD/GPL";
