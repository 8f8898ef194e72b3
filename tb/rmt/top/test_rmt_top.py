"""sluice_rmt_top: programs written through its ring, packets through it.

Claims (docs/design/rmt.md; cycles: docs/decisions/rmt-isolation-and-budget.md)
- a program's rows are read back as written; packets leave as the program says, longer ones too, in order, under any
  stalls, with the new length, the destinations, the queue and the generation; nothing is lost
- packets of 64 bytes come in and leave one a cycle
- from a packet's first beat in to its last beat out an idle pipeline takes at most 64 cycles for 64 bytes and 64 and
  the number of beats for others
- drops are counted by reason: no program, no path, wrong length, rate limit, reconfiguration packet
- a commit to a generation whose packets are in flight is busy, for a module and for the system module
- rows can be read while the pipeline is full, and hold lets nothing in
"""

import cocotb
import pytest
from cocotb.triggers import RisingEdge
from nic.nic_bench import SIDEBAND, fields
from rmt.pipeline import BUSY, DEPARSER, OK, PARSER, STAMP, SYSTEM, Program, Ring
from rmt.rmt_bench import EVENTS, PACKAGES, TARGETS, WINDOW, Packet, any_length, any_sideband
from rmt.rows import words_of_layout
from sluice_tb import (
    StreamMonitor,
    StreamSink,
    StreamSource,
    bench_rng,
    burst_stalls,
    never,
    random_stalls,
    run_bench,
    start,
)

SIDEBAND_BITS = sum(SIDEBAND.values())
PINS = {"data": "tdata", "keep": "tkeep", "last": "tlast", "user": "tuser"}


class Bench:
    async def begin(self, dut, name, limit=150_000):
        self.dut, self.rng = dut, bench_rng(name)
        self.target = TARGETS[int(dut.Target.value)]
        self.width, self.stages = self.target["bus_bytes"], self.target["stages"]
        self.beats = WINDOW // self.width
        inputs = ("tvalid", "tdata", "tkeep", "tlast")
        zero = {f"s_axis_{name}": 0 for name in (*inputs, "tuser")} | {
            f"s_axis_cfg_{name}": 0 for name in inputs if name != "tkeep"
        }
        await start(dut, limit=limit, m_axis_tready=0, m_axis_cfg_tready=0, **zero)
        into = {name: getattr(dut, f"s_axis_{pin}") for name, pin in PINS.items()}
        out = {name: getattr(dut, f"m_axis_{pin}") for name, pin in PINS.items()}
        handshake = {"valid": dut.s_axis_tvalid, "ready": dut.s_axis_tready}
        self.source = StreamSource(dut.clk_i, **handshake, data=into)
        self.entry = StreamMonitor(dut.clk_i, **handshake, data=into, reset=dut.rst_ni, name="in")
        self.sink = StreamSink(
            dut.clk_i, valid=dut.m_axis_tvalid, ready=dut.m_axis_tready, data=out, reset=dut.rst_ni, name="out"
        )
        self.ring = Ring(dut)
        self.sent = []  # (packet, program or None)
        return self

    async def load(self, *programs):
        for program in programs:
            await self.ring.load(program, self.stages, self.beats)

    def frame(self, length, ipv4=True):
        data = bytearray(self.rng.randbytes(length))
        data[12:14] = b"\x08\x00" if ipv4 else b"\x86\xdd"
        if length > 23:
            data[23] = 1  # neither UDP nor TCP
        return bytes(data)

    def send(self, program, frame, module=None, **values):
        """Queues a packet; `program` is what it meets, None when it is to be dropped."""
        module = program.module if module is None else module
        side = any_sideband(self.rng, module_id=module, length=len(frame), id=len(self.sent) + 1, **values)
        packet = Packet.of(frame, side, self.width, self.rng)
        self.source.send_all(packet.items(self.rng))
        self.sent.append((packet, frame, program))

    def packets(self):
        """What has left: (bytes, sideband, tags)."""
        out, data = [], bytearray()
        for item in self.sink.items:
            part = item["data"].to_bytes(self.width, "little")
            count = item["keep"].bit_count()
            assert item["keep"] == (1 << count) - 1 and (item["last"] or count == self.width)
            data += part[:count]
            if item["last"]:
                side = fields(SIDEBAND, item["user"] & (1 << SIDEBAND_BITS) - 1)
                out.append((bytes(data), side, item["user"] >> SIDEBAND_BITS))
                data = bytearray()
        assert not data, "the output ends in the middle of a packet"
        return out

    async def settle(self, quiet=150):
        await self.source.drain()
        seen, still = -1, 0
        while still < quiet:
            await RisingEdge(self.dut.clk_i)
            still = still + 1 if len(self.sink.items) == seen else 0
            seen = len(self.sink.items)

    def check(self):
        """Everything that left against everything that was sent."""
        left = self.packets()
        expected = [(packet, frame, program) for packet, frame, program in self.sent if program is not None]
        assert len(left) == len(expected), f"{len(left)} packets left of {len(expected)}"
        for (data, side, tags), (packet, frame, program) in zip(left, expected, strict=True):
            wanted = program.result(frame)
            said = packet.side | {
                "length": len(wanted),
                "generation": program.generation,
                "destinations": program.destinations,
                "egress_queue": program.queue,
                "tag": 0,
            }
            assert side == said
            assert data == wanted, f"packet {side['id']} of {len(frame)} bytes"
            assert tags == 0

    async def event(self, module, name):
        return await self.ring.read(DEPARSER, 4, 16 * module + EVENTS[name], 2)


PLAIN = Program(module=1, flip=0x010203040506, destinations=0x05, queue=3, action=1)
TAGGER = Program(module=2, flip=0xFF, destinations=0x80, tag=0x8100_0123, action=2)


@cocotb.test()
async def packets_leave_as_their_programs_say(dut):
    bench = await Bench().begin(dut, "forward")
    await bench.load(PLAIN, TAGGER)
    for length in (14, 60, 63, 64, 65, 96, 127, 128, 129, 192, 193, 1500, 9212):
        for program in (PLAIN, TAGGER):
            bench.send(program, bench.frame(length))
    await bench.settle()
    bench.check()


@cocotb.test()
async def rows_are_read_back_as_written(dut):
    bench = await Bench().begin(dut, "rows")
    programs = (PLAIN, TAGGER)
    await bench.load(*programs)
    for program in programs:
        for node, table, index, layout, value in program.rows(bench.stages, bench.beats):
            got = await bench.ring.read(node, table, index, words_of_layout(layout))
            assert got == value, (node, table, index, hex(got ^ value))


@cocotb.test()
async def nothing_is_lost_under_any_stalls(dut):
    bench = await Bench().begin(dut, "stalls", limit=400_000)
    rng = bench.rng
    await bench.load(PLAIN, TAGGER)
    for _ in range(500):
        bench.send(rng.choice((PLAIN, TAGGER)), bench.frame(max(14, any_length(rng))))
    rates = (never, lambda: random_stalls(rng, 0.5), lambda: burst_stalls(rng, 60), lambda: random_stalls(rng, 0.85))

    async def change():
        while True:
            bench.source.stalls, bench.sink.stalls = rng.choice(rates)(), rng.choice(rates)()
            for _ in range(400):
                await RisingEdge(dut.clk_i)

    cocotb.start_soon(change())
    await bench.settle(quiet=1500)
    bench.check()


@cocotb.test()
async def packets_of_64_bytes_pass_one_a_cycle(dut):
    bench = await Bench().begin(dut, "rate")
    await bench.load(PLAIN, TAGGER)
    for length, count in ((min(64, bench.width), 600), (64, 400), (1500, 20)):
        bench.entry.items.clear(), bench.entry.cycles.clear(), bench.sink.cycles.clear()
        for _ in range(count):
            bench.send(PLAIN, bench.frame(length))
        await bench.settle()
        beats = -(-length // bench.width) * count
        taken = bench.entry.cycles[-1] - bench.entry.cycles[0] + 1
        given = bench.sink.cycles[-1] - bench.sink.cycles[0] + 1
        dut._log.info(f"{count} packets of {length} bytes, {beats} beats: in {taken} cycles, out {given} cycles")
        assert taken == beats and given == beats
    bench.check()


@cocotb.test()
async def an_idle_pipeline_is_within_its_cycles(dut):
    bench = await Bench().begin(dut, "latency")
    await bench.load(PLAIN, TAGGER)
    for length in (64, 65, 128, 1500):
        for program in (PLAIN, TAGGER):
            before = len(bench.entry.cycles)
            bench.send(program, bench.frame(length))
            await bench.settle()
            waited = bench.sink.cycles[-1] - bench.entry.cycles[before]
            longer = len(program.result(bytes(length)))
            beats = -(-longer // bench.width)
            dut._log.info(f"{length} bytes, {longer} out: {waited} cycles")
            assert waited <= 64 + (beats if longer > 64 else 0), f"{length} bytes: {waited} cycles"
    bench.check()


@cocotb.test()
async def drops_are_counted_by_their_reason(dut):
    bench = await Bench().begin(dut, "drops")
    await bench.load(PLAIN, TAGGER)
    names = ("no_module", "parse_reject", "bad_length", "rate", "reconfig", "misfit", "copies", "no_destination")
    before = {name: [await bench.event(m, name) for m in range(4)] for name in names}
    expected = {name: list(values) for name, values in before.items()}

    def expect(module, name, amount=1):
        expected[name][module] += amount

    for _ in range(60):
        kind = bench.rng.randrange(6)
        length = bench.rng.choice((64, 100, 300))
        if kind == 0:
            bench.send(None, bench.frame(length), module=3)
            expect(3, "no_module")
        elif kind == 1:
            bench.send(None, bench.frame(length, ipv4=False), module=1)
            expect(1, "parse_reject")
        elif kind == 2:
            side = any_sideband(bench.rng, module_id=2, length=bench.rng.choice((0, length - 1, 9217, 12_000)))
            packet = Packet.of(bench.frame(64), side, bench.width, bench.rng)
            bench.source.send_all(packet.items(bench.rng))
            expect(2, "bad_length")
        elif kind == 3:
            frame = bytearray(bench.frame(length))
            frame[14], frame[20:22], frame[23], frame[36:38] = 0x45, b"\0\0", 17, b"\xf1\xf2"
            bench.send(None, bytes(frame), module=1)
            expect(1, "reconfig")
        elif kind == 4:
            # Cut behind the window: it goes on as long as it was said to be.
            frame = bench.frame(300)
            side = any_sideband(bench.rng, module_id=1, length=200, id=len(bench.sent) + 1)
            packet = Packet.of(frame, side, bench.width, bench.rng)
            bench.source.send_all(packet.items(bench.rng))
            bench.sent.append((packet, frame[:200], PLAIN))
            expect(1, "misfit")
            expect(1, "copies")
        else:
            bench.send(PLAIN, bench.frame(length))
            expect(1, "copies")
    await bench.settle(quiet=400)
    bench.check()
    # 1 byte a tick and a burst of none: the second of two packets that come together does not conform.
    assert await bench.ring.write(STAMP, 0, 1, 1 << 16, 2) == OK
    bench.send(PLAIN, bench.frame(1500))
    bench.send(None, bench.frame(64), module=1)
    expect(1, "copies")
    expect(1, "rate")
    await bench.settle()
    bench.check()
    assert await bench.ring.write(STAMP, 0, 1, 0, 2) == OK
    after = {name: [await bench.event(m, name) for m in range(4)] for name in names}
    assert after == expected


@cocotb.test()
async def a_commit_waits_for_the_packets_of_its_generation(dut):
    bench = await Bench().begin(dut, "commit")
    await bench.load(PLAIN, TAGGER)
    new = Program(module=1, generation=1, flip=0xABCDEF, destinations=0x02, action=3)
    await bench.load(new)
    for _ in range(20):
        bench.send(PLAIN, bench.frame(64))
    await bench.settle()
    # Blocked, the packets of generation 0 stay in flight.
    bench.sink.stalls = iter(lambda: True, None)
    for _ in range(60):
        bench.send(PLAIN, bench.frame(64))
    await bench.source.drain()
    assert await bench.ring.write(STAMP, 1, 1, 1, 1) == OK
    assert await bench.ring.write(STAMP, 1, 0, 1, 1) == OK
    for module in (0, 1):
        state = await bench.ring.read(STAMP, 1, module, 1)
        # What the output has already read its rows for is not in flight any more.
        assert state & 1 == 1 and state >> 9 == 0 and 0 < state >> 1 & 0xFF < 60, hex(state)
        assert await bench.ring.write(STAMP, 1, module, 0, 1) == BUSY
    for _ in range(30):
        bench.send(new, bench.frame(64))
    bench.sink.stalls = never()
    await bench.settle()
    bench.check()
    for module in (0, 1):
        assert await bench.ring.read(STAMP, 1, module, 1) == 1
        assert await bench.ring.write(STAMP, 1, module, 0, 1) == OK


@cocotb.test()
async def a_full_pipeline_is_read_and_hold_empties_it(dut):
    bench = await Bench().begin(dut, "hold")
    await bench.load(PLAIN, TAGGER)
    reading = True

    async def feed():
        while reading:
            while len(bench.source._queue) < 500:
                bench.send(PLAIN, bench.frame(min(64, bench.width)))
            await RisingEdge(dut.clk_i)

    cocotb.start_soon(feed())
    rows = [r for r in PLAIN.rows(bench.stages, bench.beats)]
    for node, table, index, layout, value in rows:
        if (node, table) != (PARSER, 1):
            got = await bench.ring.read(node, table, index, words_of_layout(layout))
            assert got == value, (node, table, index)
    reading = False
    assert await bench.ring.write(SYSTEM, 1, 1, 1, 1) == OK
    for _ in range(150):
        await RisingEdge(dut.clk_i)
    held = len(bench.sink.items)
    for _ in range(200):
        await RisingEdge(dut.clk_i)
    assert len(bench.sink.items) == held and not int(dut.m_axis_tvalid.value)
    assert await bench.ring.write(SYSTEM, 1, 1, 0, 1) == OK
    await bench.settle()
    bench.check()
    gaps = [b - a for a, b in zip(bench.entry.cycles, bench.entry.cycles[1:], strict=False)]
    held_gap = max(gaps)
    assert sum(gap > 1 for gap in gaps if gap != held_gap) <= len(gaps) // 256 + 1


@pytest.mark.parametrize("target", [0, 1], ids=["default", "tiny"])
def test_top(target):
    run_bench("sluice_rmt_top", packages=PACKAGES, parameters={"Target": target})
