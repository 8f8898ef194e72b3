// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause OR GPL-2.0-only
// A chain of stages in a program array: parser, policy, forwarding. Each can be replaced or taken out by itself.
//
// What the parser has found travels with the packet in its metadata, before the frame; the last stage takes it off
// again. Stages may be missing: without a parser everything passes to the host, without a policy everything that the
// parser understands is allowed, without forwarding what is allowed passes to the host.
#include "parse.h"
#include "count.h"

enum stage {
    STAGE_PARSE,
    STAGE_POLICY,
    STAGE_FORWARD,
    STAGES,
};

// In the metadata. Its size is a multiple of four, as the kernel wants it.
struct found {
    __be32 source;
    __be32 dest;
    __be16 source_port;
    __be16 dest_port;
    __u8 protocol;
    __u8 unused;
    __u16 vlan;
    // Slot of `ports` that the packet leaves by.
    __u32 slot;
};

// Policy: first by service (protocol and port, on any address), then for everything.
struct service {
    __be16 port;
    __u16 protocol;
};

struct policy {
    __u32 allowed;
    // Slot of `ports` for what is allowed.
    __u32 slot;
    __u64 packets;
};

enum counter {
    NO_PARSER,
    NO_FORWARD,
    NOT_UNDERSTOOD,
    DENIED,
    FORWARDED,
    NO_METADATA,
    COUNTERS,
};

int parse(struct xdp_md *ctx);
int policy(struct xdp_md *ctx);
int forward(struct xdp_md *ctx);

// Programs by `enum stage`.
struct {
    __uint(type, BPF_MAP_TYPE_PROG_ARRAY);
    __uint(max_entries, STAGES);
    __uint(key_size, sizeof(__u32));
    __array(values, int(struct xdp_md *));
} stages SEC(".maps") = {
    .values = {[STAGE_PARSE] = &parse, [STAGE_POLICY] = &policy, [STAGE_FORWARD] = &forward},
};

// Policies by port and protocol.
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 1024);
    __type(key, struct service);
    __type(value, struct policy);
} services SEC(".maps");

// The only entry is what no service says.
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, struct policy);
} otherwise SEC(".maps");

// Interface index by slot.
struct {
    __uint(type, BPF_MAP_TYPE_DEVMAP);
    __uint(max_entries, 64);
    __type(key, __u32);
    __type(value, __u32);
} ports SEC(".maps");

// Packets by `enum counter`.
struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, COUNTERS);
    __type(key, __u32);
    __type(value, __u64);
} counters SEC(".maps");

static __always_inline int counted(__u32 counter, int verdict)
{
    count(&counters, counter);
    return verdict;
}

// What the parser has found, or NULL when no parser was there.
static __always_inline struct found *metadata(struct xdp_md *ctx)
{
    struct found *found = (void *)(long)ctx->data_meta;

    return (void *)(found + 1) > (void *)(long)ctx->data ? NULL : found;
}

// Takes the metadata off and passes the packet to the host.
static __always_inline int to_host(struct xdp_md *ctx, __u32 counter)
{
    bpf_xdp_adjust_meta(ctx, sizeof(struct found));
    return counted(counter, XDP_PASS);
}

SEC("xdp")
int tail_chain(struct xdp_md *ctx)
{
    bpf_tail_call(ctx, &stages, STAGE_PARSE);
    return counted(NO_PARSER, XDP_PASS);
}

// Fills `found` from the frame. Returns -1 for what is not IPv4 with ports, or is malformed.
static __always_inline int read_frame(void *at, void *end, struct found *found)
{
    struct eth_header *eth = take(&at, end, sizeof(*eth));
    struct ports *both;
    struct iphdr *ip;
    __be16 type;

    if (!eth)
        return -1;
    type = eth->h_proto;
    if (is_tag(type)) {
        struct vlan_tag *tag = take(&at, end, sizeof(*tag));

        if (!tag)
            return -1;
        found->vlan = bpf_ntohs(tag->tci) & VLAN_ID_MASK;
        type = tag->type;
    }
    ip = type == bpf_htons(ETH_P_IP) ? take_ipv4(&at, end) : NULL;
    if (!ip || ip->frag_off & bpf_htons(IPV4_OFFSET) || (ip->protocol != IPPROTO_TCP && ip->protocol != IPPROTO_UDP))
        return -1;
    both = take(&at, end, sizeof(*both));
    if (!both)
        return -1;
    found->source = ip->saddr;
    found->dest = ip->daddr;
    found->protocol = ip->protocol;
    found->source_port = both->source;
    found->dest_port = both->dest;
    return 0;
}

SEC("xdp/parse")
int parse(struct xdp_md *ctx)
{
    struct found found = {}, *kept;
    struct policy *usual;
    __u32 zero = 0;

    if (read_frame((void *)(long)ctx->data, (void *)(long)ctx->data_end, &found))
        return counted(NOT_UNDERSTOOD, XDP_PASS);
    usual = bpf_map_lookup_elem(&otherwise, &zero);
    if (!usual)
        return XDP_ABORTED;
    found.slot = usual->slot;
    kept = bpf_xdp_adjust_meta(ctx, -(int)sizeof(found)) ? NULL : metadata(ctx);
    if (!kept)
        return counted(NO_METADATA, XDP_DROP);
    *kept = found;
    bpf_tail_call(ctx, &stages, STAGE_POLICY);
    bpf_tail_call(ctx, &stages, STAGE_FORWARD);
    return to_host(ctx, NO_FORWARD);
}

SEC("xdp/policy")
int policy(struct xdp_md *ctx)
{
    struct found *found = metadata(ctx);
    struct service service;
    struct policy *says;
    __u32 zero = 0;

    if (!found)
        return counted(NO_METADATA, XDP_DROP);
    service.port = found->dest_port;
    service.protocol = found->protocol;
    says = bpf_map_lookup_elem(&services, &service);
    if (!says)
        says = bpf_map_lookup_elem(&otherwise, &zero);
    if (!says)
        return XDP_ABORTED;
    __sync_fetch_and_add(&says->packets, 1);
    if (!says->allowed)
        return counted(DENIED, XDP_DROP);
    found->slot = says->slot;
    bpf_tail_call(ctx, &stages, STAGE_FORWARD);
    return to_host(ctx, NO_FORWARD);
}

SEC("xdp/forward")
int forward(struct xdp_md *ctx)
{
    struct found *found = metadata(ctx);
    __u32 slot;

    if (!found)
        return counted(NO_METADATA, XDP_DROP);
    slot = found->slot;
    bpf_xdp_adjust_meta(ctx, sizeof(*found));
    count(&counters, FORWARDED);
    return bpf_redirect_map(&ports, slot, XDP_DROP);
}

char _license[] SEC("license") = "Dual BSD/GPL";
