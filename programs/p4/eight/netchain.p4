// NetChain of the paper, in small: a replicated store in a chain of switches, this one the head. The same as programs/rmt/netchain.rmt.
// 
// UDP to port 40000 carries operation (0 read, 1 write), key, sequence and value. The head numbers each write and sends it down the chain by
// port 1; a read is answered by port 0 with value and sequence. Keys are 0 to 63.

#include "../include/net.p4"
#include "udp.p4"

header chain_t {
    bit<16> op;
    bit<16> key;
    bit<32> sequence;
    bit<32> value;
}

struct meta_t {
    // Set by the way of the parser that this program is for; other packets are dropped.
    bit<1> known;
}

struct headers_t {
    ethernet_t ethernet;
    ipv4_t     ipv4;
    udp_t      udp;
    chain_t    chain;
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
            (4, 5, 17): udp;
            default: accept;
        }
    }

    state udp {
        packet.extract(hdr.udp);
        transition select(hdr.udp.dst) {
            40000: request;
            default: accept;
        }
    }
    state request {
        packet.extract(hdr.chain);
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
    register<bit<32>>(64) sequences;
    register<bit<32>>(64) values;
    apply {
        if (meta.known == 0) {
            mark_to_drop(standard);
        } else {
            bit<32> number;
            if (hdr.chain.key > 63 || hdr.chain.op > 1) {
                mark_to_drop(standard);
            } else if (hdr.chain.op == 0) {
                sequences.read(hdr.chain.sequence, (bit<32>)hdr.chain.key);
                values.read(hdr.chain.value, (bit<32>)hdr.chain.key);
                hdr.udp.checksum = 0;
                standard.egress_spec = 0;
            } else {
                sequences.read(number, (bit<32>)hdr.chain.key);
                number = number + 1;
                sequences.write((bit<32>)hdr.chain.key, number);
                hdr.chain.sequence = number;
                values.write((bit<32>)hdr.chain.key, hdr.chain.value);
                hdr.udp.checksum = 0;
                standard.egress_spec = 1;
            }
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
