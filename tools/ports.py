"""The ports of a top, from its source: name, direction and width as it is written."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from project import ROOT, fail, find_module

PORT = re.compile(r"^\s*(input|output)\s+logic\s*(?:\[\s*(.+?)\s*-1:0\]|\[\s*(\d+):0\])?\s+(\w+)$")


@dataclass(frozen=True)
class Port:
    """A port; `width` is an expression over parameters and constants of packages."""

    name: str
    direction: str
    width: str

    @property
    def names(self) -> set[str]:
        """Parameters and constants in its width."""
        return set(re.findall(r"[A-Za-z]\w*", self.width))

    def bits(self, values: Mapping[str, int]) -> int:
        """Its width in bits."""
        numbers = re.sub(r"[A-Za-z]\w*", lambda m: str(values[m[0]]), self.width)
        total = 0
        for term in numbers.split("+"):
            product = 1
            for factor in term.split("*"):
                product *= int(factor)
            total += product
        return total


def ports_of(top: str) -> list[Port]:
    """In the order of the source. A port in another form than the tops' has to be taken up here first."""
    text = re.sub(r"//[^\n]*", "", find_module(top).read_text())
    body = re.search(rf"module\s+{top}\b.*?\)\s*\(\n(.*?)\n\);", text, re.DOTALL)
    if not body:
        fail(f"{top}: no port list of the form `) (` ... `);`")
    ports = []
    for line in re.split(r",\s*\n|,\s*$", body[1]):
        found = PORT.match(line.strip())
        if not found:
            fail(f"{top}: port {line.strip()!r} is not of the form `input logic [Width-1:0] name`")
        direction, expression, highest, name = found.groups()
        width = str(int(highest) + 1) if highest else re.sub(r"\s+", "", expression or "1")
        ports.append(Port(name, direction, width))
    return ports


def constants() -> dict[str, int]:
    """The numbers of sluice_pkg and of the l7 engine's packages."""
    packages = [
        ROOT / "rtl" / path for path in ("gen/sluice_l7_rows_pkg.sv", "l7/sluice_l7_pkg.sv", "gen/sluice_pkg.sv")
    ]
    text = "".join(package.read_text() for package in packages)
    values = {name: int(value) for name, value in re.findall(r"localparam int unsigned (\w+) = (\d+);", text)}
    return {**values, "TagsBits": 16 * values["DestBits"]}


def targets(area: str) -> list[dict[str, int]]:
    """Bytes, Ports and Dests of the targets, in the order of their numbers."""
    text = (ROOT / "rtl" / "gen" / "sluice_pkg.sv").read_text()
    result = []
    for body in re.findall(r"localparam nic_cfg_t NicCfg\w+ = '\{(.*?)\};", text, re.DOTALL):
        value = {name: int(number) for name, number in re.findall(r"(\w+): (\d+),", body)}
        widths = {"Bytes": value["bus_bytes"]}
        if area == "nic":
            widths |= {"Ports": value["ports"], "Dests": value["ports"] + value["hosts"]}
        result.append(widths)
    return result
