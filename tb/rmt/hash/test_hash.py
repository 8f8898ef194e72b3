"""sluice_rmt_hash.

Claims
- equals the bit-serial CRC-32C of the key as 25 bytes: for single bits, edges and random keys, one a cycle
- without `valid_i` the sum of the pieces stays, while the conditions count in the cycle in which they come
"""

import cocotb
import pytest
from common.lookup_bench import start_clock, step
from rmt.match.reference import KEY_BITS, hash_of
from sluice_tb import bench_rng, run_bench
from sluice_tb.gates import netlist

PACKAGES = ["rtl/gen/sluice_pkg.sv", "rtl/gen/sluice_rmt_rows_pkg.sv"]
PIECES = KEY_BITS - 2
ONES = (1 << KEY_BITS) - 1


async def compare(dut, keys, rng=None):
    """The pieces of one key beside the conditions of the one before; with `rng` some cycles bring no key."""
    held, compared = None, 0
    for key in keys:
        valid = rng is None or rng.random() < 0.6
        conditions = held >> PIECES if held is not None else 0
        if rng is not None:
            conditions = rng.getrandbits(2)
        await step(dut, valid_i=valid, pieces_i=key & (1 << PIECES) - 1, conditions_i=conditions)
        if held is not None:
            expected = hash_of(held & (1 << PIECES) - 1 | conditions << PIECES)
            assert int(dut.hash_o.value) == expected, f"{held:#x} with conditions {conditions:02b}"
            compared += 1
        held = key if valid else held
    return compared


@cocotb.test()
async def each_bit_adds_what_the_definition_says(dut):
    await start_clock(dut, valid_i=0, pieces_i=0, conditions_i=0)
    keys = [0, *(1 << i for i in range(KEY_BITS)), ONES, *(ONES ^ 1 << i for i in range(KEY_BITS)), 0, 0]
    assert await compare(dut, keys) == len(keys) - 1


@cocotb.test()
async def random_keys_equal_the_definition(dut):
    rng = bench_rng("hash")
    await start_clock(dut, valid_i=0, pieces_i=0, conditions_i=0)
    assert await compare(dut, [rng.getrandbits(KEY_BITS) for _ in range(1000)]) == 999


@cocotb.test()
async def without_a_key_the_sum_stays(dut):
    rng = bench_rng("held")
    await start_clock(dut, valid_i=0, pieces_i=0, conditions_i=0)
    assert await compare(dut, [rng.getrandbits(KEY_BITS) for _ in range(1000)], rng) > 900


def test_hash():
    run_bench("sluice_rmt_hash", packages=PACKAGES)


@pytest.mark.long
def test_hash_as_synthesized():
    run_bench("sluice_rmt_hash", packages=PACKAGES, defines={"SYNTHESIS": 1})


def test_hash_as_gates():
    """The netlist that Yosys makes of the body that synthesis gets."""
    run_bench("sluice_rmt_hash", sources=[netlist("sluice_rmt_hash")])
