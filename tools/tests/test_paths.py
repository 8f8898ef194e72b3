"""The longest paths, on netlists small enough to follow by hand."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

import paths  # noqa: E402

OUTPUTS = {"O", "Q", "out"}


def cell(kind, **pins):
    directions = {port: "output" if port in OUTPUTS else "input" for port in pins}
    return {"type": kind, "connections": {port: [net] for port, net in pins.items()}, "port_directions": directions}


def module(cells, names, inputs=(), outputs=()):
    ports = {f"i{net}": {"direction": "input", "bits": [net]} for net in inputs}
    ports |= {f"o{net}": {"direction": "output", "bits": [net]} for net in outputs}
    netnames = {name: {"bits": bits, "hide_name": 0} for name, bits in names.items()}
    return {"cells": cells, "ports": ports, "netnames": netnames}


# A register, a LUT, a box with two LUTs and a register in it, and a LUT and two bits of another register behind.
INNER = module(
    {"a": cell("LUT1", I0=1, O=2), "b": cell("LUT1", I0=2, O=3), "q": cell("FDRE", D=2, Q=4)},
    {"in": [1], "middle": [2], "kept_q": [4]},
    inputs=[1],
    outputs=[3],
)
OUTER = module(
    {
        "f": cell("FDRE", D="0", Q=1),
        "g": cell("LUT1", I0=1, O=2),
        "u_box": cell("box", i1=2, out=3) | {"connections": {"i1": [2], "o3": [3]}},
        "h": cell("LUT2", I0=3, I1=1, O=5),
        "k": cell("FDRE", D=5, Q=6),
        "l": cell("FDRE", D=5, Q=7),
        "m": cell("FDRE", D=1, Q=8),
    },
    {"first_q": [1], "last_q": [6, 7], "near_q": [8]},
)


def flat():
    return paths.flat("top", {"top": OUTER, "box": INNER}.get, {"top": {"u_box": "box"}, "box": {}}.get)


def test_a_path_goes_through_a_box_and_is_told_by_its_signals():
    longest = paths.longest(flat())[0]
    assert (longest.levels, longest.end, longest.module, longest.bits) == (4, "last_q", "top", 2)
    assert longest.signals == ["first_q:0", "u_box.in:1", "u_box.middle:2"]


def test_each_register_has_its_own_longest_path():
    assert [(path.end, path.levels) for path in paths.longest(flat())] == [
        ("last_q", 4), ("u_box.kept_q", 2), ("near_q", 0),
    ]  # fmt: skip


def test_the_report_counts_bits_by_instance():
    report = paths.report(flat(), 9)
    assert "  top: 4: 2, 0: 1\n  u_box: 2: 1\n" in report
    assert "4 levels to last_q: 2 bits\n    first_q:0 > u_box.in:1 > u_box.middle:2\n" in report
