// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause OR GPL-2.0-only
// Time, random numbers and the processor's number.
//
// Compiled with -DSLUICE_FED (NAME.fed.o) they come from the map `fed`, so that a test decides them and
// two executors can be compared; otherwise (NAME.o) from the helpers.
#ifndef SLUICE_FED_H
#define SLUICE_FED_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#ifdef SLUICE_FED

struct fed {
    __u64 now;
    __u32 random;
    __u32 cpu;
};

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, struct fed);
} fed SEC(".maps");

#define SLUICE_FED_VALUE(member)                                                                                      \
    ({                                                                                                                 \
        __u32 sluice_zero = 0;                                                                                         \
        struct fed *sluice_fed = bpf_map_lookup_elem(&fed, &sluice_zero);                                              \
        sluice_fed ? sluice_fed->member : 0;                                                                           \
    })

#define now_ns() SLUICE_FED_VALUE(now)
#define random_u32() SLUICE_FED_VALUE(random)
#define cpu_number() SLUICE_FED_VALUE(cpu)

#else

#define now_ns() bpf_ktime_get_ns()
#define random_u32() bpf_get_prandom_u32()
#define cpu_number() bpf_get_smp_processor_id()

#endif
#endif
