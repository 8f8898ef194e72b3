// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause OR GPL-2.0-only
// Counters in per-CPU arrays.
#ifndef SLUICE_COUNT_H
#define SLUICE_COUNT_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

// Packets and bytes of whatever the index stands for.
struct traffic {
    __u64 packets;
    __u64 bytes;
};

// Adds one to a counter of 64 bits.
static __always_inline void count(void *map, __u32 index)
{
    __u64 *value = bpf_map_lookup_elem(map, &index);

    if (value)
        *value += 1;
}

// Adds a packet to a `struct traffic`.
static __always_inline void count_traffic(void *map, __u32 index, __u64 bytes)
{
    struct traffic *value = bpf_map_lookup_elem(map, &index);

    if (value) {
        value->packets += 1;
        value->bytes += bytes;
    }
}

#endif
