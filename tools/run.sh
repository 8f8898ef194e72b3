#!/bin/sh
# `make run`: the shipped capture through three tenants' tables, on the model and on the RTL,
# and through a firewall, an address translator and a load balancer, three XDP programs, on the model, and through
# a router of the pipeline with an XDP program after it; through a P4 program next to tables, on both; and messages through
# rules, on one NIC with other tenants on both, and on the dispatch engine's model alone.
# Exit status 1 when the devices differ or the accounting does not close.
set -eu
cd "$(dirname "$0")/.."

nic=programs/nic
set -- run --config $nic/nic.toml --in $nic/mixed.pcapng --replace red=$nic/red-2.json@50% --device both
cat <<COMMAND
\$ target/release/sluice run --config $nic/nic.toml --in $nic/mixed.pcapng \\
    --replace red=$nic/red-2.json@50% --device both \\
    --out port0=out/port0.pcapng ... --out host3=out/host3.pcapng

COMMAND
for destination in port0 port1 port2 port3 host0 host1 host2 host3; do
  set -- "$@" --out $destination=out/$destination.pcapng
done
target/release/sluice "$@"

xdp=programs/xdp
cat <<COMMAND

\$ target/release/sluice run --config $xdp/nic.toml --in $nic/mixed.pcapng \\
    --out port0=out/xdp-port0.pcapng --out port1=out/xdp-port1.pcapng

COMMAND
target/release/sluice run --config $xdp/nic.toml --in $nic/mixed.pcapng \
  --out port0=out/xdp-port0.pcapng --out port1=out/xdp-port1.pcapng

cat <<COMMAND

\$ target/release/sluice run --config $xdp/behind_rmt.toml --in $nic/mixed.pcapng

COMMAND
target/release/sluice run --config $xdp/behind_rmt.toml --in $nic/mixed.pcapng

cat <<COMMAND

\$ target/release/sluice xdp warp $xdp/mac_gate/mac_gate.o

COMMAND
target/release/sluice xdp warp $xdp/mac_gate/mac_gate.o

p4=programs/p4
cat <<COMMAND

\$ target/release/sluice run --config $p4/nic.toml --in $nic/mixed.pcapng --device both

COMMAND
target/release/sluice run --config $p4/nic.toml --in $nic/mixed.pcapng --device both

l7=programs/l7
cat <<COMMAND

\$ target/release/sluice run --config $l7/nic.toml --in port0=$l7/course_reviews.pcap --device both

COMMAND
target/release/sluice run --config $l7/nic.toml --in port0=$l7/course_reviews.pcap --device both

cat <<COMMAND

\$ target/release/sluice l7 run $l7/course_reviews.l7 --in $l7/course_reviews.pcap

COMMAND
target/release/sluice l7 run $l7/course_reviews.l7 --in $l7/course_reviews.pcap

cat <<NEXT

What to try next, after  export PATH=\$PWD/target/release:\$PATH
  any viewer on out/port3.pcapng                   red's servers appear there half way
  sluice object show $nic/green.json      the table behind one row above
  sluice xdp run $xdp/swap/swap.o --in $xdp/mixed.pcap
                                                   one XDP object over a capture; your own too
  sluice l7 explain-match $l7/course_reviews.l7 student=/CA/2024 course=/CS/Math
                                                   why a message goes where it goes
  sluice script $nic/*.pkt --device both  what each tenant's packets must do
  sluice run --config $nic/nic.toml --in $nic/mixed.pcapng --device both --gbps 400
                                                   press harder: overload and tail drops
  sluice run --config $nic/nic.toml --in port0=YOURS.pcap --out port1=out/mine.pcap
                                                   a capture of yours (VLANs 10, 20, 30)
  docs/guide/README.md                             everything else
NEXT
