"""Every static check, one after the other; `make lint` runs them as jobs (jobs.py).

    .venv/bin/python tools/lint.py [CHECK ...]

Prints the output of those that fail.
"""

import re
import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

import layers
import rust_tests
from project import READ_SLANG, ROOT, Configuration, captured, configurations, packages, rtl_files

VERIBLE = ["verible-verilog-format", "--column_limit=120", "--indentation_spaces=2", "--verify"]
VERILATOR = ["verilator", "--lint-only", "-Wall", "--timing", "--assert"]
# Configurations without a plug-in in `make test`.
ONLY_LINTED = (
    "default",
    "far",
    "tiny_far",
    "with_xdp_tiny",
    "with_l7_tiny",
    "rmt_wide",
    "xdp_default",
    "xdp_far",
    "probe_default",
    "probe_tiny",
)

Outcome = tuple[bool, str]


def _merge(results: list[tuple[int, str]]) -> Outcome:
    return all(code == 0 for code, _ in results), "".join(text for code, text in results if code != 0)


def _relative(paths) -> list[str]:
    return [str(path.relative_to(ROOT)) for path in paths]


def _modules() -> list[Path]:
    """Files that hold a module, one each, named like it."""
    return [path for path in rtl_files() if path not in packages()]


def rust_format() -> Outcome:
    return _merge([captured(["cargo", "fmt", "--all", "--check"])])


def rust_clippy() -> Outcome:
    command = ["cargo", "clippy", "--quiet", "--workspace", "--all-targets", "--", "-D", "warnings"]
    return _merge([captured(command)])


def generated_files() -> Outcome:
    command = ["cargo", "run", "--quiet", "-p", "sluice-formats", "--bin", "sluice-gen", "--", "--check"]
    return _merge([captured(command)])


def python() -> Outcome:
    return _merge([captured(["ruff", "check", "--quiet"]), captured(["ruff", "format", "--check", "--quiet"])])


def programs() -> Outcome:
    """The committed XDP objects are those of their sources, where the compiler is there to tell."""
    code, text = captured([sys.executable, "tools/programs.py", "--check"])
    # What it could not look at stands in the list at the end of the run.
    return code == 0, "".join(line for line in text.splitlines(keepends=True) if code or "skipped: " in line)


def rtl_format() -> Outcome:
    # verible takes one file a call. Generated files are held to be current, not to be formatted.
    written = [path for path in rtl_files() if path.parent.name != "gen"]
    folders = ("integration", "tb", "formal")
    others = [
        path for folder in folders for path in sorted(ROOT.glob(f"{folder}/**/*.sv")) if path.parent.name != "gen"
    ]
    files = [*written, *others]
    results = []
    for name in _relative(files):
        code, text = captured([*VERIBLE, name])
        results.append((code, f"{name}: not formatted; {' '.join(VERIBLE[:-1])} --inplace {name}\n{text[:2000]}"))
    return _merge(results)


def _lint(elaborations: list[tuple[str, list[str]]]) -> Outcome:
    """Of each (what, arguments)."""
    results = []
    for what, arguments in elaborations:
        code, text = captured([*VERILATOR, *arguments])
        results.append((code, f"{what}:\n{text}"))
    return _merge(results)


def _simulated() -> list[Configuration]:
    return [config for config in configurations().values() if config.file_list.exists()]


def _tops(configs: Iterable[Configuration]) -> list[tuple[str, list[str]]]:
    return [
        (f"{config.top} {config.name}",
         ["-F", str(config.file_list.relative_to(ROOT)), "--top-module", config.top, *config.arguments])
        for config in configs
    ]  # fmt: skip


def rtl_lint() -> Outcome:
    """Each module once, as it is, and tops whose plug-ins `make test` does not build.

    Parts of a top are elaborated with it.
    """
    folders = sorted({str(path.parent.relative_to(ROOT)) for path in rtl_files()})
    library = [word for folder in folders for word in ("-y", folder)] + ["+libext+.sv"]
    before = [*library, *_relative(packages())]
    simulated = _simulated()
    tops = {config.top for config in simulated}
    modules = [(path.stem, path) for path in _modules() if not path.stem.startswith(tuple(tops))]
    jobs = [(name, [*before, "--top-module", name, str(path.relative_to(ROOT))]) for name, path in modules]
    return _lint([*jobs, *_tops(config for config in simulated if config.name in ONLY_LINTED)])


def rtl_tops() -> Outcome:
    """Tops of plug-ins; where these are built, too, `plugin.py --strict` has it from the same elaboration."""
    return _lint(_tops(config for config in _simulated() if config.name not in ONLY_LINTED))


def rtl_yosys() -> Outcome:
    """Yosys' front end reads every module, for synthesis and proofs are on it.

    Folder by folder, and folders with a top by that, which instantiates every module of them: with all of rtl/rmt
    as tops in one read the front end fails an assertion of its own (`!unrolling`, procedural.cc), though each alone
    is read. What is in an engine's top and in the NIC's, too, is read with the NIC's. Of a top,
    instances of a module with the same parameters are read once, where the front end can keep the hierarchy, and not
    each into one flat netlist.
    """
    parts = sorted((ROOT / "rtl" / "nic").glob("sluice_nic_top*.sv"))
    nic = "".join(path.read_text() for path in parts)
    folders: dict[str, list[str]] = {}
    for path in _modules():
        folders.setdefault(path.parent.name, []).append(path.stem)
    files = _relative([*packages(), *_modules()])
    results = []
    for folder, names in folders.items():
        top = f"sluice_{folder}_top"
        options = [word for name in ([top] if top in names else names) for word in ("--top", name)]
        if top in names:
            options.append("--best-effort-hierarchy")
        if top in names and f"  sluice_{folder} #(" in nic:
            options += ["--blackboxed-module", f"sluice_{folder}"]
        results.append(_read([*options, *files]))
    # What stands in the top of the bare NIC, without the blocks that were read with the whole one.
    own = {path.stem for path in parts}
    blocks = sorted(set(re.findall(r"^ +(sluice_\w+) #\(", nic, re.MULTILINE)) - own)
    options = [word for block in blocks for word in ("--blackboxed-module", block)]
    bare = configurations()["bare_default"]
    results.append(_read(["--top", bare.top, *bare.arguments, "--best-effort-hierarchy", *options, *files]))
    return _merge(results)


def _read(words: list[str]) -> tuple[int, str]:
    """Reads sources with Yosys' front end."""
    with tempfile.NamedTemporaryFile("w", suffix=".ys", dir=ROOT / ".cache") as script:
        script.write(f"{READ_SLANG} {' '.join(words)}\n")
        script.flush()
        return captured(["yosys", "-q", "-s", str(Path(script.name).relative_to(ROOT))])


def tests_listed() -> Outcome:
    """Each file of Rust tests is a module of its crate's executable."""
    wrong = rust_tests.unlisted()
    return not wrong, "".join(f"{line}\n" for line in wrong)


def direction() -> Outcome:
    """No folder of RTL reads another's insides, no crate one above it."""
    wrong = [*layers.rtl(), *layers.crates()]
    return not wrong, "".join(f"{line}\n" for line in wrong)


def proofs() -> Outcome:
    """docs/formal.md has a row for each proof, docs/mutants.csv for each mutant, and each of those can be planted."""
    return _merge([captured([sys.executable, f"tools/{name}.py", "--check"]) for name in ("formal", "mutants")])


CHECKS: dict[str, Callable[[], Outcome]] = {
    check.__name__: check
    for check in (
        python, programs, direction, proofs, rtl_format, rust_format, tests_listed, rtl_lint, rtl_tops, rtl_yosys,
        rust_clippy, generated_files,
    )
}  # fmt: skip


def main() -> None:
    if unknown := set(sys.argv[1:]) - CHECKS.keys():
        sys.exit(f"lint.py: {sorted(unknown)} unknown; allowed: {', '.join(CHECKS)}")
    status = 0
    for name in sys.argv[1:] or CHECKS:
        good, text = CHECKS[name]()
        if good:
            print(text, end="")
        else:
            status = 1
            print(f"{name}: FAILED\n{text.rstrip()}")
    sys.exit(status)


if __name__ == "__main__":
    main()
