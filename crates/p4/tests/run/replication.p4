// What makes more of a packet: clones, multicast, resubmission, recirculation; registers, selectors, truncation.

#include <core.p4>
#include <v1model.p4>

header h_t {
    bit<8> what;
    bit<8> one;
    bit<8> two;
}

struct headers_t {
    h_t h;
}

struct inner_t {
    @field_list(1, 2)
    bit<8> kept;
    bit<8> lost;
}

struct meta_t {
    inner_t inner;
    @field_list(2)
    bit<8>  rounds;
}

parser Parse(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.h);
        transition accept;
    }
}

control Verify(inout headers_t hdr, inout meta_t meta) {
    apply {
        verify_checksum_with_payload(hdr.h.what == 7, { hdr.h.one }, hdr.h.two, HashAlgorithm.xor16);
    }
}

control In(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    register<bit<8>>(2) seen;
    action_selector(HashAlgorithm.crc16, 16, 8) members;

    action to_port(bit<9> port) { standard.egress_spec = port; }
    table select_one {
        key = {
            hdr.h.one: exact;
            hdr.h.two: selector;
        }
        actions = { to_port; NoAction; }
        implementation = members;
    }

    apply {
        standard.egress_spec = 1;
        meta.inner = { 0x11, 0x22 };
        switch (hdr.h.what) {
            1: { clone_preserving_field_list(CloneType.I2E, 5, 1); hdr.h.one = 0xaa; }
            2: { standard.mcast_grp = 9; }
            3: {
                meta.rounds = meta.rounds + 1;
                hdr.h.one = meta.rounds;
                if (meta.rounds < 3) { resubmit_preserving_field_list(2); }
            }
            4: { hdr.h.two = (bit<8>) standard.instance_type; }
            5: {
                bit<8> before;
                seen.read(before, (bit<32>) hdr.h.one);
                seen.write((bit<32>) hdr.h.one, hdr.h.two);
                hdr.h.two = before;
            }
            6: { select_one.apply(); }
            7: { hdr.h.one = (bit<8>) standard.checksum_error; }
            8: { mark_to_drop(standard); standard.egress_spec = 3; }
            9: { clone3(CloneType.I2E, 5, { meta.inner.lost }); mark_to_drop(standard); }
            13: { clone_preserving_field_list(CloneType.I2E, 5, 3); }
            14: { mark_to_drop(); }
            15: { standard.egress_spec = 511; standard.mcast_grp = 9; }
            10: { clone(CloneType.I2E, 6); exit; }
        }
    }
}

control Out(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    apply {
        if (standard.instance_type == 1) {
            hdr.h.one = meta.inner.kept;
            hdr.h.two = meta.inner.lost;
            return;
        }
        if (hdr.h.what == 2) {
            hdr.h.one = (bit<8>) standard.egress_rid;
            hdr.h.two = (bit<8>) standard.instance_type;
        }
        if (hdr.h.what == 4 && standard.instance_type == 0 && hdr.h.one < 2) {
            hdr.h.one = hdr.h.one + 1;
            recirculate_preserving_field_list(1);
        }
        if (hdr.h.what == 11) {
            if (standard.instance_type == 2) {
                hdr.h.two = meta.inner.kept;
                truncate(4);
            } else {
                clone_preserving_field_list(CloneType.E2E, 5, 1);
                hdr.h.one = 0xee;
            }
        }
        if (hdr.h.what == 12) {
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
