"""sluice_ram_lut.

Claims
- contents start at zero
- every read port gives in the same cycle what was written in earlier cycles
"""

import cocotb
import pytest
from common.lookup_bench import pack, parameter, start_clock, step, unpack
from sluice_tb import bench_rng, run_bench


@cocotb.test()
async def all_ports_read_what_was_written_in_earlier_cycles(dut):
    rng = bench_rng("ram_lut")
    width, depth, ports = parameter(dut, "Width"), parameter(dut, "Depth"), parameter(dut, "ReadPorts")
    addr_width = max(1, (depth - 1).bit_length())
    words = [0] * depth
    await start_clock(dut, we_i=0, waddr_i=0, wdata_i=0, raddr_i=0)
    for cycle in range(2000):
        we = cycle > depth and rng.random() < 0.5
        waddr, data = rng.randrange(depth), rng.getrandbits(width)
        raddr = [rng.choice((waddr, rng.randrange(depth))) for _ in range(ports)]
        await step(dut, we_i=we, waddr_i=waddr, wdata_i=data, raddr_i=pack(raddr, addr_width))
        assert unpack(int(dut.rdata_o.value), width, ports) == [words[addr] for addr in raddr]
        if we:
            words[waddr] = data


@pytest.mark.parametrize("width, depth, ports", [(8, 32, 1), (13, 5, 3), (1, 1, 2)])
def test_ram_lut(width, depth, ports):
    run_bench("sluice_ram_lut", parameters={"Width": width, "Depth": depth, "ReadPorts": ports})
