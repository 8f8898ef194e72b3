// Computes what a packet asks for and sends it back: +, -, &, | and ^ of two numbers.

#include "include/net.p4"

const bit<16> TYPE_CALC = 0x1234;

enum bit<8> Operator {
    Plus  = 0x2b,
    Minus = 0x2d,
    And   = 0x26,
    Or    = 0x7c,
    Xor   = 0x5e
}

header calc_t {
    bit<8>   p;
    bit<8>   four;
    bit<8>   version;
    Operator operator;
    bit<32>  one;
    bit<32>  two;
    bit<32>  result;
}

struct headers_t {
    ethernet_t ethernet;
    calc_t     calc;
}

struct meta_t {}

parser Parse(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.type) {
            TYPE_CALC: check;
            default: accept;
        }
    }
    state check {
        transition select(packet.lookahead<bit<24>>()) {
            0x503401: calc;
            default: accept;
        }
    }
    state calc {
        packet.extract(hdr.calc);
        transition accept;
    }
}

control Verify(inout headers_t hdr, inout meta_t meta) {
    apply {}
}

control Compute(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    action send_back(bit<32> result) {
        hdr.calc.result = result;
        bit<48> other = hdr.ethernet.dst;
        hdr.ethernet.dst = hdr.ethernet.src;
        hdr.ethernet.src = other;
        standard.egress_spec = standard.ingress_port;
    }
    action plus() { send_back(hdr.calc.one + hdr.calc.two); }
    action minus() { send_back(hdr.calc.one - hdr.calc.two); }
    action both() { send_back(hdr.calc.one & hdr.calc.two); }
    action either() { send_back(hdr.calc.one | hdr.calc.two); }
    action one_of() { send_back(hdr.calc.one ^ hdr.calc.two); }
    action drop() { mark_to_drop(standard); }
    table compute {
        key = { hdr.calc.operator: exact; }
        actions = { plus; minus; both; either; one_of; drop; }
        const default_action = drop();
        const entries = {
            Operator.Plus: plus();
            Operator.Minus: minus();
            Operator.And: both();
            Operator.Or: either();
            Operator.Xor: one_of();
        }
    }
    apply {
        if (hdr.calc.isValid()) {
            compute.apply();
        } else {
            drop();
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

V1Switch(Parse(), Verify(), Compute(), Leave(), Update(), Deparse()) main;
