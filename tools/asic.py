"""`make synth-asic`: standard cells of the rmt pipeline, with 64 modules and with one, into docs/asic.md; and of the
l7 engine into docs/asic-l7.md.

    .venv/bin/python tools/asic.py l7

Blocks are those of synth/whole.toml, mapped one by one to the cells of osu018. Memories stay boxes, of which the bits
are counted. A result is kept in .cache/asic as long as the block's sources, its parameters, the library, these scripts
and the pinned tools stay the same.
"""

import inspect
import json
import os
import re
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import whole
from project import CACHE, READ_SLANG, ROOT, captured, digest, fail, pins, write_atomically

import synth

LIBRARY = Path(os.environ.get("SLUICE_LIBERTY", "/usr/share/qflow/tech/osu018/osu018_stdcells.lib"))
LIMIT_SECONDS = 3600
JOBS = 2  # blocks at a time
DOC = ROOT / "docs" / "asic.md"
L7_DOC = ROOT / "docs" / "asic-l7.md"
# Published (Menshen, NSDI 2022, section 5.2): more area than for one module, in percent.
PUBLISHED = {"parser": 18.5, "deparser": 7.0, "one stage": 20.9, "all": 11.4}
FLIP_FLOP = "DFFPOSX1"
# Bits of a compiled RAM in the area of a flip-flop: assumed, for a figure between the two ends.
BITS_IN_A_FLOP = 20


@dataclass(frozen=True)
class Area:
    """Cells of one block, without its boxes."""

    cells: float  # area of all cells in square micrometres
    flops: float  # that of the flip-flops among them
    bits: int  # of memories, which have no cells


def cell_areas(liberty: str) -> dict[str, float]:
    """Area of each cell in square micrometres."""
    found = re.findall(r"^\s*cell\s*\(\s*\"?(\w+)\"?\s*\)\s*\{(.*?)\n\s*area\s*:\s*([\d.]+)", liberty, re.M | re.S)
    return {name: float(area) for name, _, area in found}


def area(cells: Mapping[str, dict], boxes: Sequence[str], areas: Mapping[str, float]) -> Area:
    """Counts the cells that are no boxes; one that is neither of the library nor a memory is an error."""
    total, flops, bits = 0.0, 0.0, 0
    for name, cell in cells.items():
        kind, parameters = cell["type"], cell.get("parameters", {})
        if name in boxes or kind == "$scopeinfo":
            continue
        if kind.startswith("$mem"):
            bits += int(parameters["SIZE"], 2) * int(parameters["WIDTH"], 2)
        elif kind in areas and not kind.startswith("LATCH"):
            total += areas[kind]
            flops += areas[kind] if kind.startswith("DFF") else 0
        else:
            raise ValueError(f"cell {name} is a {kind}, expected one of {LIBRARY.stem} that is no latch, or a memory")
    return Area(total, flops, bits)


def script(top: str, output: str) -> str:
    """What Yosys does behind reading."""
    return (
        f"synth -flatten -top {top} -run :fine; opt -fast -full; opt -undriven -fine; techmap; opt -fast;"
        f" dfflibmap -liberty {LIBRARY}; opt -fast; abc -liberty {LIBRARY}; opt_clean -purge; write_json {output}"
    )


def map_piece(piece: whole.Piece, boxes: Sequence[str]) -> whole.Mapped:
    """A piece of the whole in standard cells."""
    begin, top, files = time.monotonic(), piece.top, synth.closure(piece.top)
    inner = sorted(set(boxes) & {path.stem for path in files} - {top})
    options = " ".join(
        [f"--blackboxed-module {name}" for name in inner] + [f"-G {n}={v}" for n, v in piece.literals.items()]
    )
    read = f"{READ_SLANG} --top {top} {options} {' '.join(str(path.relative_to(ROOT)) for path in files)}"

    def yosys(text: str, output: Path) -> dict:
        code, said = captured(["nice", "timeout", str(LIMIT_SECONDS), "yosys", "-q", "-p", text])
        if code != 0 or not output.exists():
            raise RuntimeError(f"{piece.name} ({piece.text or 'defaults'}): yosys (exit {code}): {said[-2000:]}")
        return json.loads(output.read_text())["modules"][top]

    def work(folder: Path) -> dict:
        where, found, source = folder.relative_to(ROOT), {}, read
        if inner:
            yosys(f"{read}; write_rtlil {where}/read.il; write_json {where}/read.json", folder / "read.json")
            before = json.loads((folder / "read.json").read_text())
            found = whole.instances(before, top, inner)
            variants = whole.with_variants((folder / "read.il").read_text(), before, top, found)
            (folder / "read.il").write_text(variants)
            source = f"read_rtlil {where}/read.il"
        cells = yosys(f"{source}; {script(top, f'{where}/cells.json')}", folder / "cells.json")["cells"]
        if left := found.keys() - cells.keys():
            raise ValueError(f"{top}: instances {sorted(left)} are not in the mapped netlist")
        figures = area(cells, list(found), cell_areas(LIBRARY.read_text()))
        return vars(figures) | {"boxes": {name: [box.top, box.values] for name, box in found.items()}}

    # What the page looks like is not in the key.
    made_by = [read, script(top, ""), inspect.getsource(area), inspect.getsource(map_piece)]
    folder = CACHE / "asic" / f"{top}-{digest([*files, Path(whole.__file__), LIBRARY], pins(), *made_by)}"
    figures = synth.kept(folder, work)
    inside = {name: whole.Piece(of, tuple(map(tuple, values))) for name, (of, values) in figures.pop("boxes").items()}
    seconds = time.monotonic() - begin
    if seconds > 1:
        print(
            f"asic: {piece.name} ({piece.text or 'defaults'}): {figures['cells']:,.0f} um2, {seconds:.0f} s", flush=True
        )
    return whole.Mapped(Area(**figures), inside, None, None)


def lines(design: whole.Design) -> list[tuple[str, Counter]]:
    """Lines of the table: parts of the whole, one stage, all."""
    result, everything = [], Counter()
    for part, pieces in design.lines():
        everything.update(pieces)
        result.append((part.name, pieces))
        if part.name == "stages":
            stages = [box for box in design.children(design.top).values() if box.top in part.modules]
            result.append(("one stage", design.counts(stages[0])))
    return [*result, ("all", everything)]


def table(many: whole.Design, one: whole.Design, flop: float) -> str:
    """Each line with 64 modules, with one, and how much more that is, beside what is published."""
    text = (
        "| part | cells, mm² | of it flip-flops | one module | more, mm² | memory, kbit | one module |"
        " more: memory is nothing | a bit is 1/20 flip-flop | a bit is a flip-flop | published |\n"
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n"
    )
    for (name, left), (_, right) in zip(lines(many), lines(one), strict=True):
        cells = [design.sum(pieces, "cells") / 1e6 for design, pieces in ((many, left), (one, right))]
        flops = many.sum(left, "flops") / 1e6
        bits = [design.sum(pieces, "bits") for design, pieces in ((many, left), (one, right))]
        more = []
        for bit in (0, flop / BITS_IN_A_FLOP, flop):
            a, b = (c + n * bit / 1e6 for c, n in zip(cells, bits, strict=True))
            more.append(f"{100 * (a / b - 1):+.1f} %")
        published = f"{PUBLISHED[name]:+.1f} %" if name in PUBLISHED else ""
        shown = f"**{name}**" if name == "all" else name
        text += (
            f"| {shown} | {cells[0]:.3f} | {flops:.3f} | {cells[1]:.3f} | {cells[0] - cells[1]:.3f} |"
            f" {bits[0] / 1e3:,.0f} | {bits[1] / 1e3:,.0f} | {' | '.join(more)} | {published} |\n"
        )
    return text


INTRODUCTION = """# Area in standard cells

Written by `make synth-asic` on {date}; do not edit. The rmt pipeline (`{top}`, default parameters) in the cells of
osu018, an open library of 180 nm (Debian's `qflow-tech-osu018`): Yosys 0.70, `synth`, `dfflibmap`, `abc` with its own
script for a library. Blocks are those of [synth.md](synth.md), each mapped alone, figures those of all instances
together.

## With 64 modules and with one

**With isolation** is the design as it is, 64 modules. **Without** is the same sources with `modules = 1`, which is
how the published figure was made too: there the pipeline was changed to support a single module (Menshen, NSDI 2022,
section 5.2). What that takes away: the module's number in the compares of exact and ternary entries and in every
index; the rows of 63 modules in parser, deparser, keys, defaults, page tables, grants and counters; generations,
rates and in-flight counts of 63 modules in the stamp. What stays in both, and so is not counted: two generations of
everything, the page table of the one module, the owner's compare of action rows and groups, the bits of stages and
metadata that are the system module's, grants of destinations, and the configuration ring. What a NIC has around the
pipeline is in neither: VLAN rows and the guard against foreign VLANs.

"""

LIMITS = """
## How far to trust it

- **Memories have no cells.** osu018 has no RAM macros, so every memory stays a box and is counted in bits, small ones
  and those of the ternary match too. What isolation costs is memory, so the first ratio understates it. With every
  bit a flip-flop ({flop:g} µm² each) is the other end. A bit of a compiled RAM takes a small part of that; one
  twentieth is assumed, not measured.
- The published figures are of Synopsys DC and FreePDK45 at 1 GHz, with 32 modules and 16 entries a stage; here are 64
  modules, with two programs each. How memories were made there is not printed. Only ratios may be compared, not
  square millimetres.
- A part with few bits for one module, the parser or the deparser, has a large ratio because rows by module are most
  of its memory. In a stage most memory is entries, actions and state, which modules share in both.
- 180 nm is old. No timing was asked for: `abc` maps for area, nothing is placed, and no clock tree, scan or pads are
  there.
- Each block is mapped alone: nothing is shared across blocks.
"""


L7_PAGE = """# Area of message dispatch in standard cells

Written by `make synth-asic` on {date}; do not edit. The l7 engine (`{top}`, default parameters: 4 matchers, beats
of 64 bytes) in the cells of osu018, mapped like [the rmt pipeline](asic.md#how-far-to-trust-it), with the same limits:
memories have no cells and are counted in bits, and 180 nm is old.

{table}
Published (QingNiao's text of 2025, [LUTs](synth.md#the-l7-engine) beside): 0.766 mm² with 4 matchers, by Synopsys DC
and FreePDK45 at 1 GHz; how its memories were made is not printed, nor which parts are in it. A gate of 45 nm takes a
sixteenth of one of 180 nm, (45/180)², if only the lines shrink: **{scaled:.3f} mm²** without memories by that rule,
which is no measurement.
"""


def l7_table(design: whole.Design) -> tuple[str, float]:
    """Each part of the engine, and square millimetres of all."""
    text = "| part | cells, mm² | of it flip-flops | memory, kbit |\n| --- | --- | --- | --- |\n"
    for name, pieces in lines(design):
        cells, flops, bits = (design.sum(pieces, what) for what in ("cells", "flops", "bits"))
        shown = f"**{name}**" if name == "all" else name
        text += f"| {shown} | {cells / 1e6:.3f} | {flops / 1e6:.3f} | {bits / 1e3:,.0f} |\n"
    return text, cells / 1e6


def main() -> None:
    asked = sys.argv[1:] or ["rmt", "l7"]
    if unknown := set(asked) - {"rmt", "l7"}:
        fail(f"found {sorted(unknown)}, expected rmt or l7, or nothing for both")
    if not LIBRARY.exists():
        fail(
            f"the cell library {LIBRARY} is not there; on Debian and Ubuntu `apt install qflow-tech-osu018`,"
            " elsewhere SLUICE_LIBERTY names osu018_stdcells.lib"
        )
    areas = cell_areas(LIBRARY.read_text())
    if FLIP_FLOP not in areas:
        fail(f"{LIBRARY}: no cell {FLIP_FLOP} among {len(areas)} cells, expected the library osu018")
    entries = {entry.top: entry for entry in whole.wholes()}
    try:
        if "rmt" in asked:
            entry = entries["sluice_rmt_top"]
            many, one = (whole.Design(entry, change, map_piece, JOBS) for change in ({}, entry.compare))
            made = table(many, one, areas[FLIP_FLOP])
            text = INTRODUCTION.format(date=date.today(), top=entry.top) + made + LIMITS.format(flop=areas[FLIP_FLOP])
            write_atomically(DOC, text)
            print(f"asic: wrote {DOC.relative_to(ROOT)}")
        if "l7" in asked:
            entry = entries["sluice_l7_top"]
            made, cells = l7_table(whole.Design(entry, {}, map_piece, JOBS))
            text = L7_PAGE.format(date=date.today(), top=entry.top, table=made, scaled=cells / 16)
            write_atomically(L7_DOC, text)
            print(f"asic: wrote {L7_DOC.relative_to(ROOT)}")
    except (RuntimeError, ValueError) as problem:
        fail(str(problem))


if __name__ == "__main__":
    main()
