// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause OR GPL-2.0-only
// Tells senders that their packets are too big: ICMP "fragmentation needed" (RFC 1191) and ICMPv6 "packet too big"
// (RFC 4443), made from the packet itself.
//
// The packet is cut to what the error quotes (adjust_tail), the error's headers are put before it (adjust_head), and
// it goes back. Packets that fit pass to the host, as do IPv4 packets that may be fragmented. No error answers an
// ICMP error, a later fragment, or a group address (RFC 1122, section 3.2.2), and only so many are sent in a second;
// such packets are dropped.
#include "parse.h"
#include "checksum.h"
#include "count.h"
#include "fed.h"

// Bytes of the packet that an error quotes, its IP header included. Less than any limit allows packets to have, so
// that a packet that is too big always has them.
#define QUOTED 256
// What every link takes: a limit below it is not believed.
#define LEAST_IPV4 576
#define LEAST_IPV6 1280
#define ERROR_TTL 64
#define SECOND 1000000000ull

enum counter {
    FITS,
    SENT_IPV4,
    SENT_IPV6,
    // Too big, but the host may fragment it.
    MAY_FRAGMENT,
    // Too big, and not to be answered.
    UNANSWERABLE,
    // Too big, and enough errors were sent in this second.
    LIMITED,
    MALFORMED,
    COUNTERS,
};

struct config {
    // Largest IP packet that fits, in bytes.
    __u32 mtu;
    // Most errors in a second on each processor; 0 for as many as are asked for.
    __u32 errors;
    // Source of the errors; 0 takes the packet's destination.
    __be32 address;
    __u32 unused;
    struct in6_addr address6;
};

struct budget {
    // When the present second began.
    __u64 begin;
    __u64 sent;
};

// The only entry is the configuration.
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, struct config);
} config SEC(".maps");

// Errors that each processor has sent in this second.
struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, struct budget);
} budgets SEC(".maps");

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

// Whether one more error may be sent in this second.
static __always_inline int within_budget(__u32 most)
{
    __u64 now = now_ns();
    struct budget *budget;
    __u32 zero = 0;

    if (!most)
        return 1;
    budget = bpf_map_lookup_elem(&budgets, &zero);
    if (!budget)
        return 0;
    if (now - budget->begin >= SECOND) {
        budget->begin = now;
        budget->sent = 0;
    }
    if (budget->sent >= most)
        return 0;
    budget->sent += 1;
    return 1;
}

// Cuts the frame behind what is quoted and makes room before it for the error's headers. Returns the new Ethernet
// header, addressed back to the sender, with all of the error behind it, or NULL.
static __always_inline struct eth_header *reshape(struct xdp_md *ctx, __u32 headers)
{
    __u32 bytes = ctx->data_end - ctx->data;
    struct eth_header *eth, *old;

    if (bpf_xdp_adjust_tail(ctx, (int)(sizeof(*eth) + QUOTED) - (int)bytes))
        return NULL;
    if (bpf_xdp_adjust_head(ctx, -(int)headers))
        return NULL;
    eth = (void *)(long)ctx->data;
    if ((void *)(eth + 1) + headers + QUOTED > (void *)(long)ctx->data_end)
        return NULL;
    old = (void *)eth + headers;
    copy_mac(eth->h_dest, old->h_source);
    copy_mac(eth->h_source, old->h_dest);
    eth->h_proto = old->h_proto;
    return eth;
}

static __always_inline int answer_ipv4(struct xdp_md *ctx, const struct config *set, __u32 mtu)
{
    struct eth_header *eth = reshape(ctx, sizeof(struct iphdr) + sizeof(struct icmp));
    struct iphdr *ip, *quoted;
    struct icmp *icmp;

    if (!eth)
        return XDP_ABORTED;
    ip = (void *)(eth + 1);
    icmp = (void *)(ip + 1);
    quoted = (void *)(icmp + 1);
    icmp->type = ICMP_UNREACHABLE;
    icmp->code = ICMP_FRAGMENTATION_NEEDED;
    icmp->check = 0;
    icmp->id = 0;
    icmp->seq = bpf_htons(mtu);
    icmp->check = checksum_of(bpf_csum_diff(0, 0, (__be32 *)icmp, sizeof(*icmp) + QUOTED, 0));

    ip->version = 4;
    ip->ihl = 5;
    // Precedence 6, internetwork control, as RFC 1812 has it for errors.
    ip->tos = 0xc0;
    ip->tot_len = bpf_htons(sizeof(*ip) + sizeof(*icmp) + QUOTED);
    ip->id = 0;
    ip->frag_off = bpf_htons(IPV4_DONT);
    ip->ttl = ERROR_TTL;
    ip->protocol = IPPROTO_ICMP;
    ip->check = 0;
    ip->saddr = set->address ? set->address : quoted->daddr;
    ip->daddr = quoted->saddr;
    ip->check = ipv4_checksum(ip);
    return counted(SENT_IPV4, XDP_TX);
}

static __always_inline int answer_ipv6(struct xdp_md *ctx, const struct config *set, __u32 mtu)
{
    struct eth_header *eth = reshape(ctx, sizeof(struct ipv6hdr) + sizeof(struct icmp));
    struct ipv6hdr *ip, *quoted;
    struct icmp *icmp;
    __s64 sum;

    if (!eth)
        return XDP_ABORTED;
    ip = (void *)(eth + 1);
    icmp = (void *)(ip + 1);
    quoted = (void *)(icmp + 1);
    icmp->type = ICMP6_TOO_BIG;
    icmp->code = 0;
    icmp->check = 0;
    *(__be32 *)&icmp->id = bpf_htonl(mtu);

    *(__be32 *)ip = bpf_htonl(0x60000000);
    ip->payload_len = bpf_htons(sizeof(*icmp) + QUOTED);
    ip->nexthdr = IPPROTO_ICMPV6;
    ip->hop_limit = ERROR_TTL;
    ip->saddr = set->address6.s6_addr32[0] ? set->address6 : quoted->daddr;
    ip->daddr = quoted->saddr;
    // The pseudo-header: both addresses, length, next header.
    sum = bpf_csum_diff(0, 0, (__be32 *)&ip->saddr, 2 * sizeof(ip->saddr), bpf_htonl(sizeof(*icmp) + QUOTED));
    sum = bpf_csum_diff(0, 0, (__be32 *)icmp, sizeof(*icmp) + QUOTED, sum);
    icmp->check = checksum_of(sum + bpf_htons(IPPROTO_ICMPV6));
    return counted(SENT_IPV6, XDP_TX);
}

// ICMP errors must not be answered with errors: destination unreachable, source quench, redirect, time exceeded,
// parameter problem.
static __always_inline int is_icmp_error(__u8 type)
{
    return type == 3 || type == 4 || type == 5 || type == 11 || type == 12;
}

static __always_inline int ipv4(struct xdp_md *ctx, void *at, void *end, const struct config *set)
{
    __u32 mtu = set->mtu < LEAST_IPV4 ? LEAST_IPV4 : set->mtu;
    struct iphdr *ip = take_ipv4(&at, end);
    struct icmp *icmp = at;

    if (!ip || (void *)ip + bpf_ntohs(ip->tot_len) > end)
        return counted(MALFORMED, XDP_DROP);
    if (bpf_ntohs(ip->tot_len) <= mtu)
        return counted(FITS, XDP_PASS);
    if (!(ip->frag_off & bpf_htons(IPV4_DONT)))
        return counted(MAY_FRAGMENT, XDP_PASS);
    // A source in 0/8, 127/8 or 224/3 is nobody's.
    if (ip->frag_off & bpf_htons(IPV4_OFFSET) || (ip->saddr & 0xff) == 0 || (ip->saddr & 0xff) == 127 ||
        (ip->saddr & 0xff) >= 224 || (ip->daddr & 0xff) >= 224)
        return counted(UNANSWERABLE, XDP_DROP);
    if (ip->protocol == IPPROTO_ICMP && ((void *)(icmp + 1) > end || is_icmp_error(icmp->type)))
        return counted(UNANSWERABLE, XDP_DROP);
    if (!within_budget(set->errors))
        return counted(LIMITED, XDP_DROP);
    return answer_ipv4(ctx, set, mtu);
}

static __always_inline int ipv6(struct xdp_md *ctx, void *at, void *end, const struct config *set)
{
    __u32 mtu = set->mtu < LEAST_IPV6 ? LEAST_IPV6 : set->mtu;
    struct ipv6hdr *ip = take_ipv6(&at, end);
    struct icmp *icmp;
    struct upper upper;

    if (!ip || at + bpf_ntohs(ip->payload_len) > end)
        return counted(MALFORMED, XDP_DROP);
    if (sizeof(*ip) + bpf_ntohs(ip->payload_len) <= mtu)
        return counted(FITS, XDP_PASS);
    if (skip_extensions(&at, end, ip->nexthdr, &upper))
        return counted(MALFORMED, XDP_DROP);
    icmp = at;
    // From the unspecified address, the own one or a group nobody can be told anything.
    if (upper.later_fragment || ip->saddr.s6_addr[0] == 0xff || ip->saddr.s6_addr32[0] == 0 ||
        ip->daddr.s6_addr[0] == 0xff)
        return counted(UNANSWERABLE, XDP_DROP);
    if (upper.protocol == IPPROTO_ICMPV6 && ((void *)(icmp + 1) > end || icmp->type < ICMP6_ERRORS))
        return counted(UNANSWERABLE, XDP_DROP);
    if (!within_budget(set->errors))
        return counted(LIMITED, XDP_DROP);
    return answer_ipv6(ctx, set, mtu);
}

SEC("xdp")
int icmp_too_big(struct xdp_md *ctx)
{
    void *at = (void *)(long)ctx->data;
    void *end = (void *)(long)ctx->data_end;
    struct eth_header *eth = take(&at, end, sizeof(*eth));
    __u32 zero = 0;
    struct config *set = bpf_map_lookup_elem(&config, &zero);

    if (!eth || !set)
        return XDP_ABORTED;
    if (set->mtu == 0)
        return counted(FITS, XDP_PASS);
    if (eth->h_proto == bpf_htons(ETH_P_IP))
        return ipv4(ctx, at, end, set);
    if (eth->h_proto == bpf_htons(ETH_P_IPV6))
        return ipv6(ctx, at, end, set);
    return counted(FITS, XDP_PASS);
}

char _license[] SEC("license") = "Dual BSD/GPL";
