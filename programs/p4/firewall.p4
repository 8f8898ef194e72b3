// A stateful firewall: connections begin inside. Two Bloom filters remember those that did.

#include "include/net.p4"

const bit<32> CELLS = 4096;

struct meta_t {
    bit<32> first;
    bit<32> second;
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
    register<bit<1>>(CELLS) filter_1;
    register<bit<1>>(CELLS) filter_2;

    action drop() {
        mark_to_drop(standard);
    }
    action to_port(bit<9> port) {
        standard.egress_spec = port;
    }
    action outwards() {
        hash(meta.first, HashAlgorithm.crc16, 32w0,
            { hdr.ipv4.src, hdr.ipv4.dst, hdr.ports.src, hdr.ports.dst, hdr.ipv4.protocol }, CELLS);
        hash(meta.second, HashAlgorithm.crc32, 32w0,
            { hdr.ipv4.src, hdr.ipv4.dst, hdr.ports.src, hdr.ports.dst, hdr.ipv4.protocol }, CELLS);
    }
    action inwards() {
        hash(meta.first, HashAlgorithm.crc16, 32w0,
            { hdr.ipv4.dst, hdr.ipv4.src, hdr.ports.dst, hdr.ports.src, hdr.ipv4.protocol }, CELLS);
        hash(meta.second, HashAlgorithm.crc32, 32w0,
            { hdr.ipv4.dst, hdr.ipv4.src, hdr.ports.dst, hdr.ports.src, hdr.ipv4.protocol }, CELLS);
    }
    table routes {
        key = { hdr.ipv4.dst: lpm; }
        actions = { to_port; drop; }
        default_action = drop();
    }
    table directions {
        key = {
            standard.ingress_port: exact;
            standard.egress_spec: exact;
        }
        actions = { outwards; inwards; NoAction; }
        default_action = NoAction();
    }
    apply {
        if (!hdr.ipv4.isValid()) {
            drop();
            return;
        }
        routes.apply();
        if (!hdr.tcp.isValid()) {
            return;
        }
        switch (directions.apply().action_run) {
            outwards: {
                // A first packet of a connection has SYN.
                if (hdr.tcp.flags[1:1] == 1) {
                    filter_1.write(meta.first, 1);
                    filter_2.write(meta.second, 1);
                }
            }
            inwards: {
                bit<1> one;
                bit<1> two;
                filter_1.read(one, meta.first);
                filter_2.read(two, meta.second);
                if (one == 0 || two == 0) {
                    drop();
                }
            }
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
