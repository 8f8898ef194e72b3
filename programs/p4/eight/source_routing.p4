// Source routing of the paper: Ethernet type 0x1234, then hops of 2 bytes; bit 15 marks the last one, bits 14:0 say the port. Each
// switch takes the first hop off; with the last one the packet is IPv4 again. The same as programs/rmt/source_routing.rmt.

#include "../include/net.p4"

header hop_t {
    bit<1>  last;
    bit<15> port;
}

struct meta_t {
    // Set by the way of the parser that this program is for; other packets are dropped.
    bit<1> known;
    bit<16> behind;
}

struct headers_t {
    ethernet_t ethernet;
    hop_t      hop;
}

parser Parse(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.type) {
            0x1234: hop;
            default: accept;
        }
    }
    state hop {
        packet.extract(hdr.hop);
        // Behind the last hop there is something.
        meta.behind = packet.lookahead<bit<16>>();
        transition known;
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
    action forward(bit<9> port) {
        standard.egress_spec = port;
        if (hdr.hop.last == 1) {
            hdr.ethernet.type = TYPE_IPV4;
        }
        hdr.hop.setInvalid();
    }
    action drop() {
        mark_to_drop(standard);
    }
    table hops {
        key = { hdr.hop.port: exact; }
        actions = { forward; drop; }
        const default_action = drop();
        const entries = {
            1: forward(1);
            2: forward(2);
            3: forward(3);
        }
    }
    apply {
        if (meta.known == 0) {
            mark_to_drop(standard);
        } else {
            hops.apply();
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
        packet.emit(hdr);
    }
}

V1Switch(Parse(), Verify(), Forward(), Leave(), Update(), Deparse()) main;
