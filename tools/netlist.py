"""Area and depth of a netlist that Yosys mapped to UltraScale+ primitives (its JSON).

A netlist may have boxes: instances that were mapped on their own. Of a box only its `Timing` is known, which says for
every bit of its ports how far that is from the registers inside; depths across boxes follow from that.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Container, Mapping
from dataclasses import dataclass

# LUTs that a distributed RAM or shift register occupies (UG574, "Distributed RAM").
LUTRAM_SIZE = {
    "RAM32X1S": 1, "RAM32X1D": 2, "RAM64X1S": 1, "RAM64X1D": 2, "RAM128X1S": 2, "RAM128X1D": 4,
    "RAM256X1S": 4, "RAM256X1D": 8, "RAM512X1S": 8, "RAM32M": 4, "RAM64M": 4, "RAM32M16": 8, "RAM64M8": 8,
    "SRL16E": 1, "SRLC16E": 1, "SRLC32E": 1,
}  # fmt: skip
BLOCK_RAM_SIZE = {"RAMB18E2": 0.5, "RAMB36E2": 1.0, "RAMB18E1": 0.5, "RAMB36E1": 1.0}
FLIP_FLOPS = {"FDRE", "FDSE", "FDCE", "FDPE", "FDRE_1", "FDSE_1", "FDCE_1", "FDPE_1"}
LATCHES = {"LDCE", "LDPE"}
ULTRA_RAM = {"URAM288", "URAM288_BASE"}
DSPS = {"DSP48E2", "DSP48E1"}
LOGIC = re.compile(r"LUT[1-6]$|INV$")
# In the same slice as the LUTs that they join, or pure wiring.
TRANSPARENT = re.compile(r"MUXF[789]$|BUFG$|BUF$|IBUF$|OBUF$")
CARRY = re.compile(r"CARRY[48]$")


@dataclass(frozen=True)
class Area:
    """Resources; `lut` includes `lutram`."""

    lut: int
    lutram: int
    ff: int
    bram: float
    uram: int
    dsp: int


@dataclass(frozen=True)
class Timing:
    """Depths in LUT levels; lists have an entry for each bit of a port, None where no path is."""

    depth: int  # from register to register
    depth_ports: int  # paths from inputs and to outputs too
    to_register: dict  # input port: levels up to a register
    from_register: dict  # output port: levels from a register
    through: list  # (output port, bit, input port, bit, levels) without a register between
    longest: list  # the longest path that is not inside one box: where it begins and ends, its levels; only with boxes


def area(cells: dict, boxes: Container[str] = ()) -> Area:
    """Counts the cells that are no boxes; a latch or an unknown cell is an error."""
    counts = Counter(cell["type"] for name, cell in cells.items() if name not in boxes)
    if latches := LATCHES & counts.keys():
        raise ValueError(f"{sum(counts[kind] for kind in latches)} latches in the netlist, expected none")
    known = FLIP_FLOPS | ULTRA_RAM | DSPS | LUTRAM_SIZE.keys() | BLOCK_RAM_SIZE.keys()
    rest = {kind for kind in counts if not (kind in known or any(p.match(kind) for p in (LOGIC, TRANSPARENT, CARRY)))}
    if rest := rest - {"VCC", "GND", "$scopeinfo"}:
        raise ValueError(f"cells that this count does not know: {', '.join(sorted(rest))}")
    lutram = sum(LUTRAM_SIZE[kind] * number for kind, number in counts.items() if kind in LUTRAM_SIZE)
    return Area(
        lut=lutram + sum(number for kind, number in counts.items() if LOGIC.match(kind)),
        lutram=lutram,
        ff=sum(counts[kind] for kind in FLIP_FLOPS),
        bram=sum(size * counts[kind] for kind, size in BLOCK_RAM_SIZE.items()),
        uram=sum(counts[kind] for kind in ULTRA_RAM),
        dsp=sum(counts[kind] for kind in DSPS),
    )


def _carry_arcs(pins: dict):
    """Bit i of a chain sees its own S and all before it; only entering the chain costs a level."""
    start = [(net, 0) for net in pins.get("CI", [])] + [(net, 1) for net in pins.get("CYINIT", [])]
    start += [(net, 1) for net in pins.get("CI_TOP", [])]
    seen = list(start)
    for bit, select in enumerate(pins["S"]):
        seen.append((select, 1))
        if bit < len(pins.get("O", [])):
            yield pins["O"][bit], list(seen)
        seen.append((pins["DI"][bit], 1))
        if bit < len(pins.get("CO", [])):
            yield pins["CO"][bit], list(seen)


def _lutram_arcs(kind: str, pins: dict):
    """An asynchronous read is a LUT: from the read address to the data."""
    for port, nets in pins.items():
        if multi := re.match(r"DO([A-H])$", port):
            addresses = pins[f"ADDR{multi[1]}"]
        elif port == "DPO":
            addresses = [net for name, bits in pins.items() if name.startswith("DPRA") for net in bits]
        elif port in ("SPO", "O", "Q"):
            addresses = [net for name, bits in pins.items() if re.match(r"A\d?$", name) for net in bits]
        elif port in ("Q15", "Q31"):
            addresses = []
        else:
            continue
        for net in nets:
            yield net, [(address, 1) for address in addresses]


def _arcs(cell: dict):
    """(output net, [(input net, levels)]) of a combinational path through the cell."""
    kind, pins = cell["type"], cell["connections"]
    if CARRY.match(kind):
        yield from _carry_arcs(pins)
    elif kind in LUTRAM_SIZE:
        yield from _lutram_arcs(kind, pins)
    elif LOGIC.match(kind) or TRANSPARENT.match(kind):
        weight = 1 if LOGIC.match(kind) else 0
        nets = [net for port, bits in pins.items() if cell["port_directions"][port] == "input" for net in bits]
        for port, bits in pins.items():
            if cell["port_directions"][port] == "output":
                yield bits[0], [(net, weight) for net in nets]


STORES = FLIP_FLOPS | ULTRA_RAM | DSPS | LUTRAM_SIZE.keys() | BLOCK_RAM_SIZE.keys()


class _Graph:
    """Nets, what drives them, and where paths begin and end."""

    def __init__(self, module: dict, boxes: Mapping[str, Timing]):
        self.drivers: dict = {}  # net: [(net, levels)]
        self.starts: dict = {}  # net: levels from a register
        self.ends: dict = {}  # net: levels up to a register
        self.start_names: dict = {}  # of nets that begin at a box
        self.end_names: dict = {}  # of nets that end in one
        for name, cell in module["cells"].items():
            if name in boxes:
                self._box(name, cell["connections"], boxes[name])
            else:
                self._cell(cell)
        self.inputs, self.outputs = defaultdict(list), defaultdict(list)  # net: [(port, bit)]
        for name, port in module["ports"].items():
            side = self.inputs if port["direction"] == "input" else self.outputs
            for bit, net in enumerate(port["bits"]):
                side[net].append((name, bit))
        self.users = defaultdict(list)
        for net, sources in self.drivers.items():
            for source, levels in sources:
                self.users[source].append((net, levels))
        self.order = self._sorted()

    def _cell(self, cell: dict) -> None:
        for net, sources in _arcs(cell):
            self.drivers[net] = sources
        if cell["type"] not in STORES:
            return
        # A LUTRAM's data is stored state as well as a path from its address.
        level = 1 if cell["type"] in LUTRAM_SIZE else 0
        for port, bits in cell["connections"].items():
            for net in bits:
                if cell["port_directions"][port] == "input":
                    self.ends.setdefault(net, 0)
                elif level or net not in self.drivers:
                    self.starts[net] = level

    def _box(self, name: str, pins: dict, timing: Timing) -> None:
        for output, bit, source, source_bit, levels in timing.through:
            sources = self.drivers.setdefault(pins[output][bit], [])
            sources.append((pins[source][source_bit], levels))
        for port, levels in timing.from_register.items():
            for net, level in zip(pins[port], levels, strict=True):
                if level is not None:
                    self.starts[net] = level
                    self.start_names[net] = f"{name}.{port}"
        for port, levels in timing.to_register.items():
            for net, level in zip(pins[port], levels, strict=True):
                if level is not None and level >= self.ends.get(net, 0):
                    self.ends[net] = level
                    self.end_names[net] = f"{name}.{port}"

    def _sorted(self) -> list:
        """Driven nets, each behind all that drive it; raises on a combinational loop."""
        open_inputs = {net: sum(source in self.drivers for source, _ in sources)
                       for net, sources in self.drivers.items()}  # fmt: skip
        order = [net for net, count in open_inputs.items() if count == 0]
        for net in order:
            for user, _ in self.users[net]:
                open_inputs[user] -= 1
                if open_inputs[user] == 0:
                    order.append(user)
        if len(order) != len(self.drivers):
            raise ValueError(f"combinational loop: {len(self.drivers) - len(order)} nets never settle")
        return order

    def arrivals(self, starts: dict) -> dict:
        """Levels at every net that a start reaches."""
        arrival = dict(starts)
        for net in self.order:
            levels = [arrival[source] + levels for source, levels in self.drivers[net] if source in arrival]
            if net in arrival:
                levels.append(arrival[net])
            if levels:
                arrival[net] = max(levels)
        return arrival

    def departures(self) -> dict:
        """Levels from every net up to the farthest register that it reaches."""
        departure = dict(self.ends)
        for net in reversed(self.order):
            if net in departure:
                for source, levels in self.drivers[net]:
                    departure[source] = max(departure.get(source, 0), departure[net] + levels)
        return departure

    def through(self) -> list:
        """Longest path from each input to each output that it reaches without a register."""
        wanted = set(self.outputs)
        for net in reversed(self.order):
            if net in wanted:
                wanted.update(source for source, _ in self.drivers[net])
        reached = {net: {net: 0} for net in wanted & self.inputs.keys()}
        for net in self.order:
            if net not in wanted:
                continue
            best: dict = {}
            for source, levels in self.drivers[net]:
                for origin, before in reached.get(source, {}).items():
                    best[origin] = max(best.get(origin, 0), before + levels)
            if best:
                reached[net] = best
        return [
            (*output, *self.inputs[origin][0], levels)
            for net, outputs in self.outputs.items()
            for origin, levels in reached.get(net, {}).items()
            for output in outputs
        ]

    def longest(self, arrival: dict) -> list:
        """Where the longest path from register to register begins and ends, by the ports of boxes; its levels."""
        end = max((net for net in self.ends if net in arrival), key=lambda net: arrival[net] + self.ends[net])
        net = end
        while net in self.drivers and self.starts.get(net) != arrival[net]:
            net = next(
                source for source, levels in self.drivers[net] if arrival.get(source, -1) + levels == arrival[net]
            )
        return [
            self.start_names.get(net, "a register"),
            self.end_names.get(end, "a register"),
            arrival[end] + self.ends[end],
        ]


def timing(module: dict, boxes: Mapping[str, Timing] | None = None) -> Timing:
    """Depths of a netlist; `boxes` are those of its cells that were mapped on their own, by the cell's name."""
    boxes = boxes or {}
    graph = _Graph(module, boxes)
    arrival, departure = graph.arrivals(graph.starts), graph.departures()
    inside = max((box.depth for box in boxes.values()), default=0)
    depth = max([arrival[net] + level for net, level in graph.ends.items() if net in arrival], default=0)
    from_all = graph.arrivals(dict.fromkeys(graph.inputs, 0) | graph.starts)
    to_all = dict.fromkeys(graph.outputs, 0) | graph.ends
    total = max([from_all[net] + level for net, level in to_all.items() if net in from_all], default=0)

    def by_port(direction: str, levels: dict) -> dict:
        return {name: [levels.get(net) for net in port["bits"]]
                for name, port in module["ports"].items() if port["direction"] == direction}  # fmt: skip

    return Timing(
        depth=max(depth, inside),
        depth_ports=max(total, inside),
        to_register=by_port("input", departure),
        from_register=by_port("output", arrival),
        through=graph.through(),
        longest=graph.longest(arrival) if boxes and depth else [],
    )
