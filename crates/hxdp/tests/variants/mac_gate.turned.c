// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause OR GPL-2.0-only
// mac_gate with its branches turned around: what passes is decided first, and early returns are nested.
#include "as_shipped.h"
#define mac_gate static shipped
#include "mac_gate/mac_gate.c"
#undef mac_gate

SEC("xdp")
__attribute__((used)) int mac_gate(struct xdp_md *ctx)
{
    void *end = (void *)(long)ctx->data_end;
    struct eth_header *eth = (void *)(long)ctx->data;
    __u32 ifindex = ctx->ingress_ifindex;
    struct station_key key = {};
    struct station *station;
    __u32 *any;

    if ((void *)(eth + 1) <= end) {
        if (!(eth->h_source[0] & 1)) {
            copy_mac(key.mac, eth->h_source);
            station = bpf_map_lookup_elem(&stations, &key);
            if (!station) {
                any = bpf_map_lookup_elem(&open, &ifindex);
                if (!any || !*any)
                    return counted(DROP_UNKNOWN, XDP_DROP);
                return counted(PASSED_UNKNOWN, XDP_PASS);
            }
            if (!station->blocked) {
                if (!station->ifindex || station->ifindex == ifindex)
                    return counted(PASSED, XDP_PASS);
                return counted(DROP_MOVED, XDP_DROP);
            }
            return counted(DROP_BLOCKED, XDP_DROP);
        }
        return counted(DROP_GROUP, XDP_DROP);
    }
    return counted(DROP_SHORT, XDP_DROP);
}
