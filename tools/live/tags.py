"""Two tenants of one pair of ports, told apart by their VLAN tags."""

from pathlib import Path

from live.forwarding import MAC_A, MAC_B, PORT, XDP, ping, tcp, udp
from live.lab import equal, lab
from live.nic import Nic

TENANT = """
[[tenant]]
name = "{name}"
id = {number}
vlans = [{number}]
keep_tag = {keep}
queues = {{ port0 = 512, port1 = 512, host0 = 64 }}
xdp = "{xdp}/redirect_map/redirect_map.o"
maps = {{ patches = "{patches}", ports = "ports" }}
"""


def two_tenants(folder: Path, sluice: Path) -> str:
    """One tenant has its tags taken off and put back, the other one sees them. The kernel hands tags over beside the
    frames; here they must be in them again. Untagged frames have no tenant, and the tenants do not hear each other."""
    with lab(folder, "a", "b") as (it, a, b):
        it.port(0, a, "eth0", MAC_A)
        it.port(1, b, "eth0", MAC_B)
        it.write("ports", "u32:0 u32:1\nu32:1 u32:2\n")
        it.write("joined", "u32:1 u32:1,u32:1,zero:12\nu32:2 u32:1,u32:0,zero:12\n")
        binding = '\n[[port]]\nnumber = {0}\niface = "p{0}"\n'
        text = '[device]\ntarget = "default"\n' + "".join(binding.format(number) for number in (0, 1))
        for name, number, keep in (("red", 10, "false"), ("blue", 20, "true")):
            text += TENANT.format(name=name, number=number, keep=keep, xdp=XDP, patches="joined")
        nic = Nic(it, sluice, "run", "--config", it.write("nic.toml", text))
        it.up()
        for space, own in ((a, 1), (b, 2)):
            space.ip(f"addr add 10.6.0.{own}/24 dev eth0")
            # Stacked: VLAN 7 within VLAN 10.
            for lower, number in (("eth0", 10), ("eth0", 20), ("v10", 7)):
                space.service("vlan", lower, f"v{number}", number)
                space.ip(f"link set v{number} mtu 1400 up", f"addr add 10.6.{number}.{own}/24 dev v{number}")
        hosts = [f"10.6.{number}.2" for number in (10, 20, 7)]
        b.service("echo", PORT, *hosts)
        for host in hosts:
            ping(a, host, 64)
            tcp(a, host, 200_000)
            udp(a, host, 100)
        equal(a.peer("ping", "10.6.0.2", 1)["replies"], 0, "ping without a tag")
        report = nic.stop()
        tenants = {t["name"]: t for t in report["tenants"]}
        for name in ("red", "blue"):
            equal(tenants[name]["forwarded"], tenants[name]["offered"], f"packets of {name} that left")
        equal(list(tenants["system"]["dropped"]), ["unmapped"], "why untagged frames were dropped")
        return ", ".join(f"{name} {tenants[name]['forwarded']} packets" for name in ("red", "blue"))
