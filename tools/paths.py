"""The longest paths of a mapped netlist, with the names left of its signals: `tools/synth.py --paths N NAME`."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import netlist


@dataclass(frozen=True)
class Path:
    """The longest path to a register or memory."""

    levels: int
    end: str
    bits: int  # of the same register that are as far
    signals: list[str]  # from the register on that it begins at, with levels

    @property
    def module(self) -> str:
        """The instance that it ends in."""
        return self.end.rpartition(".")[0] or "top"


def flat_block(module: dict) -> dict:
    """As `flat`, of a netlist without boxes."""
    return flat(None, lambda _: module, lambda _: {})


def flat(
    piece: object, netlist_of: Callable, boxes_of: Callable, prefix: str = "", outside: Mapping | None = None
) -> dict:
    """One netlist of a piece and all boxes in it, their names with those of the instances in front.

    `outside` says which net outside stands at a port's net inside.
    """
    module = netlist_of(piece)
    bound = outside or {}
    inside = {net: bound[name][bit] for name, port in module["ports"].items() if name in bound
              for bit, net in enumerate(port["bits"]) if isinstance(net, int)}  # fmt: skip

    def net_of(net):
        return net if isinstance(net, str) else inside.get(net, (prefix, net))

    cells, names, ports = {}, {}, {}
    for name, bits in module["netnames"].items():
        for bit, net in enumerate(bits["bits"]):
            better = bits["hide_name"] == 0 and net_of(net) not in names
            if isinstance(net, int) and better:
                names[net_of(net)] = f"{prefix}{name}" + (f"[{bit}]" if len(bits["bits"]) > 1 else "")
    boxes = boxes_of(piece)
    for name, cell in module["cells"].items():
        pins = {port: [net_of(net) for net in bits] for port, bits in cell["connections"].items()}
        if name in boxes:
            below = flat(boxes[name], netlist_of, boxes_of, f"{prefix}{name}.", pins)
            cells |= below["cells"]
            names = below["names"] | names
        else:
            cells[prefix + name] = cell | {"connections": pins}
    if not prefix:
        ports = {name: port | {"bits": [net_of(net) for net in port["bits"]]} for name, port in module["ports"].items()}
    return {"cells": cells, "names": names, "ports": ports}


def _register(name: str) -> str:
    return re.sub(r"(\[\d+\])+$", "", name)


def _without_numbers(end: str) -> str:
    """Cells of one memory have one name, and so have registers without one."""
    return re.sub(r"(?<=\.mem)(\.\d+)+|(?<=\$auto\$ff).*", "", end)


def longest(module: dict) -> list[Path]:
    """For each register or memory the longest path from a register to it, the longest of all first."""
    graph = netlist._Graph(module, {})
    arrival = graph.arrivals(graph.starts)
    names = module["names"]

    def trace(net) -> list[str]:
        signals, before = [], None
        while True:
            name = names.get(net)
            if name and _register(name) != before:
                before = _register(name)
                signals.append(f"{name}:{arrival[net]}")
            source = next(
                (s for s, levels in graph.drivers.get(net, []) if arrival.get(s, -1) + levels == arrival[net]), None
            )
            if source is None or graph.starts.get(net) == arrival[net]:
                return signals[::-1]
            net = source

    worst: dict = {}
    count = Counter()
    for cell_name, cell in module["cells"].items():
        if cell["type"] not in netlist.STORES:
            continue
        named = [names[net] for port, bits in cell["connections"].items() for net in bits
                 if cell["port_directions"][port] == "output" and net in names]  # fmt: skip
        flip_flop = cell["type"] in netlist.FLIP_FLOPS
        end = _register(named[0]) if flip_flop and named else cell_name
        for port, bits in cell["connections"].items():
            for net in bits:
                if cell["port_directions"][port] == "input" and net in arrival:
                    levels = arrival[net]
                    if levels > worst.get(end, (-1, None, None))[0]:
                        worst[end] = (levels, net, port)
                        count[end] = 0
                    count[end] += levels == worst[end][0]
    return sorted(
        (Path(levels, f"{end} ({port})" if port != "D" else end, count[end], trace(net))
         for end, (levels, net, port) in worst.items()),
        key=lambda path: (-path.levels, path.end),
    )  # fmt: skip


def report(module: dict, number: int) -> str:
    """How many registers end at how many levels, by instance; then the longest paths."""
    paths = longest(module)
    by_module = defaultdict(Counter)
    for path in paths:
        by_module[path.module][path.levels] += path.bits
    text = "levels of the worst bits, by instance (levels: bits)\n"
    for name, levels in sorted(by_module.items(), key=lambda item: (-max(item[1]), item[0]))[:number]:
        most = sorted(levels.items(), reverse=True)[:6]
        text += f"  {name}: {', '.join(f'{level}: {bits}' for level, bits in most)}\n"
    # Registers that are reached in the same way stand together.
    ways: dict = {}
    for path in paths:
        ways.setdefault((path.levels, *path.signals), []).append(path)
    for (levels, *signals), ends in list(ways.items())[:number]:
        names = list(dict.fromkeys(_without_numbers(path.end) for path in ends))
        more = f" and {len(names) - 4} more" if len(names) > 4 else ""
        text += f"{levels} levels to {', '.join(names[:4])}{more}: {sum(path.bits for path in ends)} bits\n"
        text += f"    {' > '.join(signals)}\n"
    return text
