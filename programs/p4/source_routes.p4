// Forwards by the longest prefix, with a stack of source routes: what tutorials do, in one program for v1model.

#include <core.p4>
#include <v1model.p4>

const bit<16> TYPE_IPV4 = 0x800;
typedef bit<9>  egressSpec_t;
typedef bit<48> macAddr_t;
typedef bit<32> ip4Addr_t;

header ethernet_t { macAddr_t dstAddr; macAddr_t srcAddr; bit<16> etherType; }
header ipv4_t {
    bit<4> version; bit<4> ihl; bit<8> diffserv; bit<16> totalLen; bit<16> identification;
    bit<3> flags; bit<13> fragOffset; bit<8> ttl; bit<8> protocol; bit<16> hdrChecksum;
    ip4Addr_t srcAddr; ip4Addr_t dstAddr;
}
header srcRoute_t { bit<1> bos; bit<15> port; }
struct metadata { bit<8> x; }
struct headers { ethernet_t ethernet; srcRoute_t[9] srcRoutes; ipv4_t ipv4; }

error { IPHeaderTooShort }

parser MyParser(packet_in packet, out headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    state start { transition parse_ethernet; }
    state parse_ethernet {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.etherType) {
            TYPE_IPV4: parse_ipv4;
            0x1234 &&& 0xff00: parse_src;
            default: accept;
        }
    }
    state parse_src {
        packet.extract(hdr.srcRoutes.next);
        transition select(hdr.srcRoutes.last.bos, packet.lookahead<bit<8>>()) {
            (1, _): parse_ipv4;
            (_, 3 .. 5): reject;
            default: parse_src;
        }
    }
    state parse_ipv4 {
        packet.extract(hdr.ipv4);
        verify(hdr.ipv4.ihl >= 5, error.IPHeaderTooShort);
        transition accept;
    }
}
control MyVerifyChecksum(inout headers hdr, inout metadata meta) { apply { } }
control MyIngress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    counter(512, CounterType.packets_and_bytes) c;
    register<bit<32>>(1024) r;
    direct_counter(CounterType.packets) dc;
    action drop() { mark_to_drop(standard_metadata); }
    action ipv4_forward(macAddr_t dstAddr, egressSpec_t port) {
        standard_metadata.egress_spec = port;
        hdr.ethernet.srcAddr = hdr.ethernet.dstAddr;
        hdr.ethernet.dstAddr = dstAddr;
        hdr.ipv4.ttl = hdr.ipv4.ttl - 1;
    }
    table ipv4_lpm {
        key = { hdr.ipv4.dstAddr: lpm; hdr.ipv4.isValid(): exact @name("v"); }
        actions = { ipv4_forward; drop; NoAction; }
        size = 1024;
        default_action = drop();
        counters = dc;
        const entries = {
            (0x0a000000 &&& 0xff000000, true) : ipv4_forward(1, 2);
            (_, false) : drop();
        }
    }
    apply {
        bit<32> v;
        r.read(v, 32w5);
        r.write((bit<32>)standard_metadata.ingress_port, v + 1);
        c.count((bit<32>) meta.x);
        hash(v, HashAlgorithm.crc32, 32w0, { hdr.ipv4.srcAddr, hdr.ipv4.dstAddr }, 32w100);
        if (hdr.ipv4.isValid() && v[7:0] != 3) {
            switch (ipv4_lpm.apply().action_run) {
                drop: { exit; }
                ipv4_forward: { hdr.srcRoutes.push_front(1); }
                default: {}
            }
        } else if (!ipv4_lpm.apply().hit) { log_msg("x {}", {v}); }
        meta.x = meta.x |+| 8w3;
        meta.x = meta.x << 2 >> 1;
        bit<16> q = 4w1 ++ 12w2;
        v = (v > 3) ? v : 32w1;
    }
}
control MyEgress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) { apply { } }
control MyComputeChecksum(inout headers hdr, inout metadata meta) {
    apply {
        update_checksum(hdr.ipv4.isValid(),
            { hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.diffserv, hdr.ipv4.totalLen },
            hdr.ipv4.hdrChecksum, HashAlgorithm.csum16);
    }
}
control MyDeparser(packet_out packet, in headers hdr) {
    apply { packet.emit(hdr.ethernet); packet.emit(hdr.srcRoutes); packet.emit(hdr); }
}
V1Switch(MyParser(), MyVerifyChecksum(), MyIngress(), MyEgress(), MyComputeChecksum(), MyDeparser()) main;
