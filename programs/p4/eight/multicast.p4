// Multicast of the paper, by IPv4 group address: a copy to each member, none back to where it came from. Other packets go to port 0.
// The same as programs/rmt/multicast.rmt.

#include "../include/net.p4"

struct meta_t {
    // Set by the way of the parser that this program is for; other packets are dropped.
    bit<1> known;
    bit<1> copied;
}

struct headers_t {
    ethernet_t ethernet;
    ipv4_t     ipv4;
}

parser Parse(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.type) {
            TYPE_IPV4: ipv4;
            default: accept;
        }
    }
    state ipv4 {
        packet.extract(hdr.ipv4);
        transition select(hdr.ipv4.version, hdr.ipv4.ihl) {
            (4, 5): known;
            default: accept;
        }
    }
    state known {
        meta.known = 1;
        transition accept;
    }
}

control Verify(inout headers_t hdr, inout meta_t meta) {
    apply {}
}

control Forward(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    action copy(bit<16> members) {
        standard.mcast_grp = members;
        meta.copied = 1;
    }
    action unicast() {
        standard.egress_spec = 0;
    }
    table groups {
        key = { hdr.ipv4.dst: exact; }
        actions = { copy; unicast; }
        const default_action = unicast();
        const entries = {
            0xef000001: copy(1);
            0xef000002: copy(2);
        }
    }
    apply {
        if (meta.known == 0) {
            mark_to_drop(standard);
        } else {
            groups.apply();
        }
    }
}

control Leave(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    apply {
        if (meta.copied == 1 && standard.egress_port == standard.ingress_port) {
            mark_to_drop(standard);
        }
    }
}

control Update(inout headers_t hdr, inout meta_t meta) {
    apply {}
}

control Deparse(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr);
    }
}

V1Switch(Parse(), Verify(), Forward(), Leave(), Update(), Deparse()) main;
