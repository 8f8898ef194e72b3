"""What TCP reaches through a rate limit, by its burst: a table for docs/guide/nic-toml.md. Needs root.

    sudo .venv/bin/python tools/goodput.py [--rate BITS] [--seconds N]

A software NIC with one tenant between two network namespaces, as in `make test-live`. Each figure is one TCP
connection. The round trip is what a relay in front of the sender holds each frame back for.
"""

import argparse
import os
import sys
import tempfile
from pathlib import Path

from live.goodput import goodput
from live.lab import why_not

ROOT = Path(__file__).resolve().parent.parent
BURSTS = (16_000, 65_536, 131_072, 262_144, 625_000, 1_250_000)
TRIPS = (0, 20)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    built = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release" / "sluice"
    parser.add_argument("--sluice", type=Path, default=os.environ.get("SLUICE", built), help="the command; also SLUICE")
    parser.add_argument("--rate", type=int, default=50_000_000, help="bits a second")
    parser.add_argument("--seconds", type=int, default=5, help="that each connection sends")
    parser.add_argument("--congestion", nargs="+", default=["cubic"], help="TCP's congestion control")
    given = parser.parse_args()
    if reason := why_not():
        sys.exit(f"goodput: {reason}")
    print(f"| burst, bytes | {' | '.join(f'{c}, {ms} ms' for c in given.congestion for ms in TRIPS)} |")
    print("| --- |" + " --- |" * len(given.congestion) * len(TRIPS))
    for burst in BURSTS:
        cells = []
        for congestion in given.congestion:
            for ms in TRIPS:
                with tempfile.TemporaryDirectory(prefix="sluice-goodput-") as folder:
                    speed, again, dropped = goodput(
                        Path(folder), given.sluice.resolve(), given.rate, burst, ms, congestion, given.seconds
                    )
                cells.append(f"{speed:.1f}")
                print(f"{burst} {congestion} {ms} ms: {speed:.1f} Mbit/s, {again} sent again, {dropped} dropped",
                      file=sys.stderr, flush=True)  # fmt: skip
        print(f"| {burst:,} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
