"""sluice_mux: the word that the index names, for every index; even and odd powers of two."""

import cocotb
import pytest
from cocotb.triggers import Timer
from common.lookup_bench import parameter
from sluice_tb import bench_rng, run_bench


@cocotb.test()
async def the_word_that_the_index_names_comes_out(dut):
    rng = bench_rng("mux")
    inputs, width = parameter(dut, "Inputs"), parameter(dut, "Width")
    for _ in range(20):
        words = [rng.getrandbits(width) for _ in range(inputs)]
        dut.data_i.value = sum(word << i * width for i, word in enumerate(words))
        for index, word in enumerate(words):
            dut.index_i.value = index
            await Timer(1, "ns")
            assert dut.data_o.value == word


@pytest.mark.parametrize(("inputs", "width"), [(2, 1), (4, 3), (8, 8), (32, 5), (64, 9)])
def test_mux(inputs, width):
    run_bench("sluice_mux", parameters={"Inputs": inputs, "Width": width})
