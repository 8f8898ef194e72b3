"""sluice_axis_width, up, down and with equal widths.

Claims
- packets keep their bytes and never share a beat, at every length around both widths, under any stalls;
  only their last beat is partial
- every beat of a packet carries the tuser of its first one
- no bubbles: going up one incoming beat per cycle, going down one outgoing beat per cycle
- an empty last beat still ends its packet
- a reset in the middle of a packet leaves nothing behind
- bad tkeep: an assertion reports it; what goes out is what the contract says
"""

import itertools

import cocotb
import pytest
from sluice_tb import (
    StreamMonitor,
    StreamSink,
    StreamSource,
    always,
    bench_rng,
    burst_stalls,
    cycles,
    never,
    random_stalls,
    run_bench,
    start,
)

FIELDS = ["tdata", "tkeep", "tlast", "tuser"]
BAD_INPUT_TESTS = {
    "a_hole_in_tkeep": "KeepHasNoHole_A",
    "a_partial_beat_before_the_last": "OnlyLastBeatIsPartial_A",
}
HALVES_TESTS = ["holes_go_out_as_they_came"]


def side(dut, prefix):
    bus = {name: getattr(dut, f"{prefix}_{name}") for name in [*FIELDS, "tvalid", "tready"]}
    return {"valid": bus["tvalid"], "ready": bus["tready"], "data": {name: bus[name] for name in FIELDS}}


async def begin(dut, sink_stalls=None):
    await start(dut, limit=20_000, s_axis_tvalid=0, m_axis_tready=0, **{f"s_axis_{name}": 0 for name in FIELDS})
    entry = StreamMonitor(dut.clk_i, **side(dut, "s_axis"), reset=dut.rst_ni)
    sink = StreamSink(dut.clk_i, **side(dut, "m_axis"), stalls=sink_stalls, reset=dut.rst_ni)
    return StreamSource(dut.clk_i, **side(dut, "s_axis")), entry, sink


def widths(dut):
    return len(dut.s_axis_tkeep), len(dut.m_axis_tkeep)


def cut(packet, user, beat_bytes, rng=None):
    """Beats of a packet; with `rng`, noise where nobody may look: bytes not kept, tuser after the first beat."""
    beats = []
    for at in range(0, max(len(packet), 1), beat_bytes):
        part = packet[at : at + beat_bytes]
        data = int.from_bytes(part, "little")
        if rng:
            data |= rng.getrandbits(8 * beat_bytes) >> (8 * len(part)) << (8 * len(part))
        beats.append(
            {
                "tdata": data,
                "tkeep": (1 << len(part)) - 1,
                "tlast": int(at + beat_bytes >= len(packet)),
                "tuser": user if rng is None or at == 0 else rng.getrandbits(8),
            }
        )
    return beats


def kept(beats):
    """The beats with all bytes that are not kept set to zero."""
    result = []
    for beat in beats:
        mask = sum(0xFF << (8 * k) for k in range(beat["tkeep"].bit_length()) if beat["tkeep"] >> k & 1)
        result.append({**beat, "tdata": beat["tdata"] & mask})
    return result


class Traffic:
    """Random packets, and the beats that they have to give on both sides."""

    def __init__(self, dut, rng):
        self.in_bytes, self.out_bytes = widths(dut)
        self.rng = rng

    def make(self, lengths):
        sent, expected = [], []
        for length in lengths:
            packet, user = self.rng.randbytes(length), self.rng.getrandbits(8)
            sent += cut(packet, user, self.in_bytes, self.rng)
            expected += cut(packet, user, self.out_bytes)
        return sent, expected

    def edge_lengths(self):
        edges = {n * w + d for w in (self.in_bytes, self.out_bytes) for n in (1, 2, 3) for d in (-1, 0, 1)}
        return sorted(length for length in edges if length > 0)


@cocotb.test()
async def packets_keep_their_bytes_and_share_no_beat(dut):
    rng = bench_rng("packets")
    traffic = Traffic(dut, rng)
    source, _, sink = await begin(dut)
    rates = [never, lambda: random_stalls(rng, 0.5), lambda: burst_stalls(rng, 8)]
    expected = []
    for source_stalls, sink_stalls in itertools.product(rates, rates):
        source.stalls, sink.stalls = source_stalls(), sink_stalls()
        lengths = traffic.edge_lengths()
        rng.shuffle(lengths)
        lengths += [rng.randint(1, 3 * max(widths(dut))) for _ in range(6)]
        sent, more = traffic.make(lengths)
        expected += more
        source.send_all(sent)
        await sink.wait_for(len(expected))
    await cycles(dut, 5)
    assert kept(sink.items) == expected


@cocotb.test()
async def there_are_no_bubbles(dut):
    traffic = Traffic(dut, bench_rng("rate"))
    in_bytes, out_bytes = widths(dut)
    source, entry, sink = await begin(dut)
    # One length at a time, short packets included, then all mixed.
    runs = [[length] * 8 for length in traffic.edge_lengths()] + [traffic.edge_lengths()]
    for lengths in runs:
        sent, expected = traffic.make(lengths)
        entry.items.clear(), entry.cycles.clear(), sink.items.clear(), sink.cycles.clear()
        source.send_all(sent)
        await sink.wait_for(len(expected))
        assert kept(sink.items) == expected
        if in_bytes <= out_bytes:
            assert entry.cycles[-1] - entry.cycles[0] == len(sent) - 1, lengths
            assert sink.cycles[-1] == entry.cycles[-1] + 1
        else:
            assert sink.cycles[-1] - sink.cycles[0] == len(expected) - 1, lengths
            assert sink.cycles[0] == entry.cycles[0] + 1
        await cycles(dut, 3)


@cocotb.test()
async def an_empty_last_beat_ends_its_packet(dut):
    in_bytes, out_bytes = widths(dut)
    source, _, sink = await begin(dut)
    full = {"tdata": 0, "tkeep": (1 << in_bytes) - 1, "tlast": 0, "tuser": 5}
    empty = {"tdata": 0, "tkeep": 0, "tlast": 1, "tuser": 6}
    source.send_all([full, empty, empty, full, {**full, "tlast": 1}])
    keeps = []
    if in_bytes < out_bytes:
        keeps = [(1 << in_bytes) - 1, 0, (1 << min(2 * in_bytes, out_bytes)) - 1]
        lasts, users = [1, 1, 1], [5, 6, 5]
    else:
        ratio = in_bytes // out_bytes
        ones = (1 << out_bytes) - 1
        keeps = [ones] * ratio + [0, 0] + [ones] * (2 * ratio)
        lasts = [0] * ratio + [1, 1] + [0] * (2 * ratio - 1) + [1]
        users = [5] * (ratio + 1) + [6] + [5] * (2 * ratio)
    await sink.wait_for(len(keeps))
    await cycles(dut, 5)
    assert [beat["tkeep"] for beat in sink.items] == keeps
    assert [beat["tlast"] for beat in sink.items] == lasts
    assert [beat["tuser"] for beat in sink.items] == users


@cocotb.test()
async def reset_leaves_nothing_of_a_packet_behind(dut):
    rng = bench_rng("reset")
    traffic = Traffic(dut, rng)
    in_bytes, _ = widths(dut)
    source, _, sink = await begin(dut)
    for beats_before in (1, 2, 3, 1, 2):
        sink.stalls = never()
        sent, _ = traffic.make([8 * max(widths(dut))])
        source.send_all(sent[:beats_before])
        sink.stalls = always() if rng.random() < 0.5 else never()
        await cycles(dut, 2 + 2 * beats_before * max(1, widths(dut)[0] // widths(dut)[1]))
        # What the source still offers is withdrawn, which only a reset allows.
        dut.s_axis_tvalid.value = 0
        dut.rst_ni.value = 0
        await cycles(dut, 2)
        dut.rst_ni.value = 1
        sink.stalls = never()
        await cycles(dut, 1)
        sink.items.clear()
        sent, expected = traffic.make([1, 2 * in_bytes + 1])
        source.send_all(sent)
        await sink.wait_for(len(expected))
        await cycles(dut, 5)
        assert kept(sink.items) == expected


@cocotb.test()
async def a_hole_in_tkeep(dut):
    source, _, _ = await begin(dut)
    source.send({"tdata": 0, "tkeep": 0b101, "tlast": 1, "tuser": 0})
    await cycles(dut, 10)


@cocotb.test()
async def a_partial_beat_before_the_last(dut):
    source, _, _ = await begin(dut)
    source.send({"tdata": 0, "tkeep": 0b1, "tlast": 0, "tuser": 0})
    await cycles(dut, 10)


@cocotb.test()
async def holes_go_out_as_they_came(dut):
    """On the two halves alone, which assert nothing about tkeep: each byte keeps its place and its tkeep bit."""
    rng = bench_rng("holes")
    in_bytes, out_bytes = widths(dut)
    source, _, sink = await begin(dut, sink_stalls=random_stalls(rng, 0.3))
    sent, expected, open_beats = [], [], []
    for _ in range(150):
        keep = rng.getrandbits(in_bytes) & rng.getrandbits(in_bytes) & rng.choice([0, 1, (1 << in_bytes) - 1])
        beat = {"tdata": rng.getrandbits(8 * in_bytes), "tkeep": keep, "tlast": int(rng.random() < 0.4), "tuser": 1}
        sent.append(beat)
        if in_bytes < out_bytes:
            open_beats.append(beat)
            if beat["tlast"] or len(open_beats) == out_bytes // in_bytes:
                expected.append(
                    {
                        **beat,
                        "tdata": sum(part["tdata"] << (8 * in_bytes * k) for k, part in enumerate(open_beats)),
                        "tkeep": sum(part["tkeep"] << (in_bytes * k) for k, part in enumerate(open_beats)),
                    }
                )
                open_beats = []
        else:
            ratio = in_bytes // out_bytes
            count = max(1, -(-keep.bit_length() // out_bytes)) if beat["tlast"] else ratio
            for k in range(count):
                expected.append(
                    {
                        "tdata": beat["tdata"] >> (8 * out_bytes * k) & ((1 << 8 * out_bytes) - 1),
                        "tkeep": keep >> (out_bytes * k) & ((1 << out_bytes) - 1),
                        "tlast": int(beat["tlast"] and k == count - 1),
                        "tuser": 1,
                    }
                )
    source.send_all(sent)
    await sink.wait_for(len(expected))
    await cycles(dut, 20)
    assert kept(sink.items) == kept(expected)


SHAPES = [(4, 8), (8, 32), (2, 6), (8, 4), (32, 8), (6, 2), (8, 8)]
GOOD_INPUT_TESTS = [
    "packets_keep_their_bytes_and_share_no_beat",
    "there_are_no_bubbles",
    "an_empty_last_beat_ends_its_packet",
    "reset_leaves_nothing_of_a_packet_behind",
]


@pytest.mark.parametrize("in_bytes, out_bytes", SHAPES)
def test_axis_width(in_bytes, out_bytes):
    parameters = {"InBytes": in_bytes, "OutBytes": out_bytes, "UserWidth": 8}
    run_bench("sluice_axis_width", parameters=parameters, tests=GOOD_INPUT_TESTS)


@pytest.mark.parametrize("test, assertion", BAD_INPUT_TESTS.items())
def test_bad_tkeep_is_reported(test, assertion, capfd):
    with pytest.raises(AssertionError, match="sluice_axis_width InBytes"):
        run_bench("sluice_axis_width", parameters={"InBytes": 4, "OutBytes": 8, "UserWidth": 8}, tests=test)
    out, err = capfd.readouterr()
    assert f"{assertion}: axis_width: tkeep is" in out + err


@pytest.mark.parametrize("half, in_bytes, out_bytes", [("widen", 4, 12), ("narrow", 12, 4)])
def test_bad_tkeep_goes_out_as_it_came(half, in_bytes, out_bytes):
    parameters = {"InBytes": in_bytes, "OutBytes": out_bytes, "UserWidth": 8}
    run_bench(f"sluice_axis_{half}", parameters=parameters, tests=HALVES_TESTS)
