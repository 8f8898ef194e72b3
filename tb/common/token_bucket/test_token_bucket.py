"""sluice_token_bucket.

Claims
- every decision equals the rule in whole numbers, one a cycle, 4 cycles later, also back to back
  for one bucket, across the wrap of now_i and after pauses of any length
- a bucket left alone for a quarter of a round of now_i, or for one and a half, is as full as it should be
- a configuration write holds from the next cycle on and fills the bucket; read-back gives what was written
- cost 0 is no limit; a reset fills all buckets and keeps the configuration
- over a long time a flow gets its rate: neither less, nor more than one burst and one packet above
"""

import itertools

import cocotb
import pytest
from common.lookup_bench import parameter, start, step
from sluice_tb import bench_rng, run_bench

LATENCY = 4
IDLE = {
    "valid_i": 0, "index_i": 0, "now_i": 0, "length_i": 0, "cfg_en_i": 0, "cfg_we_i": 0, "cfg_index_i": 0,
    "cfg_cost_i": 0, "cfg_burst_i": 0,
}  # fmt: skip


class Policer:
    """The rule with unbounded time; runs one cycle and checks the answer due in it.

    Time goes on from one cycle to the next by at most a quarter of a round, as the contract asks.
    """

    def __init__(self, dut):
        self.dut = dut
        self.frac = parameter(dut, "FracWidth")
        self.time_width = parameter(dut, "TimeWidth")
        self.round = 2**self.time_width
        self.quarter = self.round // 4
        self.buckets = parameter(dut, "Buckets")
        self.cost = [0] * self.buckets
        self.burst = [0] * self.buckets
        self.tat = [0] * self.buckets
        self.due = [None] * LATENCY
        self.read_back = None
        self.answers = {True: 0, False: 0}

    def decide(self, index, now, length) -> bool:
        now <<= self.frac
        tat = max(self.tat[index], now)
        conform = self.cost[index] == 0 or tat - now <= self.burst[index] << self.frac
        if conform:
            self.tat[index] = tat + length * self.cost[index]
        return conform

    async def cycle(self, now, packet=None, write=None, read=None):
        """packet: (index, length); write: (index, cost, burst); read: index."""
        self.due.append(None if packet is None else self.decide(packet[0], now, packet[1]))
        index, length = packet or (0, 0)
        cfg_index, cost, burst = write or (read or 0, 0, 0)
        await step(
            self.dut, valid_i=packet is not None, index_i=index, now_i=now % self.round, length_i=length,
            cfg_en_i=write is not None or read is not None, cfg_we_i=write is not None, cfg_index_i=cfg_index,
            cfg_cost_i=cost, cfg_burst_i=burst,
        )  # fmt: skip
        expected = self.due.pop(0)
        assert self.dut.valid_o.value == (expected is not None)
        if expected is not None:
            assert bool(self.dut.conform_o.value) == expected
            self.answers[expected] += 1
        if self.read_back is not None:
            assert (int(self.dut.cfg_cost_o.value), int(self.dut.cfg_burst_o.value)) == self.read_back
        self.read_back = None if read is None else (self.cost[read], self.burst[read])
        if write:
            self.cost[cfg_index], self.burst[cfg_index], self.tat[cfg_index] = cost, burst, 0

    async def pass_time(self, now, then, packets):
        """Cycles from now up to, without, then; one a tick where that ends, else a few. Calls packets() in each."""
        step = 1 if self.time_width <= 10 else self.quarter - 1
        for tick in range(now, then, step):
            await self.cycle(tick, packets())

    async def drain(self, now):
        for _ in range(LATENCY):
            await self.cycle(now)


def widths(dut) -> tuple[int, int, int]:
    cost = parameter(dut, "CostIntWidth") + parameter(dut, "FracWidth")
    return cost, parameter(dut, "BurstWidth"), parameter(dut, "LengthWidth")


@cocotb.test()
async def decisions_equal_the_rule_across_the_wrap_of_time(dut):
    rng = bench_rng("token_bucket")
    policer = Policer(dut)
    cost_width, burst_width, length_width = widths(dut)
    begin = now = 8 * policer.round - 3000
    await start(dut, **IDLE | {"now_i": now % policer.round})
    for index in range(policer.buckets):
        await policer.cycle(now, write=(index, 0, 0))
    for cycle in range(12000):
        now += rng.choice((0, 0, 1, 1, 1, 7)) if rng.random() < 0.95 else rng.randrange(min(400, policer.quarter + 1))
        few = rng.choice((1, 2, policer.buckets))
        packet = write = read = None
        if rng.random() < 0.9:
            packet = rng.randrange(min(few, policer.buckets)), rng.getrandbits(rng.randint(1, length_width))
        if cycle % 300 < 4:
            # Tight and loose limits; neighbouring cycles, to hit decisions under way.
            write = (
                rng.randrange(min(few, policer.buckets)),
                rng.choice((0, rng.getrandbits(rng.randint(1, cost_width)))),
                rng.getrandbits(rng.randint(1, burst_width)),
            )
        elif rng.random() < 0.1:
            read = rng.randrange(policer.buckets)
        await policer.cycle(now, packet, write, read)
        if rng.random() < 0.003:
            for _ in range(rng.randint(1, 7)):
                now += rng.choice((policer.quarter, rng.randrange(policer.quarter)))
                await policer.cycle(now)
    await policer.drain(now)
    assert now > begin + 3 * policer.round
    assert min(policer.answers.values()) > 200
    dut._log.info("conforming and not: %s; rounds of time: %d", policer.answers, (now - begin) // policer.round)


@cocotb.test()
async def a_bucket_left_alone_for_rounds_of_time_is_exact(dut):
    rng = bench_rng("token_bucket_pauses")
    policer = Policer(dut)
    cost_width, burst_width, length_width = widths(dut)
    now, last = 0, policer.buckets - 1
    longest, dearest = 2**length_width - 1, 2**cost_width - 1
    burst = min(2**burst_width - 1, 8 * longest * dearest >> policer.frac)
    await start(dut, **IDLE)
    for index in range(policer.buckets):
        await policer.cycle(now, write=(index, dearest, burst))

    def others():
        return (rng.randrange(1, policer.buckets), rng.getrandbits(length_width)) if last else None

    # Emptied, or charged with little or nothing, so that the TAT is oldest.
    kinds = [longest] * 40, [1, 0], [0]
    for quarters, more, lengths in itertools.product((1, 2, 3, 4, 5, 6, 9), (-1, 0, 1), kinds):
        # From anywhere in a quarter.
        then = now + rng.randrange(policer.quarter)
        await policer.pass_time(now, then, others)
        for length in lengths:
            await policer.cycle(then, packet=(0, length))
        now = then + quarters * policer.quarter + more
        await policer.pass_time(then + 1, now, others)
        for length in lengths:
            await policer.cycle(now, packet=(0, length))
    await policer.drain(now)
    assert min(policer.answers.values()) > 100


@cocotb.test()
async def a_write_holds_from_the_next_cycle_and_fills_the_bucket(dut):
    await start(dut, **IDLE)
    policer = Policer(dut)
    last = policer.buckets - 1
    tick = 1 << policer.frac
    await policer.cycle(60, write=(last, tick, 0))
    for distance in range(8):
        # The bucket is empty after one packet; a write at any distance fills it for those that follow.
        for cycle in range(12):
            write = (last, tick + cycle, 0) if cycle == distance else None
            await policer.cycle(60, packet=(last, 3), write=write)
    await policer.drain(60)
    # The first decision, and one after each of the 8 writes.
    assert policer.answers == {True: 9, False: 87}


@cocotb.test()
async def cost_zero_never_refuses_and_reset_fills_all(dut):
    await start(dut, **IDLE)
    policer = Policer(dut)
    tick = 1 << policer.frac
    for index in range(policer.buckets):
        await policer.cycle(0, write=(index, tick if index else 0, 0))
    for _ in range(20):
        await policer.cycle(5, packet=(0, 15))
        await policer.cycle(5, packet=(policer.buckets - 1, 15))
    await policer.drain(5)
    dut.rst_ni.value = 0
    await step(dut, **IDLE)
    dut.rst_ni.value = 1
    policer.tat, policer.due = [0] * policer.buckets, [None] * LATENCY
    for index in range(policer.buckets):
        await policer.cycle(5, packet=(index, 1), read=index)
        await policer.cycle(5, packet=(index, 1))
    await policer.drain(5)


@cocotb.test()
async def a_flow_gets_its_rate(dut):
    rng = bench_rng("token_bucket_rate")
    await start(dut, **IDLE)
    policer = Policer(dut)
    cost, burst = 3 << policer.frac >> 1, 40
    await policer.cycle(0, write=(0, cost, burst))
    passed, now = 0, 0
    for _ in range(4000):
        now += 1
        length = rng.randint(1, 15)
        before = policer.tat[0]
        await policer.cycle(now, packet=(0, length))
        passed += length if policer.tat[0] != before else 0
    await policer.drain(now)
    # 1.5 ticks a byte.
    assert now * 2 / 3 - 15 <= passed <= (now + burst) * 2 / 3 + 15


FULL = {"Buckets": 32}
SMALL = {"Buckets": 5, "TimeWidth": 14, "LengthWidth": 5, "CostIntWidth": 3, "FracWidth": 4, "BurstWidth": 8}
ONE = {"Buckets": 1, "TimeWidth": 16, "LengthWidth": 4, "CostIntWidth": 2, "FracWidth": 2, "BurstWidth": 7}
# 512 ticks a round, the fewest for its burst: time passes tick by tick.
SHORT = {"Buckets": 3, "TimeWidth": 9, "LengthWidth": 4, "CostIntWidth": 2, "FracWidth": 3, "BurstWidth": 6}


@pytest.mark.parametrize("parameters", [FULL, SMALL, ONE, SHORT], ids=["full", "small", "one", "short"])
def test_token_bucket(parameters):
    run_bench("sluice_token_bucket", parameters=parameters)
