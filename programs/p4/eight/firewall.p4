// The stateless firewall of the paper: TCP and UDP packets of some sources, and to some destination ports, are dropped; the rest
// goes on to port 1. The same as programs/rmt/firewall.rmt.

#include "../include/net.p4"

header ports_t {
    bit<16> src;
    bit<16> dst;
}

struct meta_t {
    // Set by the way of the parser that this program is for; other packets are dropped.
    bit<1> known;
}

struct headers_t {
    ethernet_t ethernet;
    ipv4_t     ipv4;
    ports_t    ports;
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
        transition select(hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.protocol) {
            (4, 5, 6): ports;
            (4, 5, 17): ports;
            (4, 5, _): known;
            default: accept;
        }
    }

    state ports {
        packet.extract(hdr.ports);
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
    action block() {
        mark_to_drop(standard);
    }
    action pass() {
        standard.egress_spec = 1;
    }
    // The first rule that matches counts.
    table rules {
        key = {
            hdr.ipv4.src: ternary;
            hdr.ipv4.dst: ternary;
            hdr.ipv4.protocol: ternary;
            hdr.ports.dst: ternary;
        }
        actions = { block; pass; }
        default_action = pass();
        const entries = {
            (0x0a000042, _, _, _): block();
            (_, _, 6, 23): block();
            (0xc0a80000 &&& 0xffff0000, _, 17, _): block();
        }
    }
    apply {
        if (meta.known == 0) {
            mark_to_drop(standard);
        } else {
            rules.apply();
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
