// Labels of three bytes in front of packets of any length: one is pushed, swapped or popped.

#include <v1model.p4>

header first_t {
    bit<8> kind;
}

header label_t {
    bit<16> id;
    bit<8>  hops;
}

struct headers_t {
    first_t first;
    label_t label;
}

struct meta_t {}

parser Parse(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.first);
        transition select(hdr.first.kind) {
            1: label;
            default: accept;
        }
    }
    state label {
        packet.extract(hdr.label);
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

    action push(bit<16> id, bit<9> port) {
        hdr.label.setValid();
        hdr.label.id = id;
        hdr.label.hops = 8;
        hdr.first.kind = 1;
        standard.egress_spec = port;
    }

    action swap(bit<16> id, bit<9> port) {
        hdr.label.id = id;
        hdr.label.hops = hdr.label.hops - 1;
        standard.egress_spec = port;
    }

    action pop(bit<9> port) {
        hdr.label.setInvalid();
        hdr.first.kind = 0;
        standard.egress_spec = port;
    }

    table ways_in {
        key = { standard.ingress_port: exact; }
        actions = { push; drop; }
        default_action = drop();
        size = 8;
    }

    table labels {
        key = { hdr.label.id: exact; }
        actions = { swap; pop; drop; }
        default_action = drop();
        size = 64;
    }

    apply {
        if (standard.parser_error != error.NoError) {
            drop();
        } else if (hdr.label.isValid()) {
            labels.apply();
        } else {
            ways_in.apply();
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
        packet.emit(hdr.first);
        packet.emit(hdr.label);
    }
}

V1Switch(Parse(), Verify(), Forward(), Leave(), Update(), Deparse()) main;
