"""sluice_late_drr, in front of servers that know what a packet costs when it has ended.

Claims
- modules that always have packets share what is done in proportion to their weights, within 0.5 %, in whatever order
  they end; a weight of 0 counts as 16. Where places are counted, also if what their packets cost differs
- also with guests that come and go among them, and guests are charged: one that wants more than its share gets that
- servers of dear packets always have some
- a guest waits for nobody's packets: its choice comes within 20 cycles, and 8 for each guest before it, however dear
  the packets of the others are
- no more than Places packets are taken and not charged, and Spare more of modules that have none
- a choice has a packet, holds until it is taken, and everything that is queued is served
- a packet that has not ended counts as what its module's last ones cost: dear packets do not take the places of others
  before the first has ended, also behind a cheap one; what was dear once is forgotten, a power of two a packet
- who sends little keeps a quantum and 16 packets at most: he takes no more than two quanta and that before the others
- a module alone has a packet a cycle while there are places
- without room nothing is chosen, and modules that have none behind hold up nobody else
"""

from collections import deque
from itertools import cycle, repeat

import cocotb
import pytest
from cocotb.triggers import FallingEdge, RisingEdge, Timer
from sluice_tb import bench_rng, run_bench, start

INPUTS = [
    "queued_i",
    "take_i",
    "room_i",
    "charge_valid_i",
    "charge_module_i",
    "charge_i",
    "weight_i",
    "clear_i",
    "clear_index_i",
]
GUEST_WAIT = 20


class Servers:
    """Each makes a step a cycle, of its packets in turn."""

    def __init__(self, count):
        self.of = [deque() for _ in range(count)]
        self.ended = deque()
        self.inside = {}

    def take(self, module, cost):
        min(self.of, key=len).append([module, cost, cost])
        self.inside[module] = self.inside.get(module, 0) + 1

    def step(self):
        for jobs in self.of:
            if jobs:
                job = jobs.popleft()
                job[2] -= 1
                if job[2]:
                    jobs.append(job)
                else:
                    self.ended.append(job[:2])

    def total(self):
        return sum(self.inside.values())


class Bench:
    def __init__(self, dut, weights):
        self.dut, self.weights = dut, weights
        self.queues = {}  # module -> iterator of costs, or deque of (cycle, cost)
        self.served = dict.fromkeys(weights, 0)
        self.waits = {}
        self.now = 0
        # Modules whose packets find no room, and since when the choice looked at one of them.
        self.full, self.found = set(), {}
        self.places, self.spare = int(dut.Places.value), int(dut.Spare.value)
        self.servers = Servers(self.spare or 4)
        # Whether servers end anything.
        self.held = False

    async def begin(self):
        await start(self.dut, limit=2_000_000, **dict.fromkeys(INPUTS, 0) | {"room_i": 1})
        cocotb.start_soon(self._answer())
        for module in range(int(self.dut.Modules.value)):
            self.dut.clear_i.value, self.dut.clear_index_i.value = 1, module
            await RisingEdge(self.dut.clk_i)
        self.dut.clear_i.value = 0
        return self

    async def _answer(self):
        index = self.dut.weight_index_o
        while True:
            self.dut.weight_i.value = self.weights.get(int(index.value), 0)
            await index.value_change

    def queued(self):
        return [m for m, queue in self.queues.items() if not isinstance(queue, deque) or queue]

    async def cycle(self, take=True):
        """One cycle; returns the module that was taken."""
        dut, servers, queued = self.dut, self.servers, self.queued()
        # Where the scheduler counts no places, somebody else does.
        take = take and (self.places or servers.total() < 16)
        # One that finds no room is left out, two cycles later.
        dut.queued_i.value = sum(1 << m for m in queued if self.found.get(m, self.now) + 2 > self.now)
        if not self.held:
            servers.step()
        charge = servers.ended.popleft() if servers.ended else None
        dut.charge_valid_i.value = charge is not None
        dut.charge_module_i.value, dut.charge_i.value = charge or (0, 0)
        await FallingEdge(dut.clk_i)
        dut.weight_i.value = self.weights.get(int(dut.weight_index_o.value), 0)
        looked_at = int(dut.module_o.value)
        if looked_at in self.full:
            self.found.setdefault(looked_at, self.now)
        if self.full:
            dut.room_i.value = looked_at not in self.full
            await Timer(1, "step")
        choice = looked_at if int(dut.valid_o.value) else None
        assert choice not in self.full
        taken = choice if take else None
        dut.take_i.value = taken is not None
        if choice is not None:
            assert choice in queued, f"module {choice} has no packet"
            if self.places and servers.total() >= self.places:
                assert servers.total() < self.places + self.spare
                assert not servers.inside.get(choice), f"module {choice} has a place that is spare"
        if charge:
            servers.inside[charge[0]] -= 1
            self.served[charge[0]] += charge[1]
        if taken is not None:
            queue = self.queues[taken]
            if isinstance(queue, deque):
                came, cost = queue.popleft()
                self.waits.setdefault(taken, []).append(self.now - came)
            else:
                cost = next(queue)
            servers.take(taken, cost)
        await RisingEdge(dut.clk_i)
        self.now += 1
        return taken

    async def one_by_one(self, module, costs):
        """Each packet comes when the one before has ended."""
        for cost in costs:
            self.queues[module] = deque([(self.now, cost)])
            while self.queued() or self.servers.total() or self.servers.ended:
                await self.cycle()
        self.queues.pop(module)

    async def taken_before_one_ends(self, queues):
        """Modules that are taken, in order, while servers end nothing."""
        self.held, self.queues = True, queues
        # Balances of packets that cost more than a quantum come back in some rounds.
        taken = [await self.cycle() for _ in range(2_000)]
        return [m for m in taken if m is not None]

    async def run(self, cycles, arrivals=(), every=36, cost=2):
        """Runs; modules of `arrivals` get a packet each `every` cycles."""
        for _ in range(cycles):
            for number, module in enumerate(arrivals):
                if (self.now + 7 * number) % every == 0:
                    self.queues[module].append((self.now, cost))
            await self.cycle()

    def check_shares(self, modules, before):
        """Of what was done since `before`, each of `modules` has its weight's part, but for 0.5 % and 4 turns.

        The turns are for the first and the last packets of the time.
        """
        done = {m: self.served[m] - before[m] for m in modules}
        weights = {m: self.weights[m] or 16 for m in modules}
        whole, weight = sum(done.values()), sum(weights.values())
        for m in modules:
            due, turn = whole * weights[m] / weight, 4 * weights[m]
            assert abs(done[m] - due) <= 0.005 * due + 4 * turn, (m, done[m] / due, done, weights)


def mixed(rng, most):
    while True:
        yield rng.randint(1, most)


@cocotb.test()
async def steps_are_shared_by_weight(dut):
    rng = bench_rng("late_weights")
    for weights in ({1: 16, 2: 16}, {0: 16, 7: 64}, {1: 21, 3: 49, 6: 0}, {2: 200, 4: 16, 5: 40}):
        bench = await Bench(dut, weights).begin()
        kinds = [repeat(48), repeat(2), repeat(7)]
        if bench.places:
            kinds += [cycle((1, 60, 7)), mixed(rng, 48)]
        bench.queues = {m: kind for m, kind in zip(weights, rng.sample(kinds, len(weights)), strict=True)}
        await bench.run(4_000)
        before = dict(bench.served)
        await bench.run(40_000)
        bench.check_shares(weights, before)


@cocotb.test()
async def guests_neither_wait_nor_take_from_others(dut):
    if not int(dut.Places.value):
        return
    for weights in ({1: 16, 4: 64, 2: 16, 6: 16}, {1: 100, 4: 16, 0: 16, 7: 16}):
        heavy, guests = list(weights)[:2], list(weights)[2:]
        bench = await Bench(dut, weights).begin()
        bench.queues = {heavy[0]: repeat(48), heavy[1]: repeat(40)} | {m: deque() for m in guests}
        await bench.run(4_000, guests)
        before = dict(bench.served)
        await bench.run(40_000, guests)
        bench.check_shares(heavy, before)
        done = sum(bench.served.values()) - sum(before.values())
        assert done > 0.95 * len(bench.servers.of) * 40_000, "servers were idle"
        for guest in guests:
            waits = sorted(bench.waits[guest])
            assert waits[-1] <= GUEST_WAIT + 8 * (len(guests) - 1), f"guest {guest} waited {waits[-1]} cycles"
            assert bench.served[guest] - before[guest] >= 2 * (40_000 // 36 - 2)


@cocotb.test()
async def a_guest_that_wants_more_gets_its_share(dut):
    # Never more than one packet at once: always a guest.
    weights = {1: 48, 3: 16, 5: 16}
    bench = await Bench(dut, weights).begin()
    bench.queues = {1: repeat(48), 3: deque(), 5: repeat(48)}
    before = None
    for _ in range(44_000):
        if bench.now == 4_000:
            before = dict(bench.served)
        if not bench.queues[3] and not bench.servers.inside.get(3):
            bench.queues[3].append((bench.now, 48))
        await bench.cycle()
    done = {m: bench.served[m] - before[m] for m in weights}
    assert done[3] <= 1.01 * done[5], done
    bench.check_shares((1, 5), before)


@cocotb.test()
async def dear_packets_take_no_places_before_the_first_has_ended(dut):
    # 255 counts as 256; behind a cheap one as half of that.
    for costs, counts in (([255] * 6, 256), ([255] * 6 + [1], 128), ([3] * 6 + [255], 256)):
        weights = {1: 16, 2: 16}
        bench = await Bench(dut, weights).begin()
        # Of two that count alike the first would take no more than half of the places.
        await bench.one_by_one(1, costs)
        await bench.one_by_one(2, [1] * 20)
        taken = await bench.taken_before_one_ends({1: repeat(255), 2: repeat(1)})
        first = taken[: bench.places or 16]
        assert len(first) == (bench.places or 16)
        # His turn is a quantum and what is left of one, and ends two packets late.
        assert 1 <= first.count(1) <= 2 * 256 // counts + 2, (costs, taken)


@cocotb.test()
async def what_was_dear_once_is_forgotten(dut):
    weights = {1: 16, 2: 16}
    bench = await Bench(dut, weights).begin()
    await bench.one_by_one(2, [255] * 6)
    await bench.one_by_one(1, [1023] + [1] * 12)
    taken = await bench.taken_before_one_ends({1: repeat(1), 2: repeat(255)})
    first = taken[: bench.places or 16]
    # What counts as 1 or 2 fills all places but those of one turn of the other.
    assert first.count(1) >= len(first) - 4, taken


@cocotb.test()
async def who_sends_little_keeps_little(dut):
    quantum = 16 * 2 ** int(dut.QuantumLog.value)
    bench = await Bench(dut, {1: 16, 2: 16}).begin()
    bench.queues = {1: deque(), 2: repeat(8)}
    for _ in range(150):
        # One packet a turn, and more than a turn of the other until the next.
        bench.queues[1].append((bench.now, 1))
        while bench.queues[1]:
            await bench.cycle()
        await bench.run(80)
    bench.queues[1] = repeat(8)
    run = longest = 0
    for _ in range(6_000):
        taken = await bench.cycle()
        if taken is not None:
            run = run + 8 if taken == 1 else 0
            longest = max(longest, run)
    # Two quanta, 16 packets that count as 16, and what was taken before anything had ended.
    assert longest <= 2 * quantum + 16 * 16 + 16 * 8, longest


@cocotb.test()
async def all_that_is_queued_is_served(dut):
    rng = bench_rng("late_churn")
    count = int(dut.Modules.value)
    bench = await Bench(dut, {m: rng.choice((0, 1, 16, 300)) for m in range(count)}).begin()
    bench.queues = {m: deque() for m in range(count)}
    put = taken = 0
    for _ in range(12_000):
        if rng.random() < 0.2:
            cost = rng.choice((1, 2, 48, 1023 if rng.random() < 0.02 else 9))
            bench.queues[rng.randrange(count)].append((bench.now, cost))
            put += 1
        taken += await bench.cycle(take=rng.random() < 0.7) is not None
    for _ in range(200_000):
        if not bench.queued() and not bench.servers.total():
            break
        taken += await bench.cycle() is not None
    assert taken == put > 2_000
    assert not bench.servers.total()


@cocotb.test()
async def without_room_nothing_is_chosen_and_nobody_waits(dut):
    rng = bench_rng("late_room")
    weights = {1: 16, 2: 16, 4: 16, 6: 48}
    bench = await Bench(dut, weights).begin()
    bench.queues = {m: repeat(rng.randint(1, 48)) for m in weights}
    for turn in range(12):
        bench.full, bench.found = set(rng.sample(sorted(weights), turn % 4)), {}
        before, begin = dict(bench.served), bench.now
        await bench.run(2_000)
        free = [m for m in weights if m not in bench.full]
        done = sum(bench.served[m] - before[m] for m in free)
        assert done > 0.9 * len(bench.servers.of) * (bench.now - begin), (bench.full, done)


@cocotb.test()
async def a_module_alone_has_a_packet_a_cycle(dut):
    bench = await Bench(dut, {2: 0x4000}).begin()
    bench.queues = {2: repeat(1)}
    await bench.run(40)
    taken = 0
    for _ in range(8):
        taken += await bench.cycle() is not None
    # So many as the servers end.
    assert taken == (8 if not bench.places else min(8, 8 * bench.spare)), taken


BALANCE_TESTS = [
    "dear_packets_take_no_places_before_the_first_has_ended",
    "what_was_dear_once_is_forgotten",
    "who_sends_little_keeps_little",
]


def test_late_drr_balance():
    """These alone, for faults that they have to find."""
    run_bench("sluice_late_drr", parameters={"Modules": 8, "Places": 0, "Spare": 0}, tests=BALANCE_TESTS)


@pytest.mark.parametrize("places, spare", [(12, 4), pytest.param(6, 2, marks=pytest.mark.long), (0, 0)])
def test_late_drr(places, spare):
    run_bench("sluice_late_drr", parameters={"Modules": 8, "Places": places, "Spare": spare})
