"""`make formal`: runs every proof in formal/**/*.sby and writes docs/formal.md.

    .venv/bin/python tools/formal.py [NAME ...]     # a name is part of the .sby file's path
    .venv/bin/python tools/formal.py --check        # whether docs/formal.md has a row for each task that there is
    .venv/bin/python tools/formal.py --short        # what `make test` runs: those that took little when all last ran

Two proofs at a time, each task of a file on its own; the short ones one at a time. Proofs run in the repository's root,
so a [files] section says `rtl/common/...`. With names given, nothing is written.
"""

import os
import re
import shutil
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import NoReturn

from project import CACHE, ROOT, captured, fail, write_atomically

JOBS = 2
DOC = ROOT / "docs" / "formal.md"
WORK = CACHE / "formal"
LIMIT_SECONDS = 1800
MODES = ("prove", "bmc", "cover")
# Short is a proof that took less when `make formal` last ran, by its row; together they take no longer than this.
SHORT_SECONDS = 5
SHORT_SUM_SECONDS = 60
# Of those the first, should not all fit: isolation, and what has two bodies.
SHORT_FIRST = ("noninterference/", "rmt/", "common/tcam_lut", "common/agree")

INTRODUCTION = """# Proofs

Written by `make formal` on {date}; do not edit. SymbiYosys on Yosys 0.70 with the solver Bitwuzla, run on
the blocks at small parameters, which the proof's file under `formal/` states.

Those of less than {short} seconds also run in `make test`, up to {total} seconds of them.

`prove` is k-induction: the claims hold in every reachable state, for ever. `bmc` is bounded: they
hold for that many cycles after reset. `cover` shows that the situations named do happen, so
that the claims are not empty.

| block | what is shown | mode | depth | engine | properties | result | seconds |
| --- | --- | --- | --- | --- | --- | --- | --- |
"""


@dataclass(frozen=True)
class Job:
    """One task of one .sby file (`task` is empty when the file has none)."""

    file: Path
    task: str

    @property
    def block(self) -> str:
        return str(self.file.relative_to(ROOT / "formal").with_suffix(""))

    @property
    def folder(self) -> Path:
        return WORK / self.block / (self.task or "all")


@dataclass(frozen=True)
class Result:
    """How a job ended."""

    job: Job
    status: str
    seconds: float
    properties: int


def jobs_of(file: Path) -> list[Job]:
    """The tasks of a file."""
    code, text = captured(["sby", "--dumptasks", str(file)])
    if code != 0:
        fail(f"{file.relative_to(ROOT)}: {text.strip()}")
    return [Job(file, task) for task in text.split()] or [Job(file, "")]


def prove(job: Job) -> Result:
    """Runs one task."""
    shutil.rmtree(job.folder, ignore_errors=True)
    job.folder.parent.mkdir(parents=True, exist_ok=True)
    name = str(job.file.relative_to(ROOT))
    begin = time.monotonic()
    command = ["nice", "timeout", str(LIMIT_SECONDS), "sby", "-f", "-d", str(job.folder), name]
    code, log = captured([*command, *([job.task] if job.task else [])])
    seconds = time.monotonic() - begin
    try:
        status = (job.folder / "status").read_text().split()[0]
    except (OSError, IndexError):
        status = "ERROR"
    if code == 124:
        status = "TIMEOUT"
    if code != 0 and status == "PASS":
        status = "ERROR"
    properties = checked_properties(job.folder, resolved_options(job).get("mode", ""))
    if status == "PASS" and properties == 0:
        # Nothing claimed is nothing proved.
        status = "EMPTY"
    print(f"formal: {job.block:<28} {job.task:<10} {status:<7} {seconds:6.1f} s", flush=True)
    if status != "PASS":
        print("".join(f"    {line}\n" for line in log.splitlines()[-25:]), end="", flush=True)
    return Result(job, status, seconds, properties)


def sections(config: str) -> dict[str, list[str]]:
    """Lines of each [section] of a task's resolved configuration."""
    found: dict[str, list[str]] = {}
    name = ""
    for line in config.splitlines():
        if head := re.match(r"\[(\w+)", line):
            name = head[1]
        elif line.strip():
            found.setdefault(name, []).append(line.strip())
    return found


def claim(files: list[str]) -> str:
    """First sentence of the proof's own file."""
    for name in files:
        path = ROOT / name.split()[-1]
        if path.suffix == ".sv" and path.is_relative_to(ROOT / "formal") and path.is_file():
            comment = re.match(r"(?:\s*///[^\n]*\n)+", path.read_text())
            words = " ".join(re.sub(r"\s*///\s?", " ", comment[0]).split()) if comment else ""
            if words:
                return re.split(r"(?<=\.)\s", words)[0].rstrip(".")
    return "(no /// line)"


def checked_properties(folder: Path, mode: str) -> int:
    """Assertions (or covers) in the model that the engine gets, after all optimization of Yosys."""
    cell = "cover" if mode == "cover" else "assert"
    try:
        model = (folder / "model" / "design_prep.il").read_text()
    except OSError:
        return 0
    return len(re.findall(rf"^ *cell \${cell} ", model, re.M))


def resolved(job: Job) -> dict[str, list[str]]:
    """The sections of a task that has run."""
    try:
        return sections((job.folder / "config.sby").read_text())
    except OSError:
        return {}


def resolved_options(job: Job) -> dict[str, str]:
    """Its [options] by name."""
    return dict(line.split(maxsplit=1) for line in resolved(job).get("options", []) if " " in line)


def label(job: Job, mode: str) -> str:
    """What a task is called in the table: one that is called after its mode is its block's."""
    return f"{job.block} ({job.task})" if job.task and job.task != mode else job.block


def stale(jobs: list[Job], text: str) -> list[str]:
    """Tasks without a row, and rows without a task."""
    rows = Counter(re.findall(r"^\| ([^|]+?) \|.*\| (?:pass|fail|error|timeout|unknown) \|", text, re.M))
    tasks = Counter(label(job, job.task if job.task in MODES else "") for job in jobs)
    return [f"no row for {name}" for name in tasks - rows] + [f"no task for the row {name}" for name in rows - tasks]


def short(jobs: list[Job], text: str) -> list[Job]:
    """The jobs that `make test` runs, by the rows of the last whole run."""
    took: dict[str, int] = {}
    for name, seconds in re.findall(r"^\| ([^|]+?) \|.*\| pass \| (\d+) \|$", text, re.M):
        # A block's proof and its cover share a name; what took no time takes a second with its start.
        took[name] = max(took.get(name, 1), int(seconds))

    def seconds_of(job: Job) -> int:
        return took.get(label(job, job.task if job.task in MODES else ""), LIMIT_SECONDS)

    fast = [job for job in jobs if seconds_of(job) < SHORT_SECONDS]
    kept, total = [], 0
    for job in sorted(fast, key=lambda job: (not job.block.startswith(SHORT_FIRST), seconds_of(job))):
        total += seconds_of(job)
        if total <= SHORT_SUM_SECONDS:
            kept.append(job)
    return kept


def row(result: Result) -> str:
    """One line of the table."""
    job = result.job
    parts, options = resolved(job), resolved_options(job)
    mode = options.get("mode", "?")
    engine = ", ".join(parts.get("engines", ["?"]))
    depth = options.get("depth", "20")
    return (
        f"| {label(job, mode)} | {claim(parts.get('files', []))} | {mode} | {depth} | {engine} | {result.properties} |"
        f" {result.status.lower()} | {result.seconds:.0f} |\n"
    )


def main() -> None:
    os.chdir(ROOT)
    files = sorted((ROOT / "formal").glob("**/*.sby"))
    if sys.argv[1:] == ["--check"]:
        wrong = stale([job for file in files for job in jobs_of(file)], DOC.read_text())
        if wrong:
            fail(f"{DOC.relative_to(ROOT)} is of other proofs, `make formal` writes it: {'; '.join(wrong)}")
        return
    if sys.argv[1:] == ["--short"]:
        every = [job for file in files for job in jobs_of(file)]
        jobs = short(every, DOC.read_text())
        if not jobs:
            fail(f"no row of {DOC.relative_to(ROOT)} is of a proof of less than {SHORT_SECONDS} s")
        print(f"formal: {len(jobs)} of {len(every)} proofs are short")
        finish(list(map(prove, jobs)))
    wanted = [file for file in files if not sys.argv[1:] or any(name in str(file) for name in sys.argv[1:])]
    if not wanted:
        fail(f"no .sby file in formal/ matches {' '.join(sys.argv[1:]) or '(any)'}")
    jobs = [job for file in wanted for job in jobs_of(file)]
    with ThreadPoolExecutor(JOBS) as pool:
        results = list(pool.map(prove, jobs))
    if not sys.argv[1:]:
        passed = sum(result.status == "PASS" for result in results)
        text = INTRODUCTION.format(date=date.today(), short=SHORT_SECONDS, total=SHORT_SUM_SECONDS)
        text += "".join(map(row, results))
        text += f"\n{passed} of {len(results)} passed. A failed one leaves its trace below `.cache/formal`.\n"
        write_atomically(DOC, text)
        print(f"formal: wrote {DOC.relative_to(ROOT)}")
    finish(results)


def finish(results: list[Result]) -> NoReturn:
    """The line that `make test` counts."""
    passed = sum(result.status == "PASS" for result in results)
    print(f"formal: {passed} passed, {len(results) - passed} failed")
    sys.exit(0 if passed == len(results) else 1)


if __name__ == "__main__":
    main()
