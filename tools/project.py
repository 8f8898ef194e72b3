"""Paths, commands and tables that the project's scripts share."""

import hashlib
import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
CACHE = ROOT / ".cache"
BUILD = ROOT / "build"
# A RAM of 32,768 words may be initialized in a loop; slang's own limit is 4,000 rounds. Its
# parallel parser throws in the WebAssembly build.
READ_SLANG = "read_slang --threads 1 --unroll-limit 70000 -D SYNTHESIS"


def tool_environment() -> dict[str, str]:
    """The environment with the tools of .venv in front, and no trace of a calling make."""
    environment = dict(os.environ)
    environment["PATH"] = f"{VENV / 'bin'}{os.pathsep}{environment['PATH']}"
    for name in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL"):
        environment.pop(name, None)
    return environment


def run(command: Sequence[str], **options) -> subprocess.CompletedProcess:
    """Runs in the repository's root with the tools in reach; the caller looks at the result."""
    options.setdefault("cwd", ROOT)
    options.setdefault("env", tool_environment())
    return subprocess.run(command, **options)


def captured(command: Sequence[str], **options) -> tuple[int, str]:
    """Exit code and output, stderr included."""
    done = run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", **options)
    return done.returncode, done.stdout


def fail(message: str) -> None:
    """Ends the script with a message and status 1."""
    sys.exit(f"{Path(sys.argv[0]).name}: {message}")


def digest(paths: Iterable[Path], *texts: str) -> str:
    """Hash of files (names and contents) and texts."""
    total = hashlib.sha256("\0".join(texts).encode())
    for path in sorted(set(paths)):
        name = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
        total.update(f"\0{name}\0".encode() + path.read_bytes())
    return total.hexdigest()[:16]


def pins() -> str:
    """The pinned tool versions, as part of what a cached result depends on."""
    return (ROOT / "tools" / "requirements.txt").read_text()


@dataclass(frozen=True)
class Block:
    """A module with representative parameters."""

    name: str
    top: str
    parameters: Mapping[str, object] = field(default_factory=dict)
    ecp5: bool = False

    @property
    def path(self) -> Path:
        """Its source file."""
        return find_module(self.top)

    @property
    def parameter_text(self) -> str:
        """For tables: `Width=8 Depth=16`."""
        return " ".join(f"{name}={value}" for name, value in self.parameters.items()) or "defaults"


def rtl_files(area: str = "**") -> list[Path]:
    """SystemVerilog sources below rtl/, generated ones included."""
    return sorted((ROOT / "rtl").glob(f"{area}/*.sv"))


def find_module(module: str) -> Path:
    """The one file rtl/**/<module>.sv."""
    hits = sorted((ROOT / "rtl").glob(f"**/{module}.sv"))
    if len(hits) != 1:
        fail(f"module {module}: {len(hits)} files match rtl/**/{module}.sv, expected 1")
    return hits[0]


def packages() -> list[Path]:
    """Generated packages first, then those of the shell, then the others; they are read before any module."""
    first = {"gen": 0, "shell": 1}
    found = [path for path in rtl_files() if path.stem.endswith("_pkg")]
    return sorted(found, key=lambda path: (first.get(path.parent.name, 2), path))


def blocks() -> list[Block]:
    """The table synth/blocks.toml, checked."""
    table = ROOT / "synth" / "blocks.toml"
    known = {"name", "top", "parameters", "ecp5"}
    result = []
    for entry in tomllib.loads(table.read_text()).get("block", []):
        if unknown := entry.keys() - known:
            fail(f"{table.name}: block {entry.get('name')!r} has {sorted(unknown)}, allowed are {sorted(known)}")
        if "top" not in entry:
            fail(f"{table.name}: a block without `top`: {entry}")
        result.append(Block(entry.get("name", entry["top"].removeprefix("sluice_")), entry["top"],
                            entry.get("parameters", {}), entry.get("ecp5", False)))  # fmt: skip
    return result


@dataclass(frozen=True)
class Configuration:
    """A top with parameters that is simulated."""

    name: str
    area: str
    parameters: Mapping[str, object] = field(default_factory=dict)
    folder: str = ""

    @property
    def top(self) -> str:
        """Its module."""
        return f"sluice_{self.area}_top"

    @property
    def file_list(self) -> Path:
        """Its sources."""
        return ROOT / (self.folder or f"rtl/{self.area}") / f"sluice_{self.area}.f"

    @property
    def arguments(self) -> list[str]:
        """Its parameters for Verilator."""
        return [setting(name, value) for name, value in self.parameters.items()]


def setting(name: str, value: object) -> str:
    """A parameter of a top as an option of Verilator and read_slang; in capitals it is a macro that a package reads."""
    return f"{'-D' if name.isupper() else '-G'}{name}={value}"


def configurations() -> dict[str, Configuration]:
    """The RTL configurations of tools/configs.toml."""
    table = tomllib.loads((ROOT / "tools" / "configs.toml").read_text())
    return {name: Configuration(name, **entry) for name, entry in table.items()}


def read_json(path: Path):
    """Parsed file, or None when it is missing or broken (a cache is rebuilt then)."""
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError):
        return None


def write_atomically(path: Path, text: str) -> None:
    """A reader sees the old file or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    draft.write_text(text)
    draft.rename(path)
