"""sluice_nic_merge.

Claims
- under any stalls of ports, sink and credits nothing is lost or reordered within a port, packets stay whole, and
  each has one token, in the stream's order, with its descriptor and its first bytes
- at full rate there is a beat in every cycle, from one port or from many, and an idle merge takes one cycle
- ports that always have packets differ by at most M + 2 * (M - 1) beats over any interval, M the longest packet
- no more tokens than credits are ever out; without credits nothing more leaves, and nothing is lost
- a maintenance slot is granted in the first cycle without a token, after 256 cycles at most, costs one cycle at
  most, and only one cycle in 256 is left out for it
- hold_i stops it between packets
"""

import itertools
from collections import deque

import cocotb
import pytest
from cocotb.triggers import RisingEdge
from common.lookup_bench import start
from nic.nic_bench import PACKAGES, PORT_DESC, TARGETS, beats_of, fields, pack_fields
from sluice_tb import always, bench_rng, burst_stalls, never, random_stalls, run_bench

PORTS = 4
WINDOW = 64
PERIOD = 256
DESC_BITS = sum(PORT_DESC.values())
LONGEST = 9216


class Port:
    """A port's stored packets; beats follow their descriptor and may stall on their own."""

    def __init__(self):
        self.descs, self.beats = deque(), deque()
        self.desc_shown = self.beat_shown = False
        self.stalls = never()
        self.opened = 0  # packets whose descriptor has been shown
        self.begun = 0  # packets whose first beat has been shown
        self.sent = []
        self.beats_left = 0

    def show(self):
        """What the port offers in the next cycle."""
        if self.descs and not self.desc_shown:
            self.desc_shown = True
            self.opened += 1
        first = bool(self.beats) and self.beats[0]["first"]
        if self.beats and not self.beat_shown and not next(self.stalls) and (not first or self.begun < self.opened):
            self.beat_shown = True
            self.begun += first


class Bench:
    async def begin(self, dut, name, limit=100_000):
        self.dut, self.rng = dut, bench_rng(name)
        self.width = TARGETS[int(dut.Target.value)]["bus_bytes"]
        self.credits = int(dut.Credits.value)
        inputs = ["hold_i", "desc_valid_i", "desc_i", "valid_i", "data_i", "last_i"]
        await start(dut, limit=limit, **dict.fromkeys([*inputs, "data_ready_i", "credit_i", "slot_request_i"], 0))
        self.ports = [Port() for _ in range(PORTS)]
        self.sink_stalls, self.credit_stalls = never(), never()
        self.returns = deque()
        self.tokens, self.beats = [], []  # (cycle, ...)
        self.token_cycles = []
        self.out = 0
        self.grants, self.request = [], False
        self.now = 0
        self.ready = 0
        self.pending = None
        return self

    def add(self, port, length):
        rng, p = self.rng, self.ports[port]
        values = {name: rng.getrandbits(bits) for name, bits in PORT_DESC.items()}
        desc = pack_fields(PORT_DESC, **(values | {"length": length, "id": port << 28 | len(p.sent)}))
        packet = rng.randbytes(length)
        p.sent.append((desc, packet))
        p.descs.append(desc)
        p.beats.extend(beats_of(packet, self.width, rng))

    async def cycle(self, hold=False):
        dut, rng = self.dut, self.rng
        for p in self.ports:
            p.show()
        noise = rng.getrandbits(8 * self.width)
        dut.hold_i.value = hold
        dut.desc_valid_i.value = sum(p.desc_shown << i for i, p in enumerate(self.ports))
        dut.desc_i.value = sum(p.descs[0] << i * DESC_BITS for i, p in enumerate(self.ports) if p.desc_shown)
        dut.valid_i.value = sum(p.beat_shown << i for i, p in enumerate(self.ports))
        shown = [p.beats[0]["data"] if p.beat_shown else noise for p in self.ports]
        dut.data_i.value = sum(data << i * 8 * self.width for i, data in enumerate(shown))
        dut.last_i.value = sum(p.beats[0]["last"] << i for i, p in enumerate(self.ports) if p.beat_shown)
        ready = not next(self.sink_stalls)
        dut.data_ready_i.value = ready
        credit = bool(self.returns) and self.returns[0] <= self.now and not next(self.credit_stalls)
        dut.credit_i.value = credit
        dut.slot_request_i.value = self.request
        await RisingEdge(dut.clk_i)
        self._take_inputs()
        self._output(ready)
        self._token(credit)
        self.now += 1

    def _take_inputs(self):
        desc_ready, ready = int(self.dut.desc_ready_o.value), int(self.dut.ready_o.value)
        for i, p in enumerate(self.ports):
            if p.desc_shown and desc_ready >> i & 1:
                p.descs.popleft()
                p.desc_shown = False
            if p.beat_shown and ready >> i & 1:
                p.beats.popleft()
                p.beat_shown = False

    def _output(self, ready):
        dut = self.dut
        valid = int(dut.data_valid_o.value)
        beat = (int(dut.data_o.value), int(dut.data_last_o.value)) if valid else None
        assert self.pending is None or beat == self.pending, "a beat gave way before it was taken"
        self.pending = beat if valid and not ready else None
        if valid and ready:
            self.beats.append((self.now, *beat))

    def _token(self, credit):
        dut = self.dut
        token = int(dut.token_valid_o.value)
        if credit:
            self.returns.popleft()
            self.out -= 1
        if token:
            self.tokens.append((int(dut.token_desc_o.value), int(dut.token_window_o.value)))
            self.token_cycles.append(self.now)
            self.returns.append(self.now + 8)
            self.out += 1
        assert self.out <= self.credits, f"{self.out} tokens out, {self.credits} credits"
        grant = int(dut.slot_grant_o.value)
        assert not (grant and token), "a slot in a cycle with a token"
        assert grant == int(self.request and not token), f"cycle {self.now}: request {self.request}, token {token}"
        if grant:
            self.grants.append(self.now)

    def left(self):
        return any(p.beats or p.descs for p in self.ports)

    async def drain(self):
        # Four times what the beats take: only a merge that stands still needs more.
        waiting = sum(len(p.beats) for p in self.ports)
        for _ in range(1_000 + 4 * waiting):
            if not self.left():
                break
            await self.cycle()
        assert not self.left(), "packets wait and nothing moves"
        while next(self.sink_stalls) or self.pending:
            await self.cycle()
        for _ in range(12):
            await self.cycle()

    def check(self):
        """The stream and the tokens against the ports' packets; returns the ports in order."""
        packets, words = [], []
        for _, data, last in self.beats:
            words.append(data)
            if last:
                packets.append(words)
                words = []
        assert not words, "the stream ends in the middle of a packet"
        assert len(packets) == len(self.tokens) == sum(len(p.sent) for p in self.ports)
        due = [iter(p.sent) for p in self.ports]
        order = []
        for words, (desc, window) in zip(packets, self.tokens, strict=True):
            port = fields(PORT_DESC, desc)["id"] >> 28
            expected, packet = next(due[port])
            assert desc == expected, f"port {port}: {fields(PORT_DESC, desc)}"
            assert len(words) == -(-len(packet) // self.width)
            assert b"".join(w.to_bytes(self.width, "little") for w in words)[: len(packet)] == packet
            assert window.to_bytes(WINDOW, "little")[: len(packet)] == packet[:WINDOW]
            order.append(port)
        return order


def any_length(rng, width):
    return rng.choice((14, 60, width, width + 1, 2 * width, rng.randint(14, 4 * width), rng.randint(14, 1518)))


@cocotb.test()
async def nothing_is_lost_cut_or_reordered(dut):
    bench = await Bench().begin(dut, "merge_any")
    rng = bench.rng

    def rates():
        return rng.choice((never(), random_stalls(rng, 0.5), burst_stalls(rng, 12), random_stalls(rng, 0.85)))

    for _ in range(12):
        for port in range(PORTS):
            for _ in range(rng.randint(0, 12)):
                bench.add(port, any_length(rng, bench.width))
            bench.ports[port].stalls = rates()
        bench.sink_stalls, bench.credit_stalls = rates(), rates()
        bench.request = rng.random() < 0.5
        for _ in range(rng.randint(100, 300)):
            await bench.cycle(hold=rng.random() < 0.1)
    bench.sink_stalls, bench.credit_stalls = never(), never()
    await bench.drain()
    bench.check()


@cocotb.test()
async def a_packet_of_an_idle_merge_leaves_a_cycle_later(dut):
    bench = await Bench().begin(dut, "merge_latency")
    for port in (2, 0, 3, 3):
        bench.add(port, 14)
        shown = bench.now
        await bench.drain()
        assert bench.beats[-1][0] == shown + 1 == bench.token_cycles[-1]
    bench.check()


@cocotb.test()
async def every_cycle_has_a_beat(dut):
    bench = await Bench().begin(dut, "merge_rate")
    rng, width = bench.rng, bench.width
    kinds = (
        ([0], lambda: width),
        ([1, 3], lambda: width),
        (range(PORTS), lambda: any_length(rng, width)),
        (range(PORTS), lambda: rng.choice((14, LONGEST))),
        ([0, 2], lambda: LONGEST),
    )
    for ports, length in kinds:
        for port in ports:
            for _ in range(12 if length() == LONGEST else 60):
                bench.add(port, length())
        before = len(bench.beats)
        await bench.drain()
        cycles = [cycle for cycle, *_ in bench.beats[before:]]
        lost = [cycle for cycle, following in itertools.pairwise(cycles) if following != cycle + 1]
        assert not lost, (
            f"ports {list(ports)}: no beat in {len(lost)} cycles after {lost[:5]}, first beat in {cycles[0]}"
        )
    bench.check()


@cocotb.test()
async def ports_share_the_beats(dut):
    bench = await Bench().begin(dut, "merge_fair")
    rng, width = bench.rng, bench.width
    longest = -(-LONGEST // width)
    lengths = (lambda: LONGEST, lambda: width, lambda: any_length(rng, width), lambda: rng.choice((14, LONGEST)))
    for port, length in enumerate(lengths):
        while len(bench.ports[port].beats) < 12 * longest:
            bench.add(port, length())
    bench.sink_stalls = random_stalls(rng, 0.1)
    # As long as all have packets: what comes after does not count.
    while all(len(p.beats) > longest for p in bench.ports):
        await bench.cycle()
    packets, size = [], 0
    for _, _, last in bench.beats:
        size += 1
        if last:
            packets.append(size)
            size = 0
    totals = [0] * PORTS
    extremes = {pair: [0, 0] for pair in itertools.combinations(range(PORTS), 2)}
    for (desc, _), beats in zip(bench.tokens, packets, strict=False):
        totals[fields(PORT_DESC, desc)["id"] >> 28] += beats
        for (i, j), extreme in extremes.items():
            difference = totals[i] - totals[j]
            extreme[:] = min(extreme[0], difference), max(extreme[1], difference)
    # docs/decisions/port-merge.md: the quantum is a longest packet.
    bound = longest + 2 * (longest - 1)
    worst = max(high - low for low, high in extremes.values())
    assert worst <= bound, f"{worst} beats apart, {bound} allowed; totals {totals}"
    assert min(totals) > 2 * bound
    dut._log.info("ports at most %d beats apart, %d allowed", worst, bound)
    await bench.drain()
    bench.check()


@cocotb.test()
async def tokens_stop_with_the_credits(dut):
    bench = await Bench().begin(dut, "merge_credits")
    for port in range(PORTS):
        for _ in range(2 * bench.credits):
            bench.add(port, bench.rng.choice((14, 200)))
    bench.credit_stalls = always()
    for _ in range(12 * bench.credits):
        await bench.cycle()
    assert len(bench.tokens) == bench.credits
    for more in range(1, 6):
        bench.credit_stalls = itertools.chain([False], always())
        for _ in range(20):
            await bench.cycle()
        assert len(bench.tokens) == bench.credits + more
    bench.credit_stalls = never()
    await bench.drain()
    bench.check()


@cocotb.test()
async def slots_come_in_time_and_cost_little(dut):
    bench = await Bench().begin(dut, "merge_slots")
    # A token in every cycle, as far as the merge lets them.
    for port in range(PORTS):
        for _ in range(600):
            bench.add(port, bench.width)
    for _ in range(20):
        await bench.cycle()
    begin, before = bench.now, len(bench.tokens)
    bench.request = True
    for _ in range(2000):
        await bench.cycle()
    gaps = [b - a for a, b in itertools.pairwise([begin - 1, *bench.grants])]
    assert max(gaps) <= PERIOD and len(gaps) >= 2000 // PERIOD
    assert 2000 - (len(bench.tokens) - before) <= 2000 // PERIOD + 1, "cycles without a token"
    # Asked for now and then: granted once, within the period.
    bench.request = False
    for _ in range(5):
        await bench.cycle()
    await bench.drain()
    bench.check()


@cocotb.test()
async def a_lone_request_is_granted_within_the_period(dut):
    bench = await Bench().begin(dut, "merge_lone")
    for port in range(PORTS):
        for _ in range(500):
            bench.add(port, bench.width)
    for _ in range(4):
        for _ in range(bench.rng.randint(1, 100)):
            await bench.cycle()
        asked, before = bench.now, len(bench.grants)
        bench.request = True
        while len(bench.grants) == before:
            assert bench.now - asked < PERIOD
            await bench.cycle()
        bench.request = False
    await bench.drain()
    bench.check()


@cocotb.test()
async def hold_stops_between_packets(dut):
    bench = await Bench().begin(dut, "merge_hold")
    rng = bench.rng
    for port in range(PORTS):
        for _ in range(60):
            bench.add(port, any_length(rng, bench.width))
    bench.sink_stalls = random_stalls(rng, 0.2)
    for _ in range(12):
        for _ in range(rng.randint(1, 60)):
            await bench.cycle()
        # The packet under way may end; one that the register holds, too.
        begun = bench.now
        for _ in range(120):
            await bench.cycle(hold=True)
        late = sum(last for cycle, _, last in bench.beats if cycle >= begun)
        assert bench.beats[-1][2], "held in the middle of a packet"
        assert late <= 2, f"{late} packets ended after hold"
        assert sum(last for *_, last in bench.beats) == len(bench.tokens)
        quiet = len(bench.beats)
        for _ in range(20):
            await bench.cycle(hold=True)
        assert len(bench.beats) == quiet
    await bench.drain()
    bench.check()


@pytest.mark.parametrize("target, credits", [(0, 32), (1, 32), (1, 5)])
def test_merge(target, credits):
    # 5 credits with answers 8 cycles later do not sustain a token a cycle.
    few = ["nothing_is_lost_cut_or_reordered", "tokens_stop_with_the_credits", "hold_stops_between_packets"]
    sources = ["rtl/nic/sluice_nic_merge.sv", "tb/nic/merge/nic_merge_target.sv"]
    run_bench(
        "nic_merge_target",
        packages=PACKAGES,
        sources=sources,
        parameters={"Target": target, "Credits": credits},
        tests=few if credits < 32 else None,
    )
