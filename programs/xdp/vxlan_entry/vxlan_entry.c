// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause OR GPL-2.0-only
// Entry of VXLAN tunnels (RFC 7348) over IPv4: frames of an interface go to the tunnel end that has their destination.
//
// Each interface belongs to one virtual network. The forwarding table says which tunnel end has a station of that
// network. Outer headers go in front, and the frame leaves by the interface of that end. The outer source port carries
// a hash of the inner stations, so that the network between spreads them; the outer checksum of UDP is 0 (RFC 7348,
// 5). Broadcast and multicast, stations that the table does not have, interfaces without a network, and frames that are
// longer than the way takes go to the host.
#include "parse.h"
#include "checksum.h"
#include "count.h"

#define INTERFACES 64
#define ENDS 1024
#define NETWORKS 1024

#define VXLAN_PORT 4789
// Flag I: there is a network identifier.
#define VXLAN_FLAGS 0x08000000
#define OUTER_TTL 64

enum counter {
    TO_HOST_NO_NETWORK,
    TO_HOST_GROUP,
    TO_HOST_UNKNOWN,
    TO_HOST_TOO_LONG,
    DROP_MALFORMED,
    // No headroom for the outer headers.
    DROP_NO_ROOM,
    COUNTERS,
};

struct network {
    // Network identifier, 24 bits; 0 is none.
    __u32 vni;
    // Place in `stats`.
    __u32 index;
};

struct station {
    __u8 mac[ETH_ALEN];
    __u16 unused;
    __u32 vni;
};

struct tunnel_end {
    // The next hop, and the address of this end on the way out.
    __u8 dest_mac[ETH_ALEN];
    __u8 source_mac[ETH_ALEN];
    // Outer addresses: this end, the other one.
    __be32 source;
    __be32 dest;
    // Index of the interface on the way out; 0 where there is no such end.
    __u32 interface;
    // Largest outer IP packet.
    __u32 mtu;
};

struct vxlan {
    __be32 flags;
    __be32 vni;
};

// Behind the outer IP header.
struct behind_ip {
    struct udphdr udp;
    struct vxlan vxlan;
};

#define OUTER_IP_BYTES ((int)(sizeof(struct iphdr) + sizeof(struct behind_ip)))
#define OUTER_BYTES ((int)sizeof(struct eth_header) + OUTER_IP_BYTES)

// By interface index.
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, INTERFACES);
    __type(key, __u32);
    __type(value, struct network);
} networks SEC(".maps");

// Number of the tunnel end that has a station.
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 8192);
    __type(key, struct station);
    __type(value, __u32);
} stations SEC(".maps");

// Tunnel ends by number.
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, ENDS);
    __type(key, __u32);
    __type(value, struct tunnel_end);
} ends SEC(".maps");

// Frames and inner bytes by network.
struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, NETWORKS);
    __type(key, __u32);
    __type(value, struct traffic);
} stats SEC(".maps");

// Frames by `enum counter`.
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

// Source port of the outer header: of the dynamic ones (RFC 6335), by the inner frame's stations.
static __always_inline __be16 source_port(const struct eth_header *eth)
{
    const __u16 *words = (const __u16 *)eth;
    __u32 mixed = 0;

#pragma unroll
    for (int i = 0; i < ETH_ALEN; i++)
        mixed = mixed * 31 + words[i];
    return bpf_htons(0xc000 | (mixed ^ mixed >> 16) & 0x3fff);
}

// Puts the outer headers in front of a frame of `bytes`.
static __always_inline int encapsulate(struct xdp_md *ctx, const struct tunnel_end *to, __u32 vni, __u32 bytes,
                                       __be16 port)
{
    struct eth_header *eth;
    struct behind_ip *inside;
    struct iphdr *ip;

    if (bpf_xdp_adjust_head(ctx, -OUTER_BYTES))
        return -1;
    eth = (void *)(long)ctx->data;
    ip = (void *)(eth + 1);
    inside = (void *)(ip + 1);
    if ((void *)(inside + 1) > (void *)(long)ctx->data_end)
        return -1;
    copy_mac(eth->h_dest, to->dest_mac);
    copy_mac(eth->h_source, to->source_mac);
    eth->h_proto = bpf_htons(ETH_P_IP);
    ip->version = 4;
    ip->ihl = 5;
    ip->tos = 0;
    ip->tot_len = bpf_htons(bytes + OUTER_IP_BYTES);
    ip->id = 0;
    ip->frag_off = bpf_htons(IPV4_DONT);
    ip->ttl = OUTER_TTL;
    ip->protocol = IPPROTO_UDP;
    ip->check = 0;
    ip->saddr = to->source;
    ip->daddr = to->dest;
    ip->check = ipv4_checksum(ip);
    inside->udp.source = port;
    inside->udp.dest = bpf_htons(VXLAN_PORT);
    inside->udp.len = bpf_htons(bytes + sizeof(*inside));
    inside->udp.check = 0;
    inside->vxlan.flags = bpf_htonl(VXLAN_FLAGS);
    inside->vxlan.vni = bpf_htonl(vni << 8);
    return 0;
}

SEC("xdp")
int vxlan_entry(struct xdp_md *ctx)
{
    void *end = (void *)(long)ctx->data_end;
    struct eth_header *eth = (void *)(long)ctx->data;
    __u32 from = ctx->ingress_ifindex, bytes = end - (void *)eth;
    struct station station = {};
    struct network *network;
    struct tunnel_end *to;
    __u32 *number;

    if ((void *)(eth + 1) > end)
        return counted(DROP_MALFORMED, XDP_DROP);
    network = bpf_map_lookup_elem(&networks, &from);
    if (!network || !network->vni)
        return counted(TO_HOST_NO_NETWORK, XDP_PASS);
    if (eth->h_dest[0] & 1)
        return counted(TO_HOST_GROUP, XDP_PASS);
    copy_mac(station.mac, eth->h_dest);
    station.vni = network->vni;
    number = bpf_map_lookup_elem(&stations, &station);
    if (!number)
        return counted(TO_HOST_UNKNOWN, XDP_PASS);
    to = bpf_map_lookup_elem(&ends, number);
    if (!to || !to->interface)
        return counted(TO_HOST_UNKNOWN, XDP_PASS);
    if (bytes + OUTER_IP_BYTES > to->mtu)
        return counted(TO_HOST_TOO_LONG, XDP_PASS);
    if (encapsulate(ctx, to, station.vni, bytes, source_port(eth)))
        return counted(DROP_NO_ROOM, XDP_DROP);
    count_traffic(&stats, network->index, bytes);
    return bpf_redirect(to->interface, 0);
}

char _license[] SEC("license") = "Dual BSD/GPL";
