"""The depth and area counts, on netlists small enough to count by hand."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent))

from netlist import area, depths  # noqa: E402

OUTPUTS = {"O", "Q", "CO", "DOA", "DPO"}


def cell(kind, **pins):
    connections = {port: nets if isinstance(nets, list) else [nets] for port, nets in pins.items()}
    directions = {port: "output" if port in OUTPUTS else "input" for port in pins}
    return {"type": kind, "connections": connections, "port_directions": directions}


def module(*cells, inputs=(), outputs=()):
    ports = {f"i{net}": {"direction": "input", "bits": [net]} for net in inputs}
    ports |= {f"o{net}": {"direction": "output", "bits": [net]} for net in outputs}
    return {"cells": {str(index): item for index, item in enumerate(cells)}, "ports": ports}


def test_levels_count_luts_and_not_wide_muxes():
    path = module(
        cell("FDRE", C="c", D="d", Q="a"),
        cell("LUT2", I0="a", I1="x", O="b"),
        cell("MUXF7", I0="b", I1="b", S="a", O="m"),
        cell("LUT1", I0="m", O="d"),
        inputs="x",
    )
    assert depths(path) == (2, 2)


def test_paths_from_and_to_ports_are_apart():
    path = module(
        cell("LUT1", I0="x", O="y"),
        cell("LUT1", I0="y", O="d"),
        cell("FDRE", C="c", D="d", Q="q"),
        cell("LUT1", I0="q", O="p"),
        inputs="x",
        outputs="p",
    )
    assert depths(path) == (0, 2)


def test_a_carry_chain_is_one_level_whatever_its_length():
    chain = [
        cell("FDRE", C="c", D="d", Q="a"),
        cell("LUT1", I0="a", O="s"),
        cell("CARRY4", CI="0", CYINIT="0", S=["s"] * 4, DI=["a"] * 4, CO=["k0", "k1", "k2", "k3"], O=list("wxyz")),
        cell("CARRY4", CI="k3", CYINIT="0", S=["a"] * 4, DI=["a"] * 4, CO=["n0", "n1", "n2", "n3"], O=list("efgd")),
    ]
    assert depths(module(*chain)) == (2, 2)


def test_a_low_carry_bit_may_feed_a_high_one():
    cells = [
        cell("FDRE", C="c", D="z", Q="a"),
        cell("CARRY4", CI="0", CYINIT="0", S=["a", "t", "a", "a"], DI=["a"] * 4, CO=list("klmn"), O=list("wxyz")),
        cell("LUT1", I0="w", O="t"),
    ]
    # Into the chain, out of it, through the LUT, and into it again.
    assert depths(module(*cells)) == (3, 3)


def test_a_distributed_ram_read_is_a_level_from_its_address():
    cells = [
        cell("FDRE", C="c", D="x", Q="a"),
        cell("LUT1", I0="a", O="r"),
        cell("RAM32M16", ADDRA=["r"] * 5, ADDRH=["a"] * 5, DIA=["a", "a"], DOA=["x", "y"], WCLK="c", WE="a"),
    ]
    assert depths(module(*cells)) == (2, 2)
    assert area(module(*cells)["cells"]).lutram == 8
    assert area(module(*cells)["cells"]).lut == 9


def test_a_loop_a_latch_and_an_unknown_cell_are_refused():
    with pytest.raises(ValueError, match="combinational loop"):
        depths(module(cell("LUT1", I0="a", O="b"), cell("LUT1", I0="b", O="a")))
    with pytest.raises(ValueError, match="1 latches"):
        area({"x": cell("LDCE", D="a", Q="b")})
    with pytest.raises(ValueError, match="FOO"):
        area({"x": cell("FOO", D="a", Q="b")})
