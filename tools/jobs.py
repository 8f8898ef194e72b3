"""What `make lint` and `make test` run, as jobs of one schedule. `check.py` runs them.

Groups: lint, build (plug-ins, Rust), rust (one job a file of tests), scripts, benches (one job a file), proofs (the
short ones, and those of Program Warping).
"""

import hashlib
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import lint
import rust_tests
from project import BUILD, ROOT, captured
from schedule import Count, Job, Schedule, nothing

PYTHON = sys.executable
RUST_RESULT = re.compile(r"^test result: \w+\. (\d+) passed; (\d+) failed;", re.MULTILINE)
SCRIPT_RESULT = re.compile(r"^(\d+) passed, (\d+) failed, (\d+) skipped", re.MULTILINE)
# One script has no total.
SCRIPT_PASSED = re.compile(r"^\S+: ok on ", re.MULTILINE)
PROOF_RESULT = re.compile(r"^(?:formal|warp): (\d+) passed, (\d+) failed$", re.MULTILINE)
BENCH_RESULT = re.compile(r"(\d+) (passed|failed|errors?)\b")
# Programs of programs/p4 that the compiler takes, and with which flags.
P4_COMPILED = {
    "access": (), "atoms": (), "basic": (), "calc": (), "ecn": (), "gate": (), "gate.p4+basic": (), "label": (),
    "load_balance": ("--hash", "target", "--power-of-two"), "link_monitor": ("--bound", "data=2", "--bound", "way=2"),
    "mirror": (), "mri": ("--bound", "traces=8"), "multicast": (), "options": (), "qos": (),
    "source_routing": (), "tunnel": (),
}  # fmt: skip
# The paper's eight in P4, of programs/p4/eight.
P4_EIGHT = {
    "calc": (), "firewall": (), "load_balancing": ("--hash", "target"), "multicast": (), "netcache": (),
    "netchain": (), "qos": (), "source_routing": (),
}  # fmt: skip
# Those that look at the time, which the reference has by another clock than the RTL.
P4_TIMED = {"access", "link_monitor"}
# Work that begins when the first executables of Rust are there.
BEHIND_RUST = 60.0
# One worker, one core.
CARGO = {"CARGO_BUILD_JOBS": "1"}
PLUGINS = {
    "nic": ("plugin bare_default", "plugin bare_tiny", "plugin tiny"),
    "rmt": ("plugin rmt_default", "plugin rmt_tiny"),
    "xdp": ("plugin xdp_tiny", "plugin xdp_tiny_far"),
    "l7": ("plugin l7_default", "plugin l7_tiny"),
}
# That with every engine. Of the default target it is in `make long` only.
WHOLE_NIC = ("plugin tiny",)
# Packages whose tests open plug-ins, and which.
OPENS_PLUGINS = {
    "sluice-rtlsim": (*PLUGINS["nic"], *PLUGINS["rmt"], *PLUGINS["xdp"], *PLUGINS["l7"]),
    "sluice-cli": (*PLUGINS["nic"], *PLUGINS["rmt"], *PLUGINS["xdp"], *PLUGINS["l7"]),
}
# Benches whose reference is a model in Rust, which they build.
RUST_MODELS = ("tb/l7/matchers/test_matchers.py",)
ENGINES = {
    "sluice-ebpf": "xdp",
    "sluice-hxdp": "xdp",
    "sluice-rmt": "rmt",
    "sluice-rtlsim": "nic",
}


@cache
def _tracked() -> tuple[Path, ...]:
    """All files of the project that are not ignored."""
    command = ["git", "ls-files", "-co", "--exclude-standard"]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    return tuple(path for path in (ROOT / name for name in names) if path.is_file())


@cache
def _file_digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _digest(paths: Iterable[Path], *texts: str) -> str:
    lines = [f"{path} {_file_digest(path) if path.is_file() else 'missing'}" for path in sorted(set(paths))]
    return hashlib.sha256("\n".join([*texts, *lines]).encode()).hexdigest()[:16]


def _inputs(keep: Callable[[str], bool], *more: Path) -> Callable[[], str]:
    """A digest of the project's files whose name `keep` accepts, and of `more`."""
    return lambda: _digest([*(path for path in _tracked() if keep(str(path.relative_to(ROOT)))), *more])


def _is_data(name: str) -> bool:
    """What a test of Rust or a script may read at run time, beside its executable."""
    return not name.startswith(("rtl/", "tb/", "formal/", "synth/", "tools/")) and not name.endswith(".rs")


# Lint

LINTED_DOCUMENTS = ("docs/design/", "docs/formal.md", "docs/mutants.md", "docs/mutants.csv")


def lint_jobs(plugins: bool) -> list[Job]:
    """One job a check of lint.py; with plug-ins, their builds lint the tops."""
    takes_cargo = ("rust_clippy", "generated_files")
    return [
        Job(
            f"lint {name}", "lint", "lint", [PYTHON, "tools/lint.py", name],
            lock="cargo" if name in takes_cargo else None,
            environment=CARGO if name in takes_cargo else {},
            # Of the documents only generated tables are checked.
            inputs=_inputs(lambda path: path.startswith(LINTED_DOCUMENTS) or not path.startswith("docs/")),
        )
        for name in lint.CHECKS if not (plugins and name == "rtl_tops")
    ]  # fmt: skip


# Builds


def plugin_jobs() -> list[Job]:
    """The Verilated tops with assertions, and one with waves where those are possible."""
    build = [PYTHON, "tools/plugin.py", "--jobs", "1"]
    jobs = [
        Job(name, "build", engine, [*build, "--strict", name.split()[1]], count=nothing)
        for engine, names in PLUGINS.items()
        for name in names
    ]
    return [*jobs, Job("plugin tiny trace", "build", "nic", [*build, "--variant", "trace", "tiny"], count=nothing)]


def rust_jobs(schedule: Schedule) -> list[Job]:
    """Builds all tests; each executable is a job as soon as it is linked, and so are the scripts."""

    def watch(line: str) -> bool:
        if not line.startswith("{"):
            return False
        message = json.loads(line)
        if message.get("reason") == "compiler-artifact" and message.get("executable"):
            schedule.add(_made(message))
        return True

    # The probe's tests need plug-ins of their own: `make long` has both; lint elaborates its RTL and checks its Rust.
    build = ["cargo", "test", "--workspace", "--exclude", "sluice-probe", "--no-run"]
    build += ["--message-format=json-render-diagnostics"]
    # Asking a crate for its examples costs as much as checking it.
    documents = ["cargo", "test", "--doc", *(f"--package=sluice-{name}" for name in rust_tests.DOCUMENTED)]
    return [
        Job("rust build", "build", "rust", build, lock="cargo", count=nothing, watch=watch, environment=CARGO,
            behind=BEHIND_RUST),
        Job("rust doc", "rust", "rust", documents, lock="cargo", needs=["rust build"], count=_rust_count,
            environment=CARGO, inputs=_inputs(lambda name: name.startswith("crates/"))),
    ]  # fmt: skip


def _made(message: dict) -> list[Job]:
    """The jobs that an executable makes possible."""
    executable, target = Path(message["executable"]), message["target"]
    if not message["profile"]["test"]:
        return [*script_jobs(executable), warp_job(executable)] if target["name"] == "sluice" else []
    folder = Path(message["manifest_path"]).parent
    if target["kind"] != ["test"]:
        return [_rust_test(folder, f"{target['name']} (unit tests)", executable)]
    if target["name"] != rust_tests.EXECUTABLE:
        return [_rust_test(folder, target["name"], executable)]
    return [
        _rust_test(folder, module, executable, "--exact", *names)
        for module, names in rust_tests.by_module(executable).items()
    ]


def _rust_test(folder: Path, what: str, executable: Path, *arguments: str) -> Job:
    package = f"sluice-{folder.name}"
    needs: Sequence[str] = OPENS_PLUGINS.get(package, ())
    engine = ENGINES.get(package, "host")
    if package == "sluice-rtlsim" and arguments:
        engine = next((engine for engine in ("rmt", "xdp", "l7") if what.startswith(f"{engine}_")), "nic")
        # Tests of the NIC look at the pipeline alone, too, and those of an engine at the NIC that it is in.
        needs = (*PLUGINS["nic"], *PLUGINS["rmt"]) if engine == "nic" else (*WHOLE_NIC, *PLUGINS[engine])
    return Job(
        f"rust {folder.name} {what}", "rust", engine, [str(executable), "--show-output", *arguments],
        needs=needs, folder=folder, count=_rust_count,
        # Tests on the RTL are skipped where there is no plug-in; here there are all.
        environment={"SLUICE_REQUIRE_PLUGINS": "1", "RUST_TEST_THREADS": "1", "CARGO_MANIFEST_DIR": str(folder)},
        inputs=_inputs(_is_data, executable, *(_library(plugin) for plugin in needs)),
    )  # fmt: skip


def _library(plugin: str) -> Path:
    return BUILD / "plugins" / f"libsluice_rtl_{plugin.split()[1]}.so"


def _rust_count(text: str, good: bool) -> Count:
    count = Count()
    for found in RUST_RESULT.finditer(text):
        count += Count(int(found[1]), int(found[2]))
    return count


# Scripts


@dataclass(frozen=True)
class Scripts:
    """Packet scripts by what they need."""

    nic: list[Path]  # the NIC's own
    xdp: list[Path]
    rules: list[Path]
    slow: list[Path]  # what waits so long would take hours on the RTL
    rest: list[Path]  # of the pipeline
    only_default: list[Path]


def all_scripts() -> Scripts:
    """Every packet script."""
    nic = sorted(ROOT.glob("crates/nic/scripts/*.pkt"))
    every = nic + sorted(ROOT.glob("programs/**/*.pkt"))

    def having(pattern: str, files: Sequence[Path]) -> list[Path]:
        return [path for path in files if re.search(pattern, path.read_text(), re.MULTILINE)]

    xdp, rules = having(r"^xdp ", every), having(r"^rules ", every)
    rest = [path for path in every if path not in xdp + rules]
    return Scripts(nic, xdp, rules, having(r"^wait \d{8}", rules), rest, having(r"^device default", every))


def script_jobs(sluice: Path) -> list[Job]:
    """Packet scripts on model and RTL in lockstep, on the bare NIC where they need no other engine; XDP on the model.

    `make long` has all of them on the whole NIC of the default target (long_scripts.py).
    """
    scripts = all_scripts()
    nic, rules, slow, rest, only_default = (
        scripts.nic, scripts.rules, scripts.slow, scripts.rest, scripts.only_default,
    )  # fmt: skip
    # Not all of their programs fit into the engine in RTL.
    xdp = scripts.xdp
    # The NIC's own on tiny, each on the bare NIC and some on the whole one; the others need the default target.
    tiny = [path for path in rest if path in nic and path not in only_default]
    default = [path for path in rest if path not in tiny]
    tiny_xdp = [path for path in xdp if path in nic and path not in only_default]
    # The pipeline alone has no queues, and takes frames that a NIC's port drops as runts of nobody.
    not_alone = re.compile(r"^block |^drop reason=runt tenant=system", re.MULTILINE)
    alone = [path for path in rest if not not_alone.search(path.read_text())]

    def job(what: str, engine: str, command: Sequence[str], files: Sequence[Path], needs: Sequence[str]) -> Job:
        names = [str(path.relative_to(ROOT)) for path in files]
        inputs = _inputs(_is_data, sluice, *(_library(plugin) for plugin in needs))
        words = [word for part in command for word in (names if part == "FILES" else [part])]
        return Job(f"scripts {what}", "scripts", engine, [str(sluice), *words], needs=needs,
                   count=_script_count(len(names)), inputs=inputs)  # fmt: skip

    def on_nic(what: str, target: str, device: str, files: Sequence[Path], engine: str) -> Job:
        command = ["script", "FILES", "--device", device, "--target", target]
        return job(f"{target} {what}", engine, command, files, [f"plugin {target}"] if device == "both" else [])

    def on_bare(what: str, target: str, files: Sequence[Path]) -> Job:
        command = ["script", "FILES", "--device", "both", "--target", target, "--engines", "rmt"]
        return job(f"{target} {what}", "nic", command, files, [f"plugin bare_{target}"])

    return [
        # In two halves, for they take longest.
        on_bare("1 of 2", "default", default[::2]),
        on_bare("2 of 2", "default", default[1::2]),
        on_bare("on both", "tiny", tiny),
        on_nic("with all engines", "tiny", "both", tiny[::6], "nic"),
        on_nic("xdp", "default", "model", xdp, "xdp"),
        on_nic("xdp", "tiny", "model", tiny_xdp, "xdp"),
        on_nic("l7", "default", "model", [path for path in rules if path in only_default], "l7"),
        on_nic("l7", "tiny", "both", [path for path in rules if path not in only_default + slow], "l7"),
        on_nic("l7, seconds", "tiny", "both", slow, "l7"),
        job("rmt alone", "rmt", ["script", "FILES", "--device", "both", "--top", "rmt"], alone, PLUGINS["rmt"][:1]),
        *(_p4_job(sluice, path) for path in sorted(ROOT.glob("programs/p4/*.stf"))),
        *(_p4_rtl_job(sluice, ROOT / f"programs/p4/{name}.stf", flags) for name, flags in P4_COMPILED.items()),
        *(_p4_rtl_job(sluice, ROOT / f"programs/p4/eight/{name}.stf", flags) for name, flags in P4_EIGHT.items()),
    ]


def _p4_job(sluice: Path, script: Path) -> Job:
    """A program of P4 with its script, on the reference."""
    program = str(script.with_suffix(".p4").relative_to(ROOT))
    return Job(
        f"scripts p4 {script.stem}", "scripts", "p4", [str(sluice), "p4", "test", program],
        count=lambda text, good: Count(int(good), int(not good)), inputs=_inputs(_is_data, sluice),
    )  # fmt: skip


def _p4_rtl_job(sluice: Path, script: Path, flags: tuple[str, ...]) -> Job:
    """A program of P4 with its script on the pipeline alone: model, RTL and, without times, reference agree."""
    program = str(script.with_suffix(".p4").relative_to(ROOT))
    device = "both" if script.stem in P4_TIMED else "all"
    command = [str(sluice), "p4", "test", "--device", device, "--stages", "0-4", *flags, program]
    needs = PLUGINS["rmt"][:1]
    name = str(script.relative_to(ROOT / "programs/p4").with_suffix("")).replace("/", " ")
    return Job(
        f"scripts p4 {name} alone", "scripts", "rmt", command, needs=needs,
        count=lambda text, good: Count(int(good), int(not good)),
        inputs=_inputs(_is_data, sluice, *(_library(plugin) for plugin in needs)),
    )  # fmt: skip


def _script_count(files: int) -> Callable[[str, bool], Count]:
    def count(text: str, good: bool) -> Count:
        total = Count()
        for found in SCRIPT_RESULT.finditer(text):
            # A script that was skipped has not been shown: every device is there.
            total += Count(int(found[1]), int(found[2]) + int(found[3]))
        if files == 1:
            total = Count(len(SCRIPT_PASSED.findall(text)), 0)
        # A script without a result is one that was not run.
        return Count(total.passed, max(total.failed, files - total.passed))

    return count


# Benches


def bench_jobs() -> list[Job]:
    """One job a file of tests in tb/ and tools/."""
    files = sorted([*ROOT.glob("tb/**/test_*.py"), *ROOT.glob("tools/tests/test_*.py")])
    return [_bench(path) for path in files]


def _bench(path: Path) -> Job:
    name = str(path.relative_to(ROOT))
    area = path.relative_to(ROOT).parts[1]
    engine = {"nic": "nic", "shell": "nic", "rmt": "rmt", "common": "common"}.get(area, "lint")
    read = BUILD / "inputs" / f"{path.stem}.txt"
    needs = PLUGINS.get(area, ()) if path.parent.name == "top" else ()
    # Beside the build of all tests it would wait for cargo's lock, or that for it.
    after = ("rust build",) if name in RUST_MODELS else ()

    def inputs() -> str:
        """The bench's own files and the sources of the modules that it simulated when it last ran."""
        folder = str(path.parent.relative_to(ROOT))
        shared = [file for file in _tracked() if str(file).endswith((".py", ".cpp", ".h"))]
        own = [file for file in shared if str(file.relative_to(ROOT)).startswith((folder, "tb/", "tools/"))]
        sources = [ROOT / line for line in read.read_text().split("\n") if line] if read.exists() else []
        return _digest([*own, *sources, *map(_library, needs)], "" if sources or needs else "never ran")

    command = [PYTHON, "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", name]
    return Job(f"bench {name}", "benches", engine, command, needs=[*needs, *after], count=_bench_count, inputs=inputs,
               environment={"SLUICE_BENCH_INPUTS": str(read)})  # fmt: skip


def _bench_count(text: str, good: bool) -> Count:
    closing = next((line for line in reversed(text.splitlines()) if BENCH_RESULT.search(line)), "")
    numbers = {what.rstrip("s"): int(number) for number, what in BENCH_RESULT.findall(closing)}
    return Count(numbers.get("passed", 0), numbers.get("failed", 0) + numbers.get("error", 0))


# Proofs


def proof_jobs() -> list[Job]:
    """The proofs that are short by docs/formal.md."""
    read = ("formal/", "rtl/", "tools/", "docs/formal.md")
    return [
        Job("proofs short", "proofs", "formal", [PYTHON, "tools/formal.py", "--short"], count=_proof_count,
            inputs=_inputs(lambda name: name.startswith(read))),
    ]  # fmt: skip


def warp_job(sluice: Path) -> Job:
    """The leaves of the programs of programs/xdp, from their encoded rows."""
    read = ("programs/xdp/", "tools/", "docs/design/xdp-rows.md")
    return Job(
        "proofs warp", "proofs", "xdp", [PYTHON, "tools/warp_proof.py", "--jobs", "1", "--sluice", str(sluice)],
        count=_proof_count,
        inputs=_inputs(lambda name: name.startswith(read), sluice),
    )  # fmt: skip


def _proof_count(text: str, good: bool) -> Count:
    total = Count()
    for found in PROOF_RESULT.finditer(text):
        total += Count(int(found[1]), int(found[2]))
    return total


def closing_lines(text: str) -> list[str]:
    """The last words of a runner: cargo's results, pytest's total, the scripts' and the proofs' total."""
    totals = (RUST_RESULT, SCRIPT_RESULT, PROOF_RESULT)
    kept = [line for line in text.splitlines() if any(total.match(line) for total in totals)]
    if not kept:
        kept = [line for line in text.splitlines() if re.fullmatch(r"\d+ (passed|failed).* in [\d.]+s.*", line)][-1:]
    return kept


def commit() -> str:
    """For the record of a run."""
    return captured(["git", "describe", "--always", "--dirty"])[1].strip()
