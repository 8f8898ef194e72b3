// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause OR GPL-2.0-only
// Answers pings for the addresses in a table, IPv4 and IPv6, without waking the host.
//
// The reply is made in place: addresses change places, the type becomes reply, the time to live starts anew, and the
// checksums follow by difference. A request with a wrong checksum gets a reply with a wrong one. What needs a stack
// is the host's: fragments, IP options, extension headers, addresses that are not in the table, and all that is no
// echo request.
#include "parse.h"
#include "checksum.h"
#include "count.h"

#define REPLY_TTL 64

enum counter {
    ANSWERED,
    TO_HOST,
    MALFORMED,
    COUNTERS,
};

// Addresses that are answered for, and how many requests were.
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 4096);
    __type(key, __be32);
    __type(value, __u64);
} addresses SEC(".maps");

// The same for IPv6.
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 4096);
    __type(key, struct in6_addr);
    __type(value, __u64);
} addresses6 SEC(".maps");

// Packets by `enum counter`.
struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, COUNTERS);
    __type(key, __u32);
    __type(value, __u64);
} counters SEC(".maps");

static __always_inline int answer_ipv4(struct eth_header *eth, void *at, void *end)
{
    struct iphdr *ip = take_ipv4(&at, end);
    struct icmp *icmp = at;
    __u64 *requests;
    __be32 source;
    __u64 sum;

    if (!ip)
        return MALFORMED;
    if (ip->protocol != IPPROTO_ICMP || ip->ihl != 5 || ip->frag_off & bpf_htons(IPV4_MORE | IPV4_OFFSET))
        return TO_HOST;
    if ((void *)(icmp + 1) > end)
        return MALFORMED;
    if (icmp->type != ICMP_ECHO || icmp->code)
        return TO_HOST;
    requests = bpf_map_lookup_elem(&addresses, &ip->daddr);
    if (!requests)
        return TO_HOST;
    __sync_fetch_and_add(requests, 1);

    // Type and code are one word; so are time to live and protocol.
    icmp->check = not_zero(checksum_of(sum_of(icmp->check) + changed16(ICMP_ECHO, ICMP_ECHO_REPLY)));
    icmp->type = ICMP_ECHO_REPLY;
    sum = sum_of(ip->check) + changed16(ip->ttl, REPLY_TTL);
    ip->ttl = REPLY_TTL;
    ip->check = checksum_of(sum);
    source = ip->saddr;
    ip->saddr = ip->daddr;
    ip->daddr = source;
    swap_macs(eth);
    return ANSWERED;
}

static __always_inline int answer_ipv6(struct eth_header *eth, void *at, void *end)
{
    struct ipv6hdr *ip = take_ipv6(&at, end);
    struct icmp *icmp = at;
    struct in6_addr source;
    __u64 *requests;

    if (!ip)
        return MALFORMED;
    if (ip->nexthdr != IPPROTO_ICMPV6)
        return TO_HOST;
    if ((void *)(icmp + 1) > end)
        return MALFORMED;
    if (icmp->type != ICMP6_ECHO || icmp->code)
        return TO_HOST;
    requests = bpf_map_lookup_elem(&addresses6, &ip->daddr);
    if (!requests)
        return TO_HOST;
    __sync_fetch_and_add(requests, 1);

    icmp->check = not_zero(checksum_of(sum_of(icmp->check) + changed16(ICMP6_ECHO, ICMP6_ECHO_REPLY)));
    icmp->type = ICMP6_ECHO_REPLY;
    ip->hop_limit = REPLY_TTL;
    source = ip->saddr;
    ip->saddr = ip->daddr;
    ip->daddr = source;
    swap_macs(eth);
    return ANSWERED;
}

SEC("xdp")
int icmp_echo(struct xdp_md *ctx)
{
    void *at = (void *)(long)ctx->data;
    void *end = (void *)(long)ctx->data_end;
    struct eth_header *eth = take(&at, end, sizeof(*eth));
    int outcome = TO_HOST;

    if (!eth)
        return XDP_DROP;
    // No answer from or to a group.
    if (!((eth->h_dest[0] | eth->h_source[0]) & 1)) {
        if (eth->h_proto == bpf_htons(ETH_P_IP))
            outcome = answer_ipv4(eth, at, end);
        else if (eth->h_proto == bpf_htons(ETH_P_IPV6))
            outcome = answer_ipv6(eth, at, end);
    }
    count(&counters, outcome);
    if (outcome == ANSWERED)
        return XDP_TX;
    return outcome == TO_HOST ? XDP_PASS : XDP_DROP;
}

char _license[] SEC("license") = "Dual BSD/GPL";
