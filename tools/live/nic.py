"""A running NIC in the namespace `nic`, and what its report must say."""

import json
import signal
import subprocess
import time
from pathlib import Path

from live.lab import PATIENCE, Lab, check, equal

INTERRUPTED = 130


class Nic:
    """`sluice run` or `sluice xdp run --iface`, with its local socket."""

    def __init__(self, lab: Lab, sluice: Path, *words: object):
        self.lab, self.sluice = lab, sluice
        self.socket = lab.folder / "nic.sock"
        command = (sluice, *words, "--json", "--socket", self.socket)
        # Two files, not pipes: a long report must not wait for a reader.
        self.output = lab.folder / "report.json"
        self.errors = lab.folder / "errors.txt"
        with open(self.output, "w") as output, open(self.errors, "w") as errors:
            self.process = lab.spaces["nic"].start(*command, stdout=output, stderr=errors)
        deadline = time.monotonic() + PATIENCE
        # The socket is made when the interfaces are open.
        while not self.socket.exists():
            check(self.process.poll() is None, f"the NIC ended: {self.errors.read_text().strip()}")
            check(time.monotonic() < deadline, "the NIC does not come up")
            time.sleep(0.01)

    def map(self, *words: object) -> str:
        """What `sluice map` says to the running NIC."""
        command = [str(self.sluice), "map", "--socket", str(self.socket), *map(str, words)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
        check(done.returncode == 0, f"{' '.join(command)}: {done.stderr.strip()}")
        return done.stdout

    def sum(self, name: str, key: str, word: int = 0) -> int:
        """Sum of the processors' values in a map of 64-bit counters."""
        entry = json.loads(self.map("--json", "get", name, key))
        values = [value["value"] for value in entry["values"]]
        return sum(int.from_bytes(bytes(int(b, 16) for b in v[8 * word : 8 * word + 8]), "little") for v in values)

    def stop(self, injected: int = 0) -> dict:
        """Ends the NIC as Ctrl-C does, and checks that nothing was lost, made up or seen twice. So many frames were
        sent by the NIC's interfaces without it."""
        self.lab.settle()
        received, sent = self.lab.traffic()
        self.process.send_signal(signal.SIGINT)
        code = self.process.wait(PATIENCE)
        equal(code, INTERRUPTED, f"exit code of the NIC ({self.errors.read_text().strip()})")
        report = json.loads(self.output.read_text())
        live = report["live"]
        tenants = report.get("tenants") or [report["nic"]]
        count = {name: sum(t[name] for t in tenants) for name in ("offered", "copies", "forwarded", "delivered")}
        dropped = sum(sum(t["dropped"].values()) for t in tenants)
        lost = {name: live[name] for name in ("missed", "refused", "oversize")}
        equal(lost, dict.fromkeys(lost, 0), "frames that came too fast, that interfaces refused, or that were merged")
        equal(live["received"], sent, "packets that the NIC took in, of those that came")
        equal(count["offered"], live["received"], "packets offered to tenants")
        equal(
            count["offered"] + count["copies"],
            count["forwarded"] + count["delivered"] + dropped,
            "accounting of the NIC",
        )
        equal(
            count["forwarded"], received - injected, "packets that left by the NIC's ports, beside those that arrived"
        )
        return report
