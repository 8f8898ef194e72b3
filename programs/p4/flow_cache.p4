// Flows that are known are forwarded; of the others the controller gets a copy, with what it has to know in front.

#include "include/net.p4"

const bit<32> TO_CONTROLLER = 57;
const bit<32> IS_CLONE = 1;
const bit<8>  KEPT = 1;

header to_controller_t {
    bit<8>  reason;
    bit<8>  unused;
    bit<16> port;
}

struct meta_t {
    @field_list(KEPT)
    bit<8>  reason;
    @field_list(KEPT)
    bit<16> port;
    bit<8>  not_kept;
}

struct headers_t {
    to_controller_t to_controller;
    ethernet_t      ethernet;
    ipv4_t          ipv4;
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
        transition accept;
    }
}

control Verify(inout headers_t hdr, inout meta_t meta) {
    apply {}
}

control Forward(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    direct_counter(CounterType.packets) hits;

    action drop() {
        mark_to_drop(standard);
    }
    action cached(bit<9> port) {
        standard.egress_spec = port;
        hdr.ipv4.ttl = hdr.ipv4.ttl - 1;
        hits.count();
    }
    action ask() {
        meta.reason = 1;
        meta.port = (bit<16>) standard.ingress_port;
        meta.not_kept = 9;
        clone_preserving_field_list(CloneType.I2E, TO_CONTROLLER, KEPT);
        drop();
    }
    table flows {
        key = {
            hdr.ipv4.protocol: exact;
            hdr.ipv4.src: exact;
            hdr.ipv4.dst: exact;
        }
        actions = { cached; @defaultonly ask; drop; }
        const default_action = ask();
        counters = hits;
    }
    apply {
        if (hdr.ipv4.isValid()) {
            flows.apply();
        } else {
            drop();
        }
    }
}

control Leave(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    apply {
        if (standard.instance_type == IS_CLONE) {
            hdr.to_controller.setValid();
            hdr.to_controller.reason = meta.reason;
            hdr.to_controller.unused = meta.not_kept;
            hdr.to_controller.port = meta.port;
            truncate(24);
        }
    }
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
