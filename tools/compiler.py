"""Which C++ compiler builds Verilated C++: the plug-ins and the benches.

clang, where it is there: the same model runs up to 1.4 times as fast as compiled by g++, and is compiled in less time.
SLUICE_CXX names another one. Where ccache is installed it keeps what was compiled, for the next clone, too; CCACHE_DISABLE=1 does without.
"""

import os
import shutil
import subprocess
from dataclasses import dataclass
from functools import cache

from project import ROOT, fail

# In this order; all were measured.
CANDIDATES = ("clang++-16", "clang++-14", "clang++", "g++")
VARIABLE = "SLUICE_CXX"


@dataclass(frozen=True)
class Compiler:
    """A compiler that translates C++20 with the headers that a model needs."""

    command: str
    version: str  # what it says of itself

    @property
    def is_clang(self) -> bool:
        """Whether its options are clang's."""
        return "clang" in self.command.rsplit("/", 1)[-1]

    @property
    def cached(self) -> list[str]:
        """The command, through ccache where that is installed."""
        if shutil.which("ccache") is None:
            return [self.command]
        # Paths below the project count from its root, so that another clone finds what this one compiled.
        os.environ.setdefault("CCACHE_BASEDIR", str(ROOT))
        os.environ.setdefault("CCACHE_NOHASHDIR", "1")
        return ["ccache", self.command]

    @property
    def language(self) -> list[str]:
        """Its options for the language; g++ 10 has coroutines only when asked."""
        return ["-std=c++20", *([] if self.is_clang else ["-fcoroutines"])]


def _usable(command: str) -> Compiler | None:
    """The compiler, if it is there and finds the C++ library."""
    if shutil.which(command) is None:
        return None
    version = subprocess.run([command, "--version"], capture_output=True, text=True).stdout.partition("\n")[0]
    compiler = Compiler(command, version)
    probe = [command, *compiler.language, "-x", "c++", "-fsyntax-only", "-"]
    source = "#include <coroutine>\n#include <memory>\n"
    return compiler if subprocess.run(probe, input=source, text=True, capture_output=True).returncode == 0 else None


@cache
def chosen() -> Compiler:
    """The one that SLUICE_CXX names, or the first of the candidates that works."""
    named = os.environ.get(VARIABLE)
    for command in [named] if named else CANDIDATES:
        if compiler := _usable(command):
            return compiler
    if named:
        fail(f"{VARIABLE}={named} is no C++20 compiler that is there and finds its library; unset it or name another")
    fail(f"no C++20 compiler that works; looked for {', '.join(CANDIDATES)}: apt install g++ (version 10 or later)")
