"""The tests of a crate: one executable, `all`, with a module a file (tests/main.rs)."""

import re
import subprocess
from pathlib import Path

from project import ROOT

EXECUTABLE = "all"
# Crates with examples in their documentation, which are tests.
DOCUMENTED = ("jit", "packet")


def by_module(executable: Path) -> dict[str, list[str]]:
    """Names of the tests of an executable, by the module of the crate that they are in."""
    command = [str(executable), "--list", "--format", "terse"]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    modules: dict[str, list[str]] = {}
    for name in re.findall(r"^(\S+): test$", listed, re.MULTILINE):
        modules.setdefault(name.partition("::")[0], []).append(name)
    return modules


def unlisted(root: Path = ROOT) -> list[str]:
    """Files of tests that no executable has, for no tests/main.rs names them, and examples that do not run."""
    wrong = []
    for path in sorted(root.glob("crates/*/src/**/*.rs")):
        crate = path.relative_to(root).parts[1]
        # Every other fence begins a block; one that says no language is Rust.
        begins = re.findall(r"^\s*//[/!] ```(.*)$", path.read_text(), re.MULTILINE)[::2]
        if crate not in DOCUMENTED and any(language.strip() in ("", "rust") for language in begins):
            wrong.append(f"{path.relative_to(root)} has an example that does not run: `{crate}` is not in DOCUMENTED")
    for main in sorted(root.glob("crates/*/tests/main.rs")):
        named = set(re.findall(r"^mod (\w+);$", main.read_text(), re.MULTILINE))
        for path in sorted([*main.parent.glob("*.rs"), *main.parent.glob("*/mod.rs")]):
            name = path.parent.name if path.name == "mod.rs" else path.stem
            if path != main and name not in named and "#[test]" in path.read_text():
                wrong.append(f"{path.relative_to(root)} has tests that do not run: no `mod {name};` in tests/main.rs")
    return wrong
