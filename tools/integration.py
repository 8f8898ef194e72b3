"""What others' tools read of the RTL, from the file lists and the tops: written, or with --check held to be current.

.venv/bin/python tools/integration.py [--check]

sluice.core, Bender.yml       the sources in order, for FuseSoC and Bender
integration/sluice_*_flat.v   the tops behind Verilog-2001 ports of plain vectors
docs/guide/rtl.md             its tables of ports
"""

import re
import sys
import tomllib
from collections.abc import Callable, Iterable
from pathlib import Path

from filelists import all_lists, listed_files
from ports import Port, constants, ports_of, targets
from project import ROOT, fail, rtl_files, write_atomically

LISTS = {name: ROOT / "rtl" / name / f"sluice_{name}.f" for name in ("nic", "rmt", "common")}
TOPS = {"nic": "sluice_nic_top", "rmt": "sluice_rmt_top"}
# Beside `Target`: the constant that is the value, and what it says.
PARAMETERS = {"nic": {"Engines": ("AllEngines", "set of engines, 2 rmt and beside it 1 XDP, 4 l7")}}
NOTICE = "Written by tools/integration.py from the file lists of rtl/; do not edit."


def version() -> str:
    """Of the workspace."""
    return tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]


def sources(name: str) -> list[str]:
    """Paths of a list, relative to the repository."""
    return [str(path.relative_to(ROOT)) for path in listed_files(LISTS[name])]


def _all_listed() -> set[str]:
    """Paths of all lists of rtl/."""
    return {str(path.relative_to(ROOT)) for file_list in all_lists() for path in listed_files(file_list)}


def check_lists() -> list[str]:
    """What is wrong with the lists: each file of rtl/ is in one, none comes twice in one, packages come first."""
    wrong = []
    for name in LISTS:
        files = sources(name)
        wrong += [f"{LISTS[name].relative_to(ROOT)}: {path} comes twice" for path in sorted(set(files)) if
                  files.count(path) > 1]  # fmt: skip
        if name in TOPS and f"rtl/{name}/{TOPS[name]}.sv" not in files:
            wrong.append(f"{LISTS[name].relative_to(ROOT)}: {TOPS[name]} is missing")
    everything = _all_listed()
    for path in sorted(str(path.relative_to(ROOT)) for path in rtl_files()):
        if path not in everything:
            wrong.append(f"{path} is in no file list of rtl/")
        if path.startswith("rtl/common/") and path not in sources("common"):
            wrong.append(f"{path} is not in {LISTS['common'].relative_to(ROOT)}")
    return wrong


def fusesoc_core() -> str:
    """One core, a target for each top and for the library."""
    text = f"CAPI=2:\n# {NOTICE}\nname: sluice:rtl:sluice:{version()}\n"
    text += "description: Multi-tenant SmartNIC data plane, and its match-action pipeline alone\n\nfilesets:\n"
    for name in LISTS:
        text += f"  {name}:\n    file_type: systemVerilogSource\n    files:\n"
        text += "".join(f"      - {path}\n" for path in sources(name))
    for name in TOPS:
        text += f"  {name}_flat:\n    file_type: verilogSource-2001\n    files:\n"
        text += f"      - integration/sluice_{name}_flat.v\n"
    text += "\ntargets:\n"
    for target, name in {"default": "nic", **{name: name for name in TOPS}}.items():
        parameters = ", ".join(["Target", *PARAMETERS.get(name, {})])
        text += f"  {target}:\n    filesets: [{name}]\n    toplevel: {TOPS[name]}\n    parameters: [{parameters}]\n"
    text += "  common:\n    filesets: [common]\n    toplevel: sluice_fifo\n"
    for name, top in TOPS.items():
        for what, filesets, toplevel in (("lint", name, top), ("lint_flat", f"{name}, {name}_flat", flat_name(name))):
            text += f"  {what}_{name}:\n    filesets: [{filesets}]\n    toplevel: {toplevel}\n"
            text += "    default_tool: verilator\n    tools:\n      verilator:\n        mode: lint-only\n"
            text += "        verilator_options: [-Wall]\n"
    text += "\nparameters:\n  Target:\n    datatype: int\n    default: 0\n    paramtype: vlogparam\n"
    text += "    description: 0 default (512 bit), 1 tiny (256 bit); of the NIC 2 and 3 the same with external memory\n"
    for parameter, (default, what) in PARAMETERS["nic"].items():
        value = constants()[default]
        text += f"  {parameter}:\n    datatype: int\n    default: {value}\n    paramtype: vlogparam\n"
        text += f"    description: {what}\n"
    return text


def bender() -> str:
    """All sources once, in an order in which each package comes before its use."""
    files = list(dict.fromkeys([*sources("nic"), *sources("rmt"), *sources("common"), *sorted(_all_listed())]))
    text = f"# {NOTICE}\npackage:\n  name: sluice\n\nsources:\n"
    return text + "".join(f"  - {path}\n" for path in files)


def flat_name(name: str) -> str:
    """The wrapper's module."""
    return f"sluice_{name}_flat"


def _chosen(values: Iterable[int]) -> str:
    """A value by TARGET, where targets differ."""
    even, odd, *others = values
    if even == odd:
        return str(even)
    # The second two targets are the first two with external memory.
    assert others == [even, odd]
    return f"(TARGET % 2 == 1) ? {odd} : {even}"


def flat_wrapper(name: str) -> str:
    """The top with Verilog-2001 ports: nothing but vectors, their widths in numbers."""
    ports, fixed, configurations = ports_of(TOPS[name]), constants(), targets(name)
    text = f"// {NOTICE}\n"
    text += f"// {TOPS[name]} for tools and designs that take no SystemVerilog ports. IEEE 1364-2001.\n"
    far = "; 2 and 3 are the same with external memory" if name == "nic" else ""
    text += f"// TARGET 0 is default (512 bit), 1 is tiny (256 bit){far}. The ports are those of docs/guide/rtl.md.\n"
    text += f"module {flat_name(name)} (\n"
    more = PARAMETERS.get(name, {})
    text += ",\n".join(f"    {port.name}" for port in ports) + "\n);\n\n    parameter TARGET = 0;\n"
    for parameter, (default, what) in more.items():
        text += f"    parameter {_upper(parameter)} = {fixed[default]};  // {what}\n"
    text += "\n"
    for local in configurations[0]:
        values = _chosen(configuration[local] for configuration in configurations)
        text += f"    localparam {_upper(local)} = {values};\n"
    used = [n for n in fixed if any(n in port.names for port in ports)]
    text += "".join(f"    localparam {_upper(n)} = {fixed[n]};\n" for n in used) + "\n"
    for port in ports:
        width = re.sub(r"[A-Za-z]\w*", lambda m: _upper(m[0]), port.width)
        text += f"    {port.direction} {f'[{width}-1:0] ' if width != '1' else ''}{port.name};\n"
    given = ",\n".join(f"        .{parameter}({_upper(parameter)})" for parameter in ["Target", *more])
    text += f"\n    {TOPS[name]} #(\n{given}\n    ) u_top (\n"
    text += ",\n".join(f"        .{port.name}({port.name})" for port in ports)
    return text + "\n    );\n\nendmodule\n"


def _upper(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).upper()


def port_table(name: str) -> str:
    """A line a port, with its width on both targets."""
    fixed, configurations = constants(), targets(name)
    text = "| port | direction | width | default | tiny |\n| --- | --- | --- | --- | --- |\n"
    for port in ports_of(TOPS[name]):
        bits = [port.bits({**fixed, **configuration}) for configuration in configurations]
        text += f"| `{port.name}` | {port.direction} | {_shown(port)} | {bits[0]} | {bits[1]} |\n"
    return text


def _shown(port: Port) -> str:
    return port.width.replace("*", " * ").replace("+", " + ")


def guide() -> str:
    """The page with its tables renewed."""
    page = ROOT / "docs" / "guide" / "rtl.md"
    text = page.read_text()
    for name in TOPS:
        begin, end = f"<!-- ports of {TOPS[name]} -->\n", "<!-- end of ports -->"
        if text.count(begin) != 1:
            fail(f"{page.relative_to(ROOT)}: expected {begin.strip()!r} once")
        before, rest = text.split(begin)
        text = before + begin + port_table(name) + rest[rest.index(end) :]
    return text


FILES: dict[str, Callable[[], str]] = {
    "sluice.core": fusesoc_core,
    "Bender.yml": bender,
    "integration/sluice_nic_flat.v": lambda: flat_wrapper("nic"),
    "integration/sluice_rmt_flat.v": lambda: flat_wrapper("rmt"),
    "docs/guide/rtl.md": guide,
}


def stale(root: Path = ROOT) -> list[str]:
    """Files that are not what they would be written as."""
    return [name for name, text in FILES.items() if not (root / name).exists() or (root / name).read_text() != text()]


def main() -> None:
    if sys.argv[1:] not in ([], ["--check"]):
        sys.exit("usage: integration.py [--check]")
    if wrong := check_lists():
        fail("\n".join(wrong))
    old = stale()
    if sys.argv[1:] and old:
        fail(f"stale: {', '.join(old)}; run .venv/bin/python tools/integration.py")
    for name in old:
        write_atomically(ROOT / name, FILES[name]())
        print(f"integration: wrote {name}")


if __name__ == "__main__":
    main()
