"""What the benches of the RAMs, arbiters and look-up blocks share: one cycle at a time."""

from collections.abc import Iterable

import cocotb
import sluice_tb
from cocotb.clock import Clock
from cocotb.handle import Immediate
from cocotb.triggers import RisingEdge, Timer


def parameter(dut, name: str) -> int:
    """A parameter's value in the module that runs."""
    return int(getattr(dut, name).value)


async def start(dut, **inputs: int) -> None:
    """As sluice_tb.start. The random initial clock must not make an edge at time 0: it would write to a RAM."""
    dut.clk_i.value = Immediate(0)
    await sluice_tb.start(dut, **inputs)


async def start_clock(dut, **inputs: int) -> None:
    """For modules without a reset: sets the named inputs and starts the clock."""
    dut.clk_i.value = Immediate(0)
    for name, value in inputs.items():
        getattr(dut, name).value = value
    await Timer(1, "ns")
    cocotb.start_soon(Clock(dut.clk_i, 10, "ns").start())
    await RisingEdge(dut.clk_i)


async def step(dut, **inputs: int) -> None:
    """Sets the inputs of this cycle and runs it; outputs read afterwards are still those of this cycle."""
    for name, value in inputs.items():
        getattr(dut, name).value = value
    await RisingEdge(dut.clk_i)


def pack(words: Iterable[int], width: int) -> int:
    """A packed array of words, element 0 lowest."""
    return sum(word << (i * width) for i, word in enumerate(words))


def unpack(value: int, width: int, count: int) -> list[int]:
    """The words of a packed array, element 0 first."""
    return [(value >> (i * width)) & ((1 << width) - 1) for i in range(count)]
