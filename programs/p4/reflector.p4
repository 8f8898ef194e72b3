// Sends each IPv4 packet back where it came from, and drops all others.

#include <core.p4>
#include <v1model.p4>

header ethernet_t {
    bit<48> destination;
    bit<48> source;
    bit<16> kind;
}

struct headers_t {
    ethernet_t ethernet;
}

struct metadata_t {}

parser Reader(packet_in packet, out headers_t headers, inout metadata_t metadata, inout standard_metadata_t standard) {
    state start {
        packet.extract(headers.ethernet);
        transition select(headers.ethernet.kind) {
            0x0800: accept;
            default: reject;
        }
    }
}

control Verify(inout headers_t headers, inout metadata_t metadata) {
    apply {}
}

control Reflect(inout headers_t headers, inout metadata_t metadata, inout standard_metadata_t standard) {
    apply {
        if (standard.parser_error != error.NoError || !headers.ethernet.isValid()) {
            mark_to_drop(standard);
            return;
        }
        bit<48> source = headers.ethernet.source;
        headers.ethernet.source = headers.ethernet.destination;
        headers.ethernet.destination = source;
        standard.egress_spec = standard.ingress_port;
    }
}

control Leave(inout headers_t headers, inout metadata_t metadata, inout standard_metadata_t standard) {
    apply {}
}

control Compute(inout headers_t headers, inout metadata_t metadata) {
    apply {}
}

control Writer(packet_out packet, in headers_t headers) {
    apply {
        packet.emit(headers);
    }
}

V1Switch(Reader(), Verify(), Reflect(), Leave(), Compute(), Writer()) main;
