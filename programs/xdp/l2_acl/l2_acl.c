// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause OR GPL-2.0-only
// Access list on layer 2: rules for source addresses, destination addresses and EtherTypes, each in one VLAN or any.
//
// The first rule that matches decides, in this order: source in this VLAN, source in any, destination in this VLAN,
// destination in any, EtherType in this VLAN, EtherType in any, and then the policy of the interface. A rule drops,
// passes to the host, sends back, or forwards to a slot of the devmap. Every rule counts its packets. The VLAN is
// that of the outer tag, 0 without one; the EtherType is the one behind up to two tags.
#include "parse.h"

#define INTERFACES 64
// VLAN of a rule for all VLANs.
#define ANY_VLAN 0xffff

struct address_key {
    __u8 mac[ETH_ALEN];
    __u16 vlan;
};

struct type_key {
    __be16 type;
    __u16 vlan;
};

struct rule {
    // XDP_DROP (1), XDP_PASS (2), XDP_TX (3), or XDP_REDIRECT (4) to the slot; anything else aborts.
    __u32 verdict;
    // Slot of `ports`.
    __u32 slot;
    __u64 packets;
};

// Rules for source addresses.
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 4096);
    __type(key, struct address_key);
    __type(value, struct rule);
} sources SEC(".maps");

// Rules for destination addresses.
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 4096);
    __type(key, struct address_key);
    __type(value, struct rule);
} dests SEC(".maps");

// Rules for EtherTypes.
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 256);
    __type(key, struct type_key);
    __type(value, struct rule);
} types SEC(".maps");

// What no rule says, by interface index. Zeros abort, so that an interface without a policy lets nothing through.
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, INTERFACES);
    __type(key, __u32);
    __type(value, struct rule);
} policies SEC(".maps");

// Interface index by slot.
struct {
    __uint(type, BPF_MAP_TYPE_DEVMAP);
    __uint(max_entries, INTERFACES);
    __type(key, __u32);
    __type(value, __u32);
} ports SEC(".maps");

static __always_inline int apply(struct rule *rule)
{
    __sync_fetch_and_add(&rule->packets, 1);
    if (rule->verdict == XDP_REDIRECT)
        return bpf_redirect_map(&ports, rule->slot, XDP_DROP);
    return rule->verdict;
}

// The rule for an address in its VLAN, else in any.
static __always_inline struct rule *find_address(void *map, const __u8 *mac, __u16 vlan)
{
    struct address_key key = {.vlan = vlan};
    struct rule *rule;

    copy_mac(key.mac, mac);
    rule = bpf_map_lookup_elem(map, &key);
    if (rule)
        return rule;
    key.vlan = ANY_VLAN;
    return bpf_map_lookup_elem(map, &key);
}

static __always_inline struct rule *find_type(__be16 type, __u16 vlan)
{
    struct type_key key = {.type = type, .vlan = vlan};
    struct rule *rule = bpf_map_lookup_elem(&types, &key);

    if (rule)
        return rule;
    key.vlan = ANY_VLAN;
    return bpf_map_lookup_elem(&types, &key);
}

SEC("xdp")
int l2_acl(struct xdp_md *ctx)
{
    void *at = (void *)(long)ctx->data;
    void *end = (void *)(long)ctx->data_end;
    struct eth_header *eth = take(&at, end, sizeof(*eth));
    struct rule *rule;
    __u16 vlan = 0;
    __u32 ifindex;
    __be16 type;

    if (!eth)
        return XDP_DROP;
    if (is_tag(eth->h_proto)) {
        struct vlan_tag *tag = at;

        if ((void *)(tag + 1) > end)
            return XDP_DROP;
        vlan = bpf_ntohs(tag->tci) & VLAN_ID_MASK;
    }
    rule = find_address(&sources, eth->h_source, vlan);
    if (rule)
        return apply(rule);
    rule = find_address(&dests, eth->h_dest, vlan);
    if (rule)
        return apply(rule);
    type = skip_tags(&at, end, eth->h_proto, 2);
    if (!type)
        return XDP_DROP;
    rule = find_type(type, vlan);
    if (rule)
        return apply(rule);
    ifindex = ctx->ingress_ifindex;
    rule = bpf_map_lookup_elem(&policies, &ifindex);
    return rule ? apply(rule) : XDP_ABORTED;
}

char _license[] SEC("license") = "Dual BSD/GPL";
