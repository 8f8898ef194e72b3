"""`make synth`: area, depth and ECP5 clock of the blocks in synth/blocks.toml, into docs/synth.md.

    .venv/bin/python tools/synth.py [--jobs N] [--section TEXT ...] [--paths N] [NAME ...]

Without names each section of the document is measured and written that has one of the texts in its name, or all of
them: a section keeps the day of its own measurement. With names only what has one of these in its name is measured,
and printed. `--paths N` prints the N longest paths of what the names or texts concern, instead.

Blocks are synthesized one by one, two at a time. A result is kept in .cache/synth as long as
the block's sources, its parameters, these scripts and the pinned tools stay the same.
"""

import argparse
import gzip
import json
import re
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from datetime import date
from functools import partial
from pathlib import Path

import beside
import ecp5
import netlist
import paths
import synth_tables
import whole
from project import (
    CACHE,
    READ_SLANG,
    ROOT,
    Block,
    blocks,
    captured,
    digest,
    fail,
    packages,
    pins,
    read_json,
    rtl_files,
    setting,
    write_atomically,
)

LIMIT_SECONDS = 5400
# What ABC9 counts for the wire behind a LUT. With its own 300 ps a long carry chain is as long as several LUTs, and
# paths beside it are mapped for area, not for levels.
WIRE_PS = 1000
DOC = ROOT / "docs" / "synth.md"

INTRODUCTION = """# Area, depth and clock of the blocks

Written by `make synth`, each section on the day that it says; do not edit. Yosys 0.70 (`read_slang`,
`synth_xilinx -family xcup -flatten -noiopad`), each block alone with the parameters given, which stand in
`synth/blocks.toml`. ABC9 counts {wire} ps for the wire behind a LUT, so that it weighs levels as they are counted here.
These are figures of Yosys and not of Vivado: good for comparing blocks and versions of a block.

- **LUT** is the number of LUT1 to LUT6 and INV cells, and of the LUTs that distributed RAM occupies
  (also given alone as **LUTRAM**): RAM32M16, RAM64M8 and RAM256X1D 8, RAM32M, RAM64M and RAM128X1D 4,
  RAM32X1D and RAM64X1D 2, SRL16E and SRLC32E 1. That two small LUTs may share one is not counted.
- **BRAM** is in blocks of 36 Kb; an 18 Kb block is half a one.
- **Depth** is the longest path of the mapped netlist from register to register, in LUT levels: a LUT
  counts 1, a distributed RAM read 1, a carry chain 1 when it is entered, whatever its length, and
  MUXF7 to MUXF9 nothing. **With ports** counts paths from inputs and to outputs too.
- **ECP5 clock**: placed and routed by nextpnr on an {device}, one seed, with a register at
  every port, aiming at {target} MHz. A slow part: a proxy for timing. Where ABC9 failed on the
  netlist as it is, the option of `synth_ecp5` with which it did not is given.
"""
BLOCKS_HEAD = """
| block | parameters | LUT | LUTRAM | FF | BRAM | URAM | DSP | depth | with ports | ECP5 clock |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
"""


@dataclass(frozen=True)
class Result:
    """Figures of one block."""

    lut: int
    lutram: int
    ff: int
    bram: float
    uram: int
    dsp: int
    depth: int
    depth_ports: int
    mhz: float | None = None
    option: str = ""


def closure(top: str) -> list[Path]:
    """The module's file and those of all modules and packages that it names, packages first, in a fixed order."""
    by_name = {path.stem: path for path in rtl_files()}
    found, open_names = {}, [top]
    while open_names:
        name = open_names.pop()
        if name in found or name not in by_name:
            continue
        found[name] = by_name[name]
        text = re.sub(r"//[^\n]*", "", by_name[name].read_text())
        open_names += set(re.findall(r"\b[a-z]\w+\b", text)) & by_name.keys()
    first = [path for path in packages() if path in found.values()]
    return first + sorted(set(found.values()) - set(first))


def kept(folder: Path, work: Callable[[Path], dict]) -> dict:
    """The figures that `work` once put into the folder, or those that it makes now."""
    figures = read_json(folder / "result.json")
    if figures is None:
        folder.mkdir(parents=True, exist_ok=True)
        figures = work(folder)
        write_atomically(folder / "result.json", json.dumps(figures))
        for netlist_file in {*folder.glob("*.json"), *folder.glob("*.il")} - {folder / "result.json"}:
            # Large, and of use only when something failed.
            netlist_file.unlink()
    return figures


def mapped(top: str, values: Mapping[str, object], files: list[Path], boxes: Sequence[str] = ()) -> tuple[dict, Path]:
    """Figures of the netlist for UltraScale+, and the folder that they are kept in.

    Modules that `boxes` names are not looked into. The netlist without them stays in the folder.
    """
    inner = sorted(set(boxes) & {path.stem for path in files} - {top})
    options = " ".join([f"--blackboxed-module {name}" for name in inner] + [setting(n, v) for n, v in values.items()])
    names = " ".join(str(path.relative_to(ROOT)) for path in files)
    read = f"{READ_SLANG} --top {top} {options} {names}"
    map_it = f"scratchpad -set synth_xilinx.abc9.W {WIRE_PS}; synth_xilinx -family xcup -flatten -noiopad -top {top}"

    def yosys(script: str, output: Path) -> str:
        code, text = captured(["nice", "timeout", str(LIMIT_SECONDS), "yosys", "-q", "-p", script])
        if code != 0 or not output.exists():
            raise RuntimeError(f"yosys (exit {code}): {text[-2000:]}")
        return output.read_text()

    def work(folder: Path) -> dict:
        output, where = folder / "xcup.json", folder.relative_to(ROOT)
        found = {}
        source = read
        if inner:
            read_it = f"{read}; write_rtlil {where}/read.il; write_json {where}/read.json"
            before = json.loads(yosys(read_it, folder / "read.json"))
            found = whole.instances(before, top, inner)
            variants = whole.with_variants((folder / "read.il").read_text(), before, top, found)
            (folder / "read.il").write_text(variants)
            source = f"read_rtlil {where}/read.il"
        module = json.loads(yosys(f"{source}; {map_it}; write_json {where}/xcup.json", output))["modules"][top]
        if left := found.keys() - module["cells"].keys():
            raise ValueError(f"{top}: instances {sorted(left)} are not in the mapped netlist")
        ports = {
            name: {"direction": port["direction"], "width": len(port["bits"])} for name, port in module["ports"].items()
        }
        figures = asdict(netlist.area(module["cells"], found)) | {"ports": ports}
        with gzip.open(folder / "netlist", "wt", compresslevel=1) as file:
            json.dump({key: module[key] for key in ("ports", "cells", "netnames")}, file)
        if inner:
            return figures | {"boxes": {name: [piece.top, piece.values] for name, piece in found.items()}}
        return figures | {"timing": asdict(netlist.timing(module))}

    tools = [Path(netlist.__file__), *([Path(whole.__file__)] if inner else [])]
    folder = CACHE / "synth" / f"{top}-{digest([*files, *tools], pins(), read, map_it)}"
    return kept(folder, work), folder


def read_netlist(folder: Path) -> dict:
    """The netlist that `mapped` left in a folder."""
    with gzip.open(folder / "netlist", "rt") as file:
        return json.load(file)


def map_piece(piece: whole.Piece, boxes: Sequence[str]) -> whole.Mapped:
    """A piece of a whole."""
    begin = time.monotonic()
    figures, folder = mapped(piece.top, piece.literals, closure(piece.top), boxes)
    area = netlist.Area(**{field: figures[field] for field in ("lut", "lutram", "ff", "bram", "uram", "dsp")})
    seconds = time.monotonic() - begin
    if seconds > 1:
        print(f"synth: {piece.name} ({piece.text or 'defaults'}): {area.lut} LUT, {seconds:.0f} s", flush=True)
    if "timing" in figures:
        return whole.Mapped(area, {}, None, netlist.Timing(**figures["timing"]))
    inside = {name: whole.Piece(top, tuple(map(tuple, values))) for name, (top, values) in figures["boxes"].items()}
    return whole.Mapped(area, inside, read_netlist(folder), None)


def print_paths(text: str, number: int, jobs: int) -> None:
    """The longest paths of what has the text in its name: whole tops with all that is in them, or blocks."""

    def netlist_of(piece: whole.Piece, boxes: Sequence[str]) -> dict:
        return read_netlist(mapped(piece.top, piece.literals, closure(piece.top), boxes)[1])

    for entry in whole.wholes():
        if text in entry.name:
            design = whole.Design(entry, {}, map_piece, jobs)
            module = paths.flat(design.top, partial(netlist_of, boxes=entry.boxes), design.children)
            print(f"{entry.name}\n{paths.report(module, number)}")
    for block in blocks():
        if text in block.name:
            folder = mapped(block.top, block.parameters, closure(block.top))[1]
            print(f"{block.name}\n{paths.report(paths.flat_block(read_netlist(folder)), number)}")


def ecp5_clock(block: Block, files: list[Path], ports: dict) -> dict:
    """The clock on an ECP5."""
    names = [str(path.relative_to(ROOT)) for path in files]

    def work(folder: Path) -> dict:
        mhz, option = ecp5.clock_mhz(block.top, dict(block.parameters), ports, names, folder)
        return {"mhz": mhz, "option": option}

    key = digest([*files, Path(ecp5.__file__)], pins(), repr(sorted(block.parameters.items())))
    return kept(CACHE / "synth" / f"{block.top}-ecp5-{key}", work)


def measure(block: Block) -> Result | None:
    """All figures of a block; None when a tool failed."""
    begin = time.monotonic()
    try:
        files = closure(block.top)
        figures, _ = mapped(block.top, block.parameters, files)
        ports, timing = figures.pop("ports"), figures.pop("timing")
        figures |= {"depth": timing["depth"], "depth_ports": timing["depth_ports"]}
        result = Result(**figures, **(ecp5_clock(block, files, ports) if block.ecp5 else {}))
    except (RuntimeError, ValueError) as problem:
        print(f"synth: {block.name} ({block.parameter_text}): FAILED\n{problem}", flush=True)
        return None
    seconds = time.monotonic() - begin
    if seconds > 1:
        clock = f", {result.mhz:.0f} MHz" if result.mhz else ""
        figures = f"{result.lut} LUT, depth {result.depth}{clock}"
        print(f"synth: {block.name} ({block.parameter_text}): {figures}, {seconds:.0f} s", flush=True)
    return result


def row(block: Block, result: Result) -> str:
    """One line of the table."""
    option = f" ({result.option})" if result.option else ""
    clock = f"{result.mhz:.0f} MHz{option}" if result.mhz else ""
    memory = f"{result.bram:g} | {result.uram} | {result.dsp}"
    return (
        f"| {block.name} | {block.parameter_text} | {result.lut:,} | {result.lutram:,} | {result.ff:,} | {memory} |"
        f" {result.depth} | {result.depth_ports} | {clock} |\n"
    )


def blocks_table(wanted: Sequence[Block], jobs: int) -> str | None:
    """A line for each block; None when a tool failed."""
    with ThreadPoolExecutor(jobs) as pool:
        results = list(pool.map(measure, wanted))
    return None if None in results else BLOCKS_HEAD + "".join(map(row, wanted, results))


def whole_table(entry: whole.Whole, jobs: int) -> str | None:
    """The tables about one whole top, whose sum is kept for others; None when a tool failed."""
    try:
        many = whole.Design(entry, {}, map_piece, jobs)
        text = synth_tables.budget_table(many)
        if entry.compare:
            text += synth_tables.compare_table(many, whole.Design(entry, entry.compare, map_piece, jobs))
    except (RuntimeError, ValueError) as problem:
        print(f"synth: {entry.name}: FAILED\n{problem}", flush=True)
        return None
    synth_tables.keep_sum(many)
    return text


def beside_table() -> str | None:
    """Published blocks beside ours; None when a tool failed."""
    try:
        return beside.table(lambda top, values, files: mapped(top, values, files)[0], closure)
    except (RuntimeError, ValueError) as problem:
        print(f"synth: beside: FAILED\n{problem}", flush=True)
        return None


def sections(names: Sequence[str], jobs: int) -> dict[str, Callable[[], str | None]]:
    """What the document has, in its order; with names, what these concern."""

    def wanted(name: str) -> bool:
        return not names or any(text in name for text in names)

    engines = {
        "xdp_": "Blocks of the XDP engine",
        "l7_": "Blocks of the l7 engine",
        "warp": "Blocks of the Warp Engine",
    }

    def some(prefix: str | None) -> Sequence[Block]:
        """An engine's blocks, or those of none."""
        by_engine = [(next((e for e in engines if block.name.startswith(e)), None), block) for block in blocks()]
        return [block for engine, block in by_engine if wanted(block.name) and engine == prefix]

    result: dict[str, Callable[[], str | None]] = {}
    for name, group in [("Blocks", some(None)), *((name, some(prefix)) for prefix, name in engines.items())]:
        if group:
            result[name] = lambda group=group: blocks_table(group, jobs)
    for entry in whole.wholes():
        if wanted(entry.name):
            result[entry.name[0].upper() + entry.name[1:]] = lambda entry=entry: whole_table(entry, jobs)
    if wanted(beside.NAME):
        result[beside.NAME] = beside_table
    return result


def written(document: str, made: Mapping[str, str], order: Sequence[str]) -> str:
    """The document with sections made anew; others stay as they are, with their day."""
    kept = dict(re.findall(r"^## ([^\n]*)\n(.*?)(?=^## |\Z)", document, re.M | re.S))
    for name, text in made.items():
        kept[name] = f"\nMeasured on {date.today()}.\n{text}\n"
    text = INTRODUCTION.format(wire=WIRE_PS, device=ecp5.DEVICE_NAME, target=ecp5.TARGET_MHZ)
    return text + "".join(f"\n## {name}\n{kept[name].rstrip()}\n" for name in order if name in kept)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--section", action="append", default=[], metavar="TEXT")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--paths", type=int, metavar="N")
    given = parser.parse_args()
    if given.paths:
        for text in [*given.names, *given.section]:
            print_paths(text, given.paths, given.jobs)
        return
    every = sections(given.names, given.jobs)
    chosen = {name: make for name, make in every.items()
              if not given.section or any(text in name for text in given.section)}  # fmt: skip
    if not chosen:
        fail(f"nothing below synth/ matches {' '.join(given.names + given.section)}")
    made, failed = {}, []
    for name, make in chosen.items():
        text = make()
        if text is None:
            failed.append(name)
            continue
        made[name] = text
        if given.names:
            print(text)
        else:
            write_atomically(DOC, written(DOC.read_text(), {name: text}, list(every)))
            print(f"synth: wrote {name} into {DOC.relative_to(ROOT)}", flush=True)
    print(f"synth: {len(made)} sections passed, {len(failed)} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
