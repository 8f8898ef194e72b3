// A weak function of a kernel that is called without a question: libbpf leaves a call that the verifier refuses.
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

extern int bpf_none_of_tests(struct xdp_md *ctx) __ksym __weak;

SEC("xdp") int called(struct xdp_md *ctx)
{
	// Frames from other interfaces than the first do not come to the call.
	if (ctx->ingress_ifindex != 1)
		return XDP_PASS;
	return bpf_none_of_tests(ctx);
}
char _license[] SEC("license") = "GPL";
