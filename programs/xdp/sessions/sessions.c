// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause OR GPL-2.0-only
// Sessions of a service that has a fixed number of them: each takes a number, keeps it, and gives it back.
//
// The host fills `numbers` with numbers. A TCP SYN to the service takes one, a RST or FIN gives it back; the packets
// between them need a session. The number goes to the service in the DSCP field, as the place of the worker that has
// the session. Clients that come when no number is free are dropped and reported: the host pops their addresses from
// `refused`. Everything but TCP over IPv4 without options, and fragments, goes to the host; malformed headers are
// dropped.
#include "parse.h"
#include "checksum.h"
#include "count.h"

#define SESSIONS 64
#define REPORTS 256
#define TCP_FIN 0x01
#define TCP_SYN 0x02
#define TCP_RST 0x04

enum counter {
    BEGUN,
    ENDED,
    KNOWN,
    TO_HOST_OTHER,
    DROP_MALFORMED,
    DROP_NO_SESSION,
    // No number was free.
    DROP_FULL,
    // No number was free, and the host has not yet read older reports.
    DROP_NOT_REPORTED,
    COUNTERS,
};

struct client {
    __be32 address;
    __be16 port;
    __u16 unused;
};

// Numbers that nobody has, 0 to 63: the last one given back is the next one taken.
struct {
    __uint(type, BPF_MAP_TYPE_STACK);
    __uint(max_entries, SESSIONS);
    __type(value, __u32);
} numbers SEC(".maps");

// Number of a client's session.
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, SESSIONS);
    __type(key, struct client);
    __type(value, __u32);
} sessions SEC(".maps");

// Clients that found no number, in their order.
struct {
    __uint(type, BPF_MAP_TYPE_QUEUE);
    __uint(max_entries, REPORTS);
    __type(value, struct client);
} refused SEC(".maps");

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

// Writes the number into the DSCP field; the checksum follows by difference.
static __always_inline void mark(struct iphdr *ip, __u32 number)
{
    __u8 tos = (number << 2 & 0xfc) | (ip->tos & 3);

    ip->check = checksum_of(sum_of(ip->check) + changed16(bpf_htons(ip->tos), bpf_htons(tos)));
    ip->tos = tos;
}

SEC("xdp")
int session_gate(struct xdp_md *ctx)
{
    void *at = (void *)(long)ctx->data;
    void *end = (void *)(long)ctx->data_end;
    struct eth_header *eth = take(&at, end, sizeof(*eth));
    struct iphdr *ip = take(&at, end, sizeof(*ip));
    struct client client = {};
    __u8 *tcp = at;
    __u32 *known, number;

    if (!eth)
        return counted(DROP_MALFORMED, XDP_DROP);
    if (eth->h_proto != bpf_htons(ETH_P_IP))
        return counted(TO_HOST_OTHER, XDP_PASS);
    if (!ip || ip->version != 4 || (void *)ip + bpf_ntohs(ip->tot_len) > end)
        return counted(DROP_MALFORMED, XDP_DROP);
    if (ip->ihl != 5 || ip->frag_off & bpf_htons(IPV4_MORE | IPV4_OFFSET) || ip->protocol != IPPROTO_TCP)
        return counted(TO_HOST_OTHER, XDP_PASS);
    if (tcp + sizeof(struct tcphdr) > (__u8 *)end)
        return counted(DROP_MALFORMED, XDP_DROP);
    client.address = ip->saddr;
    client.port = *(__be16 *)tcp;
    known = bpf_map_lookup_elem(&sessions, &client);
    if (!known && !(tcp[13] & TCP_SYN))
        return counted(DROP_NO_SESSION, XDP_DROP);
    if (!known) {
        if (bpf_map_pop_elem(&numbers, &number))
            return counted(bpf_map_push_elem(&refused, &client, 0) ? DROP_NOT_REPORTED : DROP_FULL, XDP_DROP);
        bpf_map_update_elem(&sessions, &client, &number, BPF_ANY);
        count(&counters, BEGUN);
    } else {
        number = *known;
        if (tcp[13] & (TCP_FIN | TCP_RST)) {
            // Who deletes it gives the number back: of two packets that end a session one.
            if (!bpf_map_delete_elem(&sessions, &client))
                bpf_map_push_elem(&numbers, &number, 0);
            count(&counters, ENDED);
        } else {
            count(&counters, KNOWN);
        }
    }
    mark(ip, number);
    return XDP_PASS;
}

char _license[] SEC("license") = "Dual BSD/GPL";
