// Packets with a tunnel's header go by its number, other IPv4 packets by their address.

#include "include/net.p4"

const bit<16> TYPE_TUNNEL = 0x1212;

header tunnel_t {
    bit<16> type;
    bit<16> number;
}

struct headers_t {
    ethernet_t ethernet;
    tunnel_t   tunnel;
    ipv4_t     ipv4;
}

struct meta_t {}

parser Parse(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.type) {
            TYPE_TUNNEL: tunnel;
            TYPE_IPV4: ipv4;
            default: accept;
        }
    }
    state tunnel {
        packet.extract(hdr.tunnel);
        transition select(hdr.tunnel.type) {
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
    counter(1024, CounterType.packets_and_bytes) passed;

    action drop() {
        mark_to_drop(standard);
    }
    action to_port(bit<9> port) {
        standard.egress_spec = port;
    }
    action enter(bit<16> number) {
        hdr.tunnel.setValid();
        hdr.tunnel.type = hdr.ethernet.type;
        hdr.tunnel.number = number;
        hdr.ethernet.type = TYPE_TUNNEL;
    }
    action leave(bit<9> port) {
        standard.egress_spec = port;
        hdr.ethernet.type = hdr.tunnel.type;
        hdr.tunnel.setInvalid();
    }
    table routes {
        key = { hdr.ipv4.dst: lpm; }
        actions = { to_port; enter; drop; }
        default_action = drop();
    }
    table tunnels {
        key = { hdr.tunnel.number: exact; }
        actions = { to_port; leave; drop; }
        default_action = drop();
    }
    apply {
        if (!hdr.tunnel.isValid()) {
            if (hdr.ipv4.isValid()) {
                routes.apply();
            } else {
                drop();
            }
        }
        if (hdr.tunnel.isValid()) {
            passed.count((bit<32>) hdr.tunnel.number);
            tunnels.apply();
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
