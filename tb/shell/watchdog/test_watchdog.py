"""sluice_shell_watchdog.

Claims
- wedged_o equals, cycle by cycle, the rule of the contract: high for one cycle after every limit_i-th cycle
  in a row with work waiting and no progress; progress, and work that no longer waits, begin a new count
- a limit of 1 fires in every such cycle; a limit of 0 never fires
- a limit lowered below the present count still fires; a reset begins a new count
"""

import cocotb
from nic.nic_bench import step
from sluice_tb import bench_rng, run_bench, start

IDLE = {"limit_i": 0, "waiting_i": 0, "progress_i": 0}


class Model:
    """What wedged_o is in the cycle after."""

    def __init__(self):
        self.count = 0

    def step(self, limit, waiting, progress):
        self.count = self.count + 1 if waiting and not progress else 0
        wedged = limit != 0 and self.count >= limit
        if wedged or limit == 0:
            self.count = 0
        return wedged


async def check(dut, model, expected, cycles, limit, draw):
    """Runs cycles; returns what wedged_o has to be in the next one, and how often it was high."""
    fired = 0
    for _ in range(cycles):
        waiting, progress = draw()
        await step(dut, limit_i=limit, waiting_i=waiting, progress_i=progress)
        assert int(dut.wedged_o.value) == expected
        fired += expected
        expected = model.step(limit, waiting, progress)
    return expected, fired


@cocotb.test()
async def it_fires_after_each_limit_of_cycles_in_a_row(dut):
    rng = bench_rng("watchdog")
    await start(dut, **IDLE)
    model, total = Model(), 0
    expected = False
    for _ in range(60):
        limit = rng.choice((1, 2, 3, 7, 40))
        waits, moves = rng.choice((0.9, 1.0)), rng.choice((0.0, 0.02, 0.2))
        # A new limit from a clean count: what a change in the middle does is another test.
        expected, _ = await check(dut, model, expected, 2, limit, lambda: (0, 0))
        draw = lambda waits=waits, moves=moves: (int(rng.random() < waits), int(rng.random() < moves))  # noqa: E731
        expected, fired = await check(dut, model, expected, 150, limit, draw)
        total += fired
    assert total > 200


@cocotb.test()
async def a_limit_of_zero_never_fires(dut):
    await start(dut, **IDLE)
    _, fired = await check(dut, Model(), False, 2000, 0, lambda: (1, 0))
    assert fired == 0


@cocotb.test()
async def progress_and_idleness_begin_a_new_count(dut):
    await start(dut, **IDLE)
    model = Model()
    for reprieve in ((1, 1), (0, 0), (0, 1)):
        expected, fired = await check(dut, model, False, 9, 10, lambda: (1, 0))
        assert not fired and not expected
        expected, fired = await check(dut, model, expected, 1, 10, lambda reprieve=reprieve: reprieve)
        expected, fired = await check(dut, model, expected, 10, 10, lambda: (1, 0))
        assert expected and not fired
        expected, fired = await check(dut, model, expected, 1, 10, lambda: (0, 0))
        assert fired == 1 and not expected


@cocotb.test()
async def a_lowered_limit_still_fires(dut):
    await start(dut, **IDLE)
    for _ in range(100):
        await step(dut, limit_i=1000, waiting_i=1)
        assert not int(dut.wedged_o.value)
    for _ in range(12):
        await step(dut, limit_i=10)
        if int(dut.wedged_o.value):
            return
    raise AssertionError("work waited 112 cycles under a limit of 10 and nothing fired")


@cocotb.test()
async def a_reset_begins_a_new_count(dut):
    await start(dut, **IDLE)
    for _ in range(9):
        await step(dut, limit_i=10, waiting_i=1)
    await step(dut, rst_ni=0)
    await step(dut, rst_ni=1)
    for _ in range(9):
        await step(dut)
        assert not int(dut.wedged_o.value)
    await step(dut)
    assert int(dut.wedged_o.value)


def test_watchdog():
    run_bench("sluice_shell_watchdog")
