"""sluice_nic_tag_insert, and sluice_nic_tag_strip before it.

Claims
- a packet with tag_off leaves as ceil((n + 4) / Bytes) beats with 0x8100 and the tci before byte 12, others as
  they came; every length around every beat, mixed, under any stalls; with Insert 0 all leave as they came
- tkeep has exactly the packet's bytes, tlast its end, tuser its sideband on every beat
- a beat holds while m_axis_tready is low
- one beat a cycle at no latency; where the tag needs a beat, one cycle more
- strip then insert gives the frame as it was
"""

import cocotb
import pytest
from cocotb.triggers import FallingEdge
from nic.nic_bench import PACKAGES, SIDEBAND, beats_of, fields, pack_fields
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

TAG_AT = 12
STRIP = ["strip_valid_i", "strip_data_i", "strip_bytes_i", "strip_first_i", "strip_last_i", "strip_off_i"]


class Bench:
    async def begin(self, dut, name):
        self.dut, self.rng, self.width = dut, bench_rng(name), int(dut.Bytes.value)
        inputs = ["valid_i", "data_i", "bytes_i", "first_i", "last_i", "meta_i", "m_axis_tready", *STRIP]
        await start(dut, **dict.fromkeys(inputs, 0))
        payload = {key: getattr(dut, f"{key}_i") for key in ("data", "bytes", "first", "last", "meta")}
        inward = {"valid": dut.valid_i, "ready": dut.ready_o, "data": payload}
        outward = {
            "valid": dut.m_axis_tvalid,
            "ready": dut.m_axis_tready,
            "data": {key: getattr(dut, f"m_axis_{key}") for key in ("tdata", "tkeep", "tlast", "tuser")},
        }
        self.entry = StreamMonitor(dut.clk_i, **inward, reset=dut.rst_ni, name="in")
        self.source = StreamSource(dut.clk_i, **inward)
        self.sink = StreamSink(dut.clk_i, **outward, reset=dut.rst_ni, name="out")
        return self

    def sideband(self, **values):
        random = {key: self.rng.getrandbits(bits) for key, bits in SIDEBAND.items()}
        return pack_fields(SIDEBAND, **(random | values))

    def send(self, packet, tag_off, tci=None):
        """Sends a packet and returns what has to leave: its bytes and the sideband."""
        tci = self.rng.getrandbits(16) if tci is None else tci
        meta = self.sideband(tag_off=tag_off, tci=tci, length=len(packet))
        for beat in beats_of(packet, self.width, self.rng):
            self.source.send(beat | {"meta": meta})
        inserts = tag_off and int(self.dut.Insert.value)
        tag = b"\x81\x00" + tci.to_bytes(2, "big")
        return packet[:TAG_AT] + tag + packet[TAG_AT:] if inserts else packet, meta

    async def check(self, expected):
        """Compares all that leaves with packets and sidebands."""
        counts = [-(-len(packet) // self.width) for packet, _ in expected]
        await self.sink.wait_for(sum(counts))
        items = iter(self.sink.items)
        for number, ((packet, meta), count) in enumerate(zip(expected, counts, strict=True)):
            where = f"packet {number} of {len(packet)} bytes"
            got = b""
            for left in reversed(range(count)):
                beat = next(items)
                size = self.width if left else len(packet) - (count - 1) * self.width
                assert beat["tlast"] == (left == 0), where
                assert beat["tkeep"] == (1 << size) - 1, where
                assert beat["tuser"] == meta, f"{where}: {fields(SIDEBAND, beat['tuser'])}"
                got += beat["tdata"].to_bytes(self.width, "little")[:size]
            assert got == packet, where
        assert next(items, None) is None


def packets_of_all_lengths(rng, width):
    """From 12 bytes, which is what a strip leaves of 16."""
    packets = [(rng.randbytes(n), off) for n in range(TAG_AT, 4 * width + 9) for off in (0, 1)]
    rng.shuffle(packets)
    return packets


async def all_lengths(dut, name, source, sink):
    bench = await Bench().begin(dut, name)
    bench.source.stalls, bench.sink.stalls = source(bench.rng), sink(bench.rng)
    await bench.check([bench.send(*packet) for packet in packets_of_all_lengths(bench.rng, bench.width)])
    return bench


@cocotb.test()
async def every_length_back_to_back_at_full_rate(dut):
    bench = await all_lengths(dut, "insert_rate", lambda rng: never(), lambda rng: never())
    beats = len(bench.sink.items)
    # Every cycle has a beat out, also those in which the tag's beat holds up the input.
    assert bench.sink.cycles[-1] - bench.sink.cycles[0] == beats - 1
    assert bench.sink.cycles[0] == bench.entry.cycles[0]
    if not int(dut.Insert.value):
        assert bench.sink.cycles == bench.entry.cycles


@cocotb.test()
async def every_length_with_a_slow_sink(dut):
    await all_lengths(dut, "insert_sink", lambda rng: never(), lambda rng: random_stalls(rng, 0.5))


@cocotb.test()
async def every_length_with_a_slow_source(dut):
    await all_lengths(dut, "insert_source", lambda rng: random_stalls(rng, 0.5), lambda rng: never())


@cocotb.test()
async def every_length_with_stalls_everywhere(dut):
    await all_lengths(dut, "insert_both", lambda rng: burst_stalls(rng, 7), lambda rng: burst_stalls(rng, 7))


@cocotb.test()
async def longest_packets_and_shortest_mixed(dut):
    bench = await Bench().begin(dut, "insert_long")
    rng = bench.rng
    bench.sink.stalls = random_stalls(rng, 0.1)
    lengths = [rng.choice((9212, 9216, 12, 13, 60, bench.width, bench.width - 4, bench.width - 3)) for _ in range(60)]
    await bench.check([bench.send(rng.randbytes(n), rng.getrandbits(1)) for n in lengths])


@cocotb.test()
async def strip_then_insert_is_the_identity(dut):
    bench = await Bench().begin(dut, "identity")
    rng, width = bench.rng, bench.width
    bench.sink.stalls = random_stalls(rng, 0.2)
    frames = []
    for length in range(14, 4 * width + 9):
        tci = rng.getrandbits(16)
        tagged = length >= 16 and rng.random() < 0.7
        body = rng.randbytes(length)
        frame = body[:12] + b"\x81\x00" + tci.to_bytes(2, "big") + body[16:] if tagged else body
        frames.append((frame, tagged, tci))
    rng.shuffle(frames)
    stripped = []

    async def watch():
        packet = []
        while True:
            await FallingEdge(dut.clk_i)
            if int(dut.strip_valid_o.value):
                packet.append(int(dut.strip_data_o.value))
                if int(dut.strip_last_o.value):
                    stripped.append(packet)
                    packet = []

    cocotb.start_soon(watch())
    strip = {key: getattr(dut, f"strip_{key}_i") for key in ("data", "bytes", "first", "last", "off")}
    # The strip never stalls: the insert's clock stands in for a ready that is always high.
    always_ready = type("Ready", (), {"value": 1})()
    source = StreamSource(dut.clk_i, valid=dut.strip_valid_i, ready=always_ready, data=strip)
    for frame, tagged, _ in frames:
        source.send_all(beat | {"off": int(tagged)} for beat in beats_of(frame, width, rng))
    await source.drain()
    while len(stripped) < len(frames):
        await FallingEdge(dut.clk_i)
    expected = []
    for (frame, tagged, tci), beats in zip(frames, stripped, strict=True):
        length = len(frame) - 4 * tagged
        meta = bench.sideband(tag_off=int(tagged), tci=tci if tagged else 0, length=length)
        for i, data in enumerate(beats):
            last = i == len(beats) - 1
            size = length - i * width if last else width
            bench.source.send({"data": data, "bytes": size, "first": int(i == 0), "last": int(last), "meta": meta})
        expected.append((frame, meta))
    await bench.check(expected)


ALONE = [
    "every_length_back_to_back_at_full_rate",
    "every_length_with_a_slow_sink",
    "every_length_with_a_slow_source",
    "every_length_with_stalls_everywhere",
    "longest_packets_and_shortest_mixed",
]


@pytest.mark.parametrize("width, insert", [(64, 1), (32, 1), (32, 0)])
def test_tag_insert(width, insert):
    tests = ALONE + ["strip_then_insert_is_the_identity"] * insert
    sources = ["rtl/nic/sluice_nic_tag_insert.sv", "tb/nic/tag_insert/tag_pair.sv"]
    run_bench(
        "tag_pair", packages=PACKAGES, sources=sources, parameters={"Bytes": width, "Insert": insert}, tests=tests
    )
