"""Network namespaces without names, joined by veth pairs: they are gone when their processes are."""

import ctypes
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

PEER = Path(__file__).resolve().parent / "peer.py"
# No single command inside a namespace takes longer.
PATIENCE = 20.0
PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None, use_errno=True)


class Failed(Exception):
    """What did not behave as it must."""


def check(holds: bool, what: str) -> None:
    """Fails with `what` unless it holds."""
    if not holds:
        raise Failed(what)


def equal(found, expected, what: str) -> None:
    """Fails unless both are the same."""
    check(found == expected, f"{what}: found {found!r}, expected {expected!r}")


def why_not() -> str | None:
    """Why there can be no namespaces here."""
    if sys.platform != "linux":
        return "network namespaces need Linux"
    if os.geteuid() != 0:
        return "needs root, for network namespaces and AF_PACKET"
    for tool in ("ip", "nsenter", "unshare"):
        if not shutil.which(tool):
            return f"`{tool}` is not installed (iproute2, util-linux)"
    if not Path("/dev/net/tun").exists():
        return "there is no /dev/net/tun"
    pair = ["unshare", "--net", "ip", "link", "add", "name", "v0", "type", "veth", "peer", "name", "v1"]
    done = subprocess.run(pair, capture_output=True, text=True)
    return None if done.returncode == 0 else f"no namespace with a veth pair: {done.stderr.strip()}"


def _die_with_parent() -> None:
    _LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


class Namespace:
    """A network namespace, held by a process that waits for the end of its input."""

    def __init__(self, name: str, ipv6: bool):
        self.name = name
        holder = ["unshare", "--net", "sh", "-c", "echo ready; read end"]
        self.holder = subprocess.Popen(
            holder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, preexec_fn=_die_with_parent
        )
        self.processes: list[subprocess.Popen] = []
        equal(self.holder.stdout.readline(), b"ready\n", f"namespace {name}")
        self.ipv6 = ipv6
        settings = {"ipv4/conf/*/rp_filter": 0}
        settings |= {"ipv6/conf/*/accept_dad": 0} if ipv6 else {"ipv6/conf/*/disable_ipv6": 1}
        for setting, value in settings.items():
            for which in ("all", "default") if "*" in setting else ("",):
                self.set(setting.replace("*", which), value)
        self.ip("link set lo up")

    def command(self, *command: object) -> list[str]:
        """The command line that runs a command inside."""
        return ["nsenter", f"--net=/proc/{self.holder.pid}/ns/net", *map(str, command)]

    def run(self, *command: object) -> str:
        """Runs a command to its end; its output."""
        done = subprocess.run(self.command(*command), capture_output=True, text=True, timeout=PATIENCE)
        what = f"{self.name}: {' '.join(map(str, command))}: {done.stderr.strip() or done.stdout.strip()}"
        check(done.returncode == 0, what)
        return done.stdout

    def set(self, setting: str, value: object) -> None:
        """Sets a kernel parameter below net."""
        self.run("sh", "-c", f"[ ! -e /proc/sys/net/{setting} ] || echo '{value}' > /proc/sys/net/{setting}")

    def ip(self, *lines: str) -> None:
        """Does what `ip` does with each line."""
        for line in lines:
            self.run("ip", *line.split())

    def peer(self, *words: object) -> dict:
        """Runs a job of peer.py to its end; what it reports."""
        return json.loads(self.run(sys.executable, PEER, *words))

    def start(self, *command: object, **options) -> subprocess.Popen:
        """Starts a process that ends with the namespace."""
        options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True} | options
        process = subprocess.Popen(self.command(*command), preexec_fn=_die_with_parent, **options)
        self.processes.append(process)
        return process

    def service(self, *words: object) -> subprocess.Popen:
        """Starts a job of peer.py that goes on, and waits until it is ready."""
        process = self.start(sys.executable, PEER, *words, stdin=subprocess.PIPE)
        if process.stdout.readline() != "ready\n":
            raise Failed(f"{self.name}: {' '.join(map(str, words))}: {process.stderr.read().strip()}")
        return process

    def link(self, device: str) -> dict:
        """What the kernel says of a device."""
        return json.loads(self.run("ip", "-json", "-statistics", "link", "show", "dev", device))[0]

    def packets(self, device: str) -> tuple[int, int]:
        """Packets that a device has received and sent since it was made."""
        stats = self.link(device)["stats64"]
        return stats["rx"]["packets"], stats["tx"]["packets"]

    def close(self) -> None:
        """Ends all that runs inside, and with it the namespace."""
        for process in self.processes:
            if process.poll() is None:
                process.kill()
        for process in self.processes:
            process.wait()
            for stream in (process.stdin, process.stdout, process.stderr):
                if stream:
                    stream.close()
        self.holder.kill()
        self.holder.communicate()


class Lab:
    """Namespaces; `nic` is the one that the NIC is in."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.spaces: dict[str, Namespace] = {}
        # Ends of cables that lead to the NIC, by their names there.
        self.cables: dict[str, tuple[Namespace, str]] = {}

    def space(self, name: str, ipv6: bool = False) -> Namespace:
        """Makes a namespace."""
        space = self.spaces[name] = Namespace(name, ipv6)
        return space

    def cable(self, near: Namespace, end: str, far: Namespace, other: str, mac: str, other_mac: str) -> None:
        """A veth pair between two namespaces. Offloads are off: the NIC sees each frame as a wire carries it."""
        peer = f"peer name {other} address {other_mac} netns {far.holder.pid}"
        near.ip(f"link add name {end} address {mac} type veth {peer}")
        near.peer("offloads", end)
        far.peer("offloads", other)

    def port(self, number: int, space: Namespace, device: str, mac: str) -> None:
        """Joins a device of a namespace to the NIC's interface `p<number>`. It stays down: what it sends from its
        first frame on is to be seen by the NIC."""
        nic = self.spaces["nic"]
        self.cable(nic, f"p{number}", space, device, f"02:00:00:00:ff:0{number}", mac)
        nic.ip(f"link set p{number} up")
        self.cables[f"p{number}"] = (space, device)

    def up(self) -> None:
        """Brings up what is joined to the NIC. IPv6 begins when all of it is up: what it sends of itself would be lost
        at an end that is still down."""
        self._ipv6(False)
        for space, device in self.cables.values():
            space.ip(f"link set {device} up")
        # A device takes frames and drops them until the kernel has noticed that the other end is there.
        deadline = time.monotonic() + 5
        ends = [(self.spaces["nic"], port) for port in self.cables] + list(self.cables.values())
        while any(space.link(device)["operstate"] != "UP" for space, device in ends):
            check(time.monotonic() < deadline, "the cables do not come up")
            time.sleep(0.01)
        self._ipv6(True)

    def _ipv6(self, on: bool) -> None:
        for space, device in self.cables.values():
            if space.ipv6:
                space.set(f"ipv6/conf/{device}/disable_ipv6", int(not on))

    def write(self, name: str, text: str) -> Path:
        """A file of the test."""
        path = self.folder / name
        path.write_text(text)
        return path

    def traffic(self) -> tuple[int, int]:
        """Packets that all devices joined to the NIC have received and sent."""
        counts = [space.packets(device) for space, device in self.cables.values()]
        return sum(c[0] for c in counts), sum(c[1] for c in counts)

    def settle(self) -> None:
        """Waits until nothing moves any more, then takes the cables off the NIC."""
        self._ipv6(False)
        deadline = time.monotonic() + 5
        before = None
        while before != (before := self.traffic()):
            check(time.monotonic() < deadline, "traffic does not end")
            time.sleep(0.15)
        for space, device in self.cables.values():
            space.ip(f"link set {device} down")
        time.sleep(0.05)

    def close(self) -> None:
        """Ends everything."""
        for space in self.spaces.values():
            space.close()


@contextmanager
def lab(folder: Path, *names: str, ipv6: bool = False) -> Iterator[Sequence]:
    """A laboratory and its namespaces, gone at the end whatever happens."""
    made = Lab(folder)
    try:
        made.space("nic")
        yield (made, *(made.space(name, ipv6) for name in names))
    finally:
        made.close()
