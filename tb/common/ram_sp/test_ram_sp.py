"""sluice_ram_sp.

Claims
- contents start at zero
- a read gives, one cycle later, what was last written; the data stays until the next read
- a write and an idle cycle leave the read data alone
"""

import cocotb
import pytest
from common.lookup_bench import parameter, start_clock, step
from sluice_tb import bench_rng, run_bench


@cocotb.test()
async def contents_start_at_zero(dut):
    await start_clock(dut, en_i=1, we_i=0, addr_i=0, wdata_i=0)
    for addr in range(1, parameter(dut, "Depth")):
        await step(dut, addr_i=addr)
        assert dut.rdata_o.value == 0
    await step(dut)
    assert dut.rdata_o.value == 0


@cocotb.test()
async def a_read_gives_what_was_last_written(dut):
    rng = bench_rng("ram_sp")
    width, depth = parameter(dut, "Width"), parameter(dut, "Depth")
    await start_clock(dut, en_i=0, we_i=0, addr_i=0, wdata_i=0)
    words = []
    for addr in range(depth):
        words.append(rng.getrandbits(width))
        await step(dut, en_i=1, we_i=1, addr_i=addr, wdata_i=words[addr])
    shown = None
    for _ in range(2000):
        en, we, addr = rng.random() < 0.8, rng.random() < 0.5, rng.randrange(depth)
        data = rng.getrandbits(width)
        await step(dut, en_i=en, we_i=we, addr_i=addr, wdata_i=data)
        assert shown is None or dut.rdata_o.value == shown
        if en and we:
            words[addr] = data
        elif en:
            shown = words[addr]


@pytest.mark.parametrize("width, depth", [(8, 16), (33, 5), (1, 1)])
def test_ram_sp(width, depth):
    run_bench("sluice_ram_sp", parameters={"Width": width, "Depth": depth})
