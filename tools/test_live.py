"""`make test-live`: XDP programs forward live ping, TCP and UDP between network namespaces. Needs root, else it is
skipped.

A software NIC in a namespace of its own has veth pairs to the others, which see nothing but it. Addresses are used
inside these namespaces only, and these are gone at the end, whatever happens.
"""

import argparse
import os
import signal
import sys
import tempfile
import time
from pathlib import Path

from live import balancer, forwarding, loop, tags
from live.lab import Failed, why_not

ROOT = Path(__file__).resolve().parent.parent
# The whole of it takes no longer.
LIMIT = 120
CASES = {
    "router": forwarding.router,
    "redirect_map": forwarding.redirect_map,
    "redirect_map by sluice xdp run": forwarding.xdp_run,
    "load_balancer": balancer.load_balancer,
    "VLAN tags, two tenants": tags.two_tenants,
    "ping next to a loop": loop.neighbour,
}


def _too_long(*_: object) -> None:
    raise Failed(f"the tests take longer than {LIMIT} s")


def _ended(*_: object) -> None:
    raise SystemExit("test-live: ended")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    built = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release" / "sluice"
    binary = os.environ.get("SLUICE", built)
    parser.add_argument("--sluice", type=Path, default=binary, help="the command; also in SLUICE")
    parser.add_argument("only", nargs="*", help="tests whose names begin so")
    given = parser.parse_args()
    if reason := why_not():
        print(f"test-live: skipped: {reason}")
        return
    signal.signal(signal.SIGALRM, _too_long)
    signal.signal(signal.SIGTERM, _ended)
    signal.alarm(LIMIT)
    chosen = {n: c for n, c in CASES.items() if not given.only or n.startswith(tuple(given.only))}
    failed = 0
    for name, case in chosen.items():
        start = time.monotonic()
        try:
            with tempfile.TemporaryDirectory(prefix="sluice-live-") as folder:
                said = case(Path(folder), given.sluice.resolve())
            print(f"test-live: {name}: passed in {time.monotonic() - start:.1f} s: {said}", flush=True)
        except Exception as error:
            failed += 1
            print(f"test-live: {name}: FAILED: {type(error).__name__}: {error}", flush=True)
    print(f"{len(chosen) - failed} passed, {failed} failed")
    sys.exit(1 if failed or not chosen else 0)


if __name__ == "__main__":
    main()
