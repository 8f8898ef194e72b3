"""The clock that a block reaches on a Lattice ECP5, placed and routed by nextpnr.

A block has more ports than a package has pins, so it is wrapped: one serial pin shifts into
a register for every input, every output is captured and shifted out. All paths of the
block then start and end at registers next to it, and no pin is on a path.
"""

import re
from pathlib import Path

from project import READ_SLANG, ROOT, captured

DEVICE = ["--85k", "--package", "CABGA756", "--speed", "6"]
DEVICE_NAME = "LFE5U-85F, speed grade 6"
CLOCK, RESET = "clk_i", "rst_ni"
# What nextpnr aims at; it goes on improving only while a path misses this.
TARGET_MHZ = 250


def wrapper(top: str, parameters: dict, ports: dict) -> str:
    """Verilog around `top`: registers on every port, one pin in, one pin out."""
    inputs = {name: port["width"] for name, port in ports.items()
              if port["direction"] == "input" and name not in (CLOCK, RESET)}  # fmt: skip
    outputs = {name: port["width"] for name, port in ports.items() if port["direction"] == "output"}
    total_in, total_out = max(sum(inputs.values()), 1), max(sum(outputs.values()), 1)
    values = ", ".join(f".{name}({value})" for name, value in parameters.items())
    pins, low = [f".{name}({name})" for name in (CLOCK, RESET) if name in ports], 0
    for name, width in inputs.items():
        pins.append(f".{name}(in_q[{low + width - 1}:{low}])")
        low += width
    low = 0
    for name, width in outputs.items():
        pins.append(f".{name}(out[{low + width - 1}:{low}])")
        low += width
    instance = f"{top} #({values}) u_dut" if values else f"{top} u_dut"
    return f"""module harness (input {CLOCK}, input rst_pin, input serial_i, input capture_i, output serial_o);
  reg {RESET}, capture_q;
  reg [{total_in - 1}:0] in_q;
  reg [{total_out - 1}:0] out_q;
  wire [{total_out - 1}:0] out;
  always @(posedge {CLOCK}) begin
    {RESET} <= rst_pin;
    capture_q <= capture_i;
    in_q <= {{in_q, serial_i}};
    out_q <= capture_q ? out : {{out_q, 1'b0}};
  end
  assign serial_o = out_q[{total_out - 1}];
  {instance} ({", ".join(pins)});
endmodule
"""


def _synthesize(read: str, folder: Path) -> str:
    """Maps the harness; returns the option that it took. ABC9 traps on carry cells of some netlists."""
    log, output = "", folder / "ecp5.json"
    for option in ("", "-dff", "-noccu2"):
        output.unlink(missing_ok=True)
        script = f"{read}; synth_ecp5 {option} -top harness -json {output.relative_to(ROOT)}"
        code, log = captured(["nice", "yosys", "-q", "-p", script])
        if code == 0 and output.exists():
            return option
    raise RuntimeError(f"synth_ecp5: {log[-2000:]}")


def clock_mhz(top: str, parameters: dict, ports: dict, files: list[str], folder: Path) -> tuple[float, str]:
    """Synthesizes, places and routes; returns the clock after routing, and the mapper's option."""
    harness = folder / "harness.sv"
    harness.write_text(wrapper(top, parameters, ports))
    where = folder.relative_to(ROOT)
    read = f"{READ_SLANG} --top harness {' '.join(files)} {where}/harness.sv"
    option = _synthesize(read, folder)
    place = ["nice", "nextpnr-ecp5", *DEVICE, "--json", f"{where}/ecp5.json", "--freq", str(TARGET_MHZ)]
    code, text = captured([*place, "--timing-allow-fail", "--seed", "1"])
    (folder / "nextpnr.log").write_text(text)
    clocks = re.findall(r"Max frequency for clock '[^']*': ([\d.]+) MHz", text)
    if code != 0 or not clocks:
        raise RuntimeError(f"nextpnr-ecp5 (exit {code}): {text[-2000:]}")
    # The first figure is before routing, the last one after.
    return float(clocks[-1]), option
