// The sender names the ports on the way: each switch takes the first one off.

#include "include/net.p4"

const bit<16> TYPE_ROUTE = 0x1234;

header hop_t {
    bit<1>  last;
    bit<15> port;
}

struct headers_t {
    ethernet_t ethernet;
    hop_t[9]   hops;
    ipv4_t     ipv4;
}

struct meta_t {}

parser Parse(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.type) {
            TYPE_ROUTE: hop;
            default: accept;
        }
    }
    state hop {
        packet.extract(hdr.hops.next);
        transition select(hdr.hops.last.last) {
            1: ipv4;
            default: hop;
        }
    }
    state ipv4 {
        packet.extract(hdr.ipv4);
        transition accept;
    }
}

control Verify(inout headers_t hdr, inout meta_t meta) {
    apply {}
}

control Forward(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    apply {
        if (hdr.hops[0].isValid() && standard.parser_error == error.NoError) {
            standard.egress_spec = (bit<9>) hdr.hops[0].port;
            if (hdr.hops[0].last == 1) {
                hdr.ethernet.type = TYPE_IPV4;
            }
            hdr.hops.pop_front(1);
            if (hdr.ipv4.isValid()) {
                hdr.ipv4.ttl = hdr.ipv4.ttl - 1;
            }
        } else {
            mark_to_drop(standard);
        }
    }
}

control Leave(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    apply {}
}

control Update(inout headers_t hdr, inout meta_t meta) {
    apply {}
}

control Deparse(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.ethernet);
        packet.emit(hdr.hops);
        packet.emit(hdr.ipv4);
    }
}

V1Switch(Parse(), Verify(), Forward(), Leave(), Update(), Deparse()) main;
