// Gives packets a class by their protocol: the DSCP, which the next switches go by.

#include "include/net.p4"

struct meta_t {}

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
        transition accept;
    }
}

control Verify(inout headers_t hdr, inout meta_t meta) {
    apply {}
}

control Forward(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    action drop() {
        mark_to_drop(standard);
    }
    action to_port(bit<9> port) {
        standard.egress_spec = port;
    }
    action give(bit<6> dscp, bit<3> priority) {
        hdr.ipv4.dscp = dscp;
        standard.priority = priority;
    }
    table routes {
        key = { hdr.ipv4.dst: lpm; }
        actions = { to_port; drop; }
        default_action = drop();
    }
    table classes {
        key = {
            hdr.ipv4.protocol: exact;
            hdr.ipv4.src: ternary;
        }
        actions = { give; NoAction; }
        default_action = NoAction();
    }
    apply {
        if (hdr.ipv4.isValid()) {
            classes.apply();
            routes.apply();
        } else {
            drop();
        }
    }
}

control Leave(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    apply {}
}

control Update(inout headers_t hdr, inout meta_t meta) {
    apply {
        update_checksum(hdr.ipv4.isValid(), IPV4_WORDS(hdr.ipv4), hdr.ipv4.checksum, HashAlgorithm.csum16);
    }
}

control Deparse(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr);
    }
}

V1Switch(Parse(), Verify(), Forward(), Leave(), Update(), Deparse()) main;
