"""`make mutants`: plants one fault at a time into the RTL and asks the proof or bench named for it to fail.

    .venv/bin/python tools/mutants.py [--jobs N] [--json] [NAME ...]    # a name is a part of block, test, file or fault
    .venv/bin/python tools/mutants.py --check        # whether the lists fit the sources, and docs/mutants.csv the lists

The lists are formal/*/mutants.toml for proofs, tb/*/mutants.toml for benches, and crates/*/tests/mutants.toml for tests
of a Verilated top; formal/README.md says how an entry looks. Each fault is planted in a copy of the tree below
.cache/mutants; tests are built once, from the tree itself, and run with the plug-in of the copy. Before the first
fault of a test, the test has to pass without one.

docs/mutants.csv has one row a mutant; those that ran are written anew. docs/mutants.md sums it up. The exit code is 1
when a mutant survives that is not listed to, or is found though it is listed to survive.
"""

import argparse
import csv
import io
import json
import os
import re
import shutil
import sys
import time
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from queue import SimpleQueue
from threading import Lock

import rust_tests
from project import CACHE, ROOT, captured, configurations, fail, tool_environment, write_atomically

DATA = ROOT / "docs" / "mutants.csv"
PAGE = ROOT / "docs" / "mutants.md"
COLUMNS = ("date", "proof or bench", "what was broken", "what failed", "seconds", "result")
WORK = CACHE / "mutants"
JOBS = 2
# What proofs and benches of blocks read.
TREE = ("rtl", "formal", "tb", "tools", "docs/design", "crates/rtlsim/cpp", "pyproject.toml")
LISTS = ("formal/*/mutants.toml", "tb/*/mutants.toml", "crates/*/tests/mutants.toml")
# Cycles from reset of the bounded check.
DEPTH = 16
# Cycles of it without a fault: enough to see that what fails then is the fault. The proof itself has shown more.
PLAIN_DEPTH = 8
SHOWN = 5
# Claims and tests named in a row.
NAMED = 2
LIMITED = ["nice", "timeout", "900"]
# Of the tests of a plug-in: one that does not end has found its fault. They take a few seconds, the longest a minute
# where others are at work.
TESTS_SECONDS = 180
TESTS_LIMITED = ["nice", "timeout", str(TESTS_SECONDS)]
FOUND, SURVIVED, LISTED, BROKEN = "found", "SURVIVED", "survives", "ERROR"

INTRODUCTION = """# Mutants

Written by `make mutants`; do not edit. A mutant is a fault that was planted into the RTL. The proof (`formal/`), bench
(`tb/`) or file of tests of a Verilated top (`crates/`) that is listed with it had to fail. A proof has to find a trace
from reset that breaks a claim about the block's ports; a bench and a test have to fail, or an assertion of the RTL in
them. [How a fault is listed](../formal/README.md#can-they-fail).

[mutants.csv](mutants.csv) has a row for each: when it ran last, what was broken, what failed, seconds and result.

| listed in | faults | found | last runs |
| --- | --- | --- | --- |
"""


@dataclass(frozen=True)
class Mutant:
    """One fault, and what has to find it."""

    folder: str  # of the list: formal/common, tb/rmt, crates/rtlsim/tests
    of: str  # "BLOCK TASK" of a proof, "BLOCK TEST" of a bench, "FILE CONFIG" of tests of a plug-in
    file: str
    text: str
    becomes: str
    breaks: str
    depth: int = DEPTH
    long: bool = False
    survives: str = ""
    set: str = ""  # of a plug-in: parameters and macros with other values, `NAME=VALUE NAME=VALUE`

    @property
    def block(self) -> str:
        return f"{self.folder}/{self.of.split()[0]}"

    @property
    def test(self) -> str:
        """The task, the pytest function or the plug-in's configuration."""
        return self.of.split()[1]

    @property
    def label(self) -> str:
        """In the table."""
        return f"{self.block} ({self.test})"

    @property
    def is_proof(self) -> bool:
        return self.folder.startswith("formal/")

    @property
    def is_plugin(self) -> bool:
        return self.folder.startswith("crates/")

    @property
    def key(self) -> tuple[str, str]:
        """What a row is known by."""
        return self.label, self.breaks

    def named(self, name: str) -> bool:
        return name in self.label or name in self.file or name in self.breaks


@dataclass(frozen=True)
class Result:
    """What became of a mutant."""

    mutant: Mutant
    status: str
    caught_by: tuple[str, ...]
    seconds: float
    log: str = ""


def load(root: Path = ROOT) -> list[Mutant]:
    """All lists, checked for their form."""
    mutants = []
    for path in sorted(path for pattern in LISTS for path in root.glob(pattern)):
        where = path.relative_to(root)
        fields = {
            "of": str,
            "file": str,
            "text": str,
            "becomes": str,
            "breaks": str,
            "depth": int,
            "long": bool,
            "survives": str,
            "set": str,
        }
        for number, entry in enumerate(tomllib.loads(path.read_text()).get("mutant", []), 1):
            what = f"{where}: mutant {number} ({entry.get('breaks', 'without `breaks`')})"
            for name, value in entry.items():
                if type(value) is not fields.get(name):
                    fail(f"{what} has {name} = {value!r}, allowed are {', '.join(fields)}")
            if missing := set(fields) - {"depth", "long", "survives", "set"} - entry.keys():
                fail(f"{what} is without {', '.join(sorted(missing))}")
            if len(entry["of"].split()) != 2:
                fail(f"{what} is of {entry['of']!r}, expected `BLOCK TASK`, `BLOCK TEST` or `FILE CONFIG`")
            mutants.append(Mutant(str(where.parent), **entry))
    twice = [key for key, count in Counter(mutant.key for mutant in mutants).items() if count > 1]
    if twice:
        fail(f"two mutants are called {' '.join(twice[0])!r}")
    return mutants


def misfits(mutants: Iterable[Mutant], root: Path = ROOT) -> list[str]:
    """Mutants that cannot be planted: their file, text, proof or bench is not there."""
    wrong = []
    for mutant in mutants:
        what = f"{mutant.folder}/mutants.toml, {mutant.breaks!r}"
        path = root / mutant.file
        count = path.read_text().count(mutant.text) if path.is_file() else -1
        if count < 0:
            wrong.append(f"{what}: {mutant.file} does not exist")
        elif count != 1:
            wrong.append(f"{what}: {mutant.file} has {mutant.text!r} {count} times, expected once")
        if mutant.text == mutant.becomes:
            wrong.append(f"{what}: nothing changes")
        if mutant.is_plugin and mutant.test not in configurations():
            wrong.append(f"{what}: tools/configs.toml has no {mutant.test}")
        script = root / _script(mutant)
        if not script.is_file():
            wrong.append(f"{what}: {_script(mutant)} does not exist")
        elif not mutant.is_plugin and not re.search(_names(mutant), script.read_text(), re.M):
            wrong.append(f"{what}: {_script(mutant)} has no {mutant.test}")
    return wrong


def _script(mutant: Mutant) -> str:
    if mutant.is_plugin:
        return f"{mutant.block}.rs"
    name = mutant.of.split()[0]
    return f"{mutant.block}.sby" if mutant.is_proof else f"{mutant.block}/test_{name}.py"


def _names(mutant: Mutant) -> str:
    """Where the proof's tasks are listed, or the bench's function begins."""
    return rf"^{mutant.test}\b" if mutant.is_proof else rf"^def {mutant.test.split('[')[0]}\("


# Running one


def _environment() -> dict[str, str]:
    once = {"SLUICE_BENCH_OPTIMIZE": "-O0", "PYTHONDONTWRITEBYTECODE": "1"}
    # A bench whose reference is a Rust model finds it in the tree that its copy is of.
    return {**tool_environment(), **once, "SLUICE_SEED": "1", "SLUICE_TREE": str(ROOT)}


def bounded(script: str, task: str, depth: int) -> str:
    """A .sby file whose proofs are bounded checks from reset.

    The RTL's own assertions know the inside too well to count and go with SYNTHESIS; in a task about the body that is
    simulated they stay.
    """
    script = re.sub(r"\bmode prove\b", "mode bmc", script)
    script = re.sub(r"^((?:\w+: )?depth) \d+", rf"\1 {depth}", script, flags=re.M)
    if not task.startswith("simulation"):
        script = script.replace("--no-synthesis-define ", "-D PROOF ")
    return script


def only_claims(harness: str) -> str:
    """A harness without what its claims are helped by in the induction, which knows the inside too."""
    claims, line, rest = harness.partition("// Strengthening")
    return claims + line + rest.replace("assert property", "cover property")


def _prove(mutant: Mutant, root: Path) -> tuple[str, tuple[str, ...], str]:
    script = root / f"{mutant.block}.sby"
    harness = script.with_suffix(".sv")
    kept = {path: path.read_text() for path in (script, harness)}
    folder = root / ".cache" / "formal"
    shutil.rmtree(folder, ignore_errors=True)
    folder.parent.mkdir(exist_ok=True)
    try:
        script.write_text(bounded(kept[script], mutant.test, mutant.depth))
        harness.write_text(only_claims(kept[harness]))
        command = ["sby", "-f", "-d", str(folder.relative_to(root)), _script(mutant), mutant.test]
        _, log = captured([*LIMITED, *command], cwd=root, env=_environment())
    finally:
        for path, text in kept.items():
            path.write_text(text)
    claims = tuple(sorted({name.rsplit(".", 1)[-1] for name in re.findall(r"failed assertion (\S+) at ", log)}))
    if re.search(r"ERROR: Assertion failed: selection", log):
        # A claim about the structure, `select -assert-none` and the like.
        return "FAIL", ("select -assert in the script",), log
    try:
        status = (folder / "status").read_text().split()[0]
    except (OSError, IndexError):
        status = "ERROR"
    return status, claims, log


def _bench(mutant: Mutant, root: Path) -> tuple[str, tuple[str, ...], str]:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"{_script(mutant)}::{mutant.test}"]
    environment = _environment() | ({"SLUICE_LONG": "1"} if mutant.long else {})
    code, log = captured([*LIMITED, *command], cwd=root, env=environment)
    if code == 0:
        return "PASS", (), log
    failed = re.search(r"AssertionError: .*: \d+ of \d+ failed: ([\w, /=-]*)", log)
    stopped = re.search(r"AssertionError: .*: the simulation stopped before its end", log)
    asserted = sorted(set(re.findall(r"Assertion failed in \S*?(\w+)(?::|\s)", log)))
    if code != 1 or not (failed or stopped):
        return "ERROR", (), log
    tests = [name.strip() for name in (failed[1] if failed else "").split(",") if name.strip()]
    return "FAIL", tuple(asserted or tests or ["the simulation stopped"]), log


def build_tests(blocks: Iterable[str]) -> None:
    """Tests of crates as programs below .cache/mutants, so that the tree may change while they run."""
    for crate in sorted({(ROOT / block).parent.parent for block in blocks}):
        command = ["cargo", "test", "--quiet", "--no-run", "--message-format=json", "--test", rust_tests.EXECUTABLE]
        code, log = captured(command, cwd=crate)
        lines = [json.loads(line) for line in log.splitlines() if line.startswith("{")]
        tests = [line for line in lines if line.get("executable") and line["target"]["kind"] == ["test"]]
        if code != 0 or not tests:
            fail(f"{crate.relative_to(ROOT)}/tests does not build (exit {code}):\n{_end(log)}")
        WORK.mkdir(parents=True, exist_ok=True)
        shutil.copy(tests[-1]["executable"], WORK / crate.name)


def _tests(mutant: Mutant, root: Path) -> tuple[str, tuple[str, ...], str]:
    """Builds the plug-in of the copy and runs the file's tests on it."""
    settings = [word for setting in mutant.set.split() for word in ("--set", setting)]
    command = [sys.executable, "tools/plugin.py", "--jobs", "1", *settings, mutant.test]
    code, log = captured([*LIMITED, *command], cwd=root, env=_environment())
    if code != 0:
        return "ERROR", (), log
    plugins = {"SLUICE_PLUGIN_DIR": str(root / "build" / "plugins"), "SLUICE_REQUIRE_PLUGINS": mutant.test}
    crate, module = (ROOT / mutant.block).parent.parent, mutant.of.split()[0]
    names = rust_tests.by_module(WORK / crate.name).get(module)
    if not names:
        return "ERROR", (), f"no tests in {mutant.block}.rs"
    command = [*TESTS_LIMITED, str(WORK / crate.name), "--exact", *names]
    code, log = captured(command, cwd=crate, env=_environment() | plugins)
    if code == 0:
        return "PASS", (), log
    failed = sorted(set(re.findall(rf"^test {module}::(\S+) \.\.\. FAILED", log, re.M)))
    if code == 124:
        failed.append(f"no end in {TESTS_SECONDS} s")
    if not failed and (name := re.search(r"Assertion failed in \S*?(\w+)(?::|\s)", log)):
        failed.append(name[1])
    return ("FAIL" if failed else "ERROR"), tuple(failed), log


def check(mutant: Mutant, root: Path, planted: bool) -> Result:
    """Runs the mutant's proof, bench or tests in a copy of the tree, with or without its fault."""
    path = root / mutant.file
    text = path.read_text()
    begin = time.monotonic()
    try:
        if planted:
            path.write_text(text.replace(mutant.text, mutant.becomes))
        status, caught_by, log = (_prove if mutant.is_proof else _tests if mutant.is_plugin else _bench)(mutant, root)
    finally:
        path.write_text(text)
    seconds = time.monotonic() - begin
    word = {"FAIL": FOUND, "PASS": LISTED if mutant.survives else SURVIVED}.get(status, BROKEN)
    return Result(mutant, word, caught_by, seconds, log)


class Copies:
    """Copies of the tree, one for each worker."""

    def __init__(self, count: int):
        self._free: SimpleQueue[Path] = SimpleQueue()
        for number in range(count):
            root = WORK / str(number)
            for name in TREE:
                shutil.rmtree(root / name, ignore_errors=True)
                ignore = shutil.ignore_patterns("__pycache__")
                if (ROOT / name).is_dir():
                    shutil.copytree(ROOT / name, root / name, ignore=ignore)
                else:
                    shutil.copy(ROOT / name, root / name)
            if not (root / ".venv").exists():
                (root / ".venv").symlink_to(ROOT / ".venv")
            self._free.put(root)

    def use(self, work, *arguments):
        root = self._free.get()
        try:
            return work(*arguments, root)
        finally:
            self._free.put(root)


def run(mutants: list[Mutant], jobs: int, out, keep: Callable[[list[Result]], None]) -> list[Result]:
    """Each test without a fault first, then with each of its faults; `keep` gets all results so far, test by test."""
    copies = Copies(jobs)
    groups: dict[tuple, list[Mutant]] = {}
    for mutant in mutants:
        groups.setdefault((mutant.label, mutant.depth), []).append(mutant)
    found: list[Result] = []
    done, lock = Counter(), Lock()

    def say(text: str) -> None:
        with lock:
            print(text, file=out, flush=True)

    def group(members: list[Mutant], root: Path) -> None:
        results = one_test(members, root)
        with lock:
            found.extend(results)
            keep(found)

    def one_test(members: list[Mutant], root: Path) -> list[Result]:
        plain = check(replace(members[0], depth=min(members[0].depth, PLAIN_DEPTH)), root, planted=False)
        if plain.status not in (SURVIVED, LISTED):
            say(f"{members[0].label}: fails without a fault, or does not run\n{_end(plain.log)}")
            return [Result(mutant, BROKEN, (), 0.0) for mutant in members]
        results = []
        for mutant in members:
            result = check(mutant, root, planted=True)
            done["all"] += 1
            names = ", ".join(result.caught_by)
            say(f"[{done['all']:3}/{len(mutants)}] {mutant.label:<46} {result.status:<8} {result.seconds:6.1f} s  "
                f"{mutant.breaks}: {names}")  # fmt: skip
            if result.status == BROKEN:
                say(_end(result.log))
            results.append(result)
        return results

    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(lambda members: copies.use(group, members), groups.values()))
    return found


def _end(log: str) -> str:
    return "".join(f"    {line}\n" for line in log.splitlines()[-25:])


# The table


def row(result: Result, day: date) -> list[str]:
    """One line of the data."""
    mutant = result.mutant
    words = {LISTED: f"{LISTED}: {mutant.survives}"}.get(result.status, result.status)
    more = len(result.caught_by) - NAMED
    failed = ", ".join(result.caught_by[:NAMED]) + (f" and {more} more" if more > 0 else "") or "-"
    return [str(day), mutant.label, mutant.breaks, failed, f"{result.seconds:.0f}", words]


def rows(text: str) -> dict[tuple[str, str], list[str]]:
    """The lines of the data by the mutant's key."""
    return {(cells[1], cells[2]): cells for cells in list(csv.reader(io.StringIO(text)))[1:]}


def stale(mutants: Iterable[Mutant], text: str) -> list[str]:
    """Mutants without a row, and rows without a mutant."""
    there, wanted = rows(text).keys(), {mutant.key for mutant in mutants}
    wrong = [f"no row for {' '.join(key)!r}" for key in sorted(wanted - there)]
    return wrong + [f"no mutant for the row {' '.join(key)!r}" for key in sorted(there - wanted)]


def table(mutants: list[Mutant], results: Iterable[Result], old: str, day: date) -> str:
    """The data: rows of what ran are new, others stay, those of mutants that are gone go."""
    lines = rows(old) | {result.mutant.key: row(result, day) for result in results}
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([COLUMNS, *(lines[m.key] for m in mutants if m.key in lines)])
    return out.getvalue()


def page(mutants: list[Mutant], data: str) -> str:
    """The sum of the data, by list, and what was not found."""
    lines = rows(data)
    text = INTRODUCTION
    for folder in dict.fromkeys(mutant.folder for mutant in mutants):
        mine = [lines[mutant.key] for mutant in mutants if mutant.folder == folder and mutant.key in lines]
        found = sum(cells[-1] == FOUND for cells in mine)
        days = sorted(cells[0] for cells in mine)
        text += f"| {folder} | {len(mine)} | {found} | {days[0]} to {days[-1]} |\n" if mine else ""
    good = sum(cells[-1] == FOUND for cells in lines.values())
    text += f"\n{good} of {len(lines)} found.\n"
    rest = [f"- {cells[1]}: {cells[2]}: {cells[-1]}\n" for cells in lines.values() if cells[-1] != FOUND]
    return text + ("\nThe others:\n\n" + "".join(rest) if rest else "")


def main() -> None:
    parser = argparse.ArgumentParser(
        description="Plants faults into the RTL and asks proofs, benches and tests to find them.",
        epilog="example: mutants.py formal/common/fifo tb/rmt   runs those of one proof and of the benches of tb/rmt",
    )
    parser.add_argument("name", nargs="*", help="part of a proof's, bench's, file's or fault's name; all by default")
    parser.add_argument("--jobs", type=int, default=JOBS, help=f"at a time (default: {JOBS})")
    parser.add_argument("--json", action="store_true", help="results on standard output, progress on standard error")
    parser.add_argument("--check", action="store_true", help="only whether lists, sources and table fit")
    arguments = parser.parse_args()
    os.chdir(ROOT)
    mutants = load()
    old = DATA.read_text() if DATA.exists() else ""
    if wrong := misfits(mutants):
        fail("\n".join(["mutants that cannot be planted:", *wrong]))
    if arguments.check:
        wrong = stale(mutants, old)
        if not wrong and (not PAGE.exists() or PAGE.read_text() != page(mutants, old)):
            wrong = [f"{PAGE.relative_to(ROOT)} is not the sum of it"]
        if wrong:
            some = "; ".join(wrong[:SHOWN]) + (f"; and {len(wrong) - SHOWN} more" if len(wrong) > SHOWN else "")
            fail(f"{DATA.relative_to(ROOT)} is of other mutants, `make mutants` writes it: {some}")
        return
    for name in arguments.name:
        if not any(mutant.named(name) for mutant in mutants):
            fail(f"no mutant is of {name!r}; proofs and benches: {', '.join(sorted({m.label for m in mutants}))}")
    wanted = [m for m in mutants if not arguments.name or any(map(m.named, arguments.name))]
    out = sys.stderr if arguments.json else sys.stdout
    build_tests(mutant.block for mutant in wanted if mutant.is_plugin)

    def keep(results: list[Result]) -> None:
        data = table(mutants, results, old, date.today())
        write_atomically(DATA, data)
        write_atomically(PAGE, page(mutants, data))

    results = run(wanted, max(1, arguments.jobs), out, keep)
    if arguments.json:
        print(json.dumps([
            {"of": r.mutant.label, "breaks": r.mutant.breaks, "file": r.mutant.file, "result": r.status,
             "caught_by": r.caught_by, "seconds": round(r.seconds, 1)} for r in results
        ], indent=1))  # fmt: skip
    # One that is listed as a survivor and is found is listed wrongly.
    wrong = [r for r in results if r.status in (SURVIVED, BROKEN) or (r.status == FOUND and r.mutant.survives)]
    good = sum(r.status == FOUND for r in results)
    print(
        f"mutants: {good} of {len(results)} found, {len(wrong)} not as listed; wrote {DATA.relative_to(ROOT)}", file=out
    )
    for result in wrong:
        print(f"mutants: {result.mutant.label}: {result.mutant.breaks}: {result.status}", file=out)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
