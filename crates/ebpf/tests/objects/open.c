// A map whose size is left for user space.
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

struct { __uint(type, BPF_MAP_TYPE_HASH); __type(key, __u32); __type(value, __u32); } unsized SEC(".maps");

SEC("xdp_devmap/open") int open(struct xdp_md *ctx) { __u32 key = 0; return bpf_map_lookup_elem(&unsized, &key) ? XDP_DROP : XDP_PASS; }
char _license[] SEC("license") = "GPL";
