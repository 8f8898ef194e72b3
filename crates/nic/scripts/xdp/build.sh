#!/usr/bin/env bash
# Builds the objects of the scripts anew. Needs clang and libbpf's headers.
set -euo pipefail
cd "$(dirname "$0")"
clang=${CLANG:-clang-16}
flags=(-O2 -g -target bpf -mcpu=v3 -Wall -I "/usr/include/$(uname -m)-linux-gnu" -I ../../../../programs/xdp/include)
# Paths of this machine stay out of the objects.
flags+=(-fdebug-compilation-dir=. "-ffile-prefix-map=$PWD=.")
for name in verdicts fault tag nested fib fib_router; do
  "$clang" "${flags[@]}" -c "$name.c" -o "$name.o"
done
for version in 1 2 90; do
  "$clang" "${flags[@]}" "-DVERSION=$version" -c version.c -o "version_$version.o"
done
"$clang" "${flags[@]}" -DVERSION=3 "-DVALUE=struct { __u64 a, b; }" -c version.c -o version_wide.o
