// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause OR GPL-2.0-only
// Internet checksums (RFC 1071), whole and by difference (RFC 1624).
#ifndef SLUICE_CHECKSUM_H
#define SLUICE_CHECKSUM_H

#include <linux/bpf.h>
#include <linux/ip.h>
#include <bpf/bpf_helpers.h>

// A sum of 16-bit words, folded and inverted: what a header carries.
static __always_inline __u16 checksum_of(__u64 sum)
{
    sum = (sum & 0xffffffff) + (sum >> 32);
    sum = (sum & 0xffff) + (sum >> 16);
    sum = (sum & 0xffff) + (sum >> 16);
    sum = (sum & 0xffff) + (sum >> 16);
    return (__u16)~sum;
}

// The sum that a checksum stands for, to which differences are added.
static __always_inline __u64 sum_of(__u16 checksum)
{
    return (__u16)~checksum;
}

// A 16-bit word changed: what that adds to the sum (HC' = ~(~HC + ~m + m')).
static __always_inline __u64 changed16(__u16 from, __u16 to)
{
    return (__u64)(__u16)~from + to;
}

// The same for four bytes.
static __always_inline __u64 changed32(__u32 from, __u32 to)
{
    return (__u64)(__u32)~from + to;
}

// Checksum of an IPv4 header of 20 bytes whose own checksum is 0.
static __always_inline __u16 ipv4_checksum(const struct iphdr *ip)
{
    const __u16 *words = (const __u16 *)ip;
    __u64 sum = 0;

#pragma unroll
    for (int i = 0; i < 10; i++)
        sum += words[i];
    return checksum_of(sum);
}

// One hop less: the time to live is the high byte of its 16-bit word in network order.
static __always_inline void decrement_ttl(struct iphdr *ip)
{
    __u32 sum = ip->check;

    sum += 1;
    ip->check = (__u16)(sum + (sum >= 0xffff));
    ip->ttl -= 1;
}

// A checksum that must not be 0: in UDP that says that there is none, and in ICMP a message of zeros alone would be
// wrong with it. 0xffff stands for the same sum and is right in both.
static __always_inline __u16 not_zero(__u16 checksum)
{
    return checksum ? checksum : 0xffff;
}

#endif
