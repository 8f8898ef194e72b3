"""sluice_nic_drr.

Claims
- modules with packets share by bytes in proportion to their quanta, whatever their packet lengths and
  however late the charges come: over any interval the error is 2 turns and 5 packets of each module at most
- a quantum of 1 with packets of 9,216 bytes still serves everyone, in equal shares; 0 counts as 1
- a debt outlives an empty queue, unless the module is alone; credit does not
- a module alone is forgiven at once what it owed when others were there: it waits 2 cycles, however small its quantum
- a module alone that has used up its balance has a whole quantum again, and keeps what is left of it when others come
- no module with packets waits longer than the rounds that repay its debt
- a choice always has a packet (queued_i), and comes 2 cycles after an idle destination's first packet
- one choice a cycle: a change of turn between modules without debt costs none, even where each turn has one
  packet, nor does a module that is alone ever wait for a quantum that covers its packets
"""

from collections import deque
from itertools import repeat

import cocotb
import pytest
from cocotb.triggers import FallingEdge, RisingEdge
from sluice_tb import bench_rng, run_bench, start

LONGEST = 9216
# A packet is charged up to four packets after its choice (docs/design/nic.md).
PACKETS_OF_ERROR = 5
LATENCY = 2


class Bench:
    """Modules with queues of packet lengths, a destination that takes, charges `lag` cycles after."""

    def __init__(self, dut, quanta, lag=lambda: 3):
        self.dut, self.quanta, self.lag = dut, dict(quanta), lag
        self.queues = {}  # module -> iterator of lengths, or deque of them
        self.charges = deque()
        self.served = []  # (cycle, module, bytes)
        self.now = 0
        self.waited = {}  # module -> cycles with packets since it was last served
        self.longest_wait = {}

    async def begin(self, limit=2_000_000):
        inputs = ["queued_i", "take_i", "charge_valid_i", "charge_module_i", "charge_bytes_i", "quantum_i"]
        await start(self.dut, limit=limit, **dict.fromkeys(inputs, 0))
        cocotb.start_soon(self._answer_quanta())
        await self._repay()
        return self

    async def _answer_quanta(self):
        index = self.dut.quantum_index_o
        while True:
            self.dut.quantum_i.value = self.quanta.get(int(index.value), 0)
            await index.value_change

    async def _repay(self):
        """Balances outlive a reset: a turn of the largest quantum repays what the test before owed, one more
        that is used up to the byte forgets what is left of it."""
        quanta = self.quanta
        for quantum in (65535, 14):
            self.quanta = dict.fromkeys(range(int(self.dut.Modules.value)), quantum)
            self.queues = {m: deque([14]) for m in self.quanta}
            while self.queued() or self.charges:
                await self.cycle()
        self.quanta, self.queues, self.now = quanta, {}, 0
        self.served.clear()
        self.waited.clear()
        self.longest_wait.clear()

    def queued(self):
        return [m for m, queue in self.queues.items() if not isinstance(queue, deque) or queue]

    async def cycle(self, take=True):
        """One cycle; returns the module chosen in it, or None."""
        dut, queued = self.dut, self.queued()
        dut.queued_i.value = sum(1 << m for m in queued)
        charge = self.charges and self.charges[0][0] <= self.now
        _, module, length = self.charges.popleft() if charge else (0, 0, 0)
        dut.charge_valid_i.value, dut.charge_module_i.value, dut.charge_bytes_i.value = bool(charge), module, length
        await FallingEdge(dut.clk_i)
        # The question may be the one of the cycle before, and the quantum another.
        dut.quantum_i.value = self.quanta.get(int(dut.quantum_index_o.value), 0)
        choice = int(dut.module_o.value) if int(dut.valid_o.value) else None
        assert choice is None or choice in queued, f"module {choice} has no packet (cycle {self.now})"
        dut.take_i.value = take and choice is not None
        for m in queued:
            self.waited[m] = self.waited.get(m, 0) + 1
            self.longest_wait[m] = max(self.longest_wait.get(m, 0), self.waited[m])
        if take and choice is not None:
            queue = self.queues[choice]
            size = queue.popleft() if isinstance(queue, deque) else next(queue)
            self.served.append((self.now, choice, size))
            # Charges come in the order taken, one a cycle.
            due = max(self.now + self.lag(), self.charges[-1][0] + 1 if self.charges else 0)
            self.charges.append((due, choice, size))
            self.waited[choice] = 0
        await RisingEdge(dut.clk_i)
        self.now += 1
        return choice

    async def run(self, count, spacing=1):
        """Serves `count` packets; one is taken every `spacing` cycles at most."""
        end, busy = len(self.served) + count, 0
        while len(self.served) < end:
            before = len(self.served)
            await self.cycle(take=busy <= 0)
            busy = spacing - 1 if len(self.served) > before else busy - 1

    def shares(self):
        totals = dict.fromkeys(self.queues, 0)
        for _, m, size in self.served:
            totals[m] += size
        return totals


def check_fair(bench, longest):
    """Over any interval: |served_i / quantum_i - served_j / quantum_j| is within two turns and five packets each."""
    quanta = {m: max(bench.quanta[m], 1) for m in bench.queues}
    modules = sorted(bench.queues)
    totals = dict.fromkeys(modules, 0)
    extremes = {(i, j): [0, 0] for i in modules for j in modules if j < i}
    for _, m, size in bench.served:
        totals[m] += size
        for (i, j), extreme in extremes.items():
            difference = totals[i] / quanta[i] - totals[j] / quanta[j]
            extreme[:] = min(extreme[0], difference), max(extreme[1], difference)
    for (i, j), (low, high) in extremes.items():
        bound = 2 + PACKETS_OF_ERROR * (longest[i] / quanta[i] + longest[j] / quanta[j])
        assert high - low <= bound, f"modules {i} and {j}: {high - low} turns apart, {bound} allowed"
        # A bench that stops before the bound could be passed shows nothing.
        assert min(totals[i] / quanta[i], totals[j] / quanta[j]) > bound


def mixed(rng, longest=LONGEST):
    while True:
        yield rng.choice((60, 61, 64, 570, 1500, longest, rng.randint(14, longest)))


@cocotb.test()
async def bytes_are_shared_by_weight(dut):
    rng = bench_rng("drr_weights")
    quanta = {1: 1500, 3: 3000, 6: 6000}
    bench = await Bench(dut, quanta).begin()
    bench.queues = {1: repeat(LONGEST), 3: mixed(rng), 6: repeat(64)}
    await bench.run(12_000, spacing=2)
    check_fair(bench, {1: LONGEST, 3: LONGEST, 6: 64})
    totals = bench.shares()
    whole = sum(totals.values())
    for m, weight in ((1, 1), (3, 2), (6, 4)):
        assert abs(totals[m] / whole - weight / 7) < 0.05, totals


@cocotb.test()
async def charges_at_any_distance_keep_the_shares(dut):
    rng = bench_rng("drr_lag")
    bench = await Bench(dut, {0: 1000, 5: 2000, 7: 4000}, lambda: rng.randint(1, 4)).begin()
    bench.queues = {0: mixed(rng), 5: mixed(rng), 7: mixed(rng)}
    await bench.run(3000, spacing=2)
    check_fair(bench, dict.fromkeys(bench.queues, LONGEST))


@cocotb.test()
async def a_quantum_of_one_serves_the_longest_packets(dut):
    bench = await Bench(dut, {0: 1, 2: 1, 4: 0}).begin()
    bench.queues = {m: repeat(LONGEST) for m in bench.quanta}
    # Each debt is at most 5 packets, and a round repays 1 byte: 4 cycles a visit at most.
    await bench.run(24)
    shares = bench.shares()
    assert max(shares.values()) - min(shares.values()) <= (1 + PACKETS_OF_ERROR) * LONGEST, shares
    assert min(shares.values()) > 0
    rounds = PACKETS_OF_ERROR * LONGEST + 1
    assert max(bench.longest_wait.values()) <= rounds * 3 * 4, bench.longest_wait


@cocotb.test()
async def a_quantum_of_zero_counts_as_one(dut):
    bench = await Bench(dut, {1: 0, 2: 1, 3: 0}).begin()
    bench.queues = {m: repeat(20) for m in bench.quanta}
    await bench.run(3000)
    check_fair(bench, dict.fromkeys(bench.queues, 20))


@cocotb.test()
async def a_debt_outlives_an_empty_queue(dut):
    bench = await Bench(dut, {1: 500, 2: 500}).begin()
    # Its charge comes 3 cycles late; until then its turn would go on.
    for pause in (4, 10, 40):
        # One long packet of module 1 beside many of module 2; then nothing, then many of both.
        bench.queues = {1: deque([LONGEST]), 2: repeat(100)}
        while bench.queues[1]:
            await bench.cycle()
        before = len(bench.served)
        for _ in range(pause):
            await bench.cycle()
        bench.queues[1] = deque([100] * 1000)
        await bench.run(200)
        first = next(i for i, (_, m, _) in enumerate(bench.served[before:]) if m == 1)
        waited = 100 * first
        # The debt, less the quantum of its own turn, is repaid by one quantum for each turn of the other.
        owed = LONGEST - 500
        allowed = 2 * 500 + PACKETS_OF_ERROR * 100
        assert owed - allowed <= waited <= owed + allowed + 100 * pause, (pause, waited)


@cocotb.test()
async def a_module_alone_is_forgiven_its_debt(dut):
    bench = await Bench(dut, {1: 500, 2: 500}).begin()
    bench.queues = {1: repeat(LONGEST)}
    await bench.run(50)
    bench.queues = {1: repeat(100), 2: repeat(100)}
    before = len(bench.served)
    await bench.run(400)
    first = next(i for i, (_, m, _) in enumerate(bench.served[before + 10 :]) if m == 1)
    # What it took since the other came is at most five packets; 50 packets of 9,216 bytes are forgotten.
    assert first * 100 <= PACKETS_OF_ERROR * LONGEST + 2 * 500, first


@cocotb.test()
async def a_debt_is_forgiven_when_the_others_have_gone(dut):
    """The turn of who owes has ended here, so that nothing is renewed: the debt waits for his next turn."""
    bench = await Bench(dut, {1: 500, 2: 500, 6: 1}).begin()
    for module, other in ((1, 2), (6, 2), (6, 1)):
        bench.queues = {module: deque([LONGEST]), other: repeat(100)}
        while bench.queues[module]:
            await bench.cycle()
        # Its charge comes while the other is there.
        for _ in range(6):
            await bench.cycle()
        bench.queues = {module: deque()}
        for _ in range(10):
            assert await bench.cycle() is None
        bench.queues[module].append(60)
        begin = bench.now
        for _ in range(LATENCY + 10):
            await bench.cycle()
        assert not bench.queued(), f"module {module} still waits"
        assert bench.served[-1][0] - begin == LATENCY, (module, bench.served[-1][0] - begin)
        await bench._repay()


@cocotb.test()
async def a_module_alone_keeps_what_is_left_of_its_quantum(dut):
    for alone in (30, 130, 199, 350):
        bench = await Bench(dut, {1: 6000, 2: 6000}).begin()
        bench.queues = {1: repeat(60)}
        # A quantum is 100 packets, and the module before has left no debt.
        await bench.run(alone)
        bench.queues[2] = repeat(60)
        await bench.run(150)
        others = [m for _, m, _ in bench.served[alone:]]
        left = -alone % 100
        assert left <= others.index(2) <= left + PACKETS_OF_ERROR, (alone, others.index(2))


@cocotb.test()
async def credit_ends_with_the_queue(dut):
    bench = await Bench(dut, {1: 6000, 2: 6000}).begin()
    bench.queues = {1: deque(), 2: deque()}
    for _ in range(50):
        bench.queues[1].append(60)
        await bench.run(1)
        for _ in range(8):
            await bench.cycle()
    bench.queues = {1: deque([60] * 5000), 2: deque([60] * 5000)}
    mark = len(bench.served)
    await bench.run(1000)
    run, longest, last = 0, 0, None
    for _, m, size in bench.served[mark:]:
        run = run + size if m == last else size
        longest, last = max(longest, run), m
    assert longest <= 6000 + 60 * (PACKETS_OF_ERROR + 1), longest


@cocotb.test()
async def nobody_with_packets_is_starved(dut):
    rng = bench_rng("drr_starve")
    count = int(dut.Modules.value)
    quanta = {m: rng.choice((300, 1500, 9216)) for m in range(count)}
    bench = await Bench(dut, quanta).begin()
    # One that sends rarely among many that always do.
    bench.queues = {m: mixed(rng) for m in range(1, count)} | {0: deque()}
    while sum(m == 0 for _, m, _ in bench.served) < 20:
        if not bench.queues[0]:
            bench.waited[0] = 0
            bench.queues[0].append(rng.choice((60, LONGEST)))
        await bench.run(rng.randint(1, 20))
    # To repay d bytes takes ceil(d / quantum) rounds; in a round a module sends its quantum and is late 5 packets.
    for m, waited in bench.longest_wait.items():
        rounds = PACKETS_OF_ERROR * LONGEST // quanta[m] + 2
        a_round = sum(quanta[n] // 14 + PACKETS_OF_ERROR + 4 for n in range(count))
        assert waited <= rounds * a_round, f"module {m} waited {waited} cycles"


@cocotb.test()
async def queues_that_come_and_go_lose_no_packet(dut):
    rng = bench_rng("drr_churn")
    count = int(dut.Modules.value)
    quanta = {m: rng.choice((0, 64, 1500)) or 1500 for m in range(count)}
    bench = await Bench(dut, quanta, lambda: rng.randint(1, 4)).begin()
    bench.queues = {m: deque() for m in range(count)}
    put = 0
    for _ in range(20_000):
        if rng.random() < 0.4:
            bench.queues[rng.randrange(count)].append(rng.choice((60, 64, 1500)))
            put += 1
        await bench.cycle(take=rng.random() < 0.6)
    while bench.queued():
        await bench.cycle()
    assert len(bench.served) == put > 7000


@cocotb.test()
async def an_idle_destination_chooses_after_two_cycles(dut):
    bench = await Bench(dut, {m: 1500 for m in range(8)}).begin()
    last = None
    for m in (5, 5, 2, 7, 0, 0, 3):
        bench.queues = {m: deque()}
        for _ in range(15):
            assert await bench.cycle() is None
        bench.queues[m].append(60)
        begin = bench.now
        while bench.queued():
            await bench.cycle()
        waited = bench.served[-1][0] - begin
        # The one that was served last may still have its turn.
        assert waited == LATENCY if m != last else waited <= LATENCY
        last = m


@cocotb.test()
async def a_change_of_turn_costs_no_cycle(dut):
    rng = bench_rng("drr_rate")
    bench = await Bench(dut, {m: 1500 for m in range(8)}).begin()
    bench.queues = {m: (rng.choice((60, 64, 100)) for _ in repeat(0)) for m in (0, 1, 2, 5, 7)}
    await bench.run(1)
    begin = bench.now
    await bench.run(6000)
    assert bench.now - begin == 6000
    assert len({m for _, m, _ in bench.served}) == 5


@cocotb.test()
async def turns_of_one_packet_cost_no_cycle(dut):
    rng = bench_rng("drr_short")
    bench = await Bench(dut, {m: 1500 for m in range(8)}).begin()
    bench.queues = {m: deque([64]) for m in range(8)}
    for cycle in range(3000):
        choice = await bench.cycle()
        assert choice is not None or cycle < LATENCY, f"no choice in cycle {cycle}"
        # The one before has none again: each has one packet or none, six at least have one.
        if len(bench.served) >= 2:
            bench.queues[bench.served[-2][1]].append(rng.randint(60, 1500))


@cocotb.test()
async def a_module_alone_is_renewed_without_a_lost_cycle(dut):
    quanta = {2: 1500, 6: LONGEST}
    bench = await Bench(dut, quanta).begin()
    for m, length in ((2, 1500), (6, LONGEST), (2, 60)):
        for _ in range(40):
            bench.queues = {}
            await bench.cycle()
        bench.queues = {m: repeat(length)}
        await bench.run(20)
        begin = bench.now
        await bench.run(1000)
        assert bench.now - begin == 1000, f"module {m}: {bench.now - begin - 1000} cycles lost"


@pytest.mark.parametrize("modules", [8, pytest.param(64, marks=pytest.mark.long)])
def test_drr(modules):
    run_bench("sluice_nic_drr", parameters={"Modules": modules})
