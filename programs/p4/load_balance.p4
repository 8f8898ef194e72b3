// Spreads connections over servers: a hash of the connection chooses one.

#include "include/net.p4"

struct meta_t {
    bit<14> choice;
}

header ports_t {
    bit<16> src;
    bit<16> dst;
}

header tcp_t {
    bit<32> sequence;
    bit<32> acknowledged;
    bit<4>  offset;
    bit<3>  unused;
    bit<9>  flags;
}

struct headers_t {
    ethernet_t ethernet;
    ipv4_t     ipv4;
    ports_t    ports;
    tcp_t      tcp;
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
        transition select(hdr.ipv4.protocol) {
            6: tcp;
            default: accept;
        }
    }
    state tcp {
        packet.extract(hdr.ports);
        packet.extract(hdr.tcp);
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
    action choose(bit<16> first, bit<32> count) {
        hash(meta.choice, HashAlgorithm.crc16, first,
            { hdr.ipv4.src, hdr.ipv4.dst, hdr.ipv4.protocol, hdr.ports.src, hdr.ports.dst }, count);
    }
    action to_server(bit<48> mac, bit<32> address, bit<9> port) {
        hdr.ethernet.dst = mac;
        hdr.ipv4.dst = address;
        hdr.ipv4.ttl = hdr.ipv4.ttl - 1;
        standard.egress_spec = port;
    }
    table groups {
        key = { hdr.ipv4.dst: lpm; }
        actions = { choose; drop; }
        default_action = drop();
    }
    table servers {
        key = { meta.choice: exact; }
        actions = { to_server; drop; }
        default_action = drop();
    }
    apply {
        if (hdr.tcp.isValid() && hdr.ipv4.ttl > 0) {
            if (groups.apply().hit) {
                servers.apply();
            }
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
