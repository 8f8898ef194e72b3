"""The sum over all instances of a top and the depth across them, for `make synth`.

The modules that synth/whole.toml names are *parts*: each is mapped alone with the parameters that it has in the top. A
module that holds parts is mapped with these as boxes, so that what stands between them counts too. Which instances
there are is read from the elaborated design, and those of the mapped one have to be the same: nothing is left out.
"""

import re
import tomllib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import netlist
from project import ROOT, fail, find_module

TABLE = ROOT / "synth" / "whole.toml"

# Parameters, and fields of parameters, with other values.
Change = Mapping[str, int | Mapping[str, int]]


@dataclass(frozen=True)
class Part:
    """Instances that share a line of the budget."""

    name: str
    modules: Sequence[str]
    budget: int


@dataclass(frozen=True)
class Whole:
    """A top that is measured by its parts."""

    name: str
    top: str
    limit: int
    page: str  # the decision page of its budget
    inner: Sequence[str]
    parts: Sequence[Part]
    parameters: Mapping[str, int] = field(default_factory=dict)  # of the top, numbers of 32 bits
    compare: Change = field(default_factory=dict)

    @property
    def boxes(self) -> list[str]:
        """All modules that are mapped alone."""
        return [module for part in self.parts for module in part.modules] + list(self.inner)


@dataclass(frozen=True)
class Piece:
    """A module with the values of its parameters, as bits."""

    top: str
    values: tuple[tuple[str, str], ...] = ()

    @property
    def name(self) -> str:
        """As in the other tables."""
        return self.top.removeprefix("sluice_")

    @property
    def text(self) -> str:
        """The parameters that are numbers: `Stage=1`."""
        return " ".join(f"{name}={int(bits, 2)}" for name, bits in self.values if len(bits) <= 64)

    @property
    def literals(self) -> dict[str, str]:
        """For the command line."""
        return {name: f"{len(bits)}'b{bits}" for name, bits in self.values}


def wholes() -> list[Whole]:
    """The table, checked."""
    needed, allowed = {"name", "top", "limit", "page", "inner", "part"}, {"parameters", "compare"}
    result = []
    for entry in tomllib.loads(TABLE.read_text()).get("whole", []):
        if wrong := (needed - entry.keys()) | (entry.keys() - needed - allowed):
            fail(f"{TABLE.name}: {entry.get('name')!r}: {sorted(wrong)} unknown or missing, expected {sorted(needed)}")
        parts = [Part(**part) for part in entry.pop("part")]
        result.append(Whole(parts=parts, **entry))
    return result


def own_parameters(module: str) -> list[str]:
    """Names of a module's parameters, without its local ones."""
    text = re.sub(r"//[^\n]*", "", find_module(module).read_text())
    begin = re.search(rf"\bmodule\s+{module}\b(?:\s*import\b[^;]*;)*\s*(#\()?", text)
    if not begin[1]:
        return []
    before_ports = re.split(r"\)\s*\(\s*(?:input|output)", text[begin.end() :])[0]
    return [re.search(r"(\w+)\s*=", line)[1] for line in re.split(r"\bparameter\b", before_ports)[1:]]


def instances(elaborated: dict, top: str, boxes: Sequence[str]) -> dict[str, Piece]:
    """The boxes in an elaborated module (Yosys' JSON), by the names of their instances."""
    found = {}
    for name, cell in elaborated["modules"][top]["cells"].items():
        if cell["type"] in boxes:
            names = own_parameters(cell["type"])
            values = {key: value for key, value in cell["parameters"].items() if key in names}
            if missing := set(names) - values.keys():
                raise ValueError(f"{top}: instance {name} does not tell its {sorted(missing)}")
            found[name] = Piece(cell["type"], tuple(sorted(values.items())))
    return found


def with_variants(rtlil: str, elaborated: dict, top: str, found: Mapping[str, Piece]) -> str:
    """RTLIL in which each kind of box, by module and parameters, is a box module of its own with its own widths.

    ABC9 takes a module with parameters for one to derive, and without them instances would be of one width.
    """
    cells = elaborated["modules"][top]["cells"]
    names = {piece: f"{piece.top}_variant{i}" for i, piece in enumerate(dict.fromkeys(found.values()))}
    modules = ""
    for piece, name in names.items():
        cell = next(cells[instance] for instance, other in found.items() if other == piece)
        modules += f"attribute \\blackbox 1\nmodule \\{name}\n"
        for number, (port, nets) in enumerate(cell["connections"].items(), 1):
            modules += f"  wire width {len(nets)} {cell['port_directions'][port]} {number} \\{port}\n"
        modules += "end\n"

    def renamed(match: re.Match) -> str:
        return f"  cell \\{names[found[match[2]]]} \\{match[2]}\n"

    tops = "|".join(sorted({piece.top for piece in names}))
    return modules + re.sub(rf"  cell \\({tops}) \\(\S+)\n(?:    parameter .*\n)*", renamed, rtlil)


def config_fields(engine: str) -> list[str]:
    """Fields of an engine's configuration, first one highest, 32 bits each."""
    name = f"{engine}_cfg_t"
    text = find_module(f"sluice_{engine}_rows_pkg").read_text()
    body = re.search(rf"typedef struct packed \{{([^}}]*)\}} {name};", text)[1]
    fields = re.findall(r"(\w[\w ]*?) (\w+);", body)
    if any(kind != "int unsigned" for kind, _ in fields):
        fail(f"{name}: a field is not an int unsigned")
    return [field for _, field in fields]


def changed(piece: Piece, change: Change) -> Piece:
    """The piece with parameters set, a configuration by its fields: `{"Modules": 1, "Cfg": {"modules": 1}}`."""
    values, engine = dict(piece.values), piece.top.split("_")[1]
    for parameter in values.keys() & change.keys():
        bits = values[parameter]
        if isinstance(change[parameter], int):
            values[parameter] = f"{change[parameter]:0{len(bits)}b}"
            continue
        words = {field: bits[32 * i : 32 * i + 32] for i, field in enumerate(config_fields(engine))}
        words |= {field: f"{number:032b}" for field, number in change[parameter].items()}
        values[parameter] = "".join(words.values())
    return Piece(piece.top, tuple(sorted(values.items())))


@dataclass(frozen=True)
class Mapped:
    """A piece alone: its area without boxes, and the boxes in it."""

    area: netlist.Area
    boxes: Mapping[str, Piece]
    module: dict | None  # the netlist, if there are boxes
    timing: netlist.Timing | None  # if there are none


class Design:
    """All pieces of a top."""

    def __init__(self, whole: Whole, change: Change, map_piece: Callable[[Piece, Sequence[str]], Mapped], jobs: int):
        self.whole, self.change = whole, change
        self.mapped: dict[Piece, Mapped] = {}
        self.timings: dict[Piece, netlist.Timing] = {}
        self.top = Piece(whole.top, tuple((name, f"{value:032b}") for name, value in sorted(whole.parameters.items())))
        wanted = [self.top]
        with ThreadPoolExecutor(jobs) as pool:
            while wanted:
                results = pool.map(lambda piece: map_piece(piece, whole.boxes), wanted)
                self.mapped.update(zip(wanted, results, strict=True))
                below = {piece for done in wanted for piece in self.children(done).values()}
                wanted = sorted(below - self.mapped.keys(), key=lambda piece: (piece.top, piece.values))

    def children(self, piece: Piece) -> dict[str, Piece]:
        """The boxes in a piece, with the change."""
        return {name: changed(box, self.change) for name, box in self.mapped[piece].boxes.items()}

    def timing(self, piece: Piece) -> netlist.Timing:
        """Depths of the piece with all that is in it."""
        if piece not in self.timings:
            mapped = self.mapped[piece]
            boxes = {name: self.timing(box) for name, box in self.children(piece).items()}
            self.timings[piece] = mapped.timing or netlist.timing(mapped.module, boxes)
        return self.timings[piece]

    def counts(self, piece: Piece) -> Counter:
        """How often each piece is in one, itself included."""
        total = Counter({piece: 1})
        for box in self.children(piece).values():
            total.update(self.counts(box))
        return total

    def lines(self) -> list[tuple[Part, Counter]]:
        """Each part and what is in it; the last one is what stands between the parts."""
        result = []
        for part in self.whole.parts:
            total = Counter()
            for box in self.children(self.top).values():
                if box.top in part.modules:
                    total.update(self.counts(box))
            result.append((part, total))
        return [*result, (Part("between them", [], 0), Counter({self.top: 1}))]

    def sum(self, pieces: Counter, figure: str) -> float:
        """A figure over instances."""
        return sum(number * getattr(self.mapped[piece].area, figure) for piece, number in pieces.items())
