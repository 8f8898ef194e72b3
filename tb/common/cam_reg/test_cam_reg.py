"""sluice_cam_reg.

Claims
- a lookup is answered one cycle later, one lookup a cycle, equal to a loop over the entries
- the lowest index wins; without a match index_o is zero; reset makes all entries invalid
- a write holds for the lookups of later cycles, not for that of its own
"""

import cocotb
import pytest
from common.lookup_bench import parameter, start, step
from sluice_tb import bench_rng, run_bench

IDLE = {"wr_en_i": 0, "wr_index_i": 0, "wr_valid_i": 0, "wr_key_i": 0, "lookup_valid_i": 0, "lookup_key_i": 0}


@cocotb.test()
async def lookups_equal_a_loop_over_the_entries(dut):
    rng = bench_rng("cam_reg")
    entries, width = parameter(dut, "Entries"), parameter(dut, "KeyWidth")
    # Few keys, so that hits and double entries are frequent.
    keys = [rng.getrandbits(width) for _ in range(entries + 2)]
    table = [None] * entries
    await start(dut, **IDLE)
    expected, hits, multiple = None, 0, 0
    for cycle in range(4000):
        wr_en, index, valid = rng.random() < 0.3, rng.randrange(entries), rng.random() < 0.8
        key, asked, look = rng.choice(keys), rng.choice(keys), rng.random() < 0.8
        if rng.random() < 0.2:
            asked = key
        if cycle == 2000:
            table = [None] * entries
            await step(dut, **IDLE | {"rst_ni": 0})
            await step(dut, rst_ni=1)
            expected = None
        await step(
            dut, wr_en_i=wr_en, wr_index_i=index, wr_valid_i=valid, wr_key_i=key, lookup_valid_i=look,
            lookup_key_i=asked,
        )  # fmt: skip
        assert dut.lookup_valid_o.value == (expected is not None)
        if expected is not None:
            assert (int(dut.hit_o.value), int(dut.index_o.value)) == expected
        matches = [i for i, entry in enumerate(table) if entry == asked]
        expected = (int(bool(matches)), matches[0] if matches else 0) if look else None
        hits, multiple = hits + bool(matches), multiple + (len(matches) > 1)
        if wr_en:
            table[index] = key if valid else None
    assert hits > 100 and (multiple > 100 or entries == 1)


@pytest.mark.parametrize("entries, width", [(16, 48), (5, 3), (1, 8)])
def test_cam_reg(entries, width):
    run_bench("sluice_cam_reg", parameters={"Entries": entries, "KeyWidth": width})
