// The switch at the edge: a customer has a rate, and an address that nobody knows is flooded, unless the link is full.
//
// What v1model has no extern for: meters of two colours with a rate of the program's, copies that do not go back, and what the
// system program says of the link.

#include <v1model.p4>
#include <sluice.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

struct headers_t {
    ethernet_t ethernet;
}

struct meta_t {}

// Every port of customers.
const bit<16> EVERYBODY = 1;
// Bytes in the queue, in units of the system program, from which on nothing is flooded.
const bit<16> DEEP = 64;

parser Parse(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.ethernet);
        transition accept;
    }
}

control Verify(inout headers_t hdr, inout meta_t meta) {
    apply {}
}

control Enter(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    // A packet a second and four at once: a rate that a script can wait for.
    police(64, MeterType.packets, 1, 4) customers;
    bit<1> color = 0;

    action customer(bit<32> number) {
        customers.execute(number, color);
    }
    table sources {
        key = { hdr.ethernet.src: exact; }
        actions = { customer; NoAction; }
        default_action = NoAction();
        size = 32;
    }
    action to(bit<9> port) {
        standard.egress_spec = port;
    }
    action flood() {
        link_statistics_t link;
        link_statistics(link);
        if (link.queue_depth < DEEP) {
            multicast(EVERYBODY, true);
        } else {
            mark_to_drop(standard);
        }
    }
    table destinations {
        key = { hdr.ethernet.dst: exact; }
        actions = { to; flood; }
        default_action = flood();
        size = 16;
    }
    apply {
        if (!hdr.ethernet.isValid()) {
            mark_to_drop(standard);
            return;
        }
        destinations.apply();
        sources.apply();
        if (color == 1) {
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
        packet.emit(hdr.ethernet);
    }
}

V1Switch(Parse(), Verify(), Enter(), Leave(), Update(), Deparse()) main;
