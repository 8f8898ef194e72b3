"""Rows of the warp engine, read by the tables of docs/design/xdp-rows.md: nothing here knows how they were made.

`Layouts` has each row's fields by name; `unpacked` gives what words say, `packed` the words again.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from project import ROOT

PAGE = ROOT / "docs" / "design" / "xdp-rows.md"
HEADING = re.compile(r"^### `(\w+)`: (\d+) bits", re.MULTILINE)
FIELD = re.compile(r"^\| (\d+)(?::(\d+))? \| `(\w+)` \| `(\w+)((?: ?\[\d+:0\])*)` \|", re.MULTILINE)
WORD = 32


@dataclass(frozen=True)
class Field:
    """A field: its bits, and of an array how many it has; `row` is the row that each of them is."""

    low: int
    bits: int
    count: int
    row: str


class Layouts:
    """Fields of rows by name."""

    def __init__(self, page: Path = PAGE) -> None:
        text = page.read_text()
        heads = list(HEADING.finditer(text))
        ends = [head.start() for head in heads[1:]] + [len(text)]
        self.bits = {head[1]: int(head[2]) for head in heads}
        self.rows = {head[1]: self._fields(text[head.end() : end]) for head, end in zip(heads, ends, strict=True)}

    def _fields(self, text: str) -> dict[str, Field]:
        found = {}
        for high, low, name, kind, sizes in FIELD.findall(text.split("\n## ")[0]):
            row = kind.removesuffix("_t") if kind.endswith("_t") else ""
            # Of `logic [13:0][6:0]` the first is the number of elements, and so is the only one of a row's.
            ranges = [int(size) + 1 for size in re.findall(r"\[(\d+):0\]", sizes)]
            array = bool(row and ranges) or len(ranges) > 1
            first = int(low or high)
            found[name] = Field(
                first, int(high) - first + 1, ranges[0] if array else 0, row if row in self.bits else ""
            )
        return found

    def unpacked(self, row: str, words: list[int]) -> dict:
        """What a row's words say."""
        return self._of(row, sum(word << WORD * at for at, word in enumerate(words)))

    def _of(self, row: str, number: int) -> dict:
        return {name: self._value(field, number >> field.low) for name, field in self.rows[row].items()}

    def _value(self, field: Field, number: int) -> object:
        def one(number: int, bits: int) -> object:
            kept = number & ((1 << bits) - 1)
            return self._of(field.row, kept) if field.row else kept

        if not field.count:
            return one(number, field.bits)
        each = field.bits // field.count
        return [one(number >> each * at, each) for at in range(field.count)]

    def packed(self, row: str, values: dict) -> list[int]:
        """The words of a row; a field that is not said is 0."""
        number = self._number(row, values)
        return [number >> WORD * at & 0xFFFF_FFFF for at in range(-(-self.bits[row] // WORD))]

    def _number(self, row: str, values: dict) -> int:
        number = 0
        for name, value in values.items():
            field = self.rows[row][name]
            each = field.bits // (field.count or 1)
            for at, one in enumerate(value if field.count else [value]):
                bits = self._number(field.row, one) if field.row else one
                if bits >> each:
                    raise ValueError(f"{row}.{name}: {bits} has more than {each} bits")
                number |= bits << field.low + each * at
        return number
