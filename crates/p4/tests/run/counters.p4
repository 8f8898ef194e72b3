// Counters of packets and bytes, by an index that the packet, an entry or nobody says, and those of a table's entries.
#include <core.p4>
#include <v1model.p4>
#define LOCALS \
    counter(6, CounterType.packets_and_bytes) kinds; counter(4, CounterType.bytes) lengths; \
    direct_counter(CounterType.packets) hits; direct_counter(CounterType.packets_and_bytes) both; \
    action note(bit<8> at, bit<8> value) { kinds.count((bit<32>) at); hdr.h.c = value; } \
    action mark(bit<8> value) { hdr.h.c = value; } \
    table noted { \
        key = { hdr.h.b: exact; } actions = { note; NoAction; } counters = hits; size = 16; default_action = NoAction(); \
    } \
    table prefixes { key = { hdr.h.b: lpm; } actions = { mark; NoAction; } counters = both; size = 16; default_action = NoAction(); }
#define APPLY \
    if (hdr.h.a == 4) { \
        noted.apply(); \
    } else if (hdr.h.a == 5) { \
        kinds.count(5); prefixes.apply(); \
    } else { \
        lengths.count((bit<32>) hdr.h.b); \
    }
#include <bytes.p4>
