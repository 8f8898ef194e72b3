"""`make test`: runs every test and counts. The last line is `N passed, N failed`.

The benches run beside the rest, which alone would often leave a core idle; what they print comes last.
"""

import os
import re
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from project import BUILD, ROOT, tool_environment

RUST_RESULT = re.compile(r"^test result: \w+\. (\d+) passed; (\d+) failed;")
SCRIPT_RESULT = re.compile(r"^(\d+) passed, (\d+) failed, (\d+) skipped")
RMT_SCRIPT_RESULT = re.compile(r"^(passed|FAILED) \S+\.pkt: \d+ statements")
RMT = ROOT / "programs" / "rmt"
BENCH_WORKERS = 2


@dataclass
class Count:
    """Tests of one runner, by how they ended."""

    passed: int = 0
    failed: int = 0


def _stream(command: Sequence[str], look: Callable[[str], None]) -> int:
    """Shows the output as it comes, and shows it to `look`; returns the exit code."""
    with subprocess.Popen(
        command, cwd=ROOT, env=tool_environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        for line in process.stdout:
            print(line, end="", flush=True)
            look(line)
    return process.returncode


def _settle(count: Count, code: int) -> Count:
    """A runner that failed before it could count has failed once."""
    if code != 0 and count.failed == 0:
        count.failed = 1
    return count


def rust() -> Count:
    # Tests on the RTL are skipped where there is no plug-in; `make test` has built them.
    os.environ["SLUICE_REQUIRE_PLUGINS"] = "1"
    count = Count()

    def look(line: str) -> None:
        if found := RUST_RESULT.match(line):
            count.passed += int(found[1])
            count.failed += int(found[2])

    return _settle(count, _stream(["cargo", "test", "--workspace", "--no-fail-fast"], look))


class Benches:
    """The benches, from when they are made; their output waits in a file until they are asked for their count."""

    def __init__(self) -> None:
        BUILD.mkdir(exist_ok=True)
        self._report, log = BUILD / "pytest.xml", BUILD / "pytest.log"
        self._report.unlink(missing_ok=True)
        command = ["pytest", "-q", "-n", str(BENCH_WORKERS), "--durations=10", f"--junitxml={self._report}"]
        with open(log, "w") as out:
            self._process = subprocess.Popen(command, cwd=ROOT, env=tool_environment(), stdout=out, stderr=out)
        self._printed = open(log)

    def count(self) -> Count:
        running = True
        while running:
            running = self._process.poll() is None
            print(self._printed.read(), end="", flush=True)
            time.sleep(0.2 if running else 0)
        count = Count()
        if self._report.exists():
            for suite in ElementTree.parse(self._report).getroot().iter("testsuite"):
                number = {name: int(suite.get(name, 0)) for name in ("tests", "failures", "errors", "skipped")}
                count.failed += number["failures"] + number["errors"]
                count.passed += number["tests"] - number["failures"] - number["errors"] - number["skipped"]
        return _settle(count, self._process.returncode)

    def stop(self) -> None:
        """Ends them, if they have not ended."""
        if self._process.poll() is None:
            self._process.terminate()
            self._process.wait()
        self._printed.close()


def scripts() -> Count:
    """Every packet script on model and RTL in lockstep, the NIC's own also on the tiny target; XDP on the model."""
    nic = sorted(ROOT.glob("crates/nic/scripts/*.pkt"))
    every = nic + sorted(ROOT.glob("programs/**/*.pkt"))
    # The RTL has no XDP engine.
    xdp = [path for path in every if re.search(r"^xdp ", path.read_text(), re.MULTILINE)]
    rest = [path for path in every if path not in xdp]
    only_default = [path for path in rest if re.search(r"^device default", path.read_text(), re.MULTILINE)]
    tiny = [path for path in rest if path in nic and path not in only_default]
    tiny_xdp = [path for path in xdp if path in nic]
    count = Count()

    def look(line: str) -> None:
        if found := SCRIPT_RESULT.match(line):
            count.passed += int(found[1])
            # A script that was skipped has not been shown: every device is there.
            count.failed += int(found[2]) + int(found[3])

    code = 0
    for target, device, files in (
        ("default", "both", rest),
        ("tiny", "both", tiny),
        ("default", "model", xdp),
        ("tiny", "model", tiny_xdp),
    ):
        names = [str(path.relative_to(ROOT)) for path in files]
        command = ["target/debug/sluice", "script", *names, "--device", device, "--target", target]
        code |= _stream(command, look)
    return _settle(count, code)


def rmt_scripts() -> Count:
    """The scripts of the rmt modules on the pipeline alone: in lockstep where it has a plug-in, else on the model."""
    there = (BUILD / "plugins" / "libsluice_rtl_rmt_default.so").exists()
    if not there:
        print("rmt_scripts: no libsluice_rtl_rmt_default.so, so on the model only")
    names = [str(path.relative_to(ROOT)) for path in sorted(RMT.rglob("*.pkt"))]
    command = ["target/debug/sluice", "rmt", "run", "--script", *names, "--device", "both" if there else "model"]
    count = Count()

    def look(line: str) -> None:
        if found := RMT_SCRIPT_RESULT.match(line):
            count.passed += found[1] == "passed"
            count.failed += found[1] == "FAILED"

    count = _settle(count, _stream(command, look))
    # A script without a result is one that was not run.
    count.failed += max(0, len(names) - count.passed - count.failed)
    return count


def main() -> None:
    total = Count()
    beside = Benches()
    runners = {"rust": rust, "scripts": scripts, "rmt_scripts": rmt_scripts, "benches": beside.count}
    try:
        for name, runner in runners.items():
            count = runner()
            print(f"test: {name}: {count.passed} passed, {count.failed} failed\n", flush=True)
            total.passed += count.passed
            total.failed += count.failed
    finally:
        beside.stop()
    print(f"{total.passed} passed, {total.failed} failed")
    sys.exit(1 if total.failed or not total.passed else 0)


if __name__ == "__main__":
    main()
