// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause OR GPL-2.0-only
// What the firewall remembers of a flow, and what each packet does to it.
#ifndef SLUICE_FIREWALL_FLOW_H
#define SLUICE_FIREWALL_FLOW_H

#include "parse.h"

// Addresses and ports as the inside host sends them; of ICMP echo the identifier stands for the inside port.
struct flow_key {
    __be32 inside;
    __be32 outside;
    __be16 inside_port;
    __be16 outside_port;
    __u32 protocol;
};

struct flow_key6 {
    struct in6_addr inside;
    struct in6_addr outside;
    __be16 inside_port;
    __be16 outside_port;
    __u32 protocol;
};

enum state {
    // TCP: the inside has sent SYN.
    STATE_SYN_SENT = 1,
    // TCP: the outside has answered. UDP and echo: either has sent.
    STATE_OPEN = 2,
    // TCP: both have sent FIN.
    STATE_CLOSING = 3,
};

struct flow {
    __u64 seen;
    __u32 state;
    // TCP: FIN_INSIDE, FIN_OUTSIDE.
    __u32 fins;
    __u64 packets;
};

#define FIN_INSIDE 1
#define FIN_OUTSIDE 2

// TCP flags as they lie in byte 13 of the header.
#define TCP_FIN 0x01
#define TCP_SYN 0x02
#define TCP_RST 0x04
#define TCP_ACK 0x10

// Nanoseconds after which a silent flow is forgotten. Set before the program is loaded.
const volatile __u64 timeout_syn = 30ull * 1000000000;
const volatile __u64 timeout_tcp = 3600ull * 1000000000;
const volatile __u64 timeout_closing = 10ull * 1000000000;
const volatile __u64 timeout_other = 60ull * 1000000000;

static __always_inline __u64 timeout_of(__u32 state, __u32 protocol)
{
    if (protocol != IPPROTO_TCP)
        return timeout_other;
    if (state == STATE_OPEN)
        return timeout_tcp;
    return state == STATE_SYN_SENT ? timeout_syn : timeout_closing;
}

static __always_inline int expired(const struct flow *flow, __u32 protocol, __u64 now)
{
    // Signed: another processor may have seen the flow a moment later.
    return (__s64)(now - flow->seen) > (__s64)timeout_of(flow->state, protocol);
}

// What becomes of a flow by a packet.
enum step {
    // It stays.
    STEP_KEEP,
    // It ends with this packet.
    STEP_END,
    // This packet cannot belong to it.
    STEP_REFUSE,
};

// Moves a TCP flow on by the flags of a packet; `flags` are 0 for the other protocols.
static __always_inline enum step advance(struct flow *flow, __u8 flags, int from_inside, __u64 now)
{
    if (flow->state == STATE_SYN_SENT && !from_inside) {
        // Nothing but an answer to the SYN: SYN+ACK, or a reset.
        if ((flags & (TCP_SYN | TCP_ACK)) == (TCP_SYN | TCP_ACK))
            flow->state = STATE_OPEN;
        else if (!(flags & TCP_RST))
            return STEP_REFUSE;
    }
    if (flags & (TCP_FIN | TCP_RST)) {
        if (flags & TCP_RST)
            return STEP_END;
        flow->fins |= from_inside ? FIN_INSIDE : FIN_OUTSIDE;
        if (flow->fins == (FIN_INSIDE | FIN_OUTSIDE))
            flow->state = STATE_CLOSING;
    }
    flow->seen = now;
    flow->packets += 1;
    return STEP_KEEP;
}

#endif
