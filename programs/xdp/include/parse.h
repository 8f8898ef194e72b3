// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause OR GPL-2.0-only
// Headers as they lie in a frame, and steps from one to the next that never leave it.
#ifndef SLUICE_PARSE_H
#define SLUICE_PARSE_H

#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/tcp.h>
#include <linux/udp.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#ifndef NULL
#define NULL ((void *)0)
#endif

// The Ethernet header. Unlike <linux/if_ether.h> it is known to lie at an even address, so that its fields are
// loaded and stored two bytes at a time.
struct eth_header {
    __u8 h_dest[ETH_ALEN];
    __u8 h_source[ETH_ALEN];
    __be16 h_proto;
};

// An 802.1Q or 802.1ad tag, from behind its EtherType to the EtherType of what follows.
struct vlan_tag {
    __be16 tci;
    __be16 type;
};

// The first four bytes of TCP and UDP.
struct ports {
    __be16 source;
    __be16 dest;
};

// The header of ICMP and ICMPv6. What the last four bytes are depends on the type.
struct icmp {
    __u8 type;
    __u8 code;
    __sum16 check;
    __be16 id;
    __be16 seq;
};

// Types of ICMP.
#define ICMP_ECHO_REPLY 0
#define ICMP_UNREACHABLE 3
#define ICMP_ECHO 8
#define ICMP_TIME_EXCEEDED 11
#define ICMP_PARAMETER_PROBLEM 12
// Code of ICMP_UNREACHABLE: fragmentation needed.
#define ICMP_FRAGMENTATION_NEEDED 4

// Types of ICMPv6. Those below 128 are errors.
#define ICMP6_TOO_BIG 2
#define ICMP6_ERRORS 128
#define ICMP6_ECHO 128
#define ICMP6_ECHO_REPLY 129

#define VLAN_ID_MASK 0x0fff

// Fragment offset, and that more fragments follow.
#define IPV4_OFFSET 0x1fff
#define IPV4_MORE 0x2000
#define IPV4_DONT 0x4000

// The header of `bytes` at `*at`, or NULL when the frame ends before it does; moves `*at` behind it.
static __always_inline void *take(void **at, void *end, __u32 bytes)
{
    void *header = *at;

    if (header + bytes > end)
        return NULL;
    *at = header + bytes;
    return header;
}

static __always_inline int is_tag(__be16 type)
{
    return type == bpf_htons(ETH_P_8021Q) || type == bpf_htons(ETH_P_8021AD);
}

// Steps over up to `most` tags, a constant; returns the EtherType behind them, or 0 when the frame ends in one.
static __always_inline __be16 skip_tags(void **at, void *end, __be16 type, int most)
{
#pragma unroll
    for (int i = 0; i < most; i++) {
        struct vlan_tag *tag;

        if (!is_tag(type))
            break;
        tag = take(at, end, sizeof(*tag));
        if (!tag)
            return 0;
        type = tag->type;
    }
    return type;
}

// The IPv4 header with its options, or NULL when version, length or frame do not allow it; moves `*at` behind it.
static __always_inline struct iphdr *take_ipv4(void **at, void *end)
{
    struct iphdr *ip = *at;
    __u32 bytes;

    if ((void *)(ip + 1) > end || ip->version != 4)
        return NULL;
    bytes = ip->ihl * 4;
    if (bytes < sizeof(*ip) || (void *)ip + bytes > end)
        return NULL;
    *at = (void *)ip + bytes;
    return ip;
}

// The IPv6 header without extensions.
static __always_inline struct ipv6hdr *take_ipv6(void **at, void *end)
{
    struct ipv6hdr *ip = take(at, end, sizeof(*ip));

    return ip && ip->version == 6 ? ip : NULL;
}

// What the extension headers of an IPv6 packet lead to.
struct upper {
    // Protocol of what `at` points to.
    __u8 protocol;
    // Anything but the first fragment: no upper header follows.
    __u8 later_fragment;
    // Part of a fragmented packet.
    __u8 fragment;
};

#define IPV6_EXTENSIONS 6

// Steps over the extension headers, at most six. Returns 0, or -1 when the frame ends in one.
static __always_inline int skip_extensions(void **at, void *end, __u8 next, struct upper *upper)
{
    upper->later_fragment = 0;
    upper->fragment = 0;
#pragma clang loop unroll(disable)
    for (int i = 0; i < IPV6_EXTENSIONS; i++) {
        __u8 *extension = *at;

        if (next != IPPROTO_HOPOPTS && next != IPPROTO_ROUTING && next != IPPROTO_DSTOPTS && next != IPPROTO_FRAGMENT)
            break;
        if ((void *)extension + 8 > end)
            return -1;
        if (next == IPPROTO_FRAGMENT) {
            __u16 offset = bpf_ntohs(*(__be16 *)(extension + 2));

            upper->fragment = 1;
            upper->later_fragment = (offset & ~7) != 0;
            *at = extension + 8;
        } else {
            // Checked by whoever reads what follows.
            *at = extension + 8 + extension[1] * 8;
        }
        next = extension[0];
        if (upper->later_fragment)
            break;
    }
    upper->protocol = next;
    return 0;
}

// A MAC address at an even address, as all are here, copied two bytes at a time.
struct mac {
    __u16 words[ETH_ALEN / 2];
} __attribute__((may_alias));

static __always_inline void copy_mac(__u8 *to, const __u8 *from)
{
    *(struct mac *)to = *(const struct mac *)from;
}

static __always_inline void swap_macs(struct eth_header *eth)
{
    struct mac dest = *(struct mac *)eth->h_dest;

    copy_mac(eth->h_dest, eth->h_source);
    *(struct mac *)eth->h_source = dest;
}

#endif
