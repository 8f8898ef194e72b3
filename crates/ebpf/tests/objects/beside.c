// A static function in a section of programs, and a program that calls another one: libbpf refuses
// both, other loaders do not.
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

static SEC("xdp") __attribute__((noinline)) __u32 beside(__u32 x) { return x * 5 + 2; }
SEC("xdp") __attribute__((noinline)) int with_static(struct xdp_md *ctx) { return beside(ctx->rx_queue_index) & 3; }
SEC("prog") int from_another_section(struct xdp_md *ctx) { return beside(ctx->rx_queue_index + 1) & 3; }
SEC("xdp/calls") int calls_program(struct xdp_md *ctx) { return with_static(ctx) + 1; }
char _license[] SEC("license") = "GPL";
