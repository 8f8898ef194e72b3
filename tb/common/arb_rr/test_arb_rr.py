"""sluice_arb_rr.

Claims
- the grant is the first requester behind the one that was last used, in cyclic order
- an unused grant stays with its requester for as long as it requests, whatever the others do
- a requester waits for at most Requests - 1 uses by others; when all request, each gets exactly its share
- a grant in every cycle with a request
"""

import cocotb
import pytest
from common.lookup_bench import parameter, start, step
from sluice_tb import bench_rng, run_bench


def granted(dut) -> int | None:
    """The granted requester; checks that the three outputs agree."""
    if not dut.valid_o.value:
        assert dut.grant_o.value == 0
        return None
    index = int(dut.index_o.value)
    assert dut.grant_o.value == 1 << index
    return index


@cocotb.test()
async def grants_follow_the_cyclic_order_and_unused_ones_stay(dut):
    rng = bench_rng("arb_rr_order")
    count = parameter(dut, "Requests")
    await start(dut, req_i=0, advance_i=0)
    behind, pending = 0, None
    for _ in range(4000):
        requests, use = rng.getrandbits(count) & rng.getrandbits(count), rng.random() < 0.6
        await step(dut, req_i=requests, advance_i=use)
        order = [(behind + i) % count for i in range(count)]
        if pending is not None and requests >> pending & 1:
            expected = pending
        else:
            expected = next((i for i in order if requests >> i & 1), None)
        assert granted(dut) == expected
        pending = None
        if expected is not None:
            behind = (expected + use) % count
            pending = None if use else expected


@cocotb.test()
async def nobody_waits_longer_than_one_use_of_each_other(dut):
    rng = bench_rng("arb_rr_starvation")
    count = parameter(dut, "Requests")
    await start(dut, req_i=0, advance_i=0)
    requests, waited, longest = 0, [0] * count, 0
    for _ in range(4000):
        # Requests stay until they are granted and used.
        requests |= rng.getrandbits(count)
        use = rng.random() < 0.7
        await step(dut, req_i=requests, advance_i=use)
        index = granted(dut)
        if index is not None and use:
            for i in range(count):
                waited[i] = waited[i] + 1 if i != index and requests >> i & 1 else 0
            longest = max(longest, *waited)
            requests &= ~(1 << index)
        assert longest <= count - 1
    assert longest == count - 1 or count == 1


@cocotb.test()
async def all_requesters_share_evenly_without_a_lost_cycle(dut):
    count = parameter(dut, "Requests")
    await start(dut, req_i=0, advance_i=0)
    used = []
    for _ in range(10 * count):
        await step(dut, req_i=2**count - 1, advance_i=1)
        used.append(granted(dut))
    assert used == list(range(count)) * 10


@pytest.mark.parametrize("requests", [1, 2, 5, 8])
def test_arb_rr(requests):
    run_bench("sluice_arb_rr", parameters={"Requests": requests})
