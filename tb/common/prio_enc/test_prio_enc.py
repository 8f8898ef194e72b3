"""sluice_prio_enc.

Claims
- valid_o, index_o and onehot_o name the lowest set bit (all inputs up to 10 bits, random ones above)
- without a set bit all outputs are zero
"""

import cocotb
import pytest
from cocotb.triggers import Timer
from common.lookup_bench import parameter
from sluice_tb import bench_rng, run_bench


@cocotb.test()
async def outputs_name_the_lowest_set_bit(dut):
    rng = bench_rng("prio_enc")
    width = parameter(dut, "Width")
    if width <= 10:
        vectors = list(range(2**width))
    else:
        vectors = [0, 2**width - 1, *(1 << i for i in range(width))]
        # Sparse ones too: the lowest set bit of a random vector is nearly always in the first few.
        vectors += [rng.getrandbits(width) << rng.randrange(width) & 2**width - 1 for _ in range(2000)]
    for vector in vectors:
        dut.req_i.value = vector
        await Timer(1, "ns")
        lowest = next((i for i in range(width) if vector >> i & 1), None)
        assert dut.valid_o.value == (lowest is not None)
        assert dut.index_o.value == (lowest or 0)
        assert dut.onehot_o.value == (0 if lowest is None else 1 << lowest)


@pytest.mark.parametrize("width", [1, 2, 5, 8, 64, 100])
def test_prio_enc(width):
    run_bench("sluice_prio_enc", parameters={"Width": width})
