// One of each of what P4Info has.
#include <v1model.p4>

@p4runtime_translation("example.org/mac", 32) type bit<48> mac_t;
@p4runtime_translation("example.org/port", string) type bit<9> port_t;
@note("plain") type bit<10> vrf_t;
enum bit<16> kind_t { first = 1, second = 0x1234 }
enum mood_t { calm, wild }

header h_t {
    mac_t to;
    bit<16> kind;
    bit<9> port;
    bit<7> pad;
    bit<8> a;
}

@controller_header("packet_in") header in_t {
    @id(2) port_t from;
    @id(1) bit<7> pad;
}

@controller_header("packet_out") header out_t {
    bit<9> to;
    @padding bit<7> pad;
}

struct headers_t {
    h_t h;
    h_t[2] more;
}

struct meta_t {
    vrf_t vrf;
    kind_t kind;
    bit<2> color;
}

struct seen_t {
    mac_t who;
    mood_t mood;
    error why;
    bool sure;
    kind_t kind;
}

struct set_t {
    @match(ternary) bit<16> kind;
    @id(7) @name("port") port_t p;
}

parser Parse(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    value_set<set_t>(4) known;
    @name("plain") value_set<bit<8>>(2) unused;
    state start {
        packet.extract(hdr.h);
        transition select(hdr.h.kind, (port_t)hdr.h.port) {
            known: accept;
            default: accept;
        }
    }
}

control Verify(inout headers_t hdr, inout meta_t meta) {
    apply {}
}

control Inner(inout headers_t hdr, inout meta_t meta)(bit<32> cells) {
    counter(cells, CounterType.packets_and_bytes) counted;
    action set(bit<8> x) {
        hdr.h.a = x;
        counted.count(1);
    }
    table t {
        key = { hdr.h.isValid(): exact; hdr.more[1].a: range; }
        actions = { set; }
        size = 16;
    }
    apply {
        t.apply();
    }
}

control In(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    Inner(8) one;
    @name("two") Inner(9) other;
    register<bit<48>>(32) kept;
    register<seen_t>(2) things;
    @brief("how fast") meter(16, MeterType.bytes) rate;
    direct_meter<bit<2>>(MeterType.packets) colors;
    direct_counter(CounterType.bytes) hits;
    @max_group_size(5) action_selector(HashAlgorithm.crc16, 64, 16) chosen;
    action_profile(32) shared;
    @id(0x12) @brief("sends it") @description("to a port
or none") action send(@id(3) @format(PORT) port_t port, mac_t who) {
        standard.egress_spec = (bit<9>)port;
        hdr.h.to = who;
        seen_t seen = { who, mood_t.wild, error.NoError, true, kind_t.first };
        digest<seen_t>(1, seen);
        things.write(0, seen);
    }
    action color() {
        colors.read(meta.color);
    }
    @hidden action own() {
        hdr.h.a = 0;
    }
    @words(a , "b\"c", <=) @list["x", 3, -4, true] @pairs[k = "v", n = 5]
    table routes {
        key = {
            meta.vrf: exact @name("vrf") @refers_to(vrfs, vrf);
            hdr.h.to: lpm;
            hdr.h.kind & 0xff: ternary;
            meta.kind: optional;
        }
        actions = { @proto_id(1) send; @tableonly color; @defaultonly NoAction; own; }
        default_action = send((port_t)5, (mac_t)0x1234);
        meters = colors;
        counters = hits;
        entries = { ((vrf_t)1, (mac_t)2, _, kind_t.second): color(); }
        support_timeout = true;
    }
    table fixed {
        key = { hdr.h.a: exact; }
        actions = { NoAction; send; }
        const default_action = NoAction;
        const entries = { 1: send((port_t)1, (mac_t)1); }
    }
    table group {
        key = { hdr.h.kind: exact; hdr.h.a: selector; }
        actions = { send; NoAction; }
        implementation = chosen;
    }
    table member {
        key = { hdr.h.kind: exact; }
        actions = { send; NoAction; }
        implementation = shared;
    }
    apply {
        bit<48> x;
        kept.read(x, 0);
        rate.execute_meter(0, meta.color);
        one.apply(hdr, meta);
        other.apply(hdr, meta);
        routes.apply();
        fixed.apply();
        group.apply();
        member.apply();
        own();
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

@pkginfo(name = "everything.p4", version = "1.2", organization = "Sluice") @brief("One of each") @own(1)
V1Switch(Parse(), Verify(), In(), Out(), Update(), Deparse()) main;
