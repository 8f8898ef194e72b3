"""`make programs`: the objects of programs/xdp, from their C sources with clang.

    python3 tools/programs.py [NAME ...]     # rebuilds, says which objects changed
    python3 tools/programs.py --check        # only says whether the committed objects are current

Each folder programs/xdp/NAME has NAME.c and NAME.o. Where the source includes fed.h there is also
NAME.fed.o, in which time, random numbers and processor number come from a map. The objects are
committed, so that nobody needs clang to run them. programs/xdp/BUILT-WITH says which clang made them
and from what: `--check` rebuilds and compares where that clang is installed, and elsewhere compares
the digests of sources and objects.
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import program_docs

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "programs" / "xdp"
RECORD = FOLDER / "BUILT-WITH"
PAGE = ROOT / "docs" / "guide" / "xdp-programs.md"
MAJOR = 16
FLAGS = ["-target", "bpf", "-mcpu=v3", "-O2", "-g", "-std=gnu11", "-Wall", "-Wextra", "-Werror"]
FLAGS += ["-Wno-unused-function", "-Wno-pass-failed"]


@dataclass(frozen=True)
class Object:
    """One object file and how it is made."""

    source: Path
    fed: bool

    @property
    def path(self) -> Path:
        """Where the object is committed."""
        return self.source.with_suffix(".fed.o" if self.fed else ".o")

    @property
    def name(self) -> str:
        """Path below programs/xdp."""
        return str(self.path.relative_to(FOLDER))


@dataclass(frozen=True)
class Tools:
    """A clang and what belongs to it."""

    clang: str
    strip: str
    version: str


def includes(source: Path) -> list[Path]:
    """The source and the headers of programs/xdp that it includes, directly or not, sorted."""
    found: set[Path] = set()
    open_files = [source]
    while open_files:
        path = open_files.pop()
        if path in found:
            continue
        found.add(path)
        for name in re.findall(r'^\s*#\s*include\s+"([^"]+)"', path.read_text(), re.MULTILINE):
            near = [folder / name for folder in (path.parent, FOLDER / "include") if (folder / name).exists()]
            open_files += near[:1]
    return sorted(found)


def objects(names: list[str]) -> list[Object]:
    """All objects, or those of the programs named."""
    found = []
    for source in sorted(FOLDER.glob("*/*.c")):
        if source.stem != source.parent.name or (names and source.stem not in names):
            continue
        found.append(Object(source, fed=False))
        if any(path.name == "fed.h" for path in includes(source)):
            found.append(Object(source, fed=True))
    return found


def page() -> str:
    """The guide's page with what is made from the sources brought up to date."""
    return program_docs.updated(PAGE.read_text(), [target.source for target in objects([]) if not target.fed])


def tools() -> Tools | None:
    """The clang that makes the objects, where it and libbpf's headers are installed."""
    for clang, strip in ((f"clang-{MAJOR}", f"llvm-strip-{MAJOR}"), ("clang", "llvm-strip")):
        if not shutil.which(clang) or not shutil.which(strip):
            continue
        text = subprocess.run([clang, "--version"], capture_output=True, text=True, check=True).stdout
        version = re.search(r"clang version (\d+\.\d+\.\d+)", text)
        if version and version[1].startswith(f"{MAJOR}.") and has_headers(clang):
            return Tools(clang, strip, version[1])
    return None


def has_headers(clang: str) -> bool:
    """Whether the sources' own headers are there: without libbpf-dev they do not compile."""
    command = [clang, "-E", "-x", "c", "-include", "bpf/bpf_helpers.h", "/dev/null"]
    return subprocess.run(command, capture_output=True).returncode == 0


def system_headers(found: Tools) -> list[str]:
    """Where this machine keeps <asm/types.h>: clang does not look there for the target bpf."""
    text = subprocess.run([found.clang, "-print-target-triple"], capture_output=True, text=True, check=True).stdout
    multiarch = Path("/usr/include") / text.strip().replace("-pc-", "-").replace("-unknown-", "-")
    return ["-idirafter", str(multiarch)] if multiarch.is_dir() else []


def compiled(found: Tools, target: Object) -> bytes:
    """The object's bytes. No path of this machine is in them."""
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "out.o"
        command = [found.clang, *FLAGS, *system_headers(found), "-I", "programs/xdp/include"]
        command += [f"-ffile-prefix-map={ROOT}{os.sep}=", f"-ffile-prefix-map={ROOT}=."]
        command += ["-DSLUICE_FED"] if target.fed else []
        command += ["-c", str(target.source.relative_to(ROOT)), "-o", str(output)]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"{target.name}:\n{done.stderr}")
        # Debug sections go, BTF and its line table stay.
        subprocess.run([found.strip, "-g", str(output)], check=True)
        return output.read_bytes()


def digest(paths: list[Path]) -> str:
    """One digest of the files' names and contents."""
    value = hashlib.sha256()
    for path in paths:
        value.update(str(path.relative_to(FOLDER)).encode() + b"\0" + path.read_bytes() + b"\0")
    return value.hexdigest()[:32]


def record_line(target: Object) -> str:
    """What BUILT-WITH says of an object."""
    return f"{target.name} source={digest(includes(target.source))} object={digest([target.path])}"


def record(version: str) -> str:
    """The text of BUILT-WITH."""
    lines = [record_line(target) for target in objects([]) if target.path.exists()]
    return "\n".join([f"clang {version}", f"flags {' '.join(FLAGS)}", *lines, ""])


def build(names: list[str]) -> int:
    """Rebuilds, writes what changed, and says it."""
    found = tools()
    if not found:
        print(f"programs: skipped: no clang-{MAJOR}, llvm-strip and libbpf-dev; the committed objects stay as they are")
        return 0
    targets = objects(names)
    if names and {target.source.stem for target in targets} != set(names):
        print(f"programs: no such program: {' '.join(names)}")
        return 1
    failed = changed = 0
    with ThreadPoolExecutor(2) as pool:
        results = [(target, pool.submit(compiled, found, target)) for target in targets]
        for target, result in results:
            try:
                new = result.result()
            except RuntimeError as problem:
                print(f"programs: FAILED {problem}")
                failed += 1
                continue
            old = target.path.read_bytes() if target.path.exists() else None
            if new != old:
                target.path.write_bytes(new)
                print(f"programs: {target.name}: {'changed' if old else 'new'}, {len(new)} bytes")
                changed += 1
    RECORD.write_text(record(found.version))
    if not failed:
        PAGE.write_text(page())
    print(f"programs: clang {found.version}: {len(targets) - failed} built, {changed} changed, {failed} failed")
    return 1 if failed else 0


def check() -> int:
    """Says which committed objects are not current."""
    targets = objects([])
    old = RECORD.read_text().splitlines() if RECORD.exists() else []
    stale = {target.name: "missing" for target in targets if not target.path.exists()}
    for target in targets:
        if target.name not in stale and record_line(target) not in old:
            stale[target.name] = "source or object is not the one in BUILT-WITH"
    known = {target.name for target in targets}
    committed = {str(path.relative_to(FOLDER)) for path in FOLDER.glob("*/*.o")}
    stale |= {name: "no source makes it" for name in committed - known}
    if old[1:2] != [f"flags {' '.join(FLAGS)}"]:
        stale["BUILT-WITH"] = "made with other flags"
    if not stale and page() != PAGE.read_text():
        stale[str(PAGE.relative_to(ROOT))] = "does not say what the sources say"
    found = tools()
    if not found or old[:1] != [f"clang {found.version}"]:
        here = f"clang {found.version}" if found else f"no clang-{MAJOR}"
        print(f"programs: skipped: rebuilding: {here} here, the objects are of {' '.join(old[:1]) or 'nothing'}")
    else:
        with ThreadPoolExecutor(2) as pool:
            rest = [target for target in targets if target.name not in stale]
            for target, result in [(target, pool.submit(compiled, found, target)) for target in rest]:
                if result.result() != target.path.read_bytes():
                    stale[target.name] = "its source compiles to something else"
    for name, why in sorted(stale.items()):
        print(f"programs: {name}: {why}; run `make programs`")
    print(f"programs: {len(targets)} objects, {len(stale)} stale")
    return 1 if stale else 0


def main() -> None:
    arguments = sys.argv[1:]
    sys.exit(check() if arguments == ["--check"] else build(arguments))


if __name__ == "__main__":
    main()
