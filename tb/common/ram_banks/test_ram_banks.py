"""sluice_ram_banks.

Claims
- a read gives, one cycle later, what was last written to each lane, whichever bank it lies in; the data stays
  until the next read
- a read of the word that is written in the same cycle gives the old word
"""

import cocotb
import pytest
from common.lookup_bench import pack, parameter, start_clock, step, unpack
from sluice_tb import bench_rng, run_bench


@cocotb.test()
async def reads_give_the_last_word_of_their_bank(dut):
    rng = bench_rng("ram_banks")
    width, depth, lanes = parameter(dut, "Width"), parameter(dut, "Depth"), parameter(dut, "Lanes")
    lane_width = width // lanes
    words = [None] * depth
    await start_clock(dut, wr_en_i=0, wr_addr_i=0, wr_data_i=0, rd_en_i=0, rd_addr_i=0)
    shown, collisions, kept = None, 0, 0
    for cycle in range(3000):
        # Each word is written as a whole once.
        first = cycle < depth
        writes = (1 << lanes) - 1 if first else rng.getrandbits(lanes)
        data, wr_addr = rng.getrandbits(width), cycle if first else rng.randrange(depth)
        rd_en, rd_addr = rng.random() < 0.8, rng.randrange(depth)
        await step(dut, wr_en_i=writes, wr_addr_i=wr_addr, wr_data_i=data, rd_en_i=rd_en, rd_addr_i=rd_addr)
        if shown is not None:
            assert dut.rd_data_o.value == shown
            kept += not rd_en
        if rd_en:
            known = words[rd_addr] is not None
            collisions += known and bool(writes) and rd_addr == wr_addr
            shown = pack(words[rd_addr], lane_width) if known else None
        if words[wr_addr] is None:
            words[wr_addr] = [0] * lanes
        for lane, value in enumerate(unpack(data, lane_width, lanes)):
            if writes >> lane & 1:
                words[wr_addr][lane] = value
    assert collisions > 20 and kept > 300


@pytest.mark.parametrize("width, depth, lanes, bank_depth", [(36, 32, 4, 8), (8, 8, 1, 4), (16, 8, 2, 8)])
def test_ram_banks(width, depth, lanes, bank_depth):
    parameters = {"Width": width, "Depth": depth, "Lanes": lanes, "BankDepth": bank_depth}
    run_bench("sluice_ram_banks", parameters=parameters)
