// Parsers: errors, what is cut, sub-parsers, lookahead, advance, varbit, stacks, value sets, select over several keys.

#include <core.p4>
#include <v1model.p4>

error { Odd }

header kind_t { bit<8> kind; }
header one_t { bit<8> v; }
header options_t { bit<8> length; varbit<32> data; }
header out_t { bit<8> error_code; bit<8> found; bit<8> last; }

struct headers_t {
    out_t     told;
    kind_t    kind;
    one_t[2]  stack;
    options_t options;
}

struct meta_t {
    bit<8> found;
    bit<8> last;
}

parser Sub(packet_in packet, inout headers_t hdr, out bit<8> found)(bit<8> least) {
    state start {
        packet.extract(hdr.stack.next);
        verify(hdr.stack.last.v >= least, error.Odd);
        found = hdr.stack.last.v;
        transition accept;
    }
}

parser Parse(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    Sub(3) sub;
    value_set<bit<8>>(4) known;

    state start {
        packet.extract(hdr.kind);
        transition select(hdr.kind.kind, packet.length() > 40) {
            (_, true): reject;
            (0, _): ahead;
            (1, _): stack;
            (2, _): sub_parser;
            (3, _): options;
            (0x10 &&& 0xf0, _): skip;
            (known, _): by_set;
            (0x40 .. 0x4f, false): accept;
        }
    }
    state ahead {
        meta.found = packet.lookahead<bit<16>>()[7:0];
        transition accept;
    }
    state stack {
        packet.extract(hdr.stack.next);
        meta.last = (bit<8>) hdr.stack.lastIndex;
        transition select(hdr.stack.last.v) {
            0: accept;
            default: stack;
        }
    }
    state sub_parser {
        sub.apply(packet, hdr, meta.found);
        meta.last = 1;
        sub.apply(packet, hdr, meta.found);
        transition accept;
    }
    state options {
        packet.extract(hdr.options, (bit<32>) packet.lookahead<bit<8>>());
        transition accept;
    }
    state skip {
        packet.advance(8 * (bit<32>) hdr.kind.kind[3:0]);
        transition ahead;
    }
    state by_set {
        meta.found = 0xff;
        transition accept;
    }
}

control Verify(inout headers_t hdr, inout meta_t meta) {
    apply {}
}

control In(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    apply {
        hdr.told = { 0, meta.found, meta.last };
        if (standard.parser_error == error.PacketTooShort) { hdr.told.error_code = 1; }
        if (standard.parser_error == error.NoMatch) { hdr.told.error_code = 2; }
        if (standard.parser_error == error.StackOutOfBounds) { hdr.told.error_code = 3; }
        if (standard.parser_error == error.HeaderTooShort) { hdr.told.error_code = 4; }
        if (standard.parser_error == error.ParserInvalidArgument) { hdr.told.error_code = 5; }
        if (standard.parser_error == error.Odd) { hdr.told.error_code = 6; }
    }
}

control Out(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
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

V1Switch(Parse(), Verify(), In(), Out(), Update(), Deparse()) main;
