// A verified checksum, at the values where sums of ones' complement have two zeros.
#include <core.p4>
#include <v1model.p4>

header h_t {
    bit<16> data;
    bit<16> sum;
    bit<16> note;
}

struct headers_t {
    h_t h;
}

struct meta_t {}

parser Parse(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.h);
        transition accept;
    }
}

control Verify(inout headers_t hdr, inout meta_t meta) {
    apply {
        verify_checksum(hdr.h.isValid(), { hdr.h.data }, hdr.h.sum, HashAlgorithm.csum16);
    }
}

control In(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    apply {
        if (hdr.h.isValid() && hdr.h.note == 0xffff) {
            standard.mcast_grp = hdr.h.data;
        } else if (standard.checksum_error == 1) {
            hdr.h.note = 1;
        } else {
            hdr.h.note = 2;
        }
    }
}

control Out(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    apply {
        if (standard.egress_port == standard.ingress_port && standard.mcast_grp != 0) {
            mark_to_drop(standard);
        }
    }
}

control Update(inout headers_t hdr, inout meta_t meta) {
    apply {}
}

control Deparse(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.h);
    }
}

V1Switch(Parse(), Verify(), In(), Out(), Update(), Deparse()) main;
