"""The compiler of Verilated C++: clang where there is one, for its code is faster and sooner there; else g++.

`CXX` in the environment decides for everybody. Debian and Ubuntu: `apt install clang`.
"""

import os
import shutil
import subprocess
from functools import cache

# The first that is there and works. Newer ones than these have not been tried.
CLANGS = ("clang++", "clang++-19", "clang++-16", "clang++-14")
FALLBACK = "g++"
PROBE = "#include <vector>\n#include <atomic>\nint main() { return std::vector<int>(1).front(); }\n"


def _works(name: str) -> bool:
    """A clang without the standard library's headers is of no use."""
    if shutil.which(name) is None:
        return False
    command = [name, "-std=c++20", "-x", "c++", "-fsyntax-only", "-"]
    return subprocess.run(command, input=PROBE, text=True, capture_output=True).returncode == 0


@cache
def compiler() -> str:
    """Its command."""
    if chosen := os.environ.get("CXX"):
        return chosen
    return next((name for name in CLANGS if _works(name)), FALLBACK)


@cache
def is_clang() -> bool:
    """Whether its options are clang's."""
    return "clang" in version()


@cache
def version() -> str:
    """Its first line of `--version`: part of what a build depends on."""
    done = subprocess.run([compiler(), "--version"], capture_output=True, text=True)
    return done.stdout.splitlines()[0] if done.returncode == 0 and done.stdout else compiler()
