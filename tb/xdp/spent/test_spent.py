"""sluice_xdp_spent.

Claims
- an addition every cycle, also to one entry back to back or every other cycle, is never lost; all numbers wrap modulo
  2^Width
- a read gives all numbers of one instant in the next cycle: all additions of three cycles before and earlier
- entries outlive a reset
"""

import cocotb
import pytest
from common.lookup_bench import parameter, start, step
from sluice_tb import bench_rng, run_bench

IDLE = {"valid_i": 0, "index_i": 0, "cycles_i": 0, "bundle_i": 0, "read_valid_i": 0, "read_index_i": 0}
# Cycles from an addition to the first read that has it.
LATENCY = 3


def numbers(dut):
    return tuple(int(port.value) for port in (dut.count_o, dut.cycles_o, dut.bundles_o))


class Entries:
    """The entries as lists; runs one cycle and checks the read of the cycle before."""

    def __init__(self, dut):
        self.dut = dut
        self.modulus = 2 ** parameter(dut, "Width")
        self.entries = parameter(dut, "Entries")
        self.numbers = [(0, 0, 0)] * self.entries
        self.under_way = [None] * LATENCY
        self.expected = None
        self.reads = self.wraps = 0

    async def cycle(self, add=None, read=None):
        """add: (index, cycles, bundle); read: index."""
        done = self.under_way.pop(0)
        if done is not None:
            count, cycles, bundles = self.numbers[done[0]]
            self.wraps += count + 1 == self.modulus
            sums = (count + 1, cycles + done[1], bundles + done[2])
            self.numbers[done[0]] = tuple(number % self.modulus for number in sums)
        self.under_way.append(add)
        index, cycles, bundle = add or (0, 0, 0)
        await step(
            self.dut, valid_i=add is not None, index_i=index, cycles_i=cycles, bundle_i=bundle,
            read_valid_i=read is not None, read_index_i=read or 0,
        )  # fmt: skip
        if self.expected is not None:
            assert numbers(self.dut) == self.expected
            self.reads += 1
        self.expected = None if read is None else self.numbers[read]


@cocotb.test()
async def additions_at_every_distance_add_up_and_wrap(dut):
    rng = bench_rng("xdp_spent")
    await start(dut, **IDLE)
    entries = Entries(dut)
    most = 2 ** parameter(dut, "CycleBits") - 1
    for few in (1, 2, 3, entries.entries):
        for _ in range(1500):
            add = (rng.randrange(few), rng.choice((0, 1, most, rng.randint(0, most))), rng.randrange(2))
            await entries.cycle(add if rng.random() < 0.8 else None, rng.randrange(few))
    for _ in range(LATENCY + 1):
        await entries.cycle(None, 0)
    assert entries.reads > 6000
    assert entries.wraps > 0 or entries.modulus > 2**12


@cocotb.test()
async def entries_outlive_a_reset(dut):
    rng = bench_rng("xdp_spent_reset")
    await start(dut, **IDLE)
    entries = Entries(dut)
    # What earlier tests of this simulation left.
    for index in range(entries.entries):
        await step(dut, valid_i=0, read_valid_i=1, read_index_i=index)
        await step(dut, read_valid_i=0)
        entries.numbers[index] = numbers(dut)
    for _ in range(50):
        await entries.cycle((rng.randrange(entries.entries), 1, 1))
    for _ in range(LATENCY + 1):
        await entries.cycle()
    dut.rst_ni.value = 0
    for _ in range(4):
        await step(dut)
    dut.rst_ni.value = 1
    for index in range(entries.entries):
        await entries.cycle(None, index)
    await entries.cycle()
    assert entries.reads == entries.entries


@pytest.mark.parametrize("entries, width, cycle_bits", [(64, 48, 32), (8, 8, 6)])
def test_xdp_spent(entries, width, cycle_bits):
    run_bench("sluice_xdp_spent", parameters={"Entries": entries, "Width": width, "CycleBits": cycle_bits})
