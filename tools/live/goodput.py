"""What TCP reaches through a tenant's rate limit, by its burst."""

import json
import subprocess
import sys
from pathlib import Path

from live.forwarding import MAC_A, MAC_B
from live.lab import PEER, lab
from live.nic import Nic

PORT = 5001
NIC = """[device]
target = "default"

[[port]]
number = 0
iface = "p0"
untagged = "red"

[[port]]
number = 1
iface = "p1"
untagged = "red"

[[tenant]]
name = "red"
id = 1
vlans = []
rate = {rate}
burst = {burst}
queues = {{ port0 = 1024, port1 = 1024 }}

[tenant.table]
key = "none"
default = {{ to = ["port0", "port1"], except_ingress = true }}
"""


def goodput(
    folder: Path, sluice: Path, rate: int, burst: int, milliseconds: int, congestion: str, seconds: int
) -> tuple[float, int, int]:
    """Mbit/s of one connection from one namespace to another, segments that it sent again, and frames that the NIC
    dropped for the rate. What comes to the sender waits `milliseconds` longer."""
    with lab(folder, "a", "b") as (it, a, b):
        it.port(0, a, "eth0", MAC_A)
        it.port(1, b, "eth0", MAC_B)
        nic = Nic(it, sluice, "run", "--config", it.write("nic.toml", NIC.format(rate=rate, burst=burst)))
        it.up()
        near = "eth0"
        if milliseconds:
            near = "far"
            a.service("delay", "eth0", near, milliseconds)
            a.ip(f"link set {near} up")
        a.ip(f"addr add 10.6.0.1/24 dev {near}")
        b.ip("addr add 10.6.0.2/24 dev eth0")
        b.service("sink", "10.6.0.2", PORT, seconds)
        command = a.command(sys.executable, PEER, "stream", "10.6.0.2", PORT, seconds, congestion)
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds + 120)
        if done.returncode:
            raise RuntimeError(done.stderr.strip())
        said = json.loads(done.stdout)
        report = nic.stop()
        red = next(t for t in report["tenants"] if t["name"] == "red")
        return 8e-6 * said["bytes"] / seconds, said["again"], red["dropped"].get("rate", 0)
