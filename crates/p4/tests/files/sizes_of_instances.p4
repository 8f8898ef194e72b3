#include <core.p4>
#include <v1model.p4>
extern own { own(bit<32> size); }
const int less = 1 - 2;
control c(inout bit<8> x) {
    register<bit<32>>(-1) r; // error: [E0741] the size of `register`: found -1, allowed: 0 and more
    register<bit<32>>(less) s; // error: [E0741] found -1
    register<bit<32>>(size = -3) t; // error: [E0741] found -3
    counter(-1, CounterType.packets) n; // error: [E0741] the size of `counter`
    meter(-1, MeterType.bytes) m; // error: [E0741] the size of `meter`
    action_profile(-4) p; // error: [E0741] the size of `action_profile`
    action_selector(HashAlgorithm.crc16, -4, 8) q; // error: [E0741] the size of `action_selector`
    register<bit<32>>(16) u;
    // What is no extern of the library says itself what its sizes are.
    own(-1) o;
    apply { }
}
