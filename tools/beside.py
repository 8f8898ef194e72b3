"""Blocks beside published ones, of synth/beside.toml, for `make synth`."""

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from project import CACHE, ROOT, digest, fail, find_module, write_atomically

NAME = "The XDP core beside the published one"
TABLE = ROOT / "synth" / "beside.toml"

HEAD = """
Published: M. Spaziani Brunella's dissertation, chapter 3, tables 3.1 to 3.8, by Vivado on a Virtex-7. Ours: Yosys as
above. So ratios between lines are what may be compared, and figures beside each other only roughly. Table 3.4 has no
area; its bundles are in [bundles](hxdp-bundles.md). Not the same things are beside each other: the published core has
one packet, ours has contexts; the published lane has a memory unit of its own, ours share one a core, whatever the
number of lanes. *Levels*: from register to register.

| what | table | LUT, published | FF | DSP | LUT | LUTRAM | FF | BRAM | DSP | levels |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
"""


@dataclass(frozen=True)
class Row:
    """A block of ours, and what was published of one that is like it."""

    what: str
    top: str = ""
    parameters: Mapping[str, int] = field(default_factory=dict)
    # Changes of a source: module, text, what it becomes.
    replace: tuple[tuple[str, str, str], ...] = ()
    # In place of a block: the difference between two rows, by `what`.
    difference: tuple[str, ...] = ()
    # Or the sum of some.
    sum: tuple[str, ...] = ()
    table: str = ""
    published: Mapping[str, int] = field(default_factory=dict)


def rows() -> list[Row]:
    """The table, checked."""
    result = []
    for entry in tomllib.loads(TABLE.read_text())["row"]:
        if unknown := entry.keys() - Row.__dataclass_fields__.keys():
            fail(f"{TABLE.name}: {entry.get('what')!r} has {sorted(unknown)}")
        entry["replace"] = tuple(tuple(change) for change in entry.get("replace", []))
        row = Row(**entry)
        if [bool(row.top), bool(row.difference), bool(row.sum)].count(True) != 1:
            fail(f"{TABLE.name}: {row.what!r}: either a top, a difference or a sum")
        result.append(row)
    return result


def changed(files: list[Path], changes: tuple[tuple[str, str, str], ...]) -> list[Path]:
    """The files with some of them in a changed copy."""
    for module, text, becomes in changes:
        source = find_module(module)
        place = next((at for at, path in enumerate(files) if path.name == source.name), None)
        if place is None:
            fail(f"{TABLE.name}: {module} is no source of that block")
        before = files[place].read_text()
        if before.count(text) != 1:
            fail(f"{TABLE.name}: {module} has {text!r} {before.count(text)} times, expected 1")
        after = before.replace(text, becomes)
        copy = CACHE / "synth" / f"changed-{digest([], after)}" / source.name
        copy.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(copy, after)
        files = [*files[:place], copy, *files[place + 1 :]]
    return files


def table(mapped: Callable[[str, Mapping, list[Path]], dict], closure: Callable[[str], list[Path]]) -> str:
    """All rows; `mapped` measures a block."""
    names = ("lut", "lutram", "ff", "bram", "dsp")
    text, known = HEAD, {}
    for row in rows():
        if row.top:
            figures = mapped(row.top, row.parameters, changed(closure(row.top), row.replace))
            known[row.what] = {name: figures[name] for name in names}
            depth = str(figures["timing"]["depth"])
        elif row.sum:
            known[row.what], depth = {name: sum(known[what][name] for what in row.sum) for name in names}, ""
        else:
            more, less = (known[what] for what in row.difference)
            known[row.what], depth = {name: more[name] - less[name] for name in names}, ""
        ours = " | ".join(f"{number:,}".removesuffix(".0") for number in known[row.what].values())
        theirs = " | ".join(f"{row.published[n]:,}" if n in row.published else "" for n in ("lut", "ff", "dsp"))
        text += f"| {row.what} | {row.table} | {theirs} | {ours} | {depth} |\n"
    return text
