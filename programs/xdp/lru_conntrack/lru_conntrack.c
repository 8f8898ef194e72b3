// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause OR GPL-2.0-only
// Connection table: who talks to whom, since when, how much in each direction, and how far TCP has come.
//
// One entry stands for both directions; its key has the smaller end first. The table forgets the connections that
// were idle for longest when it is full. IPv4 addresses are kept as IPv4-mapped IPv6 ones, so that there is one table.
// In strict mode TCP packets that belong to no connection and begin none are dropped, as are those of connections
// that were reset. Fragments and what has no ports are connections with ports 0. Everything else passes.
#include "parse.h"
#include "count.h"
#include "fed.h"

#define TCP_FIN 0x01
#define TCP_SYN 0x02
#define TCP_RST 0x04
#define TCP_ACK 0x10

struct endpoint {
    struct in6_addr address;
    __be16 port;
};

struct connection_key {
    struct in6_addr low;
    struct in6_addr high;
    __be16 low_port;
    __be16 high_port;
    __u32 protocol;
};

enum state {
    // Not TCP, or TCP that was under way when it was first seen.
    STATE_ANY,
    STATE_SYN,
    STATE_SYN_ACK,
    STATE_OPEN,
    // One end has sent FIN, both have.
    STATE_HALF_CLOSED,
    STATE_CLOSED,
    STATE_RESET,
};

struct connection {
    __u64 first;
    __u64 last;
    // From the lower end to the higher one, and back.
    struct traffic sent[2];
    // enum state.
    __u32 state;
    // Which end opened it (0 the lower one), as far as was seen.
    __u8 opener;
    // Which ends have sent FIN, by bit.
    __u8 fins;
    // All TCP flags that each end has sent.
    __u8 flags[2];
};

struct settings {
    __u32 strict;
};

enum counter {
    KNOWN,
    NEW,
    NOT_IP,
    DROP_MALFORMED,
    DROP_NO_CONNECTION,
    DROP_RESET,
    COUNTERS,
};

// The only entry is the configuration.
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, struct settings);
} settings SEC(".maps");

// Both directions in one entry.
struct {
    __uint(type, BPF_MAP_TYPE_LRU_HASH);
    __uint(max_entries, 16384);
    __type(key, struct connection_key);
    __type(value, struct connection);
} connections SEC(".maps");

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

static __always_inline void map_ipv4(struct in6_addr *to, __be32 from)
{
    to->s6_addr32[0] = 0;
    to->s6_addr32[1] = 0;
    to->s6_addr32[2] = bpf_htonl(0xffff);
    to->s6_addr32[3] = from;
}

// Whether `a` comes first: by address, then by port.
static __always_inline int comes_first(const struct endpoint *a, const struct endpoint *b)
{
#pragma unroll
    for (int i = 0; i < 4; i++) {
        __u32 left = bpf_ntohl(a->address.s6_addr32[i]);
        __u32 right = bpf_ntohl(b->address.s6_addr32[i]);

        if (left != right)
            return left < right;
    }
    return bpf_ntohs(a->port) <= bpf_ntohs(b->port);
}

// Moves a TCP connection on by the flags that end `from` has sent.
static __always_inline void advance(struct connection *connection, __u8 flags, __u8 from)
{
    connection->flags[from] |= flags;
    if (flags & TCP_RST) {
        connection->state = STATE_RESET;
        return;
    }
    if ((flags & (TCP_SYN | TCP_ACK)) == TCP_SYN) {
        // A SYN begins a closed connection anew.
        if (connection->state == STATE_CLOSED || connection->state == STATE_RESET) {
            connection->fins = 0;
            connection->opener = from;
            connection->state = STATE_SYN;
        }
        return;
    }
    if (connection->state == STATE_SYN && flags & TCP_SYN && from != connection->opener)
        connection->state = STATE_SYN_ACK;
    else if (connection->state == STATE_SYN_ACK && from == connection->opener)
        connection->state = STATE_OPEN;
    if (flags & TCP_FIN && connection->state != STATE_RESET) {
        connection->fins |= 1 << from;
        connection->state = connection->fins == 3 ? STATE_CLOSED : STATE_HALF_CLOSED;
    }
}

// Ports and TCP flags. Returns -1 when the frame ends before them.
static __always_inline int read_upper(void *at, void *end, __u32 protocol, struct endpoint *source,
                                      struct endpoint *dest, __u8 *flags)
{
    struct tcphdr *tcp = at;
    struct udphdr *udp = at;

    if (protocol == IPPROTO_TCP) {
        if ((void *)(tcp + 1) > end)
            return -1;
        *flags = ((__u8 *)tcp)[13];
    } else if (protocol != IPPROTO_UDP) {
        return 0;
    }
    if ((void *)(udp + 1) > end)
        return -1;
    source->port = udp->source;
    dest->port = udp->dest;
    return 0;
}

// Reads both ends of a packet. Returns the protocol, -1 for a malformed packet, -2 for one that is not IP.
static __always_inline int read_packet(void *at, void *end, struct endpoint *source, struct endpoint *dest,
                                       __u8 *flags)
{
    struct eth_header *eth = take(&at, end, sizeof(*eth));
    struct upper upper;
    int fragment;
    __be16 type;

    if (!eth)
        return -1;
    type = skip_tags(&at, end, eth->h_proto, 2);
    if (type == bpf_htons(ETH_P_IP)) {
        struct iphdr *ip = take_ipv4(&at, end);

        if (!ip)
            return -1;
        map_ipv4(&source->address, ip->saddr);
        map_ipv4(&dest->address, ip->daddr);
        upper.protocol = ip->protocol;
        fragment = (ip->frag_off & bpf_htons(IPV4_MORE | IPV4_OFFSET)) != 0;
    } else if (type == bpf_htons(ETH_P_IPV6)) {
        struct ipv6hdr *ip = take_ipv6(&at, end);

        if (!ip || skip_extensions(&at, end, ip->nexthdr, &upper))
            return -1;
        source->address = ip->saddr;
        dest->address = ip->daddr;
        fragment = upper.fragment;
    } else {
        return type ? -2 : -1;
    }
    if (!fragment && read_upper(at, end, upper.protocol, source, dest, flags))
        return -1;
    return upper.protocol;
}

SEC("xdp")
int lru_conntrack(struct xdp_md *ctx)
{
    void *at = (void *)(long)ctx->data;
    void *end = (void *)(long)ctx->data_end;
    struct endpoint source = {}, dest = {};
    struct connection_key key;
    struct connection *known;
    __u64 bytes = end - at;
    struct settings *set;
    __u32 zero = 0;
    __u64 now = now_ns();
    __u8 flags = 0, from;
    int protocol, strict;

    protocol = read_packet(at, end, &source, &dest, &flags);
    if (protocol == -2)
        return counted(NOT_IP, XDP_PASS);
    if (protocol < 0)
        return counted(DROP_MALFORMED, XDP_DROP);
    set = bpf_map_lookup_elem(&settings, &zero);
    strict = set && set->strict && protocol == IPPROTO_TCP;

    from = !comes_first(&source, &dest);
    key.low = from ? dest.address : source.address;
    key.high = from ? source.address : dest.address;
    key.low_port = from ? dest.port : source.port;
    key.high_port = from ? source.port : dest.port;
    key.protocol = protocol;
    known = bpf_map_lookup_elem(&connections, &key);
    if (!known) {
        int begins = (flags & (TCP_SYN | TCP_ACK | TCP_RST | TCP_FIN)) == TCP_SYN;
        struct connection new = {.first = now, .opener = from, .state = begins ? STATE_SYN : STATE_ANY};

        if (strict && !begins)
            return counted(DROP_NO_CONNECTION, XDP_DROP);
        bpf_map_update_elem(&connections, &key, &new, BPF_NOEXIST);
        known = bpf_map_lookup_elem(&connections, &key);
        count(&counters, NEW);
        // Forgotten at once: that many connections begin.
        if (!known)
            return XDP_PASS;
    } else if (strict && known->state == STATE_RESET && !(flags & TCP_SYN)) {
        return counted(DROP_RESET, XDP_DROP);
    } else {
        count(&counters, KNOWN);
    }
    if (protocol == IPPROTO_TCP)
        advance(known, flags, from);
    known->last = now;
    known->sent[from].packets += 1;
    known->sent[from].bytes += bytes;
    return XDP_PASS;
}

char _license[] SEC("license") = "Dual BSD/GPL";
