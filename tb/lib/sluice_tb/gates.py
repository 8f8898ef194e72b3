"""A block as gates: the netlist that Yosys makes of it, as Verilog, in place of the block in its bench.

The body of synthesis becomes AND, OR, XOR, multiplexers and flip-flops. Memories stay memories: how a technology builds
them is not what is in doubt. A netlist is kept as long as its sources, the script and the pinned tools stay the same.
"""

import os
from collections.abc import Mapping
from pathlib import Path

from project import CACHE, READ_SLANG, ROOT, captured, digest, pins, write_atomically

from synth import closure

from .build import record

LIMITED = ["nice", "timeout", "1800"]
# Nothing clears the tables of a block alone, as in any bench.
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


def netlist(top: str, parameters: Mapping[str, object] | None = None, around: str = "") -> str:
    """Path of the netlist of module `top`, relative to the repository; made unless it is there.

    around      the file of another module, which instantiates `top` by parameters that a command line can say; the
                netlist has its name
    """
    files = [*closure(top), *([ROOT / around] if around else [])]
    names = [str(path.relative_to(ROOT)) for path in files]
    # What the bench reads is the netlist: what that was made of has to be said.
    record(names)
    module = Path(around).stem if around else top
    values = "".join(f"-G {name}={value} " for name, value in (parameters or {}).items())
    read = f"{READ_SLANG} -D SLUICE_ZERO_RAMS --top {module} {values}{' '.join(names)}"
    folder = CACHE / "gates" / f"{module}-{digest(files, pins(), read, SCRIPT)}"
    output = folder / f"{module}.v"
    if not output.exists():
        # Workers of pytest may make the same one at a time.
        draft, script = (folder / f"{os.getpid()}{suffix}" for suffix in (".v", ".ys"))
        write_atomically(script, SCRIPT.format(read=read, output=draft.relative_to(ROOT)))
        code, text = captured([*LIMITED, "yosys", "-q", "-s", str(script.relative_to(ROOT))])
        if code != 0 or not draft.exists():
            raise RuntimeError(f"yosys on {module} (exit {code}), {script}:\n{text[-2000:]}")
        draft.rename(output)
        script.unlink()
    return str(output.relative_to(ROOT))
