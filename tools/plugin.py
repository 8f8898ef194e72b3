"""Builds the Verilated tops as run-time plug-ins: build/plugins/libsluice_rtl_<config>[_<variant>].so

    .venv/bin/python tools/plugin.py [--variant test|trace|bench|synthesized] [--set NAME=VALUE ...] [--jobs N]
                                     [--strict] [CONFIG ...]

Variants: `test` (no suffix; assertions on, random initial values), `trace` (the same with
FST waves), `bench` (for speed; two-state zero start, no assertions) and `synthesized` (as `test`, with the bodies that
synthesis gets, and so without assertions: docs/decisions/simulated-bodies.md). The last has the file names of `test`
in build/plugins/synthesized, so that any test takes it with SLUICE_PLUGIN_DIR. So has what is built with `--set`, a
parameter of the top (`--set Matchers=1`) or a macro of a package (`--set SLUICE_L7_ALTERNATIVES=8`) with another
value: it lies in build/plugins/Matchers-1; of several settings the names stand side by side, with `+` between them.

With --strict a warning of Verilator fails, for which `test` has -Wall; the plug-in is there all the same.

A plug-in is current while its stamp stays the same: the hash of all sources and options, and the compiler
(tools/compiler.py).
Only the C functions sluice_rtl_* are exported, so that several plug-ins live side by side
in one process.
"""

import argparse
import fcntl
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import compiler
from filelists import all_lists, listed_files
from project import (
    BUILD,
    CACHE,
    ROOT,
    VENV,
    Configuration,
    captured,
    configurations,
    digest,
    fail,
    pins,
    write_atomically,
)

# Most compilers at a time, by default.
JOBS = 2
# A plug-in is verilated while another one is compiled; a tool holds one of these while it runs.
SLOTS = threading.BoundedSemaphore(JOBS)
INCLUDE = VENV / "share" / "verilator" / "include"
SHIM = ROOT / "crates" / "rtlsim" / "cpp"
PLUGINS = BUILD / "plugins"
PREFIX = "Vsluice_top"
# Few files, for each reads the model's headers again; short functions, for long ones take the compiler more than their
# share of time.
SPLIT = ["--output-split", "300000", "--output-split-cfuncs", "2000"]
# Read before every file: Verilator's messages and failures go to the shim.
HOOKS = SHIM / "verilator_hooks.h"
CXX = ["-fPIC", "-fvisibility=hidden", "-fvisibility-inlines-hidden", "-include", str(HOOKS)]
DEFINES = ["VERILATOR=1", "VM_COVERAGE=0", "VM_SC=0", "VM_TIMING=0", "VM_TRACE_VCD=0", "VM_TRACE_SAIF=0",
           "VL_IGNORE_UNKNOWN_ARCH=1"]  # fmt: skip


@dataclass(frozen=True)
class Variant:
    """Options of Verilator and of the compiler for one use."""

    suffix: str
    verilator: tuple[str, ...]
    optimize: str
    trace: bool = False
    folder: Path = PLUGINS

    @property
    def defines(self) -> list[str]:
        """Macros that the runtime and the model must agree on."""
        trace = int(self.trace)
        return [f"-D{name}" for name in [*DEFINES, f"VM_TRACE={trace}", f"VM_TRACE_FST={trace}"]]

    @property
    def libraries(self) -> list[str]:
        """What the runtime needs."""
        return ["-lpthread", "-latomic", *(["-lz", "-llz4"] if self.trace else [])]


CHECKED = ("--assert", "--x-assign", "unique", "--x-initial", "unique")
VARIANTS = {
    "test": Variant("", ("-Wall", *CHECKED), "-O1"),
    "trace": Variant("_trace", (*CHECKED, "--trace-fst", "--trace-structs"), "-O1", trace=True),
    "bench": Variant("_bench", ("--no-assert", "--x-assign", "fast", "--x-initial", "fast"), "-O3"),
    "synthesized": Variant("", ("-DSYNTHESIS", *CHECKED), "-O1", folder=PLUGINS / "synthesized"),
}


def checked(command: list[str], what: str) -> str:
    """Runs a tool when a slot is free; its output only matters when it fails."""
    with SLOTS:
        code, text = captured(command)
    if code != 0:
        fail(f"{what} failed (exit {code}):\n$ {' '.join(command)}\n{text}")
    return text


def compile_all(jobs: list[tuple[Path, Path, list[str]]]) -> None:
    """Compiles (source, object, options), as many at a time as there are slots."""

    cxx = compiler.chosen()

    def one(job: tuple[Path, Path, list[str]]) -> None:
        source, target, options = job
        command = [*cxx.cached, *cxx.language, *CXX, *options, "-c", str(source), "-o", str(target)]
        checked(command, f"compiling {source.name}")

    with ThreadPoolExecutor(JOBS) as pool:
        list(pool.map(one, jobs))


def runtime_archive(variant: Variant) -> Path:
    """Verilator's runtime, compiled once for all plug-ins of one kind."""
    names = ["verilated", "verilated_threads", *(["verilated_fst_c"] if variant.trace else [])]
    options = [pins(), str(ROOT), repr(compiler.chosen()), *CXX, *variant.defines]
    stamp = digest([HOOKS, *(INCLUDE / f"{name}.cpp" for name in names)], *options)
    folder = CACHE / "rtl" / f"runtime-{stamp}"
    archive = folder / "libverilated.a"
    if archive.exists():
        return archive
    folder.mkdir(parents=True, exist_ok=True)
    options = ["-O2", *variant.defines, f"-I{INCLUDE}", f"-I{INCLUDE}/vltstd"]
    objects = [(INCLUDE / f"{name}.cpp", folder / f"{name}.o", options) for name in names]
    compile_all(objects)
    draft = folder / "draft.a"
    draft.unlink(missing_ok=True)
    checked(["ar", "rcs", str(draft), *(str(target) for _, target, _ in objects)], "ar")
    draft.rename(archive)
    return archive


def warnings_file(config: Configuration, variant: Variant) -> Path:
    """What Verilator had to say of a plug-in when it was last built, for --strict."""
    return CACHE / "rtl" / f"{work_name(config, variant)}.warnings"


def verilate(config: Configuration, variant: Variant, folder: Path) -> list[Path]:
    """SystemVerilog to C++; returns the C++ files."""
    command = [
        "verilator", "--cc", "-O3", "-Wno-fatal", "--timing", "--quiet", *variant.verilator, "--prefix", PREFIX,
        "--top-module", config.top, *SPLIT, "--Mdir", str(folder), *config.arguments,
        "-F", str(config.file_list.relative_to(ROOT)),
    ]  # fmt: skip
    text = checked(command, "verilator").strip()
    if text:
        print(text)
    write_atomically(warnings_file(config, variant), text)
    return sorted(folder.glob(f"{PREFIX}*.cpp"))


@contextmanager
def locked(name: str) -> Iterator[None]:
    """One process at a time; others wait."""
    (CACHE / "rtl").mkdir(parents=True, exist_ok=True)
    with open(CACHE / "rtl" / f"{name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def work_name(config: Configuration, variant: Variant) -> str:
    """Of the work folder; plug-ins of one name in several folders have one each."""
    return "_".join([config.name + variant.suffix, *variant.folder.relative_to(PLUGINS).parts])


def build(config: Configuration, variant: Variant) -> None:
    """Builds one plug-in unless it is current."""
    with locked("runtime"):
        runtime = runtime_archive(variant)
    with locked(work_name(config, variant)):
        _build(config, variant, runtime)


def _build(config: Configuration, variant: Variant, runtime: Path) -> None:
    name = config.name
    plugin = variant.folder / f"libsluice_rtl_{name}{variant.suffix}.so"
    own_shim = SHIM / ("nic" if config.area == "nic" else "bare")
    shim_sources = sorted([*SHIM.glob("*.cpp"), *own_shim.glob("*.cpp")])
    shim = [*shim_sources, *sorted([*SHIM.glob("*.h"), *own_shim.glob("*.h")])]
    options = [pins(), str(ROOT), repr(config), repr(variant), Path(__file__).read_text()]
    cxx = compiler.chosen()
    # The compiler's name in clear too: whoever asks what a plug-in was built with finds it there.
    sources = [*listed_files(config.file_list), config.file_list, *all_lists(), *shim]
    stamp = f"{digest(sources, repr(cxx), *options)} {cxx.version}"
    stamp_file = variant.folder / f".{plugin.name}.stamp"
    current = stamp_file.exists() and stamp_file.read_text() == stamp
    if plugin.exists() and current and warnings_file(config, variant).exists():
        return
    if not shim_sources or HOOKS not in shim:
        fail(f"no C++ shim in {SHIM.relative_to(ROOT)} (*.cpp and {HOOKS.name})")
    begin = time.monotonic()
    print(f"plugin: building {plugin.relative_to(ROOT)} with {cxx.command} ({cxx.version})", flush=True)
    folder = CACHE / "rtl" / work_name(config, variant)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    model = verilate(config, variant, folder)
    common = [*variant.defines, f"-I{folder}", f"-I{INCLUDE}", f"-I{INCLUDE}/vltstd", "-Wno-unused", "-w"]
    own = [*variant.defines, f"-I{folder}", f"-I{SHIM}", f"-I{own_shim}", f"-isystem{INCLUDE}",
           f"-isystem{INCLUDE}/vltstd", "-Wall", "-Wextra", f'-DSLUICE_CONFIG_NAME="{name}"']  # fmt: skip
    # Slow files hold reset and set-up code: compiling them fast matters more.
    jobs = [(path, folder / f"{path.stem}.o", [("-O0" if "Slow" in path.name else variant.optimize), *common])
            for path in model]  # fmt: skip
    jobs += [(path, folder / f"shim_{path.stem}.o", [variant.optimize, *own]) for path in shim_sources]
    compile_all(sorted(jobs, key=lambda job: -job[0].stat().st_size))
    exports = folder / "exports.map"
    exports.write_text("{ global: sluice_rtl_*; local: *; };\n")
    draft = folder / plugin.name
    flags = ["-shared", "-Wl,-Bsymbolic", "-Wl,--no-undefined", f"-Wl,--version-script={exports}"]
    link = [cxx.command, *flags, "-o", str(draft),
            *(str(target) for _, target, _ in jobs), str(runtime), "-lstdc++", *variant.libraries]  # fmt: skip
    checked(link, "linking")
    variant.folder.mkdir(parents=True, exist_ok=True)
    stamp_file.unlink(missing_ok=True)
    # A rename, so that a process which has the old one mapped keeps it.
    draft.rename(plugin)
    write_atomically(stamp_file, stamp)
    print(f"plugin: {plugin.relative_to(ROOT)} ready in {time.monotonic() - begin:.0f} s", flush=True)


def with_parameter(config: Configuration, setting: str) -> Configuration:
    """The configuration with `NAME=VALUE` for one of its top's parameters, or of a macro."""
    name, _, value = setting.partition("=")
    if not name.isidentifier() or not value.isdecimal():
        fail(f"--set {setting!r}: expected NAME=VALUE with a number, as Matchers=1")
    return replace(config, parameters={**config.parameters, name: int(value)})


def prerequisites_met(variant: Variant) -> bool:
    """A compiler is a must; without lz4 only the waves are off."""
    script = str(ROOT / "tools" / "prerequisites.sh")
    if subprocess.run([script, "cxx"]).returncode != 0:
        sys.exit(1)
    if variant.trace and subprocess.run([script, "waves"]).returncode != 0:
        print("plugin: no plug-in with waves; everything else works without it")
        return False
    return True


def main() -> None:
    parser = argparse.ArgumentParser(description="Builds the Verilated tops as run-time plug-ins.")
    parser.add_argument("--variant", choices=VARIANTS, default="test")
    parser.add_argument("--set", metavar="NAME=VALUE", action="append", default=[],
                        help="a parameter of the top, or a macro, with another value")  # fmt: skip
    parser.add_argument("--strict", action="store_true", help="fail when Verilator warns of the RTL")
    parser.add_argument("--jobs", type=int, default=JOBS, help=f"most tools at a time (default: {JOBS})")
    parser.add_argument("config", nargs="*", help="configurations of tools/configs.toml; all by default")
    arguments = parser.parse_args()
    known = configurations()
    if unknown := [name for name in arguments.config if name not in known]:
        fail(f"configuration {unknown[0]!r} is not in tools/configs.toml; allowed: {', '.join(known)}")
    variant = VARIANTS[arguments.variant]
    if arguments.set:
        for setting in arguments.set:
            known = {name: with_parameter(known[name], setting) for name in arguments.config or known}
        variant = replace(variant, folder=variant.folder / "+".join(arguments.set).replace("=", "-"))
    if prerequisites_met(variant):
        for _ in range(JOBS - max(1, min(arguments.jobs, JOBS))):
            SLOTS.acquire()
        with ThreadPoolExecutor(JOBS) as pool:
            list(pool.map(lambda name: build(known[name], variant), arguments.config or known))
        texts = [warnings_file(known[name], variant).read_text() for name in arguments.config or known]
        if arguments.strict and any(texts):
            fail("Verilator warns of the RTL\n" + "\n".join(texts))


if __name__ == "__main__":
    main()
