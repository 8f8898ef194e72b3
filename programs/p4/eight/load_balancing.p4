// The load balancer of the paper: TCP to the service 10.0.0.100:80 goes to one of four servers, the same for each flow; other packets are
// dropped, fragments too. As programs/rmt/load_balancing.rmt, but for which server a flow gets: `hash` is taken over what it names, by hand
// over all of the stage's key. Compiled with --hash target.

#include "../include/net.p4"

// Up to the checksum, which is all that is looked at.
header tcp_t {
    bit<16> src;
    bit<16> dst;
    bit<32> sequence;
    bit<32> acknowledgement;
    bit<16> flags;
    bit<16> window;
    bit<16> checksum;
}

struct meta_t {
    // Set by the way of the parser that this program is for.
    bit<1>  known;
    bit<16> bucket;
    bit<16> added;
}

struct headers_t {
    ethernet_t ethernet;
    ipv4_t     ipv4;
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
        transition select(hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.protocol, hdr.ipv4.offset) {
            (4, 5, 6, 0): tcp;
            default: accept;
        }
    }
    state tcp {
        packet.extract(hdr.tcp);
        meta.known = 1;
        transition accept;
    }
}

control Verify(inout headers_t hdr, inout meta_t meta) {
    apply {}
}

control Forward(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    // `fold` is the old address less the new one, as the checksum counts (RFC 1624): 16 bits, the carry is added below.
    action server(bit<32> address, bit<48> mac, bit<9> port, bit<16> fold) {
        hdr.ipv4.dst = address;
        hdr.ethernet.dst = mac;
        standard.egress_spec = port;
        hdr.tcp.checksum = hdr.tcp.checksum + fold;
        meta.added = fold;
    }
    table servers {
        key = { meta.bucket: exact; }
        actions = { server; NoAction; }
        const entries = {
            0: server(0x0a000101, 0x020000000101, 1, 0xff62);
            1: server(0x0a000102, 0x020000000102, 1, 0xff61);
            2: server(0x0a000103, 0x020000000103, 2, 0xff60);
            3: server(0x0a000104, 0x020000000104, 2, 0xff5f);
        }
    }
    apply {
        if (meta.known == 0) {
            mark_to_drop(standard);
        } else {
            hash(meta.bucket, HashAlgorithm.crc16, 16w0, { hdr.ipv4.src, hdr.ipv4.dst, hdr.tcp.src, hdr.tcp.dst }, 16w4);
            if (hdr.ipv4.dst != 0x0a000064 || hdr.tcp.dst != 80) {
                mark_to_drop(standard);
            } else {
                servers.apply();
                if (hdr.tcp.checksum < meta.added) {
                    hdr.tcp.checksum = hdr.tcp.checksum + 1;
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
