// Probes travel a way that they name, and collect what each link carried since the last probe.

#include "include/net.p4"

const bit<16> TYPE_PROBE = 0x0812;

header probe_t {
    bit<8> count;
}

header data_t {
    bit<1>  last;
    bit<7>  switch_number;
    bit<8>  port;
    bit<32> bytes;
    bit<48> since;
    bit<48> now;
}

header way_t {
    bit<8> port;
}

struct headers_t {
    ethernet_t ethernet;
    ipv4_t     ipv4;
    probe_t    probe;
    data_t[10] data;
    way_t[10]  way;
}

struct meta_t {
    bit<8> left;
    bit<8> port;
}

parser Parse(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.type) {
            TYPE_IPV4: ipv4;
            TYPE_PROBE: probe;
            default: accept;
        }
    }
    state ipv4 {
        packet.extract(hdr.ipv4);
        transition accept;
    }
    state probe {
        packet.extract(hdr.probe);
        meta.left = hdr.probe.count + 1;
        transition select(hdr.probe.count) {
            0: way;
            default: data;
        }
    }
    state data {
        packet.extract(hdr.data.next);
        transition select(hdr.data.last.last) {
            1: way;
            default: data;
        }
    }
    state way {
        packet.extract(hdr.way.next);
        meta.left = meta.left - 1;
        meta.port = hdr.way.last.port;
        transition select(meta.left) {
            0: accept;
            default: way;
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
        if (hdr.ipv4.isValid()) {
            routes.apply();
        } else if (hdr.probe.isValid()) {
            standard.egress_spec = (bit<9>) meta.port;
            hdr.probe.count = hdr.probe.count + 1;
        } else {
            drop();
        }
    }
}

control Leave(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    register<bit<32>>(8) bytes;
    register<bit<48>>(8) since;

    action name(bit<7> number) {
        hdr.data[0].switch_number = number;
    }
    table self {
        actions = { name; NoAction; }
        default_action = NoAction();
    }
    apply {
        bit<32> sum;
        bit<32> port = (bit<32>) standard.egress_port;
        bytes.read(sum, port);
        sum = sum + standard.packet_length;
        bytes.write(port, hdr.probe.isValid() ? 0 : sum);
        if (hdr.probe.isValid()) {
            bit<48> before;
            since.read(before, port);
            since.write(port, standard.egress_global_timestamp);
            hdr.data.push_front(1);
            hdr.data[0].setValid();
            hdr.data[0].last = hdr.probe.count == 1 ? 1w1 : 1w0;
            self.apply();
            hdr.data[0].port = (bit<8>) standard.egress_port;
            hdr.data[0].bytes = sum;
            hdr.data[0].since = before;
            hdr.data[0].now = standard.egress_global_timestamp;
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
