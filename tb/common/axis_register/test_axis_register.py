"""sluice_axis_register.

Claims
- beats pass unchanged (tdata, tkeep, tlast, tuser), once and in order, under any stalls
- one beat per cycle, one cycle of latency
- a blocked slice holds exactly two beats
- a reset empties it
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


def side(dut, prefix):
    bus = {name: getattr(dut, f"{prefix}_{name}") for name in [*FIELDS, "tvalid", "tready"]}
    return {"valid": bus["tvalid"], "ready": bus["tready"], "data": {name: bus[name] for name in FIELDS}}


async def begin(dut, sink_stalls=None):
    await start(dut, limit=20_000, s_axis_tvalid=0, m_axis_tready=0, **{f"s_axis_{name}": 0 for name in FIELDS})
    entry = StreamMonitor(dut.clk_i, **side(dut, "s_axis"), reset=dut.rst_ni)
    sink = StreamSink(dut.clk_i, **side(dut, "m_axis"), stalls=sink_stalls, reset=dut.rst_ni)
    return StreamSource(dut.clk_i, **side(dut, "s_axis")), entry, sink


def random_beats(dut, rng, count):
    widths = {name: len(getattr(dut, f"s_axis_{name}")) for name in FIELDS}
    return [{name: rng.getrandbits(width) for name, width in widths.items()} for _ in range(count)]


@cocotb.test()
async def beats_pass_unchanged_and_in_order(dut):
    rng = bench_rng("order")
    source, entry, sink = await begin(dut)
    sent = []
    rates = [never, lambda: random_stalls(rng, 0.5), lambda: burst_stalls(rng, 5)]
    for source_stalls, sink_stalls in itertools.product(rates, rates):
        source.stalls, sink.stalls = source_stalls(), sink_stalls()
        beats = random_beats(dut, rng, 40)
        sent += beats
        source.send_all(beats)
        await sink.wait_for(len(sent))
    await cycles(dut, 5)
    assert sink.items == sent == entry.items


@cocotb.test()
async def full_rate_is_one_beat_a_cycle_and_one_cycle_late(dut):
    source, entry, sink = await begin(dut)
    beats = random_beats(dut, bench_rng("rate"), 50)
    source.send_all(beats)
    await sink.wait_for(50)
    assert sink.items == beats
    assert sink.cycles == [cycle + 1 for cycle in entry.cycles]
    assert sink.cycles[-1] - sink.cycles[0] == 49


@cocotb.test()
async def a_blocked_slice_holds_exactly_two_beats(dut):
    source, entry, sink = await begin(dut, sink_stalls=always())
    beats = random_beats(dut, bench_rng("full"), 3)
    source.send_all(beats)
    await cycles(dut, 10)
    assert entry.items == beats[:2]
    sink.stalls = never()
    assert await sink.wait_for(3) == beats


@cocotb.test()
async def reset_empties_it(dut):
    rng = bench_rng("reset")
    source, _, sink = await begin(dut, sink_stalls=always())
    for filling in (1, 2, 0):
        source.send_all(random_beats(dut, rng, filling))
        await source.drain()
        dut.rst_ni.value = 0
        await cycles(dut, 2)
        dut.rst_ni.value = 1
        sink.stalls = never()
        sink.items.clear()
        beats = random_beats(dut, rng, 5)
        source.send_all(beats)
        await sink.wait_for(5)
        await cycles(dut, 5)
        assert sink.items == beats
        sink.stalls = always()
        await cycles(dut, 2)


@pytest.mark.parametrize("data_bytes, user_width", [(1, 1), (64, 48)])
def test_axis_register(data_bytes, user_width):
    run_bench("sluice_axis_register", parameters={"DataBytes": data_bytes, "UserWidth": user_width})
