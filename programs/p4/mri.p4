// In-band telemetry: each switch on the way puts its number and its queue's depth into an option of IPv4. The depth is what the system
// program says of the link: v1model's queue depths are not on the pipeline.

#include "include/net.p4"
#include <sluice.p4>

const bit<5> OPTION_MRI = 31;

header option_t {
    bit<1> copied;
    bit<2> class;
    bit<5> option;
    bit<8> length;
}

header mri_t {
    bit<16> count;
}

header trace_t {
    bit<32> number;
    bit<32> depth;
}

struct headers_t {
    ethernet_t ethernet;
    ipv4_t     ipv4;
    option_t   option;
    mri_t      mri;
    trace_t[9] traces;
}

struct meta_t {
    bit<16> left;
}

error { NoOption }

parser Parse(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.type) {
            TYPE_IPV4: ipv4;
            default: accept;
        }
    }
    state ipv4 {
        packet.extract(hdr.ipv4);
        verify(hdr.ipv4.ihl >= 5, error.NoOption);
        transition select(hdr.ipv4.ihl) {
            5: accept;
            default: option;
        }
    }
    state option {
        packet.extract(hdr.option);
        transition select(hdr.option.option) {
            OPTION_MRI: mri;
            default: accept;
        }
    }
    state mri {
        packet.extract(hdr.mri);
        meta.left = hdr.mri.count;
        transition select(meta.left) {
            0: accept;
            default: trace;
        }
    }
    state trace {
        packet.extract(hdr.traces.next);
        meta.left = meta.left - 1;
        transition select(meta.left) {
            0: accept;
            default: trace;
        }
    }
}

control Verify(inout headers_t hdr, inout meta_t meta) {
    apply {}
}

control Forward(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    action drop() {
        mark_to_drop(standard);
    }
    action to_port(bit<9> port) {
        standard.egress_spec = port;
    }
    table routes {
        key = { hdr.ipv4.dst: lpm; }
        actions = { to_port; drop; }
        default_action = drop();
    }
    apply {
        if (hdr.ipv4.isValid() && standard.parser_error == error.NoError) {
            routes.apply();
        } else {
            drop();
        }
    }
}

control Leave(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    link_statistics_t link;
    action add_trace(bit<32> number) {
        hdr.mri.count = hdr.mri.count + 1;
        hdr.traces.push_front(1);
        hdr.traces[0].setValid();
        hdr.traces[0].number = number;
        hdr.traces[0].depth = (bit<32>) link.queue_depth;
        hdr.ipv4.ihl = hdr.ipv4.ihl + 2;
        hdr.option.length = hdr.option.length + 8;
        hdr.ipv4.length = hdr.ipv4.length + 8;
    }
    table traced {
        actions = { add_trace; NoAction; }
        default_action = NoAction();
    }
    apply {
        if (hdr.mri.isValid()) {
            link_statistics(link);
            traced.apply();
        }
    }
}

control Update(inout headers_t hdr, inout meta_t meta) {
    apply {
        update_checksum(hdr.ipv4.isValid(), IPV4_WORDS(hdr.ipv4), hdr.ipv4.checksum, HashAlgorithm.csum16);
    }
}

control Deparse(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr);
    }
}

V1Switch(Parse(), Verify(), Forward(), Leave(), Update(), Deparse()) main;
