#!/bin/sh
# Checks what the project needs from the machine and names what is missing, one line each,
# with the way to get it. Needs no root and installs nothing.
#
#   tools/prerequisites.sh rust|python|cxx|waves ...
#
# Exit status 1 when something is missing. `python` prints the interpreter to use.
set -u

missing=0
lack() {
  echo "missing: $1 - get it: $2" >&2
  missing=1
}

has() { command -v "$1" >/dev/null 2>&1; }

header() {
  printf '#include <%s>\n' "$1" | "${CXX:-g++}" -x c++ -fsyntax-only - >/dev/null 2>&1
}

check_rust() {
  channel=$(sed -n 's/^channel = "\(.*\)"/\1/p' "$(dirname "$0")/../rust-toolchain.toml")
  if has rustup; then
    # rustup fetches the pinned toolchain on the first call of cargo inside the project.
    return
  fi
  if ! has cargo; then
    lack "Rust $channel" "https://rustup.rs (the pinned version is then fetched by itself)"
  elif ! cargo --version | grep -qF "cargo $channel"; then
    lack "Rust $channel (found $(cargo --version))" "https://rustup.rs"
  fi
}

check_python() {
  for name in python3 python3.14 python3.13 python3.12 python3.11; do
    if has "$name" && "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
      if ! "$name" -c 'import ensurepip, venv' 2>/dev/null; then
        lack "the venv module of $name" "apt install python3-venv"
      fi
      echo "$name"
      return
    fi
  done
  lack "Python 3.11 or later" "apt install python3 python3-venv, or https://www.python.org/downloads"
}

check_cxx() {
  has make || lack "make" "apt install make"
  has perl || lack "perl" "apt install perl"
  if ! has "${CXX:-g++}"; then
    lack "a C++20 compiler with coroutines" "apt install g++ (version 10 or later)"
    return
  fi
  printf '#include <coroutine>\nint main() { return 0; }\n' |
    "${CXX:-g++}" -std=c++20 -fcoroutines -x c++ -fsyntax-only - >/dev/null 2>&1 ||
    lack "C++20 coroutines in ${CXX:-g++}" "apt install g++ (version 10 or later)"
  header zlib.h || lack "zlib headers" "apt install zlib1g-dev"
}

check_waves() {
  header zlib.h || lack "zlib headers (for waves)" "apt install zlib1g-dev"
  header lz4.h || lack "lz4 headers (for waves only)" "apt install liblz4-dev"
}

for topic in "$@"; do
  case $topic in
    rust | python | cxx | waves) "check_$topic" ;;
    *)
      echo "prerequisites.sh: '$topic' is not a topic; allowed: rust, python, cxx, waves" >&2
      exit 2
      ;;
  esac
done
exit "$missing"
