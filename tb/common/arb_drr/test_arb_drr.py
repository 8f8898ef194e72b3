"""sluice_arb_drr.

Claims
- grants and balances equal the rules in drr_reference.py, cycle by cycle: requests that come and
  go, decisions of many cycles, charged at any moment, several times or not at all
- costs of requesters that always request differ by at most Quantum + 2 * (M - 1), over any interval
- no cycle without a grant while some requester's balance allows one; at most (M - 1) / Quantum,
  rounded down, in a row otherwise; none for a sole requester
- debts stop at the register's end instead of wrapping to credit
"""

import cocotb
import pytest
from common.arb_drr.drr_reference import Drr
from common.lookup_bench import parameter, start, step
from sluice_tb import bench_rng, run_bench

IDLE = {"req_i": 0, "hold_i": 0, "charge_i": 0, "cost_i": 0}


def reference(dut) -> Drr:
    quantum, cost_width = parameter(dut, "Quantum"), parameter(dut, "CostWidth")
    return Drr(parameter(dut, "Requests"), quantum, -(2 ** max(quantum.bit_length(), cost_width)))


def check(dut, expected: int | None) -> None:
    assert dut.valid_o.value == (expected is not None)
    assert dut.grant_o.value == (0 if expected is None else 1 << expected)
    assert expected is None or dut.index_o.value == expected


@cocotb.test()
async def grants_equal_the_rules(dut):
    rng = bench_rng("arb_drr_rules")
    model = reference(dut)
    most = 2 ** parameter(dut, "CostWidth") - 1
    await start(dut, **IDLE)
    requests, left, idle = set(), 0, 0
    for _ in range(6000):
        for i in range(model.count):
            if rng.random() < 0.15:
                requests ^= {i}
        hold = left > 0
        granted = model.turn(requests, hold)
        # An unheld grant is a decision of `left` more cycles, or is left unused for now.
        left = left - 1 if hold else rng.choice((0, 0, 1, 4)) if granted is not None and rng.random() < 0.7 else 0
        charge, cost = rng.random() < 0.5, rng.choice((0, 1, most, rng.randint(0, most)))
        if charge:
            model.charge(cost)
        await step(dut, req_i=sum(1 << i for i in requests), hold_i=hold, charge_i=charge, cost_i=cost)
        check(dut, granted)
        idle += granted is None and bool(requests)
    assert idle or most <= model.quantum or model.count == 1


@cocotb.test()
async def shares_by_cost_differ_by_the_bound_at_most(dut):
    rng = bench_rng("arb_drr_bound")
    model = reference(dut)
    count, quantum, most = model.count, model.quantum, 2 ** parameter(dut, "CostWidth") - 1
    bound = quantum + 2 * (most - 1)
    everyone = set(range(count))
    await start(dut, **IDLE)
    served = [0] * count
    extremes = {(i, j): [0, 0] for i in range(count) for j in range(i)}
    in_a_row, longest = 0, 0
    for _ in range(6000):
        able = any(b + quantum > 0 for b in model.balance)
        granted = model.turn(everyone, False)
        cost = 0
        if granted is not None:
            # Large packets from some, small ones from others, and now and then the other way round.
            cost = most if rng.random() < (0.9 if granted % 2 else 0.1) else rng.randint(1, most)
            model.charge(cost)
            served[granted] += cost
        await step(dut, req_i=2**count - 1, charge_i=granted is not None, cost_i=cost)
        check(dut, granted)
        assert granted is not None or not able
        in_a_row = in_a_row + 1 if granted is None else 0
        longest = max(longest, in_a_row)
        for (i, j), extreme in extremes.items():
            difference = served[i] - served[j]
            extreme[:] = min(extreme[0], difference), max(extreme[1], difference)
            assert extreme[1] - extreme[0] <= bound
    assert longest <= (most - 1) // quantum
    assert count == 1 or min(served) > 10 * bound
    worst = max((high - low for low, high in extremes.values()), default=0)
    dut._log.info("largest difference %d of %d allowed, longest pause %d cycles", worst, bound, longest)


@cocotb.test()
async def a_sole_requester_never_waits(dut):
    most, count = 2 ** parameter(dut, "CostWidth") - 1, parameter(dut, "Requests")
    await start(dut, **IDLE)
    for _ in range(50):
        await step(dut, req_i=1 << (count - 1), charge_i=1, cost_i=most)
        check(dut, count - 1)


@cocotb.test()
async def a_debt_never_wraps_to_credit(dut):
    count = parameter(dut, "Requests")
    most = 2 ** parameter(dut, "CostWidth") - 1
    await start(dut, **IDLE)
    await step(dut, req_i=1)
    for _ in range(8):
        await step(dut, hold_i=1, charge_i=1, cost_i=most)
    await step(dut, req_i=2**count - 1, hold_i=1, charge_i=0)
    await step(dut, hold_i=0)
    check(dut, 1 if count > 1 else 0)


@pytest.mark.parametrize("requests, cost_width, quantum", [(4, 14, 1600), (3, 4, 20), (5, 4, 2), (2, 3, 7), (1, 4, 3)])
def test_arb_drr(requests, cost_width, quantum):
    run_bench("sluice_arb_drr", parameters={"Requests": requests, "CostWidth": cost_width, "Quantum": quantum})
