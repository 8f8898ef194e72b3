// NetCache of the paper, in small: hot keys of a key-value store are answered from the pipeline. The same as programs/rmt/netcache.rmt.
// 
// UDP to port 50000 carries operation (0 read, 1 write, 2 answer), key and value. A read of a cached key that has a value goes back to who
// asked; a write of one writes the cache through and goes on; all else goes to the server at port 1.

#include "../include/net.p4"
#include "udp.p4"

header cache_t {
    bit<16> op;
    bit<32> key;
    bit<32> value;
}

struct meta_t {
    // Set by the way of the parser that this program is for; other packets are dropped.
    bit<1> known;
    bit<16> slot;
    bit<32> present;
}

struct headers_t {
    ethernet_t ethernet;
    ipv4_t     ipv4;
    udp_t      udp;
    cache_t    cache;
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
            50000: request;
            default: accept;
        }
    }
    state request {
        packet.extract(hdr.cache);
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
    register<bit<32>>(64) written;
    register<bit<32>>(64) values;
    // From 1, so that 0 is none.
    action cached(bit<16> place) {
        meta.slot = place;
        hdr.udp.checksum = 0;
        if (hdr.cache.op == 1) {
            written.write((bit<32>)place, 1);
        } else {
            written.read(meta.present, (bit<32>)place);
        }
    }
    table keys {
        key = { hdr.cache.key: exact; }
        actions = { cached; NoAction; }
        default_action = NoAction();
        const entries = {
            1001: cached(1);
            1002: cached(2);
            1003: cached(3);
        }
    }
    action answer() {
        values.read(hdr.cache.value, (bit<32>)meta.slot);
        hdr.cache.op = 2;
        bit<48> mac = hdr.ethernet.src;
        hdr.ethernet.src = hdr.ethernet.dst;
        hdr.ethernet.dst = mac;
        bit<32> address = hdr.ipv4.src;
        hdr.ipv4.src = hdr.ipv4.dst;
        hdr.ipv4.dst = address;
        bit<16> port = hdr.udp.src;
        hdr.udp.src = hdr.udp.dst;
        hdr.udp.dst = port;
        standard.egress_spec = 0;
    }
    apply {
        if (meta.known == 0) {
            mark_to_drop(standard);
        } else {
            keys.apply();
            standard.egress_spec = 1;
            if (meta.slot != 0 && hdr.cache.op == 0 && meta.present == 1) {
                answer();
            } else if (meta.slot != 0 && hdr.cache.op == 1) {
                values.write((bit<32>)meta.slot, hdr.cache.value);
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
