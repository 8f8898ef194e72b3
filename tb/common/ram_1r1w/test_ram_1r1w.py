"""sluice_ram_1r1w.

Claims
- contents start at zero
- a read gives, one cycle later, what was last written to each lane; the data stays until the next read
- a read of the word that is written in the same cycle gives the old word
"""

import cocotb
import pytest
from common.lookup_bench import pack, parameter, start_clock, step, unpack
from sluice_tb import bench_rng, run_bench


@cocotb.test()
async def reads_give_the_last_word_and_the_old_one_on_a_collision(dut):
    rng = bench_rng("ram_1r1w")
    width, depth, lanes = parameter(dut, "Width"), parameter(dut, "Depth"), parameter(dut, "Lanes")
    lane_width = width // lanes
    words = [[0] * lanes for _ in range(depth)]
    await start_clock(dut, wr_en_i=0, wr_addr_i=0, wr_data_i=0, rd_en_i=1, rd_addr_i=0)
    shown, collisions = 0, 0
    for cycle in range(3000):
        # The first reads find the initial zeros.
        writes = rng.getrandbits(lanes) if cycle > depth else 0
        data, wr_addr = rng.getrandbits(width), rng.randrange(depth)
        rd_en, rd_addr = rng.random() < 0.8, rng.randrange(depth)
        await step(dut, wr_en_i=writes, wr_addr_i=wr_addr, wr_data_i=data, rd_en_i=rd_en, rd_addr_i=rd_addr)
        assert dut.rd_data_o.value == shown
        if rd_en:
            collisions += bool(writes) and rd_addr == wr_addr
            shown = pack(words[rd_addr], lane_width)
        for lane, value in enumerate(unpack(data, lane_width, lanes)):
            if writes >> lane & 1:
                words[wr_addr][lane] = value
    assert collisions > 20


@pytest.mark.parametrize("width, depth, lanes", [(8, 16, 1), (36, 5, 4), (1, 1, 1)])
def test_ram_1r1w(width, depth, lanes):
    run_bench("sluice_ram_1r1w", parameters={"Width": width, "Depth": depth, "Lanes": lanes})
