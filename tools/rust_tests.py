"""The tests of a crate: one executable, `all`, with a module a file (tests/main.rs)."""

import re
import subprocess
from pathlib import Path

from project import ROOT

EXECUTABLE = "all"


def by_module(executable: Path) -> dict[str, list[str]]:
    """Names of the tests of an executable, by the module of the crate that they are in."""
    command = [str(executable), "--list", "--format", "terse"]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    modules: dict[str, list[str]] = {}
    for name in re.findall(r"^(\S+): test$", listed, re.MULTILINE):
        modules.setdefault(name.partition("::")[0], []).append(name)
    return modules


def unlisted(root: Path = ROOT) -> list[str]:
    """Files of tests that no executable has, for their crate's tests/main.rs does not name them."""
    wrong = []
    for main in sorted(root.glob("crates/*/tests/main.rs")):
        named = set(re.findall(r"^mod (\w+);$", main.read_text(), re.MULTILINE))
        for path in sorted([*main.parent.glob("*.rs"), *main.parent.glob("*/mod.rs")]):
            name = path.parent.name if path.name == "mod.rs" else path.stem
            if path != main and name not in named and "#[test]" in path.read_text():
                wrong.append(f"{path.relative_to(root)} has tests that do not run: no `mod {name};` in tests/main.rs")
    return wrong
