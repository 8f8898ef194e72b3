// Weak functions and variables of a kernel: where it has none of them, programs that ask take the other way.
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

extern int bpf_none_of_tests(struct xdp_md *ctx) __ksym __weak;
extern const int variable_of_tests __ksym __weak;
extern const void untyped_of_tests __ksym __weak;
#ifndef bpf_ksym_exists
#define bpf_ksym_exists(sym) (!!(sym))
#endif

SEC("xdp") int function(struct xdp_md *ctx)
{
	if (bpf_ksym_exists(bpf_none_of_tests))
		return bpf_none_of_tests(ctx);
	return XDP_TX;
}
SEC("xdp") int variable(struct xdp_md *ctx) { return bpf_ksym_exists(&variable_of_tests) ? XDP_DROP : XDP_PASS; }
SEC("xdp") int untyped(struct xdp_md *ctx) { return &untyped_of_tests ? XDP_DROP : XDP_TX; }
char _license[] SEC("license") = "GPL";
