// CALC as crates/rmt/src/programs/calc.rs has it, for BMv2: Ethernet of type 0x1234, 'P' '4', version 1, an
// operation, two operands; the result goes behind them, the addresses change places, the packet goes back.
#include <core.p4>
#include <v1model.p4>

header ethernet_t {
    bit<48> to;
    bit<48> from;
    bit<16> kind;
}

header calc_t {
    bit<16> name;
    bit<8> version;
    bit<8> operation;
    bit<32> a;
    bit<32> b;
    bit<32> result;
}

struct headers_t {
    ethernet_t ethernet;
    calc_t calc;
}

struct metadata_t {
}

parser ParserImpl(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.kind) {
            0x1234: parse_calc;
            default: accept;
        }
    }
    state parse_calc {
        packet.extract(hdr.calc);
        transition accept;
    }
}

control VerifyImpl(inout headers_t hdr, inout metadata_t meta) {
    apply {
    }
}

control IngressImpl(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    action answer(bit<32> result) {
        bit<48> to = hdr.ethernet.to;
        hdr.calc.result = result;
        hdr.ethernet.to = hdr.ethernet.from;
        hdr.ethernet.from = to;
        standard.egress_spec = standard.ingress_port;
    }
    action add() {
        answer(hdr.calc.a + hdr.calc.b);
    }
    action subtract() {
        answer(hdr.calc.a - hdr.calc.b);
    }
    action and_() {
        answer(hdr.calc.a & hdr.calc.b);
    }
    action or_() {
        answer(hdr.calc.a | hdr.calc.b);
    }
    action xor_() {
        answer(hdr.calc.a ^ hdr.calc.b);
    }
    action discard() {
        mark_to_drop(standard);
    }
    table calculate {
        key = {
            hdr.calc.operation: exact;
        }
        actions = {
            add;
            subtract;
            and_;
            or_;
            xor_;
            discard;
        }
        const default_action = discard();
        const entries = {
            0x2b: add();
            0x2d: subtract();
            0x26: and_();
            0x7c: or_();
            0x5e: xor_();
        }
    }
    apply {
        if (hdr.calc.isValid() && hdr.calc.name == 0x5034 && hdr.calc.version == 1) {
            calculate.apply();
        } else {
            discard();
        }
    }
}

control EgressImpl(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    apply {
    }
}

control UpdateImpl(inout headers_t hdr, inout metadata_t meta) {
    apply {
    }
}

control DeparserImpl(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.ethernet);
        packet.emit(hdr.calc);
    }
}

V1Switch(ParserImpl(), VerifyImpl(), IngressImpl(), EgressImpl(), UpdateImpl(), DeparserImpl()) main;
