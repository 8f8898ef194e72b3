"""Clock and reset under the project's names: clk_i, and rst_ni synchronous and active low."""

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, RisingEdge, Timer

PERIOD_NS = 10


async def cycles(dut, count: int) -> None:
    """Waits for `count` rising edges."""
    await ClockCycles(dut.clk_i, count)


async def _watchdog(dut, limit: int) -> None:
    await ClockCycles(dut.clk_i, limit)
    raise AssertionError(f"bench still runs after {limit} cycles: something waits for what never comes")


async def start(dut, *, reset_cycles: int = 4, limit: int = 500_000, **inputs: int) -> None:
    """Starts the clock, sets the named inputs, holds reset, and arms a watchdog.

    Every input that must not be left at random has to be named (`start(dut, valid_i=0)`):
    the benches run with random initial values on purpose. Returns just after the first edge
    with reset released; the test fails when it is not over after `limit` cycles.
    """
    for name, value in inputs.items():
        getattr(dut, name).value = value
    dut.rst_ni.value = 0
    # Assertions look at the values before an edge: reset has to stand before the first one.
    dut.clk_i.value = 0
    await Timer(PERIOD_NS, "ns")
    cocotb.start_soon(Clock(dut.clk_i, PERIOD_NS, "ns").start())
    cocotb.start_soon(_watchdog(dut, limit))
    await ClockCycles(dut.clk_i, reset_cycles)
    dut.rst_ni.value = 1
    await RisingEdge(dut.clk_i)
