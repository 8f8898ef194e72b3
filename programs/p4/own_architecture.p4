// A program for an architecture that -I finds: programs/p4/include/bump.p4.

#include <bump.p4>

header frame_t {
    bit<8> hops;
    bit<WIDTH> rest;
}

struct headers_t {
    frame_t frame;
}

parser In(packet_in packet, out headers_t headers) {
    state start {
        packet.extract(headers.frame);
        transition accept;
    }
}

control Count(inout headers_t headers, in words_t length, out bool keep) {
    apply {
        headers.frame.hops = headers.frame.hops |-| 1;
        keep = headers.frame.hops > 0 && length != (words_t)0;
    }
}

control Out(packet_out packet, in headers_t headers) {
    apply {
        packet.emit(headers.frame);
    }
}

Bump(In(), Count(), Out()) main;
