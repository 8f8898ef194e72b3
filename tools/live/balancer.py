"""The load balancer before two real servers, which answer the clients directly."""

import json
from pathlib import Path

from live.forwarding import PINGS, PORT, XDP, ping, ports, tcp, udp
from live.lab import check, equal, lab
from live.nic import Nic

MAC_BALANCER, MAC_GATEWAY = "02:00:00:00:00:1b", "02:00:00:00:00:fe"
VIP4, VIP6 = "192.0.2.1", "2001:db8::1"
CONNECTIONS = 24


def load_balancer(folder: Path, sluice: Path) -> str:
    """Clients reach the service's addresses over a gateway that leads them to the balancer; this one answers pings
    itself and sends flows through tunnels of IPv4 and IPv6 over the same gateway. The servers have the service's
    addresses, take the packets out of the tunnels and answer to the clients, past the balancer."""
    with lab(folder, "client", "gateway", "server", ipv6=True) as (it, client, gateway, server):
        gateway.set("ipv4/ip_forward", 1)
        gateway.set("ipv6/conf/all/forwarding", 1)
        it.cable(gateway, "clients", client, "eth0", "02:00:00:00:01:01", "02:00:00:00:01:02")
        it.cable(gateway, "servers", server, "eth0", "02:00:00:00:02:01", "02:00:00:00:02:02")
        it.port(0, gateway, "balancer", MAC_GATEWAY)
        it.write("settings", f"u32:0 ip:172.16.0.0,ip6:fd00:1b::,mac:{MAC_GATEWAY},u16:1500\n")
        it.write("ring", "".join(f"u32:{slot} u32:{1 + slot % 2}\n" for slot in range(4)))
        config = it.write(
            "nic.toml",
            f"""{ports("balancer", 1)}[[tenant]]
name = "balancer"
id = 1
vlans = []
queues = {{ port0 = 2048, host0 = 64 }}
xdp = "{XDP}/load_balancer/load_balancer.o"
maps = {{ settings = "settings", ring_0 = "ring" }}
""",
        )
        nic = Nic(it, sluice, "run", "--config", config)
        # The servers behind both tunnels, and the services: TCP and UDP of the port, and pings.
        tunnels = {1: "ip:10.2.0.101,zero:12,u32:4", 2: "ip6:fd00:2::102,u32:6"}
        for number, real in tunnels.items():
            nic.map("set", "reals", f"u32:{number}", f"{real},u32:1")
        for address, version, icmp in ((f"ip:{VIP4},zero:12", 4, 1), (f"ip6:{VIP6}", 6, 58)):
            for protocol in (6, 17):
                nic.map("set", "services", f"{address},be16:{PORT},u8:{protocol},u8:{version}", "u32:0,u32:4,u32:0")
            nic.map("set", "services", f"{address},be16:0,u8:{icmp},u8:{version}", "u32:0,u32:0,u32:4")
        it.up()
        for device, net in (("clients", 1), ("servers", 2)):
            gateway.ip(f"addr add 10.{net}.0.1/24 dev {device}", f"addr add fd00:{net}::1/64 dev {device} nodad")
            gateway.ip(f"link set {device} up")
        gateway.ip("addr add 10.3.0.1/24 dev balancer")
        for version, address in (("-4", f"{VIP4}/32"), ("-6", f"{VIP6}/128")):
            gateway.ip(f"{version} neigh add {address.split('/')[0]} lladdr {MAC_BALANCER} dev balancer nud permanent")
            gateway.ip(f"{version} route add {address} dev balancer")
        client.ip("addr add 10.1.0.2/24 dev eth0", "addr add fd00:1::2/64 dev eth0 nodad", "link set eth0 mtu 1400 up")
        client.ip(f"route add {VIP4} via 10.1.0.1", f"-6 route add {VIP6} via fd00:1::1")
        server.ip("addr add 10.2.0.101/24 dev eth0", "addr add fd00:2::102/64 dev eth0 nodad", "link set eth0 up")
        server.ip(f"addr add {VIP4}/32 dev lo", f"addr add {VIP6}/128 dev lo nodad")
        server.ip("route add 10.1.0.0/24 via 10.2.0.1", "-6 route add fd00:1::/64 via fd00:2::1")
        ends = server.service("decapsulate", "tunnels")
        server.ip("link set tunnels up")
        server.service("echo", PORT, VIP4, VIP6)

        def arrived() -> dict:
            """Packets that have come out of the tunnels, by the tunnels' family."""
            ends.stdin.write("\n")
            ends.stdin.flush()
            return json.loads(ends.stdout.readline())

        for host in (VIP4, VIP6):
            ping(client, host, 63)
            tcp(client, host, 20_000, CONNECTIONS)
            udp(client, host)
        equal(nic.sum("counters", "u32:1"), 2 * PINGS, "pings that the balancer answered")
        before = arrived()
        check(min(before.values()) > 0, f"both tunnels were used: {before}")
        forwarded = nic.sum("counters", "u32:0")
        equal(sum(before.values()), forwarded, "packets out of the tunnels, of those that the balancer sent into them")
        equal([nic.sum("real_stats", f"u32:{n}") for n in (1, 2)], list(before.values()), "packets of the servers")
        # A server that is taken out of service gets no new connection.
        nic.map("set", "reals", "u32:2", f"{tunnels[2]},u32:0")
        tcp(client, VIP4, 20_000, CONNECTIONS)
        after = arrived()
        equal(after["6"], before["6"], "packets to the server that is out of service")
        check(after["4"] > before["4"] + CONNECTIONS, f"packets to the other one: {before} to {after}")
        flows = [nic.sum("real_stats", f"u32:{n}", 2) for n in (1, 2)]
        report = nic.stop()
        equal(report["total"]["dropped"], {}, "drops")
        return f"{sum(after.values())} packets in tunnels, flows by server {flows}"
