"""Rows by the tables of docs/design/rmt-rows.md, which `make lint` holds against crates/formats."""

import re
from functools import cache
from pathlib import Path

DOC = Path(__file__).resolve().parents[2] / "docs" / "design" / "rmt-rows.md"


@cache
def layouts() -> dict[str, dict[str, tuple[int, int]]]:
    """Of each layout its fields as (lowest bit, width)."""
    found, fields = {}, {}
    for line in DOC.read_text().split("## Events")[0].splitlines():
        if head := re.match(r"### `(\w+)`: (\d+) bits", line):
            fields = found.setdefault(head[1], {})
        elif entry := re.match(r"\| (\d+)(?::(\d+))? \| `(\w+)` \|", line):
            high, low = int(entry[1]), int(entry[2] or entry[1])
            fields[entry[3]] = (low, high - low + 1)
    return found


def row(layout: str, **values) -> int:
    """The row with these fields, others 0; a list is an array, element 0 lowest, of as many elements."""
    word = 0
    for name, value in values.items():
        low, width = layouts()[layout][name]
        if isinstance(value, (list, tuple)):
            assert width % len(value) == 0, f"{layout}.{name}: {width} bits for {len(value)} elements"
            part = width // len(value)
            assert all(0 <= v < 1 << part for v in value), f"{layout}.{name}: {value} in {part} bits each"
            value = sum(v << i * part for i, v in enumerate(value))
        assert 0 <= value < 1 << width, f"{layout}.{name} is {value:#x}, expected {width} bits"
        word |= value << low
    return word


def words_of_layout(layout: str) -> int:
    """Words of a row."""
    low, width = max(layouts()[layout].values())
    return -(-(low + width) // 32)
