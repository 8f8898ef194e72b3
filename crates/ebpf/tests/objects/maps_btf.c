// Every map type as `.maps` declares it, with the variants of its fields.
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

struct locked { __u32 before; struct bpf_spin_lock lock; __u64 count; };
typedef const struct locked locked_t;

struct { __uint(type, BPF_MAP_TYPE_HASH); __uint(max_entries, 100); __type(key, __u32); __type(value, locked_t);
	__uint(map_flags, BPF_F_NO_PREALLOC); __uint(pinning, LIBBPF_PIN_BY_NAME); } hash SEC(".maps");
struct { __uint(type, BPF_MAP_TYPE_ARRAY); __uint(max_entries, 3); __uint(key_size, 4); __uint(value_size, 12); } array SEC(".maps");
struct { __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY); __uint(max_entries, 5); __type(key, __u32); __type(value, __u64[4]); } percpu SEC(".maps");
struct { __uint(type, BPF_MAP_TYPE_PERCPU_HASH); __uint(max_entries, 6); __type(key, __u64); __type(value, __u64); } percpu_hash SEC(".maps");
struct { __uint(type, BPF_MAP_TYPE_LRU_HASH); __uint(max_entries, 7); __type(key, __u64); __type(value, __u8);
	__uint(numa_node, 0); __uint(map_flags, BPF_F_NUMA_NODE); } lru SEC(".maps");
struct { __uint(type, BPF_MAP_TYPE_LRU_PERCPU_HASH); __uint(max_entries, 8); __type(key, __u64); __type(value, __u8); } lru_percpu SEC(".maps");
struct lpm_key { __u32 bits; __u8 address[4]; };
struct { __uint(type, BPF_MAP_TYPE_LPM_TRIE); __uint(max_entries, 9); __type(key, struct lpm_key); __type(value, __u32);
	__uint(map_flags, BPF_F_NO_PREALLOC); } lpm SEC(".maps");
struct { __uint(type, BPF_MAP_TYPE_DEVMAP); __uint(max_entries, 10); __type(key, __u32); __type(value, struct bpf_devmap_val); } devmap SEC(".maps");
struct { __uint(type, BPF_MAP_TYPE_DEVMAP_HASH); __uint(max_entries, 11); __type(key, __u32); __type(value, __u32); } devmap_hash SEC(".maps");
struct { __uint(type, BPF_MAP_TYPE_CPUMAP); __uint(max_entries, 12); __type(key, __u32); __type(value, __u32); } cpumap SEC(".maps");
struct { __uint(type, BPF_MAP_TYPE_XSKMAP); __uint(max_entries, 13); __type(key, __u32); __type(value, __u32); } xskmap SEC(".maps");
struct { __uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY); __uint(key_size, 4); __uint(value_size, 4); } events SEC(".maps");
struct { __uint(type, BPF_MAP_TYPE_RINGBUF); __uint(max_entries, 5000); } ring SEC(".maps");

struct inner { __uint(type, BPF_MAP_TYPE_ARRAY); __uint(max_entries, 2); __type(key, __u32); __type(value, __u32); };
struct inner first SEC(".maps"), second SEC(".maps");
struct { __uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS); __uint(max_entries, 4); __type(key, __u32); __array(values, struct inner); }
	outer SEC(".maps") = { .values = { [1] = &second, [3] = &first } };
// The inner map is declared in place.
struct { __uint(type, BPF_MAP_TYPE_HASH_OF_MAPS); __uint(max_entries, 4); __uint(key_size, 4);
	__array(values, struct { __uint(type, BPF_MAP_TYPE_HASH); __uint(max_entries, 20); __type(key, __u64); __type(value, __u64); }); }
	outer_hash SEC(".maps");

int tail_a(struct xdp_md *ctx);
struct { __uint(type, BPF_MAP_TYPE_PROG_ARRAY); __uint(max_entries, 3); __uint(key_size, 4);
	__array(values, int (struct xdp_md *)); } tails SEC(".maps") = { .values = { [2] = (void *)&tail_a } };

SEC("xdp/tail") int tail_a(struct xdp_md *ctx) { return XDP_DROP; }

#define LOOK(map) ({ __u64 key[2] = {}; bpf_map_lookup_elem(&map, key) ? 1 : 0; })
SEC("xdp") int uses_all(struct xdp_md *ctx)
{
	int n = LOOK(hash) + LOOK(array) + LOOK(percpu) + LOOK(percpu_hash) + LOOK(lru) + LOOK(lru_percpu) + LOOK(lpm)
		+ LOOK(devmap) + LOOK(devmap_hash) + bpf_redirect_map(&cpumap, 0, 0) + LOOK(xskmap) + LOOK(outer) + LOOK(outer_hash);
	bpf_ringbuf_output(&ring, &n, 4, 0);
	bpf_perf_event_output(ctx, &events, BPF_F_CURRENT_CPU, &n, 4);
	bpf_tail_call(ctx, &tails, 2);
	return n;
}
char _license[] SEC("license") = "GPL";
