#!/usr/bin/env bash
# Rebuilds the variants of shipped programs with clang-16. They are committed: nobody needs clang to run the tests.
#
# listing_5_1.o is the example of the thesis. NAME.o1.o is the shipped source at -O1, NAME.turned.o the one with its branches in another order, NAME.turned_o1.o both.
set -euo pipefail
cd "$(dirname "$0")/../../../.." # The compiler writes names of sources as they are given.
here=crates/hxdp/tests/variants
flags=(-target bpf -mcpu=v3 -g -std=gnu11 -Wall -Wextra -Werror -Wno-unused-function -Wno-pass-failed
	-idirafter "/usr/include/$(uname -m)-linux-gnu" -Iprograms/xdp/include -Iprograms/xdp -fdebug-compilation-dir=.)

compile() { # NAME SOURCE FLAG
	clang-16 "${flags[@]}" "$3" -c "$2" -o "$here/$1"
	llvm-strip-16 -g "$here/$1" # DWARF only: .BTF stays.
}

for name in mac_gate router_basic iptunnel nat_basic flow_filter balancer; do
	compile "$name.o1.o" "programs/xdp/$name/$name.c" -O1
	compile "$name.turned.o" "$here/$name.turned.c" -O2
	compile "$name.turned_o1.o" "$here/$name.turned.c" -O1
done
compile listing_5_1.o "$here/listing_5_1.c" -O2
