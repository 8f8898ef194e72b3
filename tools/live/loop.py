"""A tenant whose XDP program goes round a loop to its limit, and what a neighbour's ping notices."""

import shutil
import subprocess
import time
from pathlib import Path

import programs
from live.forwarding import MAC_A, MAC_B, XDP
from live.lab import Failed, check, equal, lab
from live.nic import Nic

PROGRAM = """
__attribute__((section("xdp"), used)) int loop(void *frame) {
    for (unsigned i = 0;; i++) {
        asm volatile("" : "+r"(i));
        if (i == 0xffffffff) return 2;
    }
}
"""
PINGS = 150


def neighbour(folder: Path, sluice: Path) -> str:
    """Every ping of red is answered while blue's packets loop until they have made 65,536 instructions, which is a
    fault. How long the pings take is said, and not tested."""
    clang = shutil.which(f"clang-{programs.MAJOR}") or shutil.which("clang")
    if not clang:
        return "skipped: clang is not installed"
    with lab(folder, "a", "b", "c") as (it, a, b, c):
        program = folder / "loop.o"
        source = it.write("loop.c", PROGRAM)
        subprocess.run([clang, "-O2", "-target", "bpf", "-c", source, "-o", program], check=True)
        for number, space, mac in ((0, a, MAC_A), (1, b, MAC_B), (2, c, "02:00:00:00:00:0c")):
            it.port(number, space, "eth0", mac)
        it.write("ports", "u32:0 u32:1\nu32:1 u32:2\n")
        it.write("joined", "u32:1 u32:1,u32:1,zero:12\nu32:2 u32:1,u32:0,zero:12\n")
        text = '[device]\ntarget = "default"\n'
        for number, name in ((0, "red"), (1, "red"), (2, "blue")):
            text += f'\n[[port]]\nnumber = {number}\niface = "p{number}"\nuntagged = "{name}"\n'
        for name, number, words in (
            ("red", 10, f'xdp = "{XDP}/redirect_map/redirect_map.o"\nmaps = {{ patches = "joined", ports = "ports" }}'),
            ("blue", 20, f'xdp = "{program}"'),
        ):
            queues = "queues = { port0 = 512, port1 = 512, host0 = 64 }"
            text += f'\n[[tenant]]\nname = "{name}"\nid = {number}\nvlans = []\n{queues}\n{words}\n'
        nic = Nic(it, sluice, "run", "--config", it.write("nic.toml", text))
        it.up()
        for space, own in ((a, 1), (b, 2)):
            space.ip(f"addr add 10.6.0.{own}/24 dev eth0")
        said, sent = [], 0
        for rate in (0, 3, 300):
            if rate:
                sent += 3 * rate
                sender = c.start("python3", Path(__file__).parent / "peer.py", "inject", "eth0", 3 * rate, 1 / rate)
                time.sleep(0.1)
            found = a.peer("ping", "10.6.0.2", PINGS, "timed")
            equal((found["replies"], found["wrong"]), (PINGS, 0), f"pings next to {rate} looping packets a second")
            said.append(f"{rate}/s: {found['median_ms']:.2f} ms, longest {found['longest_ms']:.1f}")
            if rate and sender.wait(20) != 0:
                raise Failed(f"sender: {sender.stderr.read()}")
        report = nic.stop()
        blue = next(tenant for tenant in report["tenants"] if tenant["name"] == "blue")
        check(blue["dropped"].get("xdp_aborted", 0) >= sent, f"looping packets: {blue['dropped']}, sent {sent}")
        return "ping next to looping packets, " + "; ".join(said)
