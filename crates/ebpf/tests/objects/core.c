// CO-RE relocations: those that any kernel answers alike, and one of a kernel's own type.
#include <linux/types.h>
#define __KERNEL_TYPES __attribute__((preserve_access_index))
struct xdp_md { __u32 data, data_end, data_meta, ingress_ifindex, rx_queue_index, egress_ifindex; } __KERNEL_TYPES;
struct iphdr { __u8 ihl : 4, version : 4; __u8 tos; __be16 tot_len, id, frag_off; __u8 ttl, protocol; __sum16 check; __be32 saddr, daddr; } __KERNEL_TYPES;
struct local { __u32 a, b; } __KERNEL_TYPES;
struct inside { int deep[4]; } __KERNEL_TYPES;
struct task_struct { int pid; struct inside in; } __KERNEL_TYPES;
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>

SEC("xdp") int fixed(struct xdp_md *ctx)
{
	struct iphdr *ip = (void *)(long)ctx->data;
	if ((void *)(ip + 1) > (void *)(long)ctx->data_end)
		return 1;
	return bpf_core_type_id_local(struct local) + ip->ttl;
}
SEC("xdp") int task(struct xdp_md *ctx)
{
	struct task_struct *task = (void *)(long)ctx->data;
	return task->in.deep[2];
}
SEC("xdp") int exists(struct xdp_md *ctx) { return bpf_core_field_exists(struct task_struct, pid); }
char _license[] SEC("license") = "GPL";
