// Port mirroring: packets go where their destination's address says, and those of watched pairs to a monitor, too, as they leave.
// The monitor's port is session 1 of the control plane; without one nothing is mirrored.

#include <core.p4>
#include <v1model.p4>

const bit<32> MONITOR = 1;
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
    bit<16> identification;
    bit<16> fragment;
    bit<8>  ttl;
    bit<8>  protocol;
    bit<16> checksum;
    bit<32> src;
    bit<32> dst;
}

struct headers_t {
    ethernet_t ethernet;
    ipv4_t     ipv4;
}

struct meta_t {
    bit<1> is_watched;
}

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
        transition accept;
    }
}

control Verify(inout headers_t hdr, inout meta_t meta) {
    apply { }
}

control Forward(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    action to_port(bit<48> next, bit<9> port) {
        hdr.ethernet.dst = next;
        standard.egress_spec = port;
    }

    action drop() {
        mark_to_drop(standard);
    }

    action watch() {
        meta.is_watched = 1;
    }

    table routes {
        key = { hdr.ipv4.dst : lpm; }
        actions = { to_port; drop; }
        default_action = drop();
        size = 16;
    }

    table watched {
        key = {
            hdr.ipv4.src : ternary;
            hdr.ipv4.dst : ternary;
        }
        actions = { watch; NoAction; }
        default_action = NoAction();
        size = 8;
    }

    apply {
        if (hdr.ipv4.isValid()) {
            watched.apply();
            routes.apply();
        } else {
            drop();
        }
    }
}

// What is mirrored is what leaves, with the next hop's address.
control Mirror(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    apply {
        if (meta.is_watched == 1 && standard.instance_type == 0) {
            clone(CloneType.E2E, MONITOR);
        }
    }
}

control Update(inout headers_t hdr, inout meta_t meta) {
    apply { }
}

control Deparse(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.ethernet);
        packet.emit(hdr.ipv4);
    }
}

V1Switch(Parse(), Verify(), Forward(), Mirror(), Update(), Deparse()) main;
