"""`make test`: runs every test and counts. The last line is `N passed, N failed`."""

import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from project import BUILD, ROOT, captured, tool_environment

RUST_RESULT = re.compile(r"^test result: \w+\. (\d+) passed; (\d+) failed;")
SCRIPT_RESULT = re.compile(r"^(\d+) passed, (\d+) failed, (\d+) skipped")
RMT_SCRIPT_RESULT = re.compile(r"^(passed|FAILED) \S+\.pkt: \d+ statements")
RMT = ROOT / "programs" / "rmt"
WORKERS = 2


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


def benches() -> Count:
    report = BUILD / "pytest.xml"
    report.unlink(missing_ok=True)
    report.parent.mkdir(exist_ok=True)
    command = ["pytest", "-q", "-n", str(WORKERS), f"--junitxml={report}"]
    code = _stream(command, lambda line: None)
    count = Count()
    if report.exists():
        for suite in ElementTree.parse(report).getroot().iter("testsuite"):
            number = {name: int(suite.get(name, 0)) for name in ("tests", "failures", "errors", "skipped")}
            count.failed += number["failures"] + number["errors"]
            count.passed += number["tests"] - number["failures"] - number["errors"] - number["skipped"]
    return _settle(count, code)


def _nic_scripts() -> list[list[str]]:
    """Every packet script on model and RTL in lockstep, the NIC's own also on the tiny target; XDP on the model."""
    nic = sorted(ROOT.glob("crates/nic/scripts/*.pkt"))
    every = nic + sorted(ROOT.glob("programs/**/*.pkt"))
    # The RTL has no XDP engine.
    xdp = [path for path in every if re.search(r"^xdp ", path.read_text(), re.MULTILINE)]
    rest = [path for path in every if path not in xdp]
    only_default = [path for path in rest if re.search(r"^device default", path.read_text(), re.MULTILINE)]
    tiny = [path for path in rest if path in nic and path not in only_default]
    tiny_xdp = [path for path in xdp if path in nic]
    return [
        ["target/debug/sluice", "script", *_names(files), "--device", device, "--target", target]
        for target, device, files in (
            # In two halves, for they take longest.
            ("default", "both", rest[::2]),
            ("default", "both", rest[1::2]),
            ("tiny", "both", tiny),
            ("default", "model", xdp),
            ("tiny", "model", tiny_xdp),
        )
    ]


def _rmt_scripts(files: Sequence[Path]) -> list[str]:
    """The scripts of the rmt modules on the pipeline alone: in lockstep where it has a plug-in, else on the model."""
    there = (BUILD / "plugins" / "libsluice_rtl_rmt_default.so").exists()
    if not there:
        print("scripts: no libsluice_rtl_rmt_default.so, so those of rmt on the model only")
    device = "both" if there else "model"
    return ["target/debug/sluice", "rmt", "run", "--script", *_names(files), "--device", device]


def _names(files: Sequence[Path]) -> list[str]:
    return [str(path.relative_to(ROOT)) for path in files]


def scripts() -> Count:
    """All packet scripts, two commands at a time; each shows its output when it ends."""
    rmt_files = sorted(RMT.rglob("*.pkt"))
    rmt = _rmt_scripts(rmt_files)
    commands = [*_nic_scripts(), rmt]
    total = Count()
    with ThreadPoolExecutor(WORKERS) as pool:
        for command, (code, text) in zip(commands, pool.map(captured, commands), strict=True):
            print(text, end="", flush=True)
            count = Count()
            for line in text.splitlines():
                if found := SCRIPT_RESULT.match(line):
                    count.passed += int(found[1])
                    # A script that was skipped has not been shown: every device is there.
                    count.failed += int(found[2]) + int(found[3])
                elif found := RMT_SCRIPT_RESULT.match(line):
                    count.passed += found[1] == "passed"
                    count.failed += found[1] == "FAILED"
            _settle(count, code)
            if command is rmt:
                # A script without a result is one that was not run.
                count.failed += max(0, len(rmt_files) - count.passed - count.failed)
            total.passed += count.passed
            total.failed += count.failed
    return total


def main() -> None:
    total = Count()
    for runner in (rust, scripts, benches):
        count = runner()
        print(f"test: {runner.__name__}: {count.passed} passed, {count.failed} failed\n", flush=True)
        total.passed += count.passed
        total.failed += count.failed
    print(f"{total.passed} passed, {total.failed} failed")
    sys.exit(1 if total.failed or not total.passed else 0)


if __name__ == "__main__":
    main()
