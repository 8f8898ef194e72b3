// The system module: it serves every packet, in the stage before those of tenants and in the one behind them.
//
// The first counts the packets of each tenant and turns the virtual address that it uses into a physical one. The last counts the
// packets of each port, routes by the physical address what no tenant sent anywhere, and turns a multicast address into a
// group. Tenants share the container of the destination address. programs/rmt/system.rmt is the same by hand.

#include <sluice.p4>

struct ipv4_t {
    @container("c4[7]") bit<32> dst;
}

struct shared_t {
    ipv4_t ipv4;
}

control Translate(inout shared_t shared, inout system_metadata_t metadata) {
    counter(256, CounterType.packets) tenants;

    action physical(bit<32> address) {
        shared.ipv4.dst = address;
    }

    table addresses {
        key = { shared.ipv4.dst : exact; }
        actions = { physical; NoAction; }
        default_action = NoAction();
        size = 64;
        const entries = {
            0x0a630001 : physical(0xac100001);  // 10.99.0.1
            0x0a630002 : physical(0xac100002);
        }
    }

    apply {
        addresses.apply();
        if (metadata.tenant > 0) {
            tenants.count((bit<32>) metadata.tenant);
        }
    }
}

control Route(inout shared_t shared, inout system_metadata_t metadata) {
    counter(8, CounterType.packets) links;

    action to(bit<8> destinations) {
        metadata.destinations = destinations;
    }

    // Group 255: host programs make groups; its copies go to every port but the one of arrival.
    action all() {
        metadata.group = 255;
        metadata.except_ingress = 1;
    }

    table routes {
        key = { shared.ipv4.dst : lpm; }
        actions = { to; all; NoAction; }
        default_action = NoAction();
        size = 16;
        const entries = {
            0xac100001 : to(2);                       // 172.16.0.1: port 1
            0xac100000 &&& 0xffff0000 : to(4);        // 172.16.0.0/16: port 2
            0xefffffff : all();                       // 239.255.255.255
        }
    }

    apply {
        if (metadata.destinations == 0 && metadata.group == 0) {
            routes.apply();
        }
        links.count((bit<32>) metadata.ingress_port);
    }
}

System(Translate(), Route()) main;
