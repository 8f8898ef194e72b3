"""sluice_rmt_entrance.

Claims (docs/design/rmt.md, "Entrance")
- under any stalls each packet gives its fitted beats, one sideband and the slots of its window, in order; slots of
  a packet follow each other without a gap, bytes behind the end are zero, `desc_o` is the packet's in each of them
- generations and queueing time are those of the first slot's cycle
- what is not as its sideband says (length, holes, too few or too many beats) becomes as long as that says; it is
  told a cycle behind the token when the window shows it, and once, later, when not; foreign modules become 0
- packets of any sizes come in at one beat a cycle; a first slot waits for its window only
- no packet begins without a credit, or under hold
- with a request there is a cycle without a first slot in every 256, and only one in 256 is left out
"""

import itertools

import cocotb
import pytest
from cocotb.triggers import RisingEdge
from nic.nic_bench import SIDEBAND, fields
from rmt.rmt_bench import CTL, DESC, PACKAGES, PERIOD, TARGETS, WINDOW, Packet, any_length, any_sideband, spoil
from sluice_tb import (
    DEFAULT,
    TINY,
    StreamSource,
    always,
    bench_rng,
    burst_stalls,
    never,
    random_stalls,
    run_bench,
    start,
)

INPUTS = ["hold_i", "ticks_i", "beat_ready_i", "side_ready_i", "generation_i", "system_generation_i", "credit_i"]


class Bench:
    async def begin(self, dut, name, limit=150_000):
        self.dut, self.rng = dut, bench_rng(name)
        target = TARGETS[int(dut.Target.value)]
        self.width, self.modules = target["bus_bytes"], target["modules"]
        self.window_beats = WINDOW // self.width
        self.credits = int(dut.Credits.value)
        self.out = 0
        self.beat_stalls, self.side_stalls, self.credit_stalls = never(), never(), never()
        self.hold, self.request = never(), never()
        self.beats, self.sides, self.slots, self.tokens = [], [], [], []
        self.misfits, self.windows = [], []
        self.taken = []  # cycles of beats accepted
        self.cycle = 0
        axis = ("tvalid", "tdata", "tkeep", "tlast", "tuser")
        zero = dict.fromkeys([*INPUTS, "slot_request_i", *(f"s_axis_{name}" for name in axis)], 0)
        await start(dut, limit=limit, **zero)
        self.source = StreamSource(
            dut.clk_i,
            valid=dut.s_axis_tvalid,
            ready=dut.s_axis_tready,
            data={name: getattr(dut, f"s_axis_t{name}") for name in ("data", "keep", "last", "user")},
        )
        cocotb.start_soon(self._run())
        return self

    async def _run(self):
        dut = self.dut
        shown = dict.fromkeys(INPUTS, 0)
        while True:
            await RisingEdge(dut.clk_i)
            self.cycle += 1
            self._look(shown)
            shown = {
                "hold_i": int(next(self.hold)),
                "ticks_i": self.rng.getrandbits(48),
                "beat_ready_i": int(not next(self.beat_stalls)),
                "side_ready_i": int(not next(self.side_stalls)),
                "generation_i": self.rng.getrandbits(1),
                "system_generation_i": self.rng.getrandbits(1),
                "credit_i": int(self.out > 0 and not next(self.credit_stalls)),
                "slot_request_i": int(next(self.request)),
            }
            self.out -= shown["credit_i"]
            for name, value in shown.items():
                getattr(dut, name).value = value

    def _look(self, shown):
        dut = self.dut
        if int(dut.s_axis_tvalid.value) and int(dut.s_axis_tready.value):
            self.taken.append(self.cycle)
        if int(dut.beat_valid_o.value):
            assert shown["beat_ready_i"]
            self.beats.append((int(dut.beat_data_o.value), int(dut.beat_last_o.value)))
        if int(dut.side_valid_o.value):
            assert shown["side_ready_i"]
            self.sides.append(int(dut.side_o.value))
        if int(dut.late_valid_o.value):
            self.misfits.append(int(dut.late_module_o.value))
        if int(dut.window_valid_o.value):
            self.windows.append(int(dut.window_misfit_o.value))
        # Told a cycle behind the token at the latest.
        assert len(self.windows) >= len(self.tokens)
        if int(dut.slot_valid_o.value):
            desc = fields(DESC, int(dut.desc_o.value))
            desc |= fields(CTL, desc.pop("ctl"))
            first, last = int(dut.slot_first_o.value), int(dut.slot_last_o.value)
            self.slots.append((self.cycle, int(dut.slot_data_o.value), first, last, desc))
        assert int(dut.token_valid_o.value) == (int(dut.slot_valid_o.value) and int(dut.slot_first_o.value))
        if int(dut.token_valid_o.value):
            assert not shown["hold_i"] and self.out < self.credits
            self.out += 1
            self.tokens.append(
                {
                    "id": int(dut.token_id_o.value),
                    "foreign": int(dut.token_foreign_o.value),
                    "window": int(dut.token_window_o.value),
                    "generation": shown["generation_i"],
                    "system_generation": shown["system_generation_i"],
                    "queueing": shown["ticks_i"],
                    "cycle": self.cycle,
                }
            )

    def any_packet(self, length=None, **values):
        length = any_length(self.rng) if length is None else length
        module = self.rng.randrange(64)
        side = any_sideband(self.rng, length=length, **({"module_id": module} | values))
        return Packet.of(self.rng.randbytes(length), side, self.width, self.rng)

    async def done(self, packets):
        """Waits until all slots and beats are out."""
        slots = sum(self.slots_of(len(p.fitted(self.width)[0])) for p in packets)
        beats = sum(-(-len(p.fitted(self.width)[0]) // self.width) for p in packets)
        while len(self.slots) < slots or len(self.beats) < beats or self.source._queue or self.source._offered:
            await RisingEdge(self.dut.clk_i)
        for _ in range(20):
            await RisingEdge(self.dut.clk_i)

    def slots_of(self, length):
        return min(-(-length // self.width), self.window_beats)

    def check(self, packets):
        """Everything that came out against the packets alone."""
        beats, slots, misfits = iter(self.beats), iter(self.slots), []
        assert len(self.sides) == len(self.tokens) == len(packets)
        for packet, side, token, window in zip(packets, self.sides, self.tokens, self.windows, strict=True):
            frame, early, late = packet.fitted(self.width)
            said = packet.side
            foreign = said["module_id"] >= self.modules
            module = 0 if foreign else said["module_id"]
            expected = said | {"length": len(frame), "module_id": module}
            assert fields(SIDEBAND, side) == expected
            assert (token["id"], token["foreign"], window) == (said["id"], foreign, early)
            misfits += [module] * late
            count = -(-len(frame) // self.width)
            padded = frame.ljust(count * self.width, b"\0")
            data = [int.from_bytes(padded[i * self.width : (i + 1) * self.width], "little") for i in range(count)]
            assert list(itertools.islice(beats, count)) == [(d, int(i == count - 1)) for i, d in enumerate(data)]
            desc = {
                "queueing": token["queueing"],
                "arrival": said["stamp"],
                "length": len(frame),
                "tenant": said["tenant"],
                "port": said["id"] >> 28,
                "module_id": module,
                "generation": token["generation"],
                "system_generation": token["system_generation"],
                "dropped": 0,
            }
            wanted = self.slots_of(len(frame))
            for i, (cycle, slot, first, last, got) in enumerate(itertools.islice(slots, wanted)):
                got.pop("reason")
                assert (cycle, slot, first, last) == (token["cycle"] + i, data[i], i == 0, i == wanted - 1)
                assert got == desc
            head = min(len(frame), 64)
            assert token["window"] & ((1 << 8 * head) - 1) == int.from_bytes(frame[:head], "little")
        assert next(beats, None) is None and next(slots, None) is None
        assert self.misfits == misfits
        return len(misfits)


@cocotb.test()
async def any_packets_under_any_stalls(dut):
    bench = await Bench().begin(dut, "any", limit=400_000)
    rng = bench.rng
    rates = (never, lambda: random_stalls(rng, 0.5), lambda: burst_stalls(rng, 40), lambda: random_stalls(rng, 0.85))
    packets = [bench.any_packet() for _ in range(600)]
    for packet in packets:
        bench.source.send_all(packet.items(rng))

    async def change():
        while True:
            bench.source.stalls, bench.beat_stalls = rng.choice(rates)(), rng.choice(rates)()
            bench.side_stalls, bench.credit_stalls = rng.choice(rates)(), rng.choice(rates)()
            bench.hold, bench.request = rng.choice(rates)(), rng.choice((never, always, rates[1]))()
            for _ in range(300):
                await RisingEdge(dut.clk_i)

    cocotb.start_soon(change())
    await bench.done(packets)
    assert bench.check(packets) == 0


@cocotb.test()
async def what_does_not_fit_is_made_to_fit_and_told(dut):
    bench = await Bench().begin(dut, "misfit", limit=600_000)
    rng = bench.rng
    packets = []
    for _ in range(700):
        packet = bench.any_packet()
        packets.append(spoil(packet, bench.width, rng) if rng.random() < 0.6 else packet)
    for packet in packets:
        bench.source.send_all(packet.items(rng))
    bench.source.stalls, bench.beat_stalls = burst_stalls(rng, 10), random_stalls(rng, 0.2)
    await bench.done(packets)
    late = bench.check(packets)
    early = sum(bench.windows)
    assert late > 10 and early > 100, (late, early)


@cocotb.test()
async def a_beat_a_cycle_whatever_the_sizes(dut):
    for name, lengths in (
        ("64", [64] * 300),
        ("min", [60] * 300),
        ("65", [65] * 200),
        ("mix", None),
        ("1500", [1500] * 20),
    ):
        bench = await Bench().begin(dut, f"rate_{name}")
        lengths = lengths or [any_length(bench.rng) for _ in range(200)]
        packets = [bench.any_packet(length) for length in lengths]
        for packet in packets:
            bench.source.send_all(packet.items(bench.rng))
        await bench.done(packets)
        bench.check(packets)
        beats = sum(len(packet.beats) for packet in packets)
        lost = bench.taken[-1] - bench.taken[0] + 1 - beats
        assert lost == 0, f"{name}: {lost} cycles lost"


@cocotb.test()
async def a_first_slot_waits_for_the_window_only(dut):
    bench = await Bench().begin(dut, "latency")
    for length in (1, 60, 64, 65, 128, 129, 1500):
        before, tokens = len(bench.taken), len(bench.tokens)
        bench.source.send_all(bench.any_packet(length).items(bench.rng))
        for _ in range(80):
            await RisingEdge(dut.clk_i)
        waited = bench.tokens[tokens]["cycle"] - bench.taken[before]
        slots = bench.slots_of(length)
        assert waited == slots - (length > 64), f"{length} bytes: {waited} cycles"


@cocotb.test()
async def without_credit_nothing_begins(dut):
    bench = await Bench().begin(dut, "credit")
    bench.credit_stalls = always()
    packets = [bench.any_packet(64) for _ in range(bench.credits + 50)]
    for packet in packets:
        bench.source.send_all(packet.items(bench.rng))
    for _ in range(3 * bench.credits + 100):
        await RisingEdge(dut.clk_i)
    assert len(bench.tokens) == bench.credits and not int(dut.s_axis_tready.value)
    bench.credit_stalls = never()
    await bench.done(packets)
    bench.check(packets)


@cocotb.test()
async def a_request_leaves_one_cycle_in_256_out(dut):
    bench = await Bench().begin(dut, "maintenance")
    bench.request = always()
    packets = [bench.any_packet(32) for _ in range(4 * PERIOD)]
    for packet in packets:
        bench.source.send_all(packet.items(bench.rng))
    await bench.done(packets)
    bench.check(packets)
    cycles = [token["cycle"] for token in bench.tokens]
    gaps = [b - a for a, b in itertools.pairwise(cycles)]
    assert set(gaps) == {1, 2}
    left_out = [i for i, gap in enumerate(gaps) if gap == 2]
    assert len(left_out) == 4 and {b - a for a, b in itertools.pairwise(left_out)} == {PERIOD - 1}


@pytest.mark.parametrize("target", [DEFAULT, TINY])
def test_entrance(target):
    sources = ["tb/rmt/entrance/rmt_entrance_target.sv"]
    run_bench("rmt_entrance_target", sources=sources, packages=PACKAGES, parameters={"Target": target})
