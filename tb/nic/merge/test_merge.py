"""sluice_nic_merge.

Claims
- under any stalls of ports and sink nothing is lost or reordered within a port, packets stay whole, and each of
  their beats has their descriptor
- at full rate there is a beat in every cycle, from one port or from many, and an idle merge takes one cycle
- ports that always have packets differ by at most M + 2 * (M - 1) beats of cost over any interval, M the longest
  packet; the cost is the descriptor's, which may be more than the packet has beats
"""

import itertools
from collections import deque

import cocotb
import pytest
from cocotb.triggers import RisingEdge
from common.lookup_bench import start
from nic.nic_bench import PACKAGES, PORT_DESC, TARGETS, beats_of, fields, pack_fields
from sluice_tb import DEFAULT, TINY, bench_rng, burst_stalls, never, random_stalls, run_bench

PORTS = 4
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
        inputs = ["desc_valid_i", "desc_i", "valid_i", "data_i", "last_i", "data_ready_i"]
        await start(dut, limit=limit, **dict.fromkeys(inputs, 0))
        self.ports = [Port() for _ in range(PORTS)]
        self.sink_stalls = never()
        self.beats = []  # (cycle, data, last, descriptor)
        self.now = 0
        self.ready = 0
        self.pending = None
        return self

    def add(self, port, length):
        rng, p = self.rng, self.ports[port]
        values = {name: rng.getrandbits(bits) for name, bits in PORT_DESC.items()}
        # A program may add to a packet, up to the longest length.
        cost = -(-min(length + rng.choice((0, 0, 64, 511)), LONGEST) // self.width)
        desc = pack_fields(PORT_DESC, **(values | {"length": length, "cost": cost, "id": port << 28 | len(p.sent)}))
        packet = rng.randbytes(length)
        p.sent.append((desc, packet))
        p.descs.append(desc)
        p.beats.extend(beats_of(packet, self.width, rng))

    async def cycle(self):
        dut, rng = self.dut, self.rng
        for p in self.ports:
            p.show()
        noise = rng.getrandbits(8 * self.width)
        dut.desc_valid_i.value = sum(p.desc_shown << i for i, p in enumerate(self.ports))
        dut.desc_i.value = sum(p.descs[0] << i * DESC_BITS for i, p in enumerate(self.ports) if p.desc_shown)
        dut.valid_i.value = sum(p.beat_shown << i for i, p in enumerate(self.ports))
        shown = [p.beats[0]["data"] if p.beat_shown else noise for p in self.ports]
        dut.data_i.value = sum(data << i * 8 * self.width for i, data in enumerate(shown))
        dut.last_i.value = sum(p.beats[0]["last"] << i for i, p in enumerate(self.ports) if p.beat_shown)
        ready = not next(self.sink_stalls)
        dut.data_ready_i.value = ready
        await RisingEdge(dut.clk_i)
        self._take_inputs()
        self._output(ready)
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
        beat = (int(dut.data_o.value), int(dut.data_last_o.value), int(dut.desc_o.value)) if valid else None
        assert self.pending is None or beat == self.pending, "a beat gave way before it was taken"
        self.pending = beat if valid and not ready else None
        if valid and ready:
            self.beats.append((self.now, *beat))

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

    def packets(self):
        """The stream's packets: (words, descriptor)."""
        packets, words = [], []
        for _, data, last, desc in self.beats:
            words.append((data, desc))
            if last:
                assert len({desc for _, desc in words}) == 1, "the descriptor changes within a packet"
                packets.append(([data for data, _ in words], desc))
                words = []
        assert not words, "the stream ends in the middle of a packet"
        return packets

    def check(self):
        """The stream against the ports' packets."""
        packets = self.packets()
        assert len(packets) == sum(len(p.sent) for p in self.ports)
        due = [iter(p.sent) for p in self.ports]
        for words, desc in packets:
            port = fields(PORT_DESC, desc)["id"] >> 28
            expected, packet = next(due[port])
            assert desc == expected, f"port {port}: {fields(PORT_DESC, desc)}"
            assert len(words) == -(-len(packet) // self.width)
            assert b"".join(w.to_bytes(self.width, "little") for w in words)[: len(packet)] == packet


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
        bench.sink_stalls = rates()
        for _ in range(rng.randint(100, 300)):
            await bench.cycle()
    bench.sink_stalls = never()
    await bench.drain()
    bench.check()


@cocotb.test()
async def a_packet_of_an_idle_merge_leaves_a_cycle_later(dut):
    bench = await Bench().begin(dut, "merge_latency")
    for port in (2, 0, 3, 3):
        bench.add(port, 14)
        shown = bench.now
        await bench.drain()
        assert bench.beats[-1][0] == shown + 1
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
    totals = [0] * PORTS
    extremes = {pair: [0, 0] for pair in itertools.combinations(range(PORTS), 2)}
    while not bench.beats[-1][2]:
        await bench.cycle()
    for _, desc in bench.packets():
        totals[fields(PORT_DESC, desc)["id"] >> 28] += fields(PORT_DESC, desc)["cost"]
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


@pytest.mark.parametrize("target", [DEFAULT, TINY])
def test_merge(target):
    sources = ["rtl/nic/sluice_nic_merge.sv", "tb/nic/merge/nic_merge_target.sv"]
    run_bench("nic_merge_target", packages=PACKAGES, sources=sources, parameters={"Target": target})
