// SPDX-License-Identifier: GPL-2.0
// Helpers that call back, and locks. Results go to the map `results`, for the comparison with the kernel.
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

struct bpf_map;

struct request {
    __u64 times;
    __u64 stop_at;
    __u64 flags;
};

struct sum {
    __u64 keys;
    __u64 values;
    __u64 calls;
    __u64 stop_at;
};

struct guarded {
    struct bpf_spin_lock lock;
    __u32 count;
    __u64 total;
};

struct { __uint(type, BPF_MAP_TYPE_ARRAY); __uint(max_entries, 1); __type(key, __u32); __type(value, struct request); } request SEC(".maps");
struct { __uint(type, BPF_MAP_TYPE_ARRAY); __uint(max_entries, 8); __type(key, __u32); __type(value, __u64); } results SEC(".maps");
struct { __uint(type, BPF_MAP_TYPE_ARRAY); __uint(max_entries, 5); __type(key, __u32); __type(value, __u64); } array SEC(".maps");
struct { __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY); __uint(max_entries, 3); __type(key, __u32); __type(value, __u64); } percpu SEC(".maps");
struct { __uint(type, BPF_MAP_TYPE_HASH); __uint(max_entries, 50); __type(key, __u32); __type(value, __u64); } hash SEC(".maps");
struct { __uint(type, BPF_MAP_TYPE_LRU_HASH); __uint(max_entries, 50); __type(key, __u32); __type(value, __u64); } lru SEC(".maps");
struct { __uint(type, BPF_MAP_TYPE_HASH); __uint(max_entries, 4); __type(key, __u32); __type(value, struct guarded); } guarded SEC(".maps");

static __always_inline void result(__u32 at, __u64 value)
{
    bpf_map_update_elem(&results, &at, &value, 0);
}

static long count(__u32 index, struct sum *sum)
{
    sum->calls++;
    sum->keys += index;
    return sum->calls == sum->stop_at;
}

SEC("xdp")
int looping(struct xdp_md *ctx)
{
    __u32 zero = 0;
    struct request *r = bpf_map_lookup_elem(&request, &zero);
    if (!r)
        return 0;
    struct sum sum = {.stop_at = r->stop_at};
    result(0, bpf_loop(r->times, count, &sum, r->flags));
    result(1, sum.calls);
    result(2, sum.keys);
    return 2;
}

static long nested_inner(__u32 index, struct sum *sum)
{
    sum->values += index;
    return 0;
}

static long nested_outer(__u32 index, struct sum *sum)
{
    sum->calls++;
    bpf_loop(index, nested_inner, sum, 0);
    return 0;
}

SEC("xdp")
int nested(struct xdp_md *ctx)
{
    struct sum sum = {};
    result(0, bpf_loop(40, nested_outer, &sum, 0));
    result(1, sum.calls);
    result(2, sum.values);
    return 2;
}

static long visit(struct bpf_map *map, __u32 *key, __u64 *value, struct sum *sum)
{
    sum->calls++;
    sum->keys += *key;
    sum->values += *value;
    *value += 1;
    return sum->calls == sum->stop_at;
}

#define EACH(name)                                                    \
    SEC("xdp")                                                        \
    int each_##name(struct xdp_md *ctx)                               \
    {                                                                 \
        __u32 zero = 0;                                               \
        struct request *r = bpf_map_lookup_elem(&request, &zero);     \
        if (!r)                                                       \
            return 0;                                                 \
        struct sum sum = {.stop_at = r->stop_at};                     \
        result(0, bpf_for_each_map_elem(&name, visit, &sum, r->flags)); \
        result(1, sum.calls);                                         \
        if (!r->stop_at) {                                            \
            result(2, sum.keys);                                      \
            result(3, sum.values);                                    \
        }                                                             \
        return 2;                                                     \
    }
EACH(array)
EACH(percpu)
EACH(hash)
EACH(lru)

static long erase(struct bpf_map *map, __u32 *key, __u64 *value, struct sum *sum)
{
    sum->calls++;
    sum->keys += *key;
    if (*key & 1)
        bpf_map_delete_elem(&hash, key);
    return 0;
}

SEC("xdp")
int each_erase(struct xdp_md *ctx)
{
    struct sum sum = {};
    result(0, bpf_for_each_map_elem(&hash, erase, &sum, 0));
    result(1, sum.calls);
    result(2, sum.keys);
    return 2;
}

SEC("xdp")
int locking(struct xdp_md *ctx)
{
    __u32 key = 2;
    struct guarded *g = bpf_map_lookup_elem(&guarded, &key);
    if (!g)
        return 1;
    bpf_spin_lock(&g->lock);
    g->count++;
    g->total += g->count;
    bpf_spin_unlock(&g->lock);
    return 2;
}

char LICENSE[] SEC("license") = "GPL";
