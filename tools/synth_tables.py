"""The tables of docs/synth.md about whole tops, and the file that keeps their sums."""

import tomllib
from collections import Counter
from collections.abc import Mapping
from datetime import date

from project import ROOT, write_atomically
from whole import Design, changed

SUMS = ROOT / "synth" / "sums.toml"


def _figures(design: Design, pieces: Counter) -> str:
    figures = [f"{design.sum(pieces, figure):,}" for figure in ("lut", "lutram", "ff")]
    return " | ".join(
        [*figures, f"{design.sum(pieces, 'bram'):g}", *(f"{design.sum(pieces, n)}" for n in ("uram", "dsp"))]
    )


def _number(budget: int) -> str:
    return f"{budget:,}" if budget else ""


def keep_sum(design: Design) -> None:
    """Writes the sum of a whole top where others, benches too, read it."""
    sums = tomllib.loads(SUMS.read_text()) if SUMS.exists() else {}
    everything = Counter()
    for _, pieces in design.lines():
        everything.update(pieces)
    sums[design.whole.name] = {
        "day": str(date.today()),
        "lut": design.sum(everything, "lut"),
    }
    text = "# Sums of docs/synth.md. Written by tools/synth.py; do not edit.\n"
    for name, fields in sums.items():
        text += f'\n["{name}"]\n'
        for key, value in fields.items():
            text += f'{key} = "{value}"\n' if isinstance(value, str) else f"{key} = {value}\n"
    write_atomically(SUMS, text)


def budget_table(design: Design) -> str:
    """Every piece, the sums of the parts beside their budget, the sum of all."""
    whole = design.whole
    given = " ".join(f"{name}={value}" for name, value in whole.parameters.items())
    given = f"with {given}" if given else "at its default parameters"
    text = (
        f"\n`{whole.top}` {given}: every instance in it, each mapped alone; figures are those of all\n"
        "instances of a line together. A block that holds others of the table is counted without them; the last line\n"
        "is what stands between the blocks. **Depth** is that of the block with all that is in it. The list is the\n"
        "elaborated design's, and the mapped one has to have the same instances; there are no other black boxes.\n"
        + (f"The budget is that of [the decision page]({whole.page}).\n\n" if whole.limit else "\n")
        + "| block | parameters | instances | LUT each | LUT | LUTRAM | FF | BRAM | URAM | DSP | budget |"
        " depth | with ports |\n"
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n"
    )
    everything = Counter()
    for part, pieces in design.lines():
        for piece, number in sorted(pieces.items(), key=lambda item: (item[0].top, len(item[0].text), item[0].text)):
            timing = design.timing(piece)
            one = Counter({piece: number})
            text += (
                f"| {piece.name} | {piece.text} | {number} | {design.mapped[piece].area.lut:,} |"
                f" {_figures(design, one)} | | {timing.depth} | {timing.depth_ports} |\n"
            )
        budget = _number(part.budget)
        text += f"| **{part.name}** | | {pieces.total()} | | {_figures(design, pieces)} | {budget} | | |\n"
        everything.update(pieces)
    timing = design.timing(design.top)
    text += (
        f"| **sum** | | {everything.total()} | | {_figures(design, everything)} | {_number(whole.limit)} |"
        f" {timing.depth} | {timing.depth_ports} |\n"
    )
    begin, end, levels = timing.longest
    text += (
        f"\nNo path from register to register, in a block or across blocks, has more than {timing.depth} levels. The\n"
        f"longest across blocks begins in `{begin}`, ends in `{end}` and has {levels}.\n"
    )
    return text


def compare_table(many: Design, one: Design) -> str:
    """The same blocks with the configuration changed."""
    fields = dict(pair for value in one.change.values() if isinstance(value, Mapping) for pair in value.items())
    fields = fields or dict(one.change)
    change = ", ".join(f"{field} = {number}" for field, number in fields.items())
    text = (
        f"\n### The cost of isolation: {many.whole.name}\n\nThe same with `{change}` in place"
        " of the default. A block whose figures do not depend on it is left out;\nthe sum has all. LUT with LUTRAM.\n\n"
        f"| block | parameters | instances | LUT | {change} | more | FF | {change} | more | BRAM | {change} | more |\n"
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n"
    )

    def line(name: str, parameters: str, left: Counter, right: Counter) -> str:
        cells = []
        for figure in ("lut", "ff", "bram"):
            a, b = many.sum(left, figure), one.sum(right, figure)
            cells += [f"{a:,g}" if figure == "bram" else f"{a:,}", f"{b:,g}" if figure == "bram" else f"{b:,}",
                      f"{a - b:,g}" if figure == "bram" else f"{a - b:,}"]  # fmt: skip
        return f"| {name} | {parameters} | {left.total()} | {' | '.join(cells)} |\n"

    left_all, right_all = many.counts(many.top), one.counts(one.top)
    for piece, number in sorted(left_all.items(), key=lambda item: (item[0].top, len(item[0].text), item[0].text)):
        other = changed(piece, one.change)
        if other != piece:
            text += line(piece.name, piece.text, Counter({piece: number}), Counter({other: number}))
    return text + line("**sum**", "", left_all, right_all)
