"""sluice_nic_sources.

Claims
- under any stalls of sources and sink no packet is lost, interleaved with another or reordered within its source, and
  each of its beats has its verdict
- a beat that is offered stays as it is until it is taken
- at full rate there is a beat in every cycle
- sources that always have packets differ by at most M + 2 * (M - 1) beats over any interval, M the longest packet
- one source is wires: what it offers is there in the same cycle
"""

from collections import deque

import cocotb
import pytest
from cocotb.triggers import FallingEdge, RisingEdge
from common.lookup_bench import start
from nic.nic_bench import PACKAGES, SIDEBAND, beats_of, pack_fields
from sluice_tb import bench_rng, burst_stalls, never, random_stalls, run_bench

TAGS_BITS = 8 * 16
VERDICT_BITS = TAGS_BITS + sum(SIDEBAND.values())
LONGEST = 9216


class Source:
    """An engine's output: beats in order, each offered until it is taken."""

    def __init__(self):
        self.beats = deque()
        self.shown = False
        self.stalls = never()
        self.sent = []


class Bench:
    async def begin(self, dut, name, limit=100_000):
        self.dut, self.rng = dut, bench_rng(name)
        self.width = int(dut.Bytes.value)
        inputs = ["valid_i", "data_i", "last_i", "verdict_i", "ready_i"]
        await start(dut, limit=limit, **dict.fromkeys(inputs, 0))
        self.sources = [Source() for _ in range(int(dut.Sources.value))]
        self.sink_stalls = never()
        self.taken = []  # (cycle, source's number or None, data, last, verdict)
        self.offered = None
        self.now = 0
        return self

    def add(self, number, length):
        rng, source = self.rng, self.sources[number]
        values = {name: rng.getrandbits(bits) for name, bits in SIDEBAND.items()}
        sideband = pack_fields(SIDEBAND, **(values | {"length": length, "id": number << 28 | len(source.sent)}))
        verdict = rng.getrandbits(TAGS_BITS) << sum(SIDEBAND.values()) | sideband
        words = [(beat["data"], beat["last"], verdict) for beat in beats_of(rng.randbytes(length), self.width, rng)]
        source.sent.append(words)
        source.beats.extend(words)

    async def cycle(self):
        dut, rng = self.dut, self.rng
        for source in self.sources:
            if source.beats and not source.shown:
                source.shown = not next(source.stalls)
        noise = (rng.getrandbits(8 * self.width), rng.getrandbits(1), rng.getrandbits(VERDICT_BITS))
        offers = [source.beats[0] if source.shown else noise for source in self.sources]
        dut.valid_i.value = sum(source.shown << i for i, source in enumerate(self.sources))
        for name, place, bits in (("data_i", 0, 8 * self.width), ("last_i", 1, 1), ("verdict_i", 2, VERDICT_BITS)):
            getattr(dut, name).value = sum(int(offer[place]) << i * bits for i, offer in enumerate(offers))
        ready = not next(self.sink_stalls)
        dut.ready_i.value = ready
        await FallingEdge(dut.clk_i)
        taken = int(dut.ready_o.value) & int(dut.valid_i.value)
        beat = None
        if int(dut.valid_o.value):
            beat = (int(dut.data_o.value), int(dut.last_o.value), int(dut.verdict_o.value))
        assert self.offered in (None, beat), "a beat gave way before it was taken"
        assert bool(taken) == (ready and beat is not None), "taken in, but not out, or the other way round"
        assert taken & (taken - 1) == 0, "two sources are taken at once"
        if taken:
            number = taken.bit_length() - 1
            source = self.sources[number]
            assert beat == source.beats.popleft(), f"source {number}: another beat comes out than went in"
            source.shown = False
            self.taken.append((self.now, number, beat[1]))
        self.offered = None if taken else beat
        self.now += 1
        await RisingEdge(dut.clk_i)

    async def drain(self):
        waiting = sum(len(source.beats) for source in self.sources)
        for _ in range(1_000 + 40 * waiting):
            if not any(source.beats for source in self.sources):
                return
            await self.cycle()
        raise AssertionError("packets wait and nothing moves")

    def check(self):
        """Packets are whole, and as many as were sent. Their bytes and their order were compared on the way."""
        inside, ended = None, 0
        for _, number, last in self.taken:
            assert inside in (None, number), f"a beat of source {number} within a packet of source {inside}"
            inside = None if last else number
            ended += bool(last)
        assert inside is None
        assert ended == sum(len(source.sent) for source in self.sources)


@cocotb.test()
async def nothing_is_lost_interleaved_or_reordered(dut):
    bench = await Bench().begin(dut, "sources_any")
    rng, width = bench.rng, bench.width

    def rates():
        return rng.choice((never(), random_stalls(rng, 0.5), burst_stalls(rng, 12), random_stalls(rng, 0.85)))

    for _ in range(15):
        for number, source in enumerate(bench.sources):
            for _ in range(rng.randint(0, 12)):
                bench.add(number, rng.choice((14, width, width + 1, rng.randint(14, 4 * width), rng.randint(14, 1518))))
            source.stalls = rates()
        bench.sink_stalls = rates()
        await bench.drain()
        for _ in range(rng.randint(0, 4)):
            await bench.cycle()
    bench.check()


@cocotb.test()
async def there_is_a_beat_in_every_cycle(dut):
    bench = await Bench().begin(dut, "sources_rate")
    for number in range(len(bench.sources)):
        for _ in range(40):
            bench.add(number, bench.rng.randint(14, 6 * bench.width))
    await bench.drain()
    bench.check()
    times = [now for now, _, _ in bench.taken]
    assert times == list(range(len(times)))


@cocotb.test()
async def nobody_starves_beside_long_packets(dut):
    bench = await Bench().begin(dut, "sources_fair")
    for number in range(len(bench.sources)):
        for _ in range(20 if number else 2_000):
            bench.add(number, LONGEST if number else 60)
    longest = -(-LONGEST // bench.width)
    while all(source.beats for source in bench.sources):
        await bench.cycle()
    # Over any interval: the extremes of the running difference are that far apart at most.
    for other in range(1, len(bench.sources)):
        difference, least, most = 0, 0, 0
        for _, number, _ in bench.taken:
            difference += (number == 0) - (number == other)
            least, most = min(least, difference), max(most, difference)
        assert most - least <= longest + 2 * (longest - 1)
    assert {number for _, number, _ in bench.taken} == set(range(len(bench.sources)))


@pytest.mark.parametrize("sources", [2, 3])
@pytest.mark.parametrize("width", [32, 64])
def test_sources(sources, width):
    run_bench("sluice_nic_sources", packages=PACKAGES, parameters={"Sources": sources, "Bytes": width})


def test_one_source_is_wires():
    tests = ["nothing_is_lost_interleaved_or_reordered", "there_is_a_beat_in_every_cycle"]
    run_bench("sluice_nic_sources", packages=PACKAGES, parameters={"Sources": 1}, tests=tests)
