// Marks packets of senders that understand it (ECN) when the queue is longer than a threshold. The depth is what the system program says
// of the link: v1model's queue depths are not on the pipeline.

#include "include/net.p4"
#include <sluice.p4>

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
    table routes {
        key = { hdr.ipv4.dst: lpm; }
        actions = { to_port; drop; }
        default_action = drop();
    }
    apply {
        if (hdr.ipv4.isValid()) {
            routes.apply();
        } else {
            drop();
        }
    }
}

control Leave(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    link_statistics_t link;
    action mark_from(bit<16> depth) {
        if (link.queue_depth >= depth) {
            hdr.ipv4.ecn = 3;
        }
    }
    table threshold {
        key = { standard.egress_port: exact; }
        actions = { mark_from; NoAction; }
        default_action = mark_from(10);
    }
    apply {
        if (hdr.ipv4.ecn == 1 || hdr.ipv4.ecn == 2) {
            link_statistics(link);
            threshold.apply();
        }
    }
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
