"""The direction in which folders of RTL and Rust crates may read each other, and what goes against it, for lint.py.

RTL: rtl/gen < rtl/common < rtl/shell < each other folder, which is an engine or the NIC's blocks and reads none of its
kind; above all the NIC's top, sluice_nic_top with its parts sluice_nic_top_*, and its file list. A generated package
sluice_ENGINE_* is inside of rtl/ENGINE. An engine may have parts in folders of their own.
Crates: a crate depends on those before its own in CRATES; crates of one line do not know each other.
"""

import re
import tomllib
from pathlib import Path

from filelists import entries
from project import ROOT

# Folders of rtl/ that all others may read, lowest first.
BASE = ("gen", "common", "shell")
# Folders that are a part of an engine.
PARTS = {"warp": "xdp"}
# Folder whose top instantiates engines.
ABOVE = "nic"

CRATES = (
    ("formats",),
    ("packet",),
    ("object",),
    ("device",),
    ("ebpf", "rmt", "l7"),
    ("hxdp", "jit", "p4", "ports"),
    ("frontends",),
    ("nic",),
    ("rtlsim",),
    ("control",),
    ("cli", "probe"),
)

# `package::`, and `module #(` or `module u_instance (` at the beginning of a line.
_PACKAGE = re.compile(r"\b(sluice_\w+)::")
_INSTANCE = re.compile(r"^\s*(sluice_\w+)\s*(?:#\s*\(|u_\w+)", re.MULTILINE)


def _engines(root: Path) -> list[str]:
    """Folders of rtl/ that are no base."""
    return sorted(path.name for path in (root / "rtl").iterdir() if path.is_dir() and path.name not in {*BASE, *PARTS})


def _folder(path: Path, engines: list[str]) -> str:
    """The folder a source belongs to; a generated package of an engine is inside of the engine's."""
    if path.parent.name == "gen":
        return next((name for name in engines if path.stem.startswith(f"sluice_{name}_")), "gen")
    return PARTS.get(path.parent.name, path.parent.name)


def _is_top(path: Path) -> bool:
    """Whether a source is the top of its folder, or a part of it."""
    top = f"sluice_{path.parent.name}_top"
    return path.stem == top or path.stem.startswith(f"{top}_")


def _may_read(user: str, used: str, user_is_top: bool) -> bool:
    if used in BASE:
        return user not in BASE or BASE.index(used) <= BASE.index(user)
    return used == user or (user_is_top and user == ABOVE)


def rtl(root: Path = ROOT) -> list[str]:
    """Sources and file lists that read against the direction."""
    engines = _engines(root)
    sources = sorted((root / "rtl").glob("*/*.sv"))
    homes = {path.stem: _folder(path, engines) for path in sources}
    wrong = []

    def check(what: str, user: str, name: str, top: bool) -> None:
        if not _may_read(user, homes[name], top):
            wrong.append(
                f"{what} reads {name} of rtl/{homes[name]}; rtl/{user} may read"
                f" {', '.join(_allowed(user, engines, top))}"
            )

    for path in sources:
        text = re.sub(r"//[^\n]*|/\*.*?\*/", "", path.read_text(), flags=re.DOTALL)
        names = {*_PACKAGE.findall(text), *_INSTANCE.findall(text)} & homes.keys() - {path.stem}
        for name in sorted(names):
            check(str(path.relative_to(root)), homes[path.stem], name, _is_top(path))
    for file_list in sorted((root / "rtl").glob("*/*.f")):
        user = PARTS.get(file_list.parent.name, file_list.parent.name)
        for name in sorted({path.stem for path in entries(file_list)} & homes.keys()):
            check(str(file_list.relative_to(root)), user, name, file_list.stem == f"sluice_{user}")
    return wrong


def _allowed(user: str, engines: list[str], top: bool) -> list[str]:
    return [f"rtl/{name}" for name in (*BASE, *engines) if _may_read(user, name, top)]


def crates(root: Path = ROOT) -> list[str]:
    """Crates that are in no line, and dependencies, those of tests included, against the order."""
    level = {name: number for number, names in enumerate(CRATES) for name in names}
    wrong = []
    for manifest in sorted((root / "crates").glob("*/Cargo.toml")):
        user = manifest.parent.name
        shown = manifest.relative_to(root)
        if user not in level:
            wrong.append(f"{shown}: crate {user} has no place in CRATES of tools/layers.py")
            continue
        for name in _dependencies(tomllib.loads(manifest.read_text())):
            if name not in level:
                wrong.append(f"{shown}: depends on {name}, which has no place in CRATES of tools/layers.py")
            elif level[name] >= level[user]:
                below = [other for other, number in level.items() if number < level[user]]
                wrong.append(f"{shown}: depends on {name}; {user} may depend on {', '.join(below) or 'no crate'}")
    return wrong


def _dependencies(manifest: dict) -> list[str]:
    """Crates of the project that a manifest names in any table of dependencies."""
    kinds = ("dependencies", "dev-dependencies", "build-dependencies")
    tables = [manifest, *manifest.get("target", {}).values()]
    names = {
        details.get("package", name) if isinstance(details, dict) else name
        for table in tables
        for kind in kinds
        for name, details in table.get(kind, {}).items()
    }
    return sorted(name.removeprefix("sluice-") for name in names if name.startswith("sluice-"))
