"""Verilates a module for cocotb, and keeps the result as long as its sources stay the same.

A build is looked up by module, parameters, defines and tool set-up; it is current while
every file that Verilator read for it has the bytes it had then. So nothing needs a list
of dependencies: a module is found as rtl/**/<module>.sv, and its children likewise.
"""

import fcntl
import hashlib
import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import cocotb_tools.config
from compiler import chosen

ROOT = Path(__file__).resolve().parents[3]
CACHE = ROOT / ".cache" / "sim"
VENV = ROOT / ".venv"
CPP = ROOT / "tb" / "lib" / "cpp"
STOP, RUNTIME_H, RUNTIME_MK = CPP / "stop.cpp", CPP / "runtime.h", CPP / "runtime.mk"
JOBS = 2
# A store of the runtime is whole when it has this.
READY = "ready"

FLAGS = [
    "--cc", "--exe", "--vpi", "--prefix", "Vtop", "--timing", "--assert",
    # A bench sees its top's own signals. With all of them public next to nothing would be optimized.
    "--public-depth", "1",
    # Unreset registers and out-of-range reads are random, from the run's seed.
    "--x-assign", "unique", "--x-initial", "unique",
    # Nothing clears the tables of a block alone.
    "-DSLUICE_ZERO_RAMS",
    "-O3", "-Wno-fatal", "--quiet-stats", "-CFLAGS", "-DVL_USER_STOP",
    # Long functions take the compiler more than their share of time.
    "--output-split-cfuncs", "2000",
]  # fmt: skip
# Small models: compile time counts more than speed, for Python is the slow part. For a model that runs once, more so.
OPTIMIZE = os.environ.get("SLUICE_BENCH_OPTIMIZE", "-O1")
# Precompiled headers have options of their own with clang; no model of a bench has coroutines.
CLANG_OPTIONS = ["CFG_CXXFLAGS_COROUTINES=", "CFG_CXXFLAGS_PCH_I=-include-pch", "CFG_GCH_IF_CLANG=.gch",
                 "CFG_CXXFLAGS_NO_UNUSED=-w"]  # fmt: skip


def make_options() -> list[str]:
    """What the model's makefile is told."""
    levels = [f"OPT_FAST={OPTIMIZE}", "OPT_SLOW=-O0", "OPT_GLOBAL=-O2"]
    cxx = chosen()
    return [f"CXX={' '.join(cxx.cached)}", f"LINK={cxx.command}", *levels, *(CLANG_OPTIONS if cxx.is_clang else [])]


def trace_flags() -> list[str]:
    """FST where the lz4 headers are there, VCD where not."""
    probe = subprocess.run(["g++", "-x", "c++", "-fsyntax-only", "-"], input="#include <lz4.h>", text=True, stderr=-3)
    return ["--trace-fst" if probe.returncode == 0 else "--trace-vcd"]


def _digest(path: Path) -> str | None:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return None


def _is_current(manifest: Path) -> bool:
    try:
        inputs = json.loads(manifest.read_text())
    except (OSError, ValueError):
        return False
    return all(_digest(ROOT / name) == digest for name, digest in inputs.items())


def _inputs_read(build_dir: Path) -> dict[str, str | None]:
    """Project files that Verilator read, from its own dependency list."""
    rule = (build_dir / "Vtop__ver.d").read_text().replace("\\\n", " ")
    names = rule.split(" : ", 1)[1].split("\n")[0].split()
    paths = {(ROOT / name).resolve() for name in names}
    inside = (path for path in paths if path.is_relative_to(ROOT) and not path.is_relative_to(VENV))
    return {str(path.relative_to(ROOT)): _digest(path) for path in sorted(inside)}


def find_module(module: str) -> str:
    """The one file rtl/**/<module>.sv."""
    hits = sorted(ROOT.glob(f"rtl/**/{module}.sv"))
    if len(hits) != 1:
        raise FileNotFoundError(f"module {module}: {len(hits)} files match rtl/**/{module}.sv, expected 1")
    return str(hits[0].relative_to(ROOT))


def _run(command: Sequence[str], log: Path, what: str, **environment: str) -> None:
    with open(log, "a") as out:
        print("$", *command, file=out, flush=True)
        done = subprocess.run(command, cwd=ROOT, stdout=out, stderr=out, env=os.environ | environment)
    if done.returncode != 0:
        raise RuntimeError(f"{what} failed (exit {done.returncode}), log {log}:\n{log.read_text()[-4000:]}")


def _borrow_runtime(build_dir: Path, store: Path) -> list[str]:
    """What is the same for all benches is compiled for the first one only; returns options of make that use it.

    That is Verilator's runtime, stop.cpp and the precompiled headers. Large models have precompiled headers of their
    own.
    """
    if not (store / READY).exists():
        return []
    for path in store.glob("*.o"):
        shutil.copyfile(path, build_dir / path.name)
    header = store / RUNTIME_H.name
    large = re.search(r"^VM_PARALLEL_BUILDS = 1$", (build_dir / "Vtop_classes.mk").read_text(), re.MULTILINE)
    return [] if large else [f"OPT_FAST={OPTIMIZE} -include {header}"]


def _lend_runtime(build_dir: Path, store: Path, make: Sequence[str], log: Path) -> None:
    # Where it is used, for a precompiled header of clang knows its own path.
    store.mkdir(parents=True, exist_ok=True)
    with open(store / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if (store / READY).exists():
            return
        for path in [*build_dir.glob("verilated*.o"), build_dir / "stop.o"]:
            shutil.copyfile(path, store / path.name)
        shutil.copyfile(RUNTIME_H, store / RUNTIME_H.name)
        precompile = [*make, "-f", str(RUNTIME_MK), f"STORE={store}", f"{store}/{RUNTIME_H.name}.gch"]
        _run(precompile, log, "precompiling the runtime's headers", MAKEFLAGS="")
        (store / READY).touch()


def build(
    module: str,
    sources: Sequence[str],
    parameters: Mapping[str, object],
    defines: Mapping[str, object],
    trace: bool,
) -> Path:
    """Builds the simulator if it is not there, and returns its folder."""
    trace_options = trace_flags() if trace else []
    folders = sorted({str(path.parent.relative_to(ROOT)) for path in ROOT.glob("rtl/**/*.sv")})
    libraries = [word for folder in folders for word in ("-y", folder)]
    options = [
        *FLAGS, *trace_options, "--top-module", module,
        *(f"-G{name}={value}" for name, value in parameters.items()),
        *(f"-D{name}={value}" for name, value in defines.items()),
    ]  # fmt: skip
    pins = (ROOT / "tools" / "requirements.txt").read_text()
    own = [path.read_text() for path in (STOP, RUNTIME_H, RUNTIME_MK)]
    toolset = "\0".join([pins, *own, str(ROOT), *trace_options, chosen().version, *make_options()])
    key = hashlib.sha256("\0".join([toolset, module, *sources, *options]).encode()).hexdigest()[:16]
    build_dir = CACHE / f"{module}-{key}"
    build_dir.mkdir(parents=True, exist_ok=True)
    with open(build_dir / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not _is_current(build_dir / "inputs.json"):
            # Where modules are looked up is no part of the key: what was found is in the manifest.
            options += [*libraries, "+libext+.sv"]
            try:
                _compile(module, sources, options, build_dir, hashlib.sha256(toolset.encode()).hexdigest()[:16], trace)
            except RuntimeError:
                # What it has read nobody knows.
                record(str(path.relative_to(ROOT)) for path in ROOT.glob("rtl/**/*.sv"))
                raise
        record(json.loads((build_dir / "inputs.json").read_text()))
    return build_dir


def record(names: Iterable[str]) -> None:
    """Adds files to the list of what the bench reads, which `make test-changed` looks at."""
    if place := os.environ.get("SLUICE_BENCH_INPUTS"):
        path = Path(place)
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(path, "a") as out:
            out.writelines(f"{name}\n" for name in names)


def _compile(
    module: str, sources: Sequence[str], options: Sequence[str], build_dir: Path, toolset: str, trace: bool
) -> None:
    for path in build_dir.iterdir():
        if path.name != "lock":
            path.unlink() if path.is_file() else shutil.rmtree(path)
    log = build_dir / "build.log"
    libs = cocotb_tools.config.libs_dir
    main = cocotb_tools.config.share_dir / "lib" / "verilator" / "verilator.cpp"
    command = [
        # A wrong parameter's $fatal is a warning else, by -Wno-fatal.
        str(VENV / "bin" / "verilator"), *options, "-Werror-USERFATAL", "-Mdir", str(build_dir), "-o", module,
        "-LDFLAGS", f"-Wl,-rpath,{libs} -L{libs} -lcocotbvpi_verilator",
        str(main), str(STOP), *sources,
    ]  # fmt: skip
    _run(command, log, f"verilator on {module}")
    store = CACHE / f"runtime-{toolset}"
    borrowed = _borrow_runtime(build_dir, store)
    # The caller may be a recipe of make, whose job server this make could not reach.
    make = ["make", "-j", str(JOBS), "-C", str(build_dir), "-f", "Vtop.mk", f"VM_TRACE={int(trace)}", *make_options()]
    # What comes last counts.
    _run([*make, *borrowed], log, f"C++ of {module}", MAKEFLAGS="")
    _lend_runtime(build_dir, store, make, log)
    for path in build_dir.glob("*.gch"):
        path.unlink()
    (build_dir / "inputs.json").write_text(json.dumps(_inputs_read(build_dir), indent=1))
