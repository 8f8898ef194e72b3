// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause OR GPL-2.0-only
// IP in IP: IPv4 and IPv6 packets in outer headers of either.
#ifndef SLUICE_TUNNEL_H
#define SLUICE_TUNNEL_H

#include "parse.h"
#include "checksum.h"

// The ends of a tunnel. An IPv4 address is the first word.
struct tunnel_ends {
    __be32 source[4];
    __be32 dest[4];
};

// What the outer header takes over from the inner one.
struct inner {
    // IPPROTO_IPIP or IPPROTO_IPV6.
    __u8 protocol;
    // Traffic class: DSCP and ECN.
    __u8 tos;
    // Bytes of the inner packet, header included.
    __u16 bytes;
};

#define TUNNEL_TTL 64

// Makes room for `bytes` before the IP header and writes the Ethernet header anew: to `dest`, from the address that
// the frame came to. Returns what stands behind it, with room for the outer header, or NULL when there is none.
static __always_inline void *grow_front(struct xdp_md *ctx, __u32 bytes, const __u8 *dest, __be16 type)
{
    struct eth_header *eth, *old;
    void *end;

    if (bpf_xdp_adjust_head(ctx, -(int)bytes))
        return NULL;
    eth = (void *)(long)ctx->data;
    end = (void *)(long)ctx->data_end;
    if ((void *)(eth + 1) + bytes > end)
        return NULL;
    old = (void *)eth + bytes;
    copy_mac(eth->h_source, old->h_dest);
    copy_mac(eth->h_dest, dest);
    eth->h_proto = type;
    return eth + 1;
}

// Puts an outer IPv4 header before the packet. DF is set, and the identification is 0 as RFC 6864 allows with it.
static __always_inline int encapsulate_ipv4(struct xdp_md *ctx, const struct inner *inner, __be32 source, __be32 dest,
                                            const __u8 *mac)
{
    struct iphdr *ip = grow_front(ctx, sizeof(*ip), mac, bpf_htons(ETH_P_IP));

    if (!ip)
        return -1;
    ip->version = 4;
    ip->ihl = 5;
    ip->tos = inner->tos;
    ip->tot_len = bpf_htons(inner->bytes + sizeof(*ip));
    ip->id = 0;
    ip->frag_off = bpf_htons(IPV4_DONT);
    ip->ttl = TUNNEL_TTL;
    ip->protocol = inner->protocol;
    ip->check = 0;
    ip->saddr = source;
    ip->daddr = dest;
    ip->check = ipv4_checksum(ip);
    return 0;
}

// Puts an outer IPv6 header before the packet.
static __always_inline int encapsulate_ipv6(struct xdp_md *ctx, const struct inner *inner, const __be32 *source,
                                            const __be32 *dest, const __u8 *mac)
{
    struct ipv6hdr *ip = grow_front(ctx, sizeof(*ip), mac, bpf_htons(ETH_P_IPV6));

    if (!ip)
        return -1;
    // Version, traffic class and flow label 0, as one word.
    *(__be32 *)ip = bpf_htonl(0x60000000 | (__u32)inner->tos << 20);
    ip->payload_len = bpf_htons(inner->bytes);
    ip->nexthdr = inner->protocol;
    ip->hop_limit = TUNNEL_TTL;
    __builtin_memcpy(&ip->saddr, source, sizeof(ip->saddr));
    __builtin_memcpy(&ip->daddr, dest, sizeof(ip->daddr));
    return 0;
}

// Traffic class of an IPv6 header.
static __always_inline __u8 ipv6_class(const struct ipv6hdr *ip)
{
    return bpf_ntohl(*(const __be32 *)ip) >> 20;
}

#endif
