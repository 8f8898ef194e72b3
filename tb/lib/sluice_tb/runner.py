"""Runs the cocotb tests of a bench on a module with given parameters."""

import inspect
import os
import shutil
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping, Sequence
from pathlib import Path

from cocotb_tools.runner import get_runner

from .build import build, find_module
from .seed import base_seed


def _cases(results: Path) -> tuple[list[str], list[str]]:
    """Names of the tests that ran and of those that failed."""
    ran, failed = [], []
    for case in ElementTree.parse(results).getroot().iter("testcase"):
        if case.find("skipped") is not None:
            continue
        ran.append(case.get("name"))
        if case.find("failure") is not None or case.find("error") is not None:
            failed.append(case.get("name"))
    return ran, failed


def run_bench(
    module: str,
    *,
    parameters: Mapping[str, object] | None = None,
    packages: Sequence[str] = (),
    sources: Sequence[str] | None = None,
    defines: Mapping[str, object] | None = None,
    tests: str | Sequence[str] | None = None,
    env: Mapping[str, str] | None = None,
) -> None:
    """Builds `module` (once) and runs the cocotb tests of the calling file on it.

    module      top module; found as rtl/**/<module>.sv, and so is all that it instantiates
    parameters  values for its parameters
    packages    package files, relative to the repository, in order
    sources     the top's files, if it is not under rtl/
    defines     macros
    tests       names of the cocotb tests to run; all by default
    env         what the cocotb side shall find in os.environ

    Fails when a test fails, when none ran, and when the simulator ends by itself (an
    assertion of the RTL, $fatal). SLUICE_SEED repeats a run; SLUICE_WAVES=1 writes a dump
    into the build folder.
    """
    __tracebackhide__ = True
    test_file = Path(inspect.stack()[1].filename)
    parameters, defines, seed = dict(parameters or {}), dict(defines or {}), base_seed()
    trace = os.environ.get("SLUICE_WAVES", "0") not in ("", "0")
    files = [*packages, *(sources if sources is not None else [find_module(module)])]
    build_dir = build(module, files, parameters, defines, trace)

    current = os.environ.get("PYTEST_CURRENT_TEST", test_file.stem).split("::")[-1].split(" ")[0]
    run_dir = build_dir / "runs" / "".join(c if c.isalnum() else "_" for c in f"{test_file.stem}.{current}")
    shutil.rmtree(run_dir, ignore_errors=True)
    results = run_dir / "results.xml"
    label = module + "".join(f" {name}={value}" for name, value in parameters.items())
    print(f"{label}: SLUICE_SEED={seed}", flush=True)
    # First, also when it is there already: the folder of an earlier bench may hold a file of the same name.
    folder = str(test_file.parent)
    sys.path[:] = [folder, *(entry for entry in sys.path if entry != folder)]
    try:
        get_runner("verilator").test(
            test_module=test_file.stem,
            hdl_toplevel=module,
            hdl_toplevel_lang="verilog",
            build_dir=build_dir,
            test_dir=run_dir,
            results_xml=str(results),
            seed=seed,
            testcase=tests,
            # A Verilator seed of 0 would mean "draw one".
            plusargs=["+verilator+rand+reset+2", f"+verilator+seed+{seed % (2**31 - 2) + 1}"],
            test_args=["--trace"] if trace else [],
            extra_env={"SLUICE_SEED": str(seed), "PYTHONDONTWRITEBYTECODE": "1", **(env or {})},
        )
        ended = ""
    except (SystemExit, RuntimeError) as stop:
        ended = f" (simulator: {stop})"
    hint = f"; again with SLUICE_SEED={seed}"
    if trace:
        hint += f"; waves in {run_dir}"
    if not results.is_file():
        raise AssertionError(f"{label}: the simulation stopped before its end{ended}{hint}")
    ran, failed = _cases(results)
    if failed or ended:
        raise AssertionError(f"{label}: {len(failed)} of {len(ran)} failed: {', '.join(failed)}{ended}{hint}")
    if not ran:
        raise AssertionError(f"{label}: no cocotb test ran in {test_file.name}")
