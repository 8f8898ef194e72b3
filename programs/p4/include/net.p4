// What the programs here share: Ethernet, IPv4, and the checksum of IPv4.

#ifndef _NET_P4_
#define _NET_P4_

#include <core.p4>
#include <v1model.p4>

const bit<16> TYPE_IPV4 = 0x0800;

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header ipv4_t {
    bit<4>  version;
    bit<4>  ihl;
    bit<6>  dscp;
    bit<2>  ecn;
    bit<16> length;
    bit<16> id;
    bit<3>  flags;
    bit<13> offset;
    bit<8>  ttl;
    bit<8>  protocol;
    bit<16> checksum;
    bit<32> src;
    bit<32> dst;
}

#define IPV4_WORDS(h) { h.version, h.ihl, h.dscp, h.ecn, h.length, h.id, h.flags, h.offset, h.ttl, h.protocol, h.src, h.dst }

#endif
