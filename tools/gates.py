"""A block as gates: the netlist that Yosys makes of it, as Verilog, for its bench. `netlist` is called by benches.

The body of synthesis becomes AND, OR, XOR, multiplexers and flip-flops; memories stay memories, for their cells are not
what is in doubt.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from project import CACHE, READ_SLANG, ROOT, captured, digest, pins, write_atomically

LIMITED = ["nice", "timeout", "1800"]
SCRIPT = """{read}
proc
flatten -noscopeinfo
opt -full
memory -nomap
opt -full
techmap
opt
abc -g AND,OR,XOR,MUX
opt_clean -purge
select -assert-none t:* t:$_* %d t:$mem_v2 %d
write_verilog -noattr {output}
"""


def netlist(top: str, sources: Sequence[str], parameters: Mapping[str, object]) -> str:
    """Path of the netlist of `top`, relative to the repository; made unless it is there for the same sources."""
    files = [ROOT / name for name in sources]
    values = " ".join(f"-G {name}={value}" for name, value in parameters.items())
    read = f"{READ_SLANG} --top {top} {values} {' '.join(sources)}"
    folder = CACHE / "gates" / f"{top}-{digest(files, pins(), read, SCRIPT)}"
    output = folder / f"{top}.v"
    if not output.exists():
        folder.mkdir(parents=True, exist_ok=True)
        draft = folder / "draft.v"
        script = folder / "gates.ys"
        write_atomically(script, SCRIPT.format(read=read, output=draft.relative_to(ROOT)))
        code, text = captured([*LIMITED, "yosys", "-q", "-s", str(script.relative_to(ROOT))])
        if code != 0 or not draft.exists():
            raise RuntimeError(f"yosys on {top} (exit {code}), {script}:\n{text[-2000:]}")
        draft.rename(output)
    return str(output.relative_to(ROOT))


def sources_of(folders: Sequence[str]) -> list[str]:
    """Modules of these folders below rtl/, relative to the repository."""
    paths = (path for folder in folders for path in sorted((ROOT / "rtl" / folder).glob("*.sv")))
    return [str(Path(path).relative_to(ROOT)) for path in paths if not path.stem.endswith("_pkg")]
