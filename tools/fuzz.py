"""`make fuzz`: gives every fuzz target its minute and writes docs/fuzz.md.

    .venv/bin/python tools/fuzz.py [--seconds N] [NAME ...]     # a name is part of the target's

A target is a Rust test whose name begins with fuzz_. It reads SLUICE_FUZZ_SECONDS (1 in
`make test`) and may print `fuzz: N inputs`. Every input has a seed of its own, which a
failure prints; SLUICE_SEED repeats that one input, so it must not be set here. Each target
runs in a process of its own, so that a crash or a hang of one is seen and ends no other.
With names given, nothing is written.
"""

import argparse
import json
import os
import re
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import date

from project import CACHE, ROOT, captured, fail, run, tool_environment, write_atomically

JOBS = 2
DOC = ROOT / "docs" / "fuzz.md"
GRACE_SECONDS = 60


@dataclass(frozen=True)
class Target:
    """A fuzz test in a test binary."""

    crate: str
    binary: str
    name: str


@dataclass(frozen=True)
class Result:
    """How a target ended."""

    target: Target
    status: str
    seconds: float
    inputs: str


def test_binaries() -> list[tuple[str, str]]:
    """(crate, path) of each test binary, built for release."""
    command = ["cargo", "test", "--release", "--workspace", "--lib", "--bins", "--tests", "--no-run"]
    done = run([*command, "--message-format=json"], capture_output=True, text=True)
    if done.returncode != 0:
        fail(f"building the tests failed:\n{done.stderr}")
    found = []
    for line in done.stdout.splitlines():
        message = json.loads(line)
        if message.get("executable") and message.get("profile", {}).get("test"):
            crate = re.split(r"[#@/]", re.sub(r"[#@][\d.]+$", "", message["package_id"]))[-1]
            found.append((crate, message["executable"]))
    return found


def targets() -> list[Target]:
    """All fuzz tests."""
    found = []
    for crate, binary in test_binaries():
        code, text = captured([binary, "--list", "--format", "terse", "fuzz_"])
        if code != 0:
            fail(f"{binary} --list: {text}")
        names = [line.removesuffix(": test") for line in text.splitlines() if line.endswith(": test")]
        found += [Target(crate, binary, name) for name in names if name.split("::")[-1].startswith("fuzz_")]
    return found


def fuzz(target: Target, seconds: int) -> Result:
    """Runs one target."""
    environment = tool_environment() | {"SLUICE_FUZZ_SECONDS": str(seconds)}
    limit = ["timeout", str(2 * seconds + GRACE_SECONDS)]
    begin = time.monotonic()
    command = ["nice", *limit, target.binary, "--exact", target.name, "--nocapture", "--test-threads=1"]
    # A test's working directory is its crate, as under cargo.
    folder = ROOT / "crates" / target.crate.removeprefix("sluice-")
    code, text = captured(command, env=environment, cwd=folder if folder.is_dir() else ROOT)
    taken = time.monotonic() - begin
    status = {0: "ok", 124: "HANG"}.get(code, "FAILED")
    if status == "ok" and "1 passed" not in text:
        status = "NOT RUN"
    if status == "ok" and taken < seconds / 2:
        # It does not read its time, or gave up early: that is no minute of fuzzing.
        status = "SHORT"
    found = re.search(r"fuzz: (\d+) inputs", text)
    inputs = found[1] if found else "not counted"
    print(f"fuzz: {target.crate} {target.name}: {status}, inputs {inputs}, {taken:.0f} s", flush=True)
    if status != "ok":
        log = CACHE / "fuzz" / f"{target.crate}-{target.name.replace('::', '-')}.log"
        write_atomically(log, text)
        print(text[-3000:], f"\nfuzz: whole log in {log.relative_to(ROOT)}", sep="", flush=True)
    return Result(target, status, taken, inputs)


def document(results: list[Result], seconds: int) -> str:
    """The text of docs/fuzz.md."""
    lines = [
        "# Long fuzzing\n",
        f"Written by `make fuzz` on {date.today()}; do not edit. {seconds} s a target; the same",
        "targets run for a second each in `make test`. Every input has a seed of its own, which a failure prints.\n",
        "| crate | target | inputs | seconds | result |",
        "| --- | --- | --- | --- | --- |",
    ]
    for result in results:
        target = result.target
        lines.append(f"| {target.crate} | {target.name} | {result.inputs} | {result.seconds:.0f} | {result.status} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description="Runs every fuzz target for a while.")
    parser.add_argument("--seconds", type=int, default=60, help="for each target (60)")
    parser.add_argument("names", nargs="*", help="parts of targets' names; all by default")
    arguments = parser.parse_args()
    if os.environ.setdefault("SLUICE_SEED", "random") != "random":
        fail("SLUICE_SEED is set: it repeats a single input, unset it to fuzz")
    names = arguments.names
    wanted = [target for target in targets() if not names or any(name in target.name for name in names)]
    if not wanted:
        fail("no test is named fuzz_*" + (f" with {' or '.join(names)} in it" if names else ""))
    with ThreadPoolExecutor(JOBS) as pool:
        results = list(pool.map(lambda target: fuzz(target, arguments.seconds), wanted))
    passed = sum(result.status == "ok" for result in results)
    if not names:
        write_atomically(DOC, document(results, arguments.seconds))
        print(f"fuzz: wrote {DOC.relative_to(ROOT)}")
    print(f"fuzz: {passed} passed, {len(results) - passed} failed")
    sys.exit(0 if passed == len(results) else 1)


if __name__ == "__main__":
    main()
