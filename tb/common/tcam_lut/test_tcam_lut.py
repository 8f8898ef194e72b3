"""sluice_tcam_lut.

Claims
- a lookup is answered two cycles later, one lookup a cycle, also during writes, equal to a loop
  over (value, mask); the lowest index wins; without a match index_o is zero
- a write takes 34 cycles; its entry matches nothing from the second cycle on until it is ready,
  and as a whole from then on; every other entry matches all the time
- an invalidation takes one cycle; a withdrawn write leaves its entry invalid and harms no other
- reset makes all entries invalid
"""

import cocotb
import pytest
from common.lookup_bench import parameter, start, step
from sluice_tb import bench_rng, run_bench

WRITE_CYCLES = 34
IDLE = {
    "wr_valid_i": 0, "wr_index_i": 0, "wr_entry_valid_i": 0, "wr_value_i": 0, "wr_mask_i": 0,
    "lookup_valid_i": 0, "lookup_key_i": 0,
}  # fmt: skip


class Bench:
    """Looks up in every cycle and checks the answers; writes are played beside."""

    def __init__(self, dut, rng):
        self.dut, self.rng = dut, rng
        self.width = parameter(dut, "KeyWidth")
        self.table = [None] * parameter(dut, "Entries")
        self.pipe = [None, None]
        self.pool = [rng.getrandbits(self.width) for _ in range(4)]
        self.hits = self.multiple = 0

    def random_entry(self):
        """Value and mask near the pool; few wildcards, or many."""
        density = self.rng.choice((0.02, 0.2, 0.9))
        mask = sum((self.rng.random() >= density) << i for i in range(self.width))
        return self.rng.choice(self.pool) ^ self.rng.getrandbits(self.width) & ~mask, mask

    def random_key(self):
        flips = self.rng.choice((0, 0, 1, 2))
        return self.rng.choice(self.pool) ^ sum({1 << self.rng.randrange(self.width) for _ in range(flips)})

    async def cycle(self, **inputs):
        key, look = self.random_key(), self.rng.random() < 0.9
        await step(self.dut, lookup_valid_i=look, lookup_key_i=key, **inputs)
        expected = self.pipe.pop(0)
        assert self.dut.lookup_valid_o.value == (expected is not None)
        if expected is not None:
            assert (int(self.dut.hit_o.value), int(self.dut.index_o.value)) == expected
        matches = [i for i, entry in enumerate(self.table) if entry and not (key ^ entry[0]) & entry[1]]
        self.hits, self.multiple = self.hits + bool(matches), self.multiple + (len(matches) > 1)
        self.pipe.append((int(bool(matches)), matches[0] if matches else 0) if look else None)

    async def write(self, index, entry, stop_after=None):
        value, mask = entry or (self.rng.getrandbits(self.width), self.rng.getrandbits(self.width))
        inputs = {"wr_index_i": index, "wr_entry_valid_i": entry is not None, "wr_value_i": value, "wr_mask_i": mask}
        taken = 0
        while taken != stop_after:
            await self.cycle(wr_valid_i=1, **inputs)
            taken += 1
            self.table[index] = None
            if self.dut.wr_ready_o.value:
                self.table[index] = entry
                assert taken == (WRITE_CYCLES if entry else 1)
                break
        self.dut.wr_valid_i.value = 0


@cocotb.test()
async def lookups_equal_a_loop_also_during_writes(dut):
    rng = bench_rng("tcam_lut")
    await start(dut, **IDLE)
    bench = Bench(dut, rng)
    for index in range(len(bench.table)):
        await bench.write(index, bench.random_entry())
    for _ in range(60):
        await bench.write(rng.randrange(len(bench.table)), bench.random_entry() if rng.random() < 0.8 else None)
        for _ in range(rng.choice((0, 0, 5))):
            await bench.cycle()
    assert bench.hits > 10 and (bench.multiple > 10 or len(bench.table) == 1)


@cocotb.test()
async def reset_and_withdrawn_writes_leave_entries_invalid(dut):
    rng = bench_rng("tcam_lut_withdrawn")
    await start(dut, **IDLE)
    bench = Bench(dut, rng)
    for index in range(len(bench.table)):
        await bench.write(index, bench.random_entry())
    # A withdrawn write breaks the handshake on purpose; the RTL's own check of it is off here.
    for stop in (1, 2, 3, 20, 32, 33):
        index = rng.randrange(len(bench.table))
        await bench.cycle(rst_ni=1)
        await bench.write(index, bench.random_entry(), stop_after=stop)
        dut.rst_ni.value = 0
        await step(dut, **IDLE)
        bench.table, bench.pipe = [None] * len(bench.table), [None, None]
        await bench.cycle(rst_ni=1)
        for other in range(len(bench.table)):
            if other != index:
                await bench.write(other, bench.random_entry())
        for _ in range(20):
            await bench.cycle()


@pytest.mark.parametrize("entries, width, group", [(20, 12, 14), (5, 7, 2), (1, 5, 14), (64, 205, 14)])
def test_tcam_lut(entries, width, group):
    run_bench("sluice_tcam_lut", parameters={"Entries": entries, "KeyWidth": width, "GroupEntries": group})
