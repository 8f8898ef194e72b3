// A program for v1model whose packets have no port, and lose headers.
#include <core.p4>
#include <v1model.p4>
header eth_t { bit<48> dst; bit<48> src; bit<16> kind; }
header tag_t { bit<16> vid; bit<16> kind; }
header ip_t { bit<8> ttl; bit<8> proto; bit<32> dst; }
header tcp_t { bit<16> port; }
struct headers_t { eth_t eth; tag_t tag; ip_t ip; tcp_t tcp; tag_t made; }
struct meta_t { bit<8> flag; }
parser P(packet_in b, out headers_t hdr, inout meta_t m, inout standard_metadata_t s) {
    state start { b.extract(hdr.eth); transition select(hdr.eth.kind) { 0x8100: tag; 0x800: ip; _: accept; } }
    state tag { b.extract(hdr.tag); transition accept; } // warning: [E0780] header `tag` is extracted
    state ip { b.extract(hdr.ip); m.flag = hdr.ip.ttl + (bit<8>)hdr.tcp.port; transition select(hdr.ip.proto) { 6: tcp; _: accept; } } // warning: [E0778] header `tcp` is invalid here
    state tcp { b.extract(hdr.tcp); transition accept; }
}
control V(inout headers_t hdr, inout meta_t m) { apply { } }
control sub(inout ip_t ip) { apply { ip.ttl = ip.ttl - 1; } }
control I(inout headers_t hdr, inout meta_t m, inout standard_metadata_t s) { // warning: [E0781] nothing sets `egress_spec`
    sub() guarded;
    action lower() { hdr.ip.ttl = hdr.ip.ttl - 1; }
    action of_none() { m.flag = (bit<8>)hdr.made.vid; } // warning: [E0778] header `made` is invalid here
    table guards { key = { hdr.ip.dst: exact; } actions = { lower; NoAction; } }
    table open { key = { hdr.ip.dst: lpm; } actions = { lower; of_none; NoAction; } } // warning: [E0778] header `ip` may be invalid here
    table with_valid { key = { hdr.ip.isValid(): exact; hdr.ip.dst: ternary; } actions = { NoAction; } }
    apply {
        m.flag = (bit<8>)hdr.eth.kind;
        open.apply(); with_valid.apply();
        if (hdr.ip.isValid()) { guards.apply(); guarded.apply(hdr.ip); }
        if (hdr.tcp.isValid() && hdr.tcp.port == 80) { m.flag = hdr.ip.ttl; }
        if (!hdr.ip.isValid()) { m.flag = hdr.ip.ttl; } // warning: [E0778] header `ip` is invalid here
        if (m.flag == 3) { m.flag = hdr.ip.ttl; }
        if (hdr.ip.isValid() || hdr.tcp.isValid()) { m.flag = hdr.ip.ttl; }
        m.flag = (bit<8>)hdr.tcp.port; // warning: [E0778] header `tcp` may be invalid here
        if (!hdr.tag.isValid()) { return; }
        m.flag = (bit<8>)hdr.tag.vid;
        hdr.made = hdr.tag;
        m.flag = (bit<8>)hdr.made.vid;
    }
}
control E(inout headers_t hdr, inout meta_t m, inout standard_metadata_t s) {
    apply { if (hdr.made.isValid()) { m.flag = (bit<8>)hdr.tag.vid; } }
}
control C(inout headers_t hdr, inout meta_t m) { apply { } }
control D(packet_out b, in headers_t hdr) { apply { b.emit(hdr.eth); b.emit(hdr.ip); b.emit(hdr.tcp); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
