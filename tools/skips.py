"""What tests say they left out, and why: a tool, a right or a device that this machine does not have.

A test of Rust prints `skipped: WHY`, or `NAME: skipped: WHY`; pytest has `SKIPPED [N] FILE:LINE: WHY` in its summary, a
tool `TOOL: skipped: WHY`. A skipped test has passed for its runner, so whoever reads only totals would not see it.
"""

import re
from collections.abc import Iterable

# libtest with --show-output puts what a test printed below this line.
OUTPUT_OF = re.compile(r"^---- (\S+) stdout ----$")
SKIPPED = re.compile(r"^(?:[\w:-]+: )?skipped: (.+)$")
BY_PYTEST = re.compile(r"^SKIPPED \[\d+\] (\S+?): (.+)$")


def of_text(text: str) -> list[tuple[str, str]]:
    """(test, why) of each skip in the output of one job; the test is empty where the output names none."""
    found, test = [], ""
    for line in text.splitlines():
        if head := OUTPUT_OF.match(line):
            test = head[1]
        elif by_pytest := BY_PYTEST.match(line):
            found.append((by_pytest[1], by_pytest[2]))
        elif skipped := SKIPPED.match(line):
            found.append((test, skipped[1]))
    return found


def report(jobs: Iterable[tuple[str, str]]) -> list[str]:
    """Lines for the end of a run, from (job, its output): each reason once, with what was skipped for it."""
    by_reason: dict[str, list[str]] = {}
    for job, text in jobs:
        for test, why in of_text(text):
            by_reason.setdefault(why.strip(), []).append(test or job)
    tests = sum(map(len, by_reason.values()))
    if not tests:
        return ["skipped on this machine: nothing"]
    lines = [f"skipped on this machine: {tests}"]
    for why, names in by_reason.items():
        lines.append(f"  {why}")
        lines += [f"    {name}" for name in dict.fromkeys(names)]
    return lines
