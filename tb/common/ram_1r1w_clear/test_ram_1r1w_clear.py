"""sluice_ram_1r1w_clear.

Claims
- contents start at zero
- a read gives, one cycle later, what was last written, or zero with rd_clear_i; clearing changes no word
- a read of the word that is written in the same cycle gives the old word
"""

import cocotb
import pytest
from common.lookup_bench import parameter, start_clock, step
from sluice_tb import bench_rng, run_bench


@cocotb.test()
async def reads_give_the_last_word_the_old_one_on_a_collision_or_zero(dut):
    rng = bench_rng("ram_1r1w_clear")
    width, depth = parameter(dut, "Width"), parameter(dut, "Depth")
    words = [0] * depth
    await start_clock(dut, wr_en_i=0, wr_addr_i=0, wr_data_i=0, rd_clear_i=1, rd_addr_i=0)
    shown, collisions = 0, 0
    for cycle in range(3000):
        # The first reads find the initial zeros.
        write = cycle > depth and rng.random() < 0.5
        data, wr_addr = rng.getrandbits(width), rng.randrange(depth)
        clear, rd_addr = rng.random() < 0.3, rng.randrange(depth)
        await step(dut, wr_en_i=write, wr_addr_i=wr_addr, wr_data_i=data, rd_clear_i=clear, rd_addr_i=rd_addr)
        assert dut.rd_data_o.value == shown
        collisions += write and rd_addr == wr_addr
        shown = 0 if clear else words[rd_addr]
        if write:
            words[wr_addr] = data
    assert collisions > 20


@pytest.mark.parametrize("width, depth", [(8, 16), (36, 5)])
def test_ram_1r1w_clear(width, depth):
    run_bench("sluice_ram_1r1w_clear", parameters={"Width": width, "Depth": depth})
