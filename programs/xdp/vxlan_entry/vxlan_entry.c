// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause OR GPL-2.0-only
// Entry of VXLAN tunnels (RFC 7348) over IPv4: frames of an interface go to the tunnel end that has their destination.
//
// Each interface belongs to one virtual network. The forwarding table says which tunnel end has a station of that
// network. Outer headers go in front, and the frame leaves by the interface of that end. The outer source port carries
// what differs between the inner stations, so that the network between spreads them; the outer checksum of UDP is 0
// (RFC 7348, 5). Broadcast and multicast, stations that the table does not have, interfaces without a network, and
// frames that are longer than the way takes go to the host.
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
    // Network identifier as the header has it: 24 bits and 8 zeros; 0 is none.
    __be32 vni;
    // Place in `stats`.
    __u32 index;
};

struct station {
    __u8 mac[ETH_ALEN];
    __u16 unused;
    __be32 vni;
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

// The outer headers behind Ethernet's as words in network order: IPv4 (0 to 4), UDP (5, 6), VXLAN (7, 8).
#define OUTER_WORDS 9
#define OUTER_IP_BYTES (OUTER_WORDS * 4)
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

// Source port of the outer header: a dynamic one (RFC 6335), by the last 14 bits of the inner frame's stations.
static __always_inline __be16 source_port(const struct eth_header *eth)
{
    const __be16 *words = (const __be16 *)eth;

    return (words[2] ^ words[5]) | bpf_htons(0xc000);
}

// Puts the outer headers in front of a frame of `bytes`.
static __always_inline int encapsulate(struct xdp_md *ctx, const struct tunnel_end *to, __be32 vni, __u32 bytes,
                                       __be16 port)
{
    struct eth_header *eth;
    __u64 sum;
    __be32 *words;

    if (bpf_xdp_adjust_head(ctx, -OUTER_BYTES))
        return -1;
    eth = (void *)(long)ctx->data;
    words = (void *)(eth + 1);
    if ((void *)(words + OUTER_WORDS) > (void *)(long)ctx->data_end)
        return -1;
    copy_mac(eth->h_dest, to->dest_mac);
    copy_mac(eth->h_source, to->source_mac);
    eth->h_proto = bpf_htons(ETH_P_IP);
    // Version, header's length, and the whole length; don't fragment; time to live and protocol; addresses.
    words[0] = bpf_htonl(0x45000000 | (bytes + OUTER_IP_BYTES));
    words[1] = bpf_htonl(IPV4_DONT);
    sum = (__u64)words[0] + words[1] + bpf_htonl(OUTER_TTL << 24 | IPPROTO_UDP << 16) + to->source + to->dest;
    words[2] = bpf_htonl(OUTER_TTL << 24 | IPPROTO_UDP << 16) | (__u32)checksum_of(sum) << 16;
    words[3] = to->source;
    words[4] = to->dest;
    // Ports; length, and no checksum.
    words[5] = port | (__u32)bpf_htons(VXLAN_PORT) << 16;
    words[6] = bpf_htons(bytes + 16);
    words[7] = bpf_htonl(VXLAN_FLAGS);
    words[8] = vni;
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
    __u32 *number, which;

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
    which = *number;
    to = bpf_map_lookup_elem(&ends, &which);
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
