"""sluice_xdp_spent.

Claims
- an addition every cycle, also to one pair back to back or every other cycle, is never lost; both numbers wrap modulo
  2^Width
- a read gives both numbers of one instant in the next cycle: all additions of three cycles before and earlier
- pairs outlive a reset
"""

import cocotb
import pytest
from common.lookup_bench import parameter, start, step
from sluice_tb import bench_rng, run_bench

IDLE = {"valid_i": 0, "index_i": 0, "cycles_i": 0, "read_valid_i": 0, "read_index_i": 0}
# Cycles from an addition to the first read that has it.
LATENCY = 3


class Pairs:
    """The pairs as lists; runs one cycle and checks the read of the cycle before."""

    def __init__(self, dut):
        self.dut = dut
        self.modulus = 2 ** parameter(dut, "Width")
        self.entries = parameter(dut, "Entries")
        self.pairs = [(0, 0)] * self.entries
        self.under_way = [None] * LATENCY
        self.expected = None
        self.reads = self.wraps = 0

    async def cycle(self, add=None, read=None):
        """add: (index, cycles); read: index."""
        done = self.under_way.pop(0)
        if done is not None:
            count, cycles = self.pairs[done[0]]
            self.wraps += count + 1 == self.modulus
            self.pairs[done[0]] = ((count + 1) % self.modulus, (cycles + done[1]) % self.modulus)
        self.under_way.append(add)
        index, cycles = add or (0, 0)
        await step(
            self.dut, valid_i=add is not None, index_i=index, cycles_i=cycles, read_valid_i=read is not None,
            read_index_i=read or 0,
        )  # fmt: skip
        if self.expected is not None:
            assert (int(self.dut.count_o.value), int(self.dut.cycles_o.value)) == self.expected
            self.reads += 1
        self.expected = None if read is None else self.pairs[read]


@cocotb.test()
async def additions_at_every_distance_add_up_and_wrap(dut):
    rng = bench_rng("xdp_spent")
    await start(dut, **IDLE)
    pairs = Pairs(dut)
    most = 2 ** parameter(dut, "CycleBits") - 1
    for few in (1, 2, 3, pairs.entries):
        for _ in range(1500):
            add = (rng.randrange(few), rng.choice((0, 1, most, rng.randint(0, most))))
            await pairs.cycle(add if rng.random() < 0.8 else None, rng.randrange(few))
    for _ in range(LATENCY + 1):
        await pairs.cycle(None, 0)
    assert pairs.reads > 6000
    assert pairs.wraps > 0 or pairs.modulus > 2**12


@cocotb.test()
async def pairs_outlive_a_reset(dut):
    rng = bench_rng("xdp_spent_reset")
    await start(dut, **IDLE)
    pairs = Pairs(dut)
    # What earlier tests of this simulation left.
    for index in range(pairs.entries):
        await step(dut, valid_i=0, read_valid_i=1, read_index_i=index)
        await step(dut, read_valid_i=0)
        pairs.pairs[index] = (int(dut.count_o.value), int(dut.cycles_o.value))
    for _ in range(50):
        await pairs.cycle((rng.randrange(pairs.entries), 1))
    for _ in range(LATENCY + 1):
        await pairs.cycle()
    dut.rst_ni.value = 0
    for _ in range(4):
        await step(dut)
    dut.rst_ni.value = 1
    for index in range(pairs.entries):
        await pairs.cycle(None, index)
    await pairs.cycle()
    assert pairs.reads == pairs.entries


@pytest.mark.parametrize("entries, width, cycle_bits", [(64, 48, 32), (8, 8, 6)])
def test_xdp_spent(entries, width, cycle_bits):
    run_bench("sluice_xdp_spent", parameters={"Entries": entries, "Width": width, "CycleBits": cycle_bits})
