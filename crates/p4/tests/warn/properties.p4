// Properties of tables that nothing reads.
#include <core.p4>
#include <v1model.p4>
header h_t { bit<8> a; }
struct headers_t { h_t h; }
struct meta_t { }
parser P(packet_in p, out headers_t hdr, inout meta_t m, inout standard_metadata_t s) { state start { p.extract(hdr.h); transition accept; } }
control V(inout headers_t hdr, inout meta_t m) { apply { } }
control I(inout headers_t hdr, inout meta_t m, inout standard_metadata_t s) {
    action to(bit<9> port) { s.egress_spec = port; }
    direct_counter(CounterType.packets) seen;
    table one {
        key = { hdr.h.a: exact; }
        actions = { to; NoAction; }
        defualt_action = NoAction(); // warning: [E0785] table `one` has a property `defualt_action`, which nothing reads; did you mean `default_action`?
        sizee = 10; // warning: [E0785] did you mean `size`?
        psa_direct_counter = seen; // warning: [E0785] which nothing reads
    }
    @noWarn("unknown-property")
    table two { key = { hdr.h.a: exact; } actions = { NoAction; } nothing = 1; }
    table three {
        key = { hdr.h.a: exact; }
        actions = { to; NoAction; }
        size = 4;
        counters = seen;
        support_timeout = false;
        default_action = NoAction();
    }
    apply { one.apply(); two.apply(); three.apply(); }
}
control E(inout headers_t hdr, inout meta_t m, inout standard_metadata_t s) { apply { } }
control U(inout headers_t hdr, inout meta_t m) { apply { } }
control D(packet_out p, in headers_t hdr) { apply { p.emit(hdr.h); } }
V1Switch(P(), V(), I(), E(), U(), D()) main;
