// What v1model has no extern for: words that a packet changes by what they hold, in one access, and the hash of a stage's key.

#include <v1model.p4>
#include <sluice.p4>

header report_t {
    bit<8>  kind;
    bit<8>  at;
    bit<32> value;
    bit<32> old;
    bit<32> now;
}

struct headers_t {
    report_t report;
}

struct meta_t {}

const bit<32> TURN = 10;

parser Parse(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.report);
        transition accept;
    }
}

control Verify(inout headers_t hdr, inout meta_t meta) {
    apply {}
}

control Enter(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    atom(64) turns;
    atom(64) largest;
    atom(64) sums;

    action drop() {
        mark_to_drop(standard);
    }
    action turn() {
        // Counts to nine and begins again: every tenth packet finds the end.
        turns.choose((bit<32>) hdr.report.at, TURN - 1, AtomValue.operand, 0, AtomValue.old_plus_operand, 1,
                     hdr.report.old, hdr.report.now);
    }
    action most() {
        largest.choose((bit<32>) hdr.report.at, hdr.report.value, AtomValue.old, 0, AtomValue.operand, hdr.report.value,
                       hdr.report.old, hdr.report.now);
    }
    action sum() {
        sums.add((bit<32>) hdr.report.at, hdr.report.value, hdr.report.old, hdr.report.now);
    }
    action set() {
        sums.write((bit<32>) hdr.report.at, hdr.report.value, hdr.report.old);
    }
    action get() {
        sums.read((bit<32>) hdr.report.at, hdr.report.old);
    }
    table kinds {
        key = { hdr.report.kind: exact; }
        actions = { turn; most; sum; set; get; drop; }
        const entries = {
            1: turn();
            2: most();
            3: sum();
            4: set();
            5: get();
        }
        const default_action = drop();
    }
    apply {
        if (!hdr.report.isValid()) {
            drop();
            return;
        }
        standard.egress_spec = 1;
        if (hdr.report.kind == 6) {
            crc32c(hdr.report.now, { hdr.report.value, hdr.report.old });
        } else {
            kinds.apply();
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
        packet.emit(hdr.report);
    }
}

V1Switch(Parse(), Verify(), Enter(), Leave(), Update(), Deparse()) main;
