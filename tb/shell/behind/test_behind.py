"""sluice_shell_behind.

Every test compares all outputs with plain counters in every cycle.

Claims
- a module's generation is in use from the cycle after a packet of it enters, through the cycle after its last one
  leaves, on either way
- packets enter and leave on both ways in the same cycle, also all of one module and generation, and the last two at
  once
- the counts of the module asked for a cycle ago follow two cycles behind
- MaxPackets packets of one module fit into its count; numbers wrap
- a reset forgets all packets
"""

import cocotb
import pytest
from cocotb.triggers import FallingEdge, RisingEdge
from sluice_tb import bench_rng, run_bench, start

INPUTS = [
    "enter_valid_i",
    "enter_module_i",
    "enter_generation_i",
    "leave_valid_i",
    "leave_module_i",
    "leave_generation_i",
    "look_module_i",
]


class Bench:
    """Packets by module and generation."""

    def __init__(self, dut, rng):
        self.dut, self.rng = dut, rng
        self.modules, self.most = int(dut.Modules.value), int(dut.MaxPackets.value)
        self.bits = max(1, (self.modules - 1).bit_length())
        self.forget()

    def forget(self):
        self.here = []
        # By cycle: what had entered and left before it.
        self.counts = [[[0, 0] for _ in range(self.modules)] for _ in range(2)]
        self.shown = None

    async def begin(self):
        await start(self.dut, **dict.fromkeys(INPUTS, 0))
        return self

    async def cycle(self, enter=None, leaves=(None, None), look=0):
        """`enter` and each way's of `leaves` is a (module, generation)."""
        dut, rng = self.dut, self.rng
        noise = [(rng.randrange(self.modules), rng.getrandbits(1)) for _ in range(3)]
        dut.enter_valid_i.value = enter is not None
        dut.enter_module_i.value, dut.enter_generation_i.value = enter or noise[2]
        ways = [leave or noise[w] for w, leave in enumerate(leaves)]
        dut.leave_valid_i.value = sum((leave is not None) << w for w, leave in enumerate(leaves))
        dut.leave_module_i.value = sum(module << (w * self.bits) for w, (module, _) in enumerate(ways))
        dut.leave_generation_i.value = sum(generation << w for w, (_, generation) in enumerate(ways))
        dut.look_module_i.value = look
        await FallingEdge(dut.clk_i)
        one, now = self.counts
        # What came in the cycle before is there, what left then still is.
        some = [one[look][g] != 0 or now[look][g] != 0 for g in range(2)]
        assert int(dut.some_o.value) == some[0] | some[1] << 1, (look, self.counts)
        if self.shown is not None:
            module, counts = self.shown
            assert [int(dut.count_0_o.value), int(dut.count_1_o.value)] == counts[module]
        self.shown = (look, one)
        after = [list(pair) for pair in now]
        if enter is not None:
            self.here.append(enter)
            after[enter[0]][enter[1]] += 1
        for leave in leaves:
            if leave is not None:
                self.here.remove(leave)
                after[leave[0]][leave[1]] -= 1
        self.counts = [now, after]
        await RisingEdge(dut.clk_i)


@cocotb.test()
async def random_packets_are_counted(dut):
    rng = bench_rng("behind")
    bench = await Bench(dut, rng).begin()
    both = 0
    for _ in range(200):
        few = [(rng.randrange(bench.modules), rng.getrandbits(1)) for _ in range(2)]
        enters, leaves = rng.choice((0, 0.3, 0.95)), rng.choice((0.1, 0.5, 0.95))
        for _ in range(60):
            # What leaves was there before.
            pool = list(bench.here)
            rng.shuffle(pool)
            gone = [pool.pop() if pool and rng.random() < leaves else None for _ in range(2)]
            both += gone[0] is not None and gone[0] == gone[1]
            enter = rng.choice(few) if len(bench.here) < bench.most and rng.random() < enters else None
            await bench.cycle(enter, gone, rng.choice(few)[0])
    assert both > 50


@cocotb.test()
async def the_most_packets_of_one_module_fit_and_the_last_two_leave_at_once(dut):
    bench = await Bench(dut, bench_rng("most")).begin()
    pair = (bench.modules - 1, 1)
    for _ in range(3):
        for _ in range(bench.most):
            await bench.cycle(enter=pair, look=pair[0])
        for _ in range(3):
            await bench.cycle(look=pair[0])
        while len(bench.here) >= 2:
            await bench.cycle(leaves=(pair, pair), look=pair[0])
        if bench.here:
            await bench.cycle(leaves=(None, pair), look=pair[0])
        for _ in range(4):
            await bench.cycle(look=pair[0])
        # One that enters as the last leaves keeps the generation in use.
        await bench.cycle(enter=pair, look=pair[0])
        for way in range(2):
            leaves = [None, None]
            leaves[way] = pair
            await bench.cycle(enter=pair, leaves=tuple(leaves), look=pair[0])
        await bench.cycle(leaves=(pair, None), look=pair[0])


@cocotb.test()
async def a_reset_forgets_all(dut):
    bench = await Bench(dut, bench_rng("reset")).begin()
    for module in range(bench.modules):
        await bench.cycle(enter=(module, 0))
    dut.rst_ni.value = 0
    await RisingEdge(dut.clk_i)
    dut.enter_valid_i.value = 0
    dut.leave_valid_i.value = 0
    await RisingEdge(dut.clk_i)
    await RisingEdge(dut.clk_i)
    dut.rst_ni.value = 1
    bench.forget()
    for module in range(bench.modules):
        await bench.cycle(look=module)
    for module in range(bench.modules):
        await bench.cycle(enter=(module, 0), look=module)
        await bench.cycle(leaves=((module, 0), None), look=module)


@pytest.mark.parametrize(("modules", "most"), [(1, 2), (5, 7), (64, 100)])
def test_behind(modules, most):
    run_bench("sluice_shell_behind", parameters={"Modules": modules, "MaxPackets": most})
