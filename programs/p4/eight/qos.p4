// Quality of service of the paper: the kind of traffic sets the DSCP of a packet and the queue that it leaves by. The same as
// programs/rmt/qos.rmt.

#include "../include/net.p4"

struct meta_t {
    // Set by the way of the parser that this program is for; other packets are dropped.
    bit<1> known;
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
    action give(bit<6> dscp, bit<3> queue) {
        hdr.ipv4.dscp = dscp;
        standard.priority = queue;
        standard.egress_spec = 1;
    }
    table kinds {
        key = { hdr.ipv4.protocol: exact; }
        actions = { give; }
        const default_action = give(0, 0);
        const entries = {
            17: give(46, 7);
            6: give(10, 3);
        }
    }
    apply {
        if (meta.known == 0) {
            mark_to_drop(standard);
        } else {
            kinds.apply();
        }
    }
}

control Leave(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    apply {}
}

control Update(inout headers_t hdr, inout meta_t meta) {
    apply {
        update_checksum(meta.known == 1, IPV4_WORDS(hdr.ipv4), hdr.ipv4.checksum, HashAlgorithm.csum16);
    }
}

control Deparse(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr);
    }
}

V1Switch(Parse(), Verify(), Forward(), Leave(), Update(), Deparse()) main;
