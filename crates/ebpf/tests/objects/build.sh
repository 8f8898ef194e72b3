#!/usr/bin/env bash
# Rebuilds the objects of the loader's tests with clang-16. They are committed: nobody needs clang to run the tests.
#
# NAME.v2.o and NAME.v3.o have type information, NAME.v2.nog.o and NAME.v3.nog.o none.
set -euo pipefail
cd "$(dirname "$0")/../.." # The compiler reads the lines of .BTF.ext under the names it gives to files.
flags=(-target bpf -O2 -std=gnu11 -Wall -Wno-unused-function -I"/usr/include/$(uname -m)-linux-gnu" -fdebug-compilation-dir=.)
here=tests/objects

compile() { # NAME SOURCE FLAGS...
	clang-16 "${flags[@]}" "${@:3}" -c "$here/$2" -o "$here/$1"
	llvm-strip-16 -g "$here/$1" # DWARF only: .BTF stays.
}

for cpu in v2 v3; do
	for name in maps_btf open features core refused beside; do compile "$name.$cpu.o" "$name.c" -mcpu=$cpu -g; done
	for name in functions data; do
		compile "$name.$cpu.o" "$name.c" -mcpu=$cpu -g
		compile "$name.$cpu.nog.o" "$name.c" -mcpu=$cpu
	done
done
for name in large settings local; do compile "prepare/$name.o" "prepare/$name.c" -mcpu=v3 -g; done
for name in weak iterators limits missing/weak_called; do compile "$name.o" "$name.c" -mcpu=v3 -g; done
compile core/asks.o core/asks.c -mcpu=v3 -g
compile core/there.o core/there.c -mcpu=v3 -g
llvm-objcopy-16 --dump-section .BTF=$here/core/there.btf $here/core/there.o
rm $here/core/there.o # Only its types are wanted. asks.libbpf is by hand: bpf_program__insns() after a load with btf_custom_path.
compile core_kinds.o core_kinds.c -mcpu=v3 -g
compile helpers_callbacks.o helpers_callbacks.c -mcpu=v3 -g
for name in stale prefixes moves rings rounds inner state jumps long nested functions split; do
	compile "corners/$name.o" "corners/$name.c" -mcpu=v3 -g
done
compile corners/moves.v2.o corners/moves.c -mcpu=v2 -g -DFRAGS
for form in 16 20 24 28 36 280; do compile "maps_legacy.$form.o" maps_legacy.c -mcpu=v2 -DFORM=$form; done
clang-16 -target bpf -c $here/notype.s -o $here/notype.o
