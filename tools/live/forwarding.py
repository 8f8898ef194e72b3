"""Router and redirect map between two namespaces."""

import sys
from pathlib import Path

from live.lab import Lab, Namespace, check, equal, lab
from live.nic import Nic

XDP = Path(__file__).resolve().parent.parent.parent / "programs" / "xdp"
MAC_A, MAC_B = "02:00:00:00:00:0a", "02:00:00:00:00:0b"
# The router's own, on its two interfaces.
MAC_RA, MAC_RB = "02:00:00:00:01:0a", "02:00:00:00:01:0b"
PORT = 7007
PINGS, DATAGRAMS, OCTETS = 40, 400, 2_000_000


def ports(tenant: str, count: int = 2) -> str:
    """The part of nic.toml that binds ports to interfaces and their untagged frames to a tenant."""
    port = '[[port]]\nnumber = {0}\niface = "p{0}"\nuntagged = "{1}"\n\n'
    return '[device]\ntarget = "default"\n\n' + "".join(port.format(number, tenant) for number in range(count))


def ping(space: Namespace, host: str, ttl: int, count: int = PINGS) -> None:
    """Every echo request has its reply, once, whole, and with this time to live."""
    found = space.peer("ping", host, count)
    equal(found, {"sent": count, "replies": count, "twice": 0, "wrong": 0, "ttls": [ttl]}, f"ping {host}")


def tcp(space: Namespace, host: str, octets: int = OCTETS, connections: int = 1) -> None:
    """What TCP connections send comes back the same."""
    found = space.peer("tcp", host, PORT, octets, connections)
    total = octets * connections
    equal(found, {"sent": total, "received": total, "same": connections}, f"TCP {host}")


def udp(space: Namespace, host: str, count: int = DATAGRAMS) -> None:
    """Every datagram comes back, once and whole."""
    found = space.peer("udp", host, PORT, count)
    octets = found["sent_bytes"]
    expected = {"sent": count, "replies": count, "twice": 0, "wrong": 0}
    equal(found, expected | {"sent_bytes": octets, "received_bytes": octets}, f"UDP {host}")


def router(folder: Path, sluice: Path) -> str:
    """IPv4 from network to network: neighbours by the exact table, what is behind them by the routes. What is for the
    host reaches its TAP device once."""
    with lab(folder, "a", "b") as (it, a, b):
        it.port(0, a, "eth0", MAC_A)
        it.port(1, b, "eth0", MAC_B)
        it.write("interfaces", f"u32:1 mac:{MAC_RA},u16:0\nu32:2 mac:{MAC_RB},u16:0\n")
        it.write("routes", "u32:16,ip:10.9.0.0 ip:10.2.0.2,u32:0\nu32:32,ip:10.1.0.1 ip:0.0.0.0,u32:1\n")
        it.write("ports", "u32:1 u32:1\nu32:2 u32:2\n")
        config = it.write(
            "nic.toml",
            f"""{ports("router")}[[host]]
number = 0
tap = "host0"

[[tenant]]
name = "router"
id = 1
vlans = []
queues = {{ port0 = 1024, port1 = 1024, host0 = 256 }}
xdp = "{XDP}/router/router.o"
maps = {{ interfaces = "interfaces", routes = "routes", ports = "ports" }}
""",
        )
        nic = Nic(it, sluice, "run", "--config", config)
        it.up()
        for space, own, gateway, mac in ((a, "10.1.0.2", "10.1.0.1", MAC_RA), (b, "10.2.0.2", "10.2.0.1", MAC_RB)):
            space.ip(
                f"addr add {own}/24 dev eth0",
                f"neigh add {gateway} lladdr {mac} dev eth0 nud permanent",
                f"route add default via {gateway}",
            )
        b.ip("addr add 10.9.0.2/32 dev lo")
        # Nobody has told the router its neighbours: the host gets the packet.
        unknown = a.peer("ping", "10.9.0.2", 1)
        equal((unknown["sent"], unknown["replies"]), (1, 0), "ping without neighbours")
        equal(nic.sum("counters", "u32:6"), 1, "packets to unresolved neighbours")
        for address, mac, source, slot in (("10.1.0.2", MAC_A, MAC_RA, 1), ("10.2.0.2", MAC_B, MAC_RB, 2)):
            nic.map("set", "neighbours", f"ip:{address}", f"mac:{mac},u16:1500,mac:{source},u16:{slot}")
        b.service("echo", PORT, "10.2.0.2", "10.9.0.2")
        ping(a, "10.2.0.2", 63)
        ping(b, "10.1.0.2", 63)
        ping(a, "10.9.0.2", 63)
        tcp(a, "10.2.0.2")
        udp(a, "10.2.0.2")
        udp(a, "10.9.0.2")
        equal(a.peer("ping", "10.1.0.1", 1)["replies"], 0, "ping of the router itself, whose host cannot send")
        equal(nic.sum("counters", "u32:5"), 1, "packets for the router itself")
        # What the host sends by the NIC's interfaces is on the wire, and no packet of the NIC.
        injected = sum(it.spaces["nic"].peer("inject", port, 50)["sent"] for port in it.cables)
        at_host = it.spaces["nic"].packets("host0")[0]
        report = nic.stop(injected)
        tenant = next(t for t in report["tenants"] if t["name"] == "router")
        equal((at_host, tenant["delivered"], tenant["dropped"]), (2, 2, {}), "packets of the host, and drops")
        return f"{tenant['forwarded']} packets forwarded, {at_host} to the host's TAP device"


# Entries of redirect_map: what comes by one interface leaves by the other.
PATCHES = {"u32:1": "u32:1,u32:1,zero:12", "u32:2": "u32:1,u32:0,zero:12"}
SLOTS = "u32:0 u32:1\nu32:1 u32:2\n"


def patches() -> str:
    """The text of a file of them."""
    return "".join(f"{key} {value}\n" for key, value in PATCHES.items())


def addresses(a: Namespace, b: Namespace) -> None:
    """Of one network for both."""
    for space, number in ((a, 1), (b, 2)):
        space.ip(f"addr add 10.5.0.{number}/24 dev eth0", f"addr add fd05::{number}/64 dev eth0 nodad")


def joined(it: Lab, a: Namespace, b: Namespace, nic: Nic) -> int:
    """Two namespaces that are one network, ARP and neighbour discovery included; returns packets redirected."""
    b.service("echo", PORT, "0.0.0.0", "fd05::2")
    for host in ("10.5.0.2", "fd05::2"):
        ping(a, host, 64)
        tcp(a, host)
        udp(a, host)
    ping(b, "10.5.0.1", 64)
    it.settle()
    redirected = [nic.sum("sent", f"u32:{slot}") for slot in (0, 1)]
    check(min(redirected) > PINGS, f"both directions were counted: {redirected}")
    return sum(redirected)


def redirect_map(folder: Path, sluice: Path) -> str:
    """The patch panel as a tenant of a described NIC."""
    with lab(folder, "a", "b", ipv6=True) as (it, a, b):
        it.port(0, a, "eth0", MAC_A)
        it.port(1, b, "eth0", MAC_B)
        it.write("patches", patches())
        it.write("ports", SLOTS)
        config = it.write(
            "nic.toml",
            f"""{ports("panel")}[[tenant]]
name = "panel"
id = 1
vlans = []
queues = {{ port0 = 1024, port1 = 1024, host0 = 64 }}
xdp = "{XDP}/redirect_map/redirect_map.o"
maps = {{ patches = "patches", ports = "ports" }}
""",
        )
        nic = Nic(it, sluice, "run", "--config", config)
        it.up()
        addresses(a, b)
        redirected = joined(it, a, b, nic)
        report = nic.stop()
        equal(report["total"]["forwarded"], redirected, "packets forwarded, of those that the program redirected")
        equal(report["total"]["offered"], redirected, "packets that came")
        return f"{redirected} packets redirected"


def xdp_run(folder: Path, sluice: Path) -> str:
    """The same by `sluice xdp run --iface`, with its own table."""
    with lab(folder, "a", "b", ipv6=True) as (it, a, b):
        it.port(0, a, "eth0", MAC_A)
        it.port(1, b, "eth0", MAC_B)
        state = it.folder / "state.json"
        nic = Nic(
            it, sluice, "xdp", "run", XDP / "redirect_map" / "redirect_map.o", "--iface", "p0,p1=2", "--tap", "host0",
            "--map", f"ports={it.write('ports', SLOTS)}", "--state", state,
        )  # fmt: skip
        it.up()
        addresses(a, b)
        # Without patches all is the host's.
        equal(a.peer("ping", "10.5.0.2", 1)["replies"], 0, "ping without patches")
        for key, value in PATCHES.items():
            nic.map("set", "patches", key, value)
        # What was asked in vain is not asked again at once.
        a.ip("neigh flush dev eth0")
        redirected = joined(it, a, b, nic)
        at_host = it.spaces["nic"].packets("host0")[0]
        check(at_host > 0, "the host's TAP device has got packets")
        report = nic.stop()
        program = report["programs"][0]
        verdicts = {"aborted": 0, "drop": 0, "pass": at_host, "tx": 0, "redirect": redirected}
        equal((program["name"], program["verdicts"]), ("redirect_map", verdicts), "verdicts")
        equal(sum(program["redirects"].values()), redirected, "destinations of redirects")
        equal(sorted(program["redirects"]), ["p0", "p1"], "names of destinations")
        instructions = program["instructions_per_packet"]
        check(10 < instructions["min"] <= instructions["median"] < 200, f"instructions a packet: {instructions}")
        saved = it.spaces["nic"].run(sluice, "map", "--state", state, "get", "ports", "u32:1")
        check("02 00 00 00" in saved, f"the saved state: {saved}")
        return f"{redirected} packets redirected, {instructions['median']} instructions a packet"


if __name__ == "__main__":
    sys.exit("start tools/test_live.py")
