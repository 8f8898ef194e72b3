"""Area and depth of a netlist that Yosys mapped to UltraScale+ primitives (its JSON)."""

import re
from collections import Counter, defaultdict
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


def area(cells: dict) -> Area:
    """Counts the cells; a latch or an unknown cell is an error."""
    counts = Counter(cell["type"] for cell in cells.values())
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


def _end_nets(cell: dict):
    """Nets that the cell stores: where a path ends."""
    kind, pins = cell["type"], cell["connections"]
    stores = kind in FLIP_FLOPS | ULTRA_RAM | DSPS | BLOCK_RAM_SIZE.keys() | LUTRAM_SIZE.keys()
    if stores:
        for port, bits in pins.items():
            if cell["port_directions"][port] == "input":
                yield from bits


def depths(module: dict) -> tuple[int, int]:
    """Longest path in LUT levels: from register to register, and with the ports counted too."""
    drivers, starts, ends = {}, set(), set()
    for cell in module["cells"].values():
        for net, sources in _arcs(cell):
            drivers[net] = sources
        if cell["type"] in FLIP_FLOPS | ULTRA_RAM | DSPS | BLOCK_RAM_SIZE.keys() | LUTRAM_SIZE.keys():
            for port, bits in cell["connections"].items():
                if cell["port_directions"][port] == "output":
                    starts.update(net for net in bits if net not in drivers)
            ends.update(_end_nets(cell))
    # A LUTRAM's data is stored state as well as a path from its address.
    lutram = {
        net for cell in module["cells"].values() if cell["type"] in LUTRAM_SIZE
        for port, bits in cell["connections"].items() if cell["port_directions"][port] == "output" for net in bits
    }  # fmt: skip
    inputs, outputs = set(), set()
    for port in module["ports"].values():
        (inputs if port["direction"] == "input" else outputs).update(port["bits"])
    from_registers = _arrivals(drivers, starts - lutram, lutram)
    from_all = _arrivals(drivers, (starts - lutram) | inputs, lutram)
    registered = max((from_registers[net] for net in ends if net in from_registers), default=0)
    total = max((from_all[net] for net in ends | outputs if net in from_all), default=0)
    return registered, total


def _arrivals(drivers: dict, zero: set, one: set) -> dict:
    """Levels at every net that a start reaches; raises on a combinational loop."""
    arrival = {net: 0 for net in zero} | {net: 1 for net in one}
    users, open_inputs = defaultdict(list), {}
    for net, sources in drivers.items():
        driven = [(source, weight) for source, weight in sources if source in drivers]
        open_inputs[net] = len(driven)
        for source, weight in sources:
            users[source].append((net, weight))
    ready = [net for net, count in open_inputs.items() if count == 0]
    done = 0
    for net, sources in drivers.items():
        for source, weight in sources:
            if source in arrival and source not in drivers:
                arrival[net] = max(arrival.get(net, 0), arrival[source] + weight)
    while ready:
        net = ready.pop()
        done += 1
        for user, weight in users[net]:
            if net in arrival:
                arrival[user] = max(arrival.get(user, 0), arrival[net] + weight)
            open_inputs[user] -= 1
            if open_inputs[user] == 0:
                ready.append(user)
    if done != len(drivers):
        raise ValueError(f"combinational loop: {len(drivers) - done} nets never settle")
    return arrival
