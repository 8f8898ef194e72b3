// CALC of the paper: what a packet asks is computed, and the answer goes back to where it came from. The same as programs/rmt/calc.rmt.

#include "../include/net.p4"

header calc_t {
    bit<16> mark;
    bit<8>  version;
    bit<8>  operation;
    bit<32> a;
    bit<32> b;
    bit<32> result;
}

struct meta_t {
    // Set by the way of the parser that this program is for; other packets are dropped.
    bit<1> known;
}

struct headers_t {
    ethernet_t ethernet;
    calc_t     calc;
}

parser Parse(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.type) {
            0x1234: request;
            default: accept;
        }
    }
    state request {
        packet.extract(hdr.calc);
        transition select(hdr.calc.mark, hdr.calc.version) {
            // "P4", version 1.
            (0x5034, 1): known;
            default: accept;
        }
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
    action answer(bit<32> result) {
        hdr.calc.result = result;
        bit<48> asker = hdr.ethernet.src;
        hdr.ethernet.src = hdr.ethernet.dst;
        hdr.ethernet.dst = asker;
        standard.egress_spec = 0;
    }
    action add() {
        answer(hdr.calc.a + hdr.calc.b);
    }
    action subtract() {
        answer(hdr.calc.a - hdr.calc.b);
    }
    action and_bits() {
        answer(hdr.calc.a & hdr.calc.b);
    }
    action or_bits() {
        answer(hdr.calc.a | hdr.calc.b);
    }
    action xor_bits() {
        answer(hdr.calc.a ^ hdr.calc.b);
    }
    action drop() {
        mark_to_drop(standard);
    }
    table operations {
        key = { hdr.calc.operation: exact; }
        actions = { add; subtract; and_bits; or_bits; xor_bits; drop; }
        const default_action = drop();
        const entries = {
            0x2b: add();
            0x2d: subtract();
            0x26: and_bits();
            0x7c: or_bits();
            0x5e: xor_bits();
        }
    }
    apply {
        if (meta.known == 0) {
            mark_to_drop(standard);
        } else {
            operations.apply();
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
