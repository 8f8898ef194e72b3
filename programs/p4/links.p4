// A system program that tells tenants of the link: here by the port of arrival, as a script can say it. One for a NIC in use would have
// the depth of queues from the host.

#include <sluice.p4>

struct shared_t {}

control Tell(inout shared_t shared, inout system_metadata_t metadata) {
    apply {
        if (metadata.ingress_port == 3) {
            metadata.queue_depth = 64;
            metadata.link_use = 1000;
        } else {
            metadata.queue_depth = 63;
            metadata.link_use = 900;
        }
    }
}

control Nothing(inout shared_t shared, inout system_metadata_t metadata) {
    apply {}
}

System(Tell(), Nothing()) main;
