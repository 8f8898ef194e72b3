// Forwards to hosts by IPv4 address, whatever options a packet has: as many words as its header says beyond five, which the new checksum
// covers as well.

#include <core.p4>
#include <v1model.p4>

const bit<16> IPV4 = 0x0800;

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header ipv4_t {
    bit<4>  version;
    bit<4>  ihl;
    bit<8>  tos;
    bit<16> length;
    bit<16> id;
    bit<3>  flags;
    bit<13> fragment;
    bit<8>  ttl;
    bit<8>  protocol;
    bit<16> checksum;
    bit<32> src;
    bit<32> dst;
}

header options_t {
    varbit<320> words;
}

struct headers_t {
    ethernet_t ethernet;
    ipv4_t     ipv4;
    options_t  options;
}

struct meta_t {}

parser Parse(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.type) {
            IPV4: ipv4;
            default: accept;
        }
    }
    state ipv4 {
        packet.extract(hdr.ipv4);
        transition select(hdr.ipv4.ihl) {
            5: accept;
            6 .. 15: options;
            default: less;
        }
    }
    state less {
        verify(false, error.HeaderTooShort);
        transition reject;
    }
    state options {
        packet.extract(hdr.options, (bit<32>) (((bit<9>) hdr.ipv4.ihl - 5) * 32));
        transition accept;
    }
}

control Verify(inout headers_t hdr, inout meta_t meta) {
    apply {}
}

control Enter(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    action drop() {
        mark_to_drop(standard);
    }
    action to(bit<9> port, bit<48> mac) {
        standard.egress_spec = port;
        hdr.ethernet.src = hdr.ethernet.dst;
        hdr.ethernet.dst = mac;
        hdr.ipv4.ttl = hdr.ipv4.ttl - 1;
    }
    table hosts {
        key = { hdr.ipv4.dst: exact; }
        actions = { to; drop; }
        default_action = drop();
        size = 8;
    }
    apply {
        if (hdr.ipv4.isValid() && standard.parser_error == error.NoError) {
            hosts.apply();
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
        update_checksum(hdr.ipv4.isValid() && !hdr.options.isValid(),
            { hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.tos, hdr.ipv4.length, hdr.ipv4.id, hdr.ipv4.flags, hdr.ipv4.fragment,
              hdr.ipv4.ttl, hdr.ipv4.protocol, hdr.ipv4.src, hdr.ipv4.dst },
            hdr.ipv4.checksum, HashAlgorithm.csum16);
        update_checksum(hdr.options.isValid(),
            { hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.tos, hdr.ipv4.length, hdr.ipv4.id, hdr.ipv4.flags, hdr.ipv4.fragment,
              hdr.ipv4.ttl, hdr.ipv4.protocol, hdr.ipv4.src, hdr.ipv4.dst, hdr.options.words },
            hdr.ipv4.checksum, HashAlgorithm.csum16);
    }
}

control Deparse(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr);
    }
}

V1Switch(Parse(), Verify(), Enter(), Leave(), Update(), Deparse()) main;
