// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause OR GPL-2.0-only
// Bob Jenkins' hash lookup3 (2006, public domain) over words of 32 bits.
#ifndef SLUICE_HASH_H
#define SLUICE_HASH_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

static __always_inline __u32 rotated(__u32 word, int bits)
{
    return word << bits | word >> (32 - bits);
}

// The hash of `count` words, a constant of at least 1.
static __always_inline __u32 hash_words(const __u32 *words, int count, __u32 seed)
{
    __u32 a = 0xdeadbeef + count * 4 + seed, b = a, c = a;

#pragma unroll
    for (; count > 3; count -= 3, words += 3) {
        a += words[0];
        b += words[1];
        c += words[2];
        a = (a - c) ^ rotated(c, 4), c += b;
        b = (b - a) ^ rotated(a, 6), a += c;
        c = (c - b) ^ rotated(b, 8), b += a;
        a = (a - c) ^ rotated(c, 16), c += b;
        b = (b - a) ^ rotated(a, 19), a += c;
        c = (c - b) ^ rotated(b, 4), b += a;
    }
    c += count > 2 ? words[2] : 0;
    b += count > 1 ? words[1] : 0;
    a += words[0];
    c = (c ^ b) - rotated(b, 14);
    a = (a ^ c) - rotated(c, 11);
    b = (b ^ a) - rotated(a, 25);
    c = (c ^ b) - rotated(b, 16);
    a = (a ^ c) - rotated(c, 4);
    b = (b ^ a) - rotated(a, 14);
    return (c ^ b) - rotated(b, 24);
}

#endif
