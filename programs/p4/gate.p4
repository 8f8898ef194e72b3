// Lets packets to known ports of known hosts pass, and counts all others before it drops them. By itself it sends what passes to port 1; before another program
// (`gate.p4+basic.p4`) that one decides.

#include <core.p4>
#include <v1model.p4>

header eth_t {
    bit<48> to;
    bit<48> from;
    bit<16> kind;
}

header ip_t {
    bit<4>  version;
    bit<4>  words;
    bit<8>  class;
    bit<16> bytes;
    bit<16> number;
    bit<3>  marks;
    bit<13> place;
    bit<8>  hops;
    bit<8>  protocol;
    bit<16> sum;
    bit<32> from;
    bit<32> to;
}

header ports_t {
    bit<16> from;
    bit<16> to;
}

struct headers_t {
    eth_t   eth;
    ip_t    ip;
    ports_t ports;
}

struct meta_t {
    bit<1> is_open;
}

parser Parse(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.eth);
        transition select(hdr.eth.kind) {
            0x0800: internet;
            default: accept;
        }
    }
    state internet {
        packet.extract(hdr.ip);
        transition select(hdr.ip.words, hdr.ip.protocol) {
            (5, 6): ports;
            (5, 17): ports;
            default: accept;
        }
    }
    state ports {
        packet.extract(hdr.ports);
        transition accept;
    }
}

control Verify(inout headers_t hdr, inout meta_t meta) {
    apply {}
}

control Gate(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    counter(1, CounterType.packets) closed;

    action pass() {
        meta.is_open = 1;
    }
    table open {
        key = {
            hdr.ip.to: exact;
            hdr.ports.to: exact;
        }
        actions = { pass; NoAction; }
        default_action = NoAction();
        size = 64;
    }
    apply {
        if (!hdr.ports.isValid()) {
            // Not a matter of ports.
            exit;
        }
        open.apply();
        if (meta.is_open == 1) {
            standard.egress_spec = 1;
        } else {
            closed.count(0);
            mark_to_drop(standard);
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
        packet.emit(hdr.eth);
        packet.emit(hdr.ip);
        packet.emit(hdr.ports);
    }
}

V1Switch(Parse(), Verify(), Gate(), Leave(), Update(), Deparse()) main;
