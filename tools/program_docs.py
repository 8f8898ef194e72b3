"""The generated parts of docs/guide/xdp-programs.md: an overview, and the maps of each program of programs/xdp.

They are read from the sources, so that a layout is said once. Used by tools/programs.py.
"""

import re
import struct
from dataclasses import dataclass
from pathlib import Path

MAP = re.compile(r'((?:^//[^\n]*\n)*)^struct[^{;]*\{([^}]*)\}\s*((?:\w+ SEC\("\.maps"\),?\s*)+)', re.MULTILINE)
FIELD = re.compile(r"__(?:uint|type)\((\w+),\s*([^)]*(?:\([^)]*\))?)\)")
STRUCT = re.compile(r"^struct (\w+) \{\n(?:[^\n}]*\n)*?\};", re.MULTILINE)
ENUM = re.compile(r"^enum (\w+) \{\n((?:[^\n}]*\n)*?)\};", re.MULTILINE)
BEGIN, END = "<!-- {}: made by `make programs` -->", "<!-- end -->"


@dataclass(frozen=True)
class Map:
    """One declaration."""

    name: str
    kind: str
    key: str
    value: str
    entries: str
    about: str


def own_text(source: Path) -> str:
    """The source with the headers of its own folder in front."""
    headers = sorted(source.parent.glob("*.h"))
    return "\n".join(path.read_text() for path in [*headers, source])


def shared_text(source: Path) -> str:
    """The shared headers, where structures that a program uses may stand."""
    folder = source.parent.parent / "include"
    return "\n".join(path.read_text() for path in sorted(folder.glob("*.h")) if path.name != "fed.h")


def comment(lines: str) -> str:
    """A block of // lines as one paragraph."""
    return " ".join(line.strip().removeprefix("//").strip() for line in lines.strip().splitlines())


def maps(text: str) -> list[Map]:
    """The maps of a source, in order."""
    found = []
    for about, body, names in MAP.findall(text):
        field = {name: value.strip() for name, value in FIELD.findall(body)}
        kind = field.get("type", "").removeprefix("BPF_MAP_TYPE_").lower()
        value = field.get("value", "")
        if inner := re.search(r"__array\(values, (.*)\)", body):
            value = "a program" if "int" in inner[1] else "a map of the kind of `ring_0`"
        for name in re.findall(r"(\w+) SEC", names):
            entries = number(field.get("max_entries", "0"), text)
            found.append(Map(name, kind, field.get("key", "u32"), value, entries, comment(about)))
    return found


def number(expression: str, text: str) -> str:
    """A number of entries, with the constants of the source put in."""
    values = dict(re.findall(r"^#define (\w+) ([\w ()*+]+)$", text, re.MULTILINE))
    for _, body in ENUM.findall(text):
        names = re.findall(r"^    (\w+),?$", body, re.MULTILINE)
        values |= {name: str(value) for value, name in enumerate(names)}
    for _ in range(4):
        expression = re.sub(r"[A-Z_]\w*", lambda match: f"({values.get(match[0], match[0])})", expression)
    if not re.fullmatch(r"[\d\s()*+]+", expression):
        raise ValueError(f"max_entries: cannot read `{expression}`")
    return f"{eval(expression):,}"  # noqa: S307 (digits and operators only)


def layouts(text: str, shared: str, found: list[Map]) -> str:
    """The structures that keys and values have, and the enumerations that count them, as C."""
    known = {match[1]: match[0] for match in STRUCT.finditer(shared)}
    known |= {match[1]: match[0] for match in STRUCT.finditer(text)}
    wanted: list[str] = []

    def want(name: str) -> None:
        if name not in known or name in wanted:
            return
        for inner in re.findall(r"struct (\w+) \w+[;\[]", known[name]):
            want(inner)
        wanted.append(name)

    for entry in found:
        for kind in (entry.key, entry.value):
            want(kind.removeprefix("struct "))
    shown = "\n\n".join(known[name] for name in wanted)
    mentioned = f"{shown} {' '.join(entry.about for entry in found)}"
    defines = []
    for match in re.finditer(r"^#define (\w+) \d\w*$", text, re.MULTILINE):
        family = match[1].split("_")[0] + "_*"
        if re.search(rf"\b{match[1]}\b", mentioned) or family in mentioned:
            defines.append(match[0])
    enums = [match[0] for match in ENUM.finditer(text) if f"enum {match[1]}" in mentioned]
    return "\n\n".join(part for part in [shown, "\n".join(defines), *enums] if part)


def instructions(path: Path) -> int:
    """Slots in the executable sections of an object."""
    data = path.read_bytes()
    offset, entry_size, count = struct.unpack_from("<Q", data, 40)[0], *struct.unpack_from("<HH", data, 58)
    slots = 0
    for index in range(count):
        flags, size = struct.unpack_from("<Q16xQ", data, offset + index * entry_size + 8)
        slots += size // 8 if flags & 4 else 0
    return slots


def verdicts(text: str) -> str:
    """The verdicts that a source names, by number."""
    code = re.sub(r"//[^\n]*", "", text)
    code = re.sub(r"(bpf_redirect_map\([^;]*), XDP_\w+\)", r"\1)", code)
    names = ["aborted", "drop", "pass", "tx", "redirect"]
    found = [name for name in names if f"XDP_{name.upper()}" in code or (name == "redirect" and "bpf_redirect" in code)]
    if "bpf_redirect_map(" in code and "drop" not in found:
        found.insert(0, "drop")
    return ", ".join(found) + (", or what a map says" if re.search(r"return \w+->verdict", code) else "")


def cell(kind: str) -> str:
    """A type in a table."""
    return kind if kind.startswith("a ") else f"`{kind.replace('__', '')}`" if kind else ""


def overview(sources: list[Path]) -> str:
    """The table of all programs."""
    lines = ["| program | what it does | verdicts | slots |", "| --- | --- | --- | --- |"]
    for source in sources:
        text = own_text(source)
        head = re.match(r"((?://[^\n]*\n)+)", source.read_text())
        about = re.match(r".*?\.(?= |$)", comment("\n".join(head[1].splitlines()[1:])))[0].rstrip(".")
        slots = instructions(source.with_suffix(".o"))
        lines.append(f"| [{source.stem}](#{source.stem}) | {about} | {verdicts(text)} | {slots:,} |")
    return "\n".join(lines)


def section(source: Path) -> str:
    """The maps of one program and what lies in them."""
    text = own_text(source)
    found = maps(text)
    lines = ["| map | kind | key | value | entries | |", "| --- | --- | --- | --- | --- | --- |"]
    for entry in found:
        cells = [f"`{entry.name}`", entry.kind, cell(entry.key), cell(entry.value), entry.entries, entry.about]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, "", "```c", layouts(text, shared_text(source), found), "```"])


def updated(page: str, sources: list[Path]) -> str:
    """The page with its generated parts as the sources have them. A program without its place is an error."""
    for name, body in [("overview", overview(sources))] + [(source.stem, section(source)) for source in sources]:
        begin = BEGIN.format(name)
        if begin not in page:
            raise ValueError(f"docs/guide/xdp-programs.md has no `{begin}`")
        before, after = page.split(begin, 1)
        page = f"{before}{begin}\n\n{body}\n\n{END}{after.split(END, 1)[1]}"
    return page
