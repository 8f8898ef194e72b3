"""sluice_ram_dp.

Claims
- contents start at zero
- a read on either port gives, one cycle later, what was last written; the data stays until the next access of that port
- A and B get the old word when A writes it in the same cycle, the new one from the next cycle on
"""

import cocotb
import pytest
from common.lookup_bench import parameter, start_clock, step
from sluice_tb import bench_rng, run_bench

IDLE = {"a_en_i": 0, "a_we_i": 0, "a_addr_i": 0, "a_wdata_i": 0, "b_en_i": 0, "b_addr_i": 0}


@cocotb.test()
async def contents_start_at_zero(dut):
    await start_clock(dut, **IDLE)
    for addr in range(parameter(dut, "Depth")):
        await step(dut, a_en_i=1, a_addr_i=addr, b_en_i=1, b_addr_i=addr)
        await step(dut)
        assert dut.a_rdata_o.value == 0 and dut.b_rdata_o.value == 0


@cocotb.test()
async def b_reads_the_old_word_in_the_cycle_of_the_write(dut):
    await start_clock(dut, **IDLE)
    for addr in range(parameter(dut, "Depth")):
        ones = 2 ** parameter(dut, "Width") - 1
        for old, new in ((0, ones), (ones, 0)):
            await step(dut, a_en_i=1, a_we_i=1, a_addr_i=addr, a_wdata_i=old, b_en_i=0, b_addr_i=addr)
            await step(dut, a_wdata_i=new, b_en_i=1)
            await step(dut, a_we_i=0)
            assert dut.b_rdata_o.value == old
            await step(dut)
            assert dut.b_rdata_o.value == new and dut.a_rdata_o.value == new


@cocotb.test()
async def reads_give_what_was_last_written(dut):
    rng = bench_rng("ram_dp")
    width, depth = parameter(dut, "Width"), parameter(dut, "Depth")
    await start_clock(dut, **IDLE)
    words = []
    for addr in range(depth):
        words.append(rng.getrandbits(width))
        await step(dut, a_en_i=1, a_we_i=1, a_addr_i=addr, a_wdata_i=words[addr])
    shown_a, shown_b, collisions = None, None, 0
    for _ in range(3000):
        a_en, a_we, b_en = rng.random() < 0.8, rng.random() < 0.5, rng.random() < 0.8
        a_addr, b_addr, data = rng.randrange(depth), rng.randrange(depth), rng.getrandbits(width)
        await step(dut, a_en_i=a_en, a_we_i=a_we, a_addr_i=a_addr, a_wdata_i=data, b_en_i=b_en, b_addr_i=b_addr)
        assert shown_a is None or dut.a_rdata_o.value == shown_a
        assert shown_b is None or dut.b_rdata_o.value == shown_b
        if b_en:
            shown_b = words[b_addr]
        if a_en:
            shown_a = words[a_addr]
        if a_en and a_we:
            collisions += b_en and a_addr == b_addr
            words[a_addr] = data
    assert collisions > 20


@pytest.mark.parametrize("width, depth", [(8, 16), (72, 5), (1, 1)])
def test_ram_dp(width, depth):
    run_bench("sluice_ram_dp", parameters={"Width": width, "Depth": depth})
