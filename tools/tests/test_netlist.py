"""The depth and area counts, on netlists small enough to count by hand."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent))

import whole  # noqa: E402
from netlist import area, timing  # noqa: E402

OUTPUTS = {"O", "Q", "CO", "DOA", "DPO", "out"}


def cell(kind, **pins):
    connections = {port: nets if isinstance(nets, list) else [nets] for port, nets in pins.items()}
    directions = {port: "output" if port in OUTPUTS else "input" for port in pins}
    return {"type": kind, "connections": connections, "port_directions": directions}


def module(*cells, inputs=(), outputs=()):
    ports = {f"i{net}": {"direction": "input", "bits": [net]} for net in inputs}
    ports |= {f"o{net}": {"direction": "output", "bits": [net]} for net in outputs}
    return {"cells": {str(index): item for index, item in enumerate(cells)}, "ports": ports}


def depths(path, boxes=None):
    found = timing(path, boxes)
    return found.depth, found.depth_ports


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


def test_a_path_through_boxes_is_as_long_as_without_them():
    launch = [cell("FDRE", C="c", D="k", Q="a"), cell("LUT1", I0="a", O="b")]
    middle = [cell("LUT1", I0="b", O="m"), cell("LUT1", I0="m", O="n")]
    capture = [cell("LUT1", I0="n", O="d"), cell("FDRE", C="c", D="d", Q="k")]
    inner = {
        "from": timing(module(*launch, inputs="k", outputs="b")),
        "through": timing(module(*middle, inputs="b", outputs="n")),
        "to": timing(module(*capture, inputs="n", outputs="k")),
    }
    assert inner["through"].through == [("on", 0, "ib", 0, 2)]
    path = module()
    path["cells"] = {
        "from": cell("box", ik="k", ob="b"),
        "through": cell("box", ib="b", on="n"),
        "to": cell("box", **{"in": "n"}, ok="k"),
    }
    found = timing(path, inner)
    assert found.depth == timing(module(*launch, *middle, *capture)).depth == 4
    assert found.longest == ["from.ob", "to.in", 4]
    assert area(path["cells"], inner).lut == 0
    with pytest.raises(ValueError, match="box"):
        area(path["cells"])


def test_a_box_tells_the_distance_of_each_bit_of_its_ports():
    cells = [
        cell("FDRE", C="c", D="e", Q="a"),
        cell("LUT2", I0="a", I1="x", O="b"),
        cell("LUT1", I0="b", O="e"),
    ]
    path = module(*cells)
    path["ports"] = {
        "in": {"direction": "input", "bits": ["x", "u"]},
        "out": {"direction": "output", "bits": ["a", "b", "1"]},
    }
    found = timing(path)
    assert found.to_register == {"in": [2, None]}
    assert found.from_register == {"out": [0, 1, None]}
    assert found.through == [("out", 1, "in", 0, 1)]
    # The longest path inside counts where the ports' are shorter.
    assert (found.depth, found.depth_ports) == (2, 2)


def test_parameters_and_instances_are_those_of_the_elaborated_design():
    assert whole.own_parameters("sluice_shell_cfg_node") == ["Node", "RowWords"]
    assert whole.own_parameters("sluice_shell_watchdog") == []
    cells = {
        "u_node": {
            "type": "sluice_shell_cfg_node",
            "parameters": {"Node": "00000101", "RowWords": "100", "CountWidth": "1"},
        },
        "u_other": {"type": "$and", "parameters": {}},
    }
    found = whole.instances({"modules": {"top": {"cells": cells}}}, "top", ["sluice_shell_cfg_node"])
    assert found == {"u_node": whole.Piece("sluice_shell_cfg_node", (("Node", "00000101"), ("RowWords", "100")))}
    assert found["u_node"].text == "Node=5 RowWords=4"
    assert found["u_node"].literals == {"Node": "8'b00000101", "RowWords": "3'b100"}
    del cells["u_node"]["parameters"]["Node"]
    with pytest.raises(ValueError, match="Node"):
        whole.instances({"modules": {"top": {"cells": cells}}}, "top", ["sluice_shell_cfg_node"])


def test_a_field_of_the_configuration_is_changed_alone():
    fields = whole.config_fields("rmt")
    bits = "".join(f"{number:032b}" for number in range(1, len(fields) + 1))
    piece = whole.Piece("sluice_rmt_match", (("Cfg", bits), ("Stage", "1")))
    after = whole.changed(piece, {"Cfg": {"modules": 64}})
    at = 32 * fields.index("modules")
    assert after.values == (("Cfg", bits[:at] + f"{64:032b}" + bits[at + 32 :]), ("Stage", "1"))
    assert whole.changed(piece, {"Other": {"modules": 64}}) == piece
    stamp = whole.Piece("sluice_shell_stamp", (("Modules", f"{64:032b}"),))
    assert whole.changed(stamp, {"Cfg": {"modules": 1}, "Modules": 1}).values == (("Modules", f"{1:032b}"),)
